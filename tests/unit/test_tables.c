/* tables: interning by identity, special frames, resolution, tasks, concurrency and speed. */
#include "tables.h"

#include "base/clock.h"
#include "sink.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int setup(void **state)
{
	*state = tables_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	tables_free(*state);
	return 0;
}

static void test_specials(void **state)
{
	struct tables *t = *state;
	static const char *const names[] = {"", "[truncated]", "[unsampled]", "[unknown]",
					    "[overflow]"};
	assert_int_equal(sizeof names / sizeof *names, FRAME_SPECIAL_COUNT);
	assert_int_equal(tables_frame_count(t), FRAME_SPECIAL_COUNT - 1);
	assert_null(tables_loc(t, FRAME_NONE));
	for (frame_id id = 1; id < FRAME_SPECIAL_COUNT; id++) {
		const struct frame *f = tables_frame_get(t, id);
		assert_int_equal(tables_module_get(t, f->module)->kind, MODULE_SPECIAL);
		const struct loc *loc = tables_loc(t, id);
		assert_int_equal(loc->n, 1);
		const struct func *func = tables_func_get(t, loc->lines[0].func);
		assert_int_equal(func->flags, FUNC_SPECIAL);
		assert_string_equal(tables_text(t, func->shown), names[id]);
	}
}

static void test_unknown_ids(void **state)
{
	struct tables *t = *state;
	assert_string_equal(tables_text(t, 0), "");
	assert_string_equal(tables_text(t, 1u << 30), "");
	assert_non_null(tables_module_get(t, 0));
	assert_non_null(tables_module_get(t, UINT32_MAX));
	assert_int_equal(tables_frame_get(t, UINT32_MAX)->addr, 0);
	assert_int_equal(tables_func_get(t, 999)->name, 0);
	assert_int_equal(tables_task_get(t, 999)->tid, 0);
	assert_null(tables_loc(t, 999));
	tables_resolve(t, 999, &(struct loc_line){.func = 1}, 1);
	tables_free(NULL);
}

static struct module file_module(struct tables *t, const char *path, uint64_t inode)
{
	str_id id = tables_str(t, path);
	return (struct module){.kind = MODULE_FILE, .path = id, .name = id, .inode = inode};
}

static void test_modules(void **state)
{
	struct tables *t = *state;
	struct module m = file_module(t, "/usr/lib/libc.so.6", 77);
	module_id plain = tables_module(t, &m);
	m.pid = 42; /* not part of the identity of a file */
	assert_int_equal(tables_module(t, &m), plain);
	m.inode = 78;
	assert_int_not_equal(tables_module(t, &m), plain);

	/* Build ids count when both sides have one. */
	m.inode = 77;
	m.build_id_size = 20;
	memset(m.build_id, 0xaa, 20);
	assert_int_equal(tables_module(t, &m), plain);
	m.inode = 79;
	module_id aa = tables_module(t, &m);
	memset(m.build_id, 0xbb, 20);
	module_id bb = tables_module(t, &m);
	assert_int_not_equal(aa, bb);
	memset(m.build_id, 0xaa, 20);
	assert_int_equal(tables_module(t, &m), aa);
	assert_int_equal(tables_module_get(t, aa)->build_id[19], 0xaa);

	struct module jit = {.kind = MODULE_JIT, .pid = 1};
	module_id one = tables_module(t, &jit);
	jit.pid = 2;
	assert_int_not_equal(tables_module(t, &jit), one);
	m.build_id_size = 255; /* hostile */
	m.inode = 80;
	assert_int_equal(tables_module_get(t, tables_module(t, &m))->build_id_size, 32);
}

static module_id file(struct tables *t, const char *path, uint64_t inode, pid_t pid)
{
	const char *name = strrchr(path, '/');
	const struct module m = {.kind = MODULE_FILE,
				 .path = tables_str(t, path),
				 .name = tables_str(t, name ? name + 1 : path),
				 .inode = inode,
				 .pid = pid};

	return tables_module(t, &m);
}

static void test_labels(void **state)
{
	struct tables *t = tables_new();
	module_id alone = file(t, "/usr/bin/alone", 1, 10), one = file(t, "/srv/one/prog", 2, 11);
	char buf[64];

	(void)state;
	assert_string_equal(tables_module_label(t, alone, buf, sizeof buf), "alone");
	assert_string_equal(tables_module_label(t, one, buf, sizeof buf), "prog");
	module_id two = file(t, "/srv/two/prog", 3, 12);
	assert_string_equal(tables_module_label(t, one, buf, sizeof buf), "one/prog");
	assert_string_equal(tables_module_label(t, two, buf, sizeof buf), "two/prog");
	/* Further away they differ further up. */
	module_id far = file(t, "/opt/two/prog", 4, 13);
	assert_string_equal(tables_module_label(t, one, buf, sizeof buf), "one/prog");
	assert_string_equal(tables_module_label(t, two, buf, sizeof buf), "srv/\u2026/prog");
	assert_string_equal(tables_module_label(t, far, buf, sizeof buf), "opt/\u2026/prog");
	/* One path, two files: a container's, or one that was replaced. */
	module_id old = file(t, "/usr/lib/libx.so", 5, 14),
		  new = file(t, "/usr/lib/libx.so", 6, 15);
	assert_string_equal(tables_module_label(t, old, buf, sizeof buf), "libx.so (14)");
	assert_string_equal(tables_module_label(t, new, buf, sizeof buf), "libx.so (15)");
	assert_string_equal(tables_module_label(t, alone, buf, sizeof buf), "alone");
	assert_string_equal(tables_module_label(t, 0, buf, sizeof buf), "");
	for (int i = 0; i < 200; i++) {
		char path[32];

		snprintf(path, sizeof path, "/d%d/many", i);
		file(t, path, 100 + (uint64_t)i, 20);
	}
	assert_string_equal(tables_module_label(t, alone, buf, 3), "alone");
	assert_int_equal(strlen(tables_module_label(t, one, buf, 5)), 4);
	tables_free(t);
}

static void test_frames(void **state)
{
	struct tables *t = *state;
	struct frame f = {.module = 2, .addr = 0x1000};
	frame_id base = tables_frame(t, &f);
	assert_int_equal(tables_frame(t, &f), base);
	struct frame variants[] = {
		{.module = 3, .addr = 0x1000},
		{.module = 2, .addr = 0x1001},
		{.module = 2, .addr = 0x1000, .flags = FRAME_RETURN},
		{.module = 2, .addr = 0x1000, .flags = FRAME_NAMED, .name = 5},
		{.module = 2, .addr = 0x1000, .flags = FRAME_NAMED, .name = 5, .file = 6},
		{.module = 2,
		 .addr = 0x1000,
		 .flags = FRAME_NAMED,
		 .name = 5,
		 .file = 6,
		 .line = 9},
	};
	for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
		frame_id id = tables_frame(t, &variants[i]);
		assert_int_equal(id, base + i + 1);
		assert_int_equal(tables_frame(t, &variants[i]), id);
		assert_int_equal(tables_frame_get(t, id)->line, variants[i].line);
	}
}

static void test_funcs(void **state)
{
	struct tables *t = *state;
	str_id a = tables_str(t, "a"), b = tables_str(t, "b");
	func_id one = tables_func(t, &(struct func){.module = 2, .start = 0x40, .raw = a});
	assert_int_equal(tables_func(t, &(struct func){.module = 2, .start = 0x40, .raw = b}), one);
	assert_int_not_equal(tables_func(t, &(struct func){.module = 3, .start = 0x40}), one);
	func_id named = tables_func(t, &(struct func){.module = 2, .raw = a});
	assert_int_not_equal(named, one);
	assert_int_equal(tables_func(t, &(struct func){.module = 2, .raw = a}), named);
	assert_int_not_equal(tables_func(t, &(struct func){.module = 2, .raw = b}), named);
	/* Symbols came late. */
	tables_func_rename(
		t, one, &(struct func){.module = 2, .start = 0x40, .raw = b, .name = b, .size = 8});
	assert_int_equal(tables_func_get(t, one)->name, b);
	assert_int_equal(tables_func_get(t, one)->size, 8);
	tables_func_rename(t, one, &(struct func){.module = 3, .start = 0x40, .raw = a});
	assert_int_equal(tables_func_get(t, one)->raw, b);
	/* What DWARF tells later; nothing known takes nothing away. */
	tables_func_declare(t, one, b, 7);
	tables_func_declare(t, one, 0, 0);
	assert_int_equal(tables_func_get(t, one)->file, b);
	assert_int_equal(tables_func_get(t, one)->line, 7);
	/* A start equal to a name's id is another function. */
	assert_int_not_equal(tables_func(t, &(struct func){.module = 2, .start = a}), named);
}

static void test_resolve(void **state)
{
	struct tables *t = *state;
	frame_id f = tables_frame(t, &(struct frame){.module = 2, .addr = 0x99});
	assert_null(tables_loc(t, f));
	uint64_t generation = tables_generation(t);
	struct loc_line lines[2] = {{.func = 4, .line = 10}, {.func = 5, .line = 20, .column = 3}};
	tables_resolve(t, f, lines, 0);
	assert_null(tables_loc(t, f));
	tables_resolve(t, f, lines, 1);
	const struct loc *old = tables_loc(t, f);
	assert_int_equal(old->n, 1);
	assert_int_equal(tables_generation(t), generation + 1);
	tables_resolve(t, f, lines, 1); /* nothing new */
	assert_int_equal(tables_generation(t), generation + 1);
	tables_resolve(t, f, lines, 2);
	assert_int_equal(tables_generation(t), generation + 2);
	assert_int_equal(tables_loc(t, f)->lines[1].column, 3);
	assert_int_equal(old->n, 1); /* readers of the old one are safe */
	assert_int_equal(old->lines[0].line, 10);
}

static void test_tasks(void **state)
{
	struct tables *t = *state;
	str_id name = tables_str(t, "worker");
	task_id a = tables_task(t, 10, 11, 500, name), b = tables_task(t, 10, 11, 900, name);
	assert_int_not_equal(a, b);
	assert_int_equal(tables_task_count(t), 2);
	struct task *task = tables_task_get(t, a);
	assert_int_equal(task->tid, 11);
	assert_int_equal(task->born_ns, 500);
	task->comm = tables_str(t, "renamed");
	task->gone_ns = 800;
	assert_string_equal(tables_text(t, tables_task_get(t, a)->comm), "renamed");
	assert_int_equal(tables_task_get(t, b)->gone_ns, 0);
}

static void test_processes(void **state)
{
	struct tables *t = *state;
	str_id name = tables_str(t, "p");
	task_id alone = tables_task(t, 5, 6, 1, name); /* of a process that was never met */
	task_id p = tables_task(t, 10, 0, 1, name), main = tables_task(t, 10, 10, 1, name);
	task_id q = tables_task(t, 20, 0, 2, name), other = tables_task(t, 20, 21, 2, name);
	task_id late = tables_task(t, 10, 11, 3, name);
	task_id again = tables_task(t, 10, 0, 9, name), reused = tables_task(t, 10, 10, 9, name);
	uint32_t n = 0;
	task_id *process = tables_processes(t, &n);

	assert_non_null(process);
	assert_int_equal(n, tables_task_count(t) + 1);
	assert_int_equal(process[0], 0);
	assert_int_equal(process[alone], alone);
	assert_int_equal(process[p], p);
	assert_int_equal(process[main], p);
	assert_int_equal(process[late], p);
	assert_int_equal(process[other], q);
	assert_int_equal(process[reused], again);
	free(process);
}

#define FRAMES 30000

struct worker {
	struct tables *t;
	frame_id ids[FRAMES];
	unsigned wrong;
};

static void *intern_all(void *arg)
{
	struct worker *w = arg;
	for (uint32_t i = 0; i < FRAMES; i++) {
		struct frame f = {.module = 1 + i % 7, .addr = i * 16};
		w->ids[i] = tables_frame(w->t, &f);
		w->wrong += tables_frame_get(w->t, w->ids[i])->addr != i * 16;
		struct loc_line line = {.func = i + 1, .line = i};
		if (i % 4 == 0)
			tables_resolve(w->t, w->ids[i], &line, 1);
		const struct loc *loc = tables_loc(w->t, w->ids[i / 2]);
		w->wrong += loc && loc->lines[0].line != i / 2;
	}
	return NULL;
}

static void test_threads(void **state)
{
	static struct worker workers[3];
	pthread_t threads[3];
	for (int i = 0; i < 3; i++) {
		workers[i].t = *state;
		pthread_create(&threads[i], NULL, intern_all, &workers[i]);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(workers[i].wrong, 0);
		assert_memory_equal(workers[i].ids, workers[0].ids, sizeof workers[0].ids);
	}
	assert_int_equal(tables_frame_count(*state), FRAMES + FRAME_SPECIAL_COUNT - 1);
	assert_true(tables_bytes(*state) > FRAMES * sizeof(struct frame));
	assert_int_equal(tables_overflow(*state), 0);
}

/* CPU time of a hit among the first n frames, of five tries the best. */
static double hit_ns(struct tables *t, uint32_t n)
{
	double best = INFINITY;

	for (int try = 0; try < 5; try++) {
		uint64_t start = clock_thread_cpu_ns();
		frame_id sum = 0;

		for (uint32_t i = 0; i < 2 * FRAMES; i++)
			sum += tables_frame(
				t, &(struct frame){.module = 2, .addr = i * 2654435761u % n * 16});
		assert_int_not_equal(sum, 0);
		best = fmin(best, (double)(clock_thread_cpu_ns() - start) / (2 * FRAMES));
	}
	return best;
}

/* The source thread interns every frame of every sample: a hit among many costs what one among
 * few does, caches aside. A search through what a bucket holds would cost 100 times as much. */
static void test_warm_speed(void **state)
{
	struct tables *t = *state;
	double few, many;

	for (uint32_t i = 0; i < FRAMES / 100; i++)
		tables_frame(t, &(struct frame){.module = 2, .addr = i * 16});
	few = hit_ns(t, FRAMES / 100);
	for (uint32_t i = 0; i < FRAMES; i++)
		tables_frame(t, &(struct frame){.module = 2, .addr = i * 16});
	many = hit_ns(t, FRAMES);
	print_message("warm tables_frame: %.0f ns among %d, %.0f ns among %d\n", few, FRAMES / 100,
		      many, FRAMES);
	assert_true(many < 10 * few);
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < LOSS_KINDS; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(loss_kind_name((enum loss_kind)i),
						loss_kind_name((enum loss_kind)k));
	for (int i = 0; i < CUT_REASONS; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(cut_reason_name((enum cut_reason)i),
						cut_reason_name((enum cut_reason)k));
	assert_string_equal(loss_kind_name(LOSS_KINDS), "unknown");
	assert_string_equal(cut_reason_name((enum cut_reason)99), "unknown");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_specials),   T(test_unknown_ids), T(test_modules),   T(test_frames),
		T(test_funcs),      T(test_resolve),     T(test_tasks),     T(test_threads),
		T(test_warm_speed), T(test_names),       T(test_processes), T(test_labels),
	};
	return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
