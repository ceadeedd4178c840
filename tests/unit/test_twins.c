/* twins: a file that maps and records describe in different ways is one module. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engine/lives.h"
#include "proc/space.h"

#define ELSEWHERE 0x7000000000

static struct tables *t;
static struct lives l;
static char path[4096];
static uint8_t build_id[32];
static uint8_t build_id_size;

static void learn_self(void)
{
	struct module m = {.kind = MODULE_FILE, .path = tables_str(t, path), .pid = getpid()};
	struct module_access access = {.live = true};
	struct image *image;

	assert_int_equal(module_image(t, &m, &access, &image, NULL), 0);
	build_id_size = image->build_id_size;
	memcpy(build_id, image->build_id, sizeof build_id);
	image_close(image);
	assert_true(build_id_size > 0);
}

static void up(void)
{
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	assert_true(n > 0);
	path[n] = '\0';
	t = tables_new();
	lives_init(&l, t, NULL, true, NULL);
	learn_self();
}

static void down(void)
{
	lives_fini(&l);
	tables_free(t);
}

/* This very function's module, as this process's maps tell of it: by inode. */
static module_id by_maps(void)
{
	const struct process *p = lives_process(&l, getpid(), 1);
	const struct mapping *m = space_find(p->space, (uint64_t)(uintptr_t)by_maps);

	assert_non_null(m);
	assert_string_equal(tables_text(t, tables_module_get(t, m->module)->path), path);
	return m->module;
}

/* The module of a file that a process which is gone mapped, as a record tells of it. */
static module_id by_record(const uint8_t *id)
{
	struct raw_mmap m = {.start = ELSEWHERE,
			     .size = 4096,
			     .prot = PROT_READ | PROT_EXEC,
			     .path = path,
			     .build_id = id,
			     .build_id_size = build_id_size};
	static pid_t pid = 0x3ffffff;
	const struct process *p = lives_process(&l, --pid, 1);

	assert_int_equal(space_add(p->space, &m), 0);
	return space_find(p->space, ELSEWHERE)->module;
}

static void test_maps_then_record(void **state)
{
	(void)state;
	up();
	module_id id = by_maps();
	assert_int_equal(by_record(build_id), id);
	assert_int_equal(by_record(build_id), id);
	down();
}

static void test_record_then_maps(void **state)
{
	(void)state;
	up();
	module_id id = by_record(build_id);
	assert_int_equal(by_maps(), id);
	assert_int_equal(by_record(build_id), id);
	down();
}

/* Another file of that path, of another container or replaced meanwhile. */
static void test_another_build(void **state)
{
	uint8_t other[32];

	(void)state;
	up();
	memcpy(other, build_id, sizeof other);
	other[build_id_size - 1] ^= 1;
	module_id id = by_record(other);
	assert_int_not_equal(by_maps(), id);
	assert_int_equal(by_record(other), id);
	assert_int_equal(by_record(build_id), by_maps());
	down();
}

/* A path alone says nothing where the file behind it cannot be read. */
static void test_unreadable(void **state)
{
	(void)state;
	up();
	snprintf(path, sizeof path, "/nonexistent/program");
	struct module m = {.kind = MODULE_FILE,
			   .path = tables_str(t, path),
			   .name = tables_str(t, "program"),
			   .inode = 77,
			   .pid = getpid()};
	module_id id = tables_module(t, &m);
	assert_int_not_equal(by_record(build_id), id);
	down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps_then_record),
		cmocka_unit_test(test_record_then_maps),
		cmocka_unit_test(test_another_build),
		cmocka_unit_test(test_unreadable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
