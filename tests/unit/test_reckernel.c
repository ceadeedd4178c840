/* The kernel of a recording: the running one when it is that very build, moved as far as two boots
 * differ; perf's copy; a vmlinux by its build id; and nothing that does not match. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "symbol/reckernel.h"

#define RECORDED 0xffffffff9d000000
#define HERE     0xffffffff81000000

static const uint8_t id[20] = "nineteen bytes, more";
static char dir[64];
static struct tables *tables;
static struct program_env here;
static struct reckernel kernel;

static void write_file(const char *name, const void *bytes, size_t n, char path[256])
{
	snprintf(path, 256, "%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static void write_kallsyms(const char *name, uint64_t text, char path[256])
{
	char lines[512];
	int n = snprintf(lines, sizeof lines,
			 "%lx T startup\n%lx T _text\n%lx T do_work\n%lx t do_more\n%lx T _etext\n"
			 "ffffffffc0000000 t in_module\t[ext4]\n",
			 text, text, text + 0x1000, text + 0x2000, text + 0x3000);
	write_file(name, lines, (size_t)n, path);
}

static void write_notes(const uint8_t *build_id, char path[256])
{
	uint8_t note[36] = {4, 0, 0, 0, 20, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0};
	memcpy(note + 16, build_id, 20);
	write_file("notes", note, sizeof note, path);
}

static void tell(bool same_boot, const uint8_t *build_id, uint8_t size)
{
	struct raw_origin o = {.host = "elsewhere",
			       .release = "9.9.9-test",
			       .same_boot = same_boot,
			       .kernel_text = RECORDED,
			       .kernel_symbol = "_text",
			       .kernel_build_id = build_id,
			       .kernel_build_id_size = size};
	reckernel_origin(&kernel, &o);
	assert_false(reckernel_origin(&kernel, &o)); /* said twice is no news */
}

static void named(uint64_t addr, const char *name)
{
	struct kernel_symbol s;
	bool found = reckernel_find(&kernel, addr, &s);
	if (!name) {
		assert_false(found);
		return;
	}
	assert_true(found);
	assert_string_equal(s.name, name);
}

static char notes[256], kallsyms[256];

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/altpttop-kernel-XXXXXX");
	assert_non_null(mkdtemp(dir));
	setenv("HOME", dir, 1);
	tables = tables_new();
	here = (struct program_env){.tables = tables, .debug_dirs = "/nonexistent"};
	reckernel_init(&kernel, tables, &here);
	write_notes(id, notes);
	write_kallsyms("kallsyms", HERE, kallsyms);
	kernel.own_notes = notes;
	kernel.own_kallsyms = kallsyms;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	char command[128];
	reckernel_fini(&kernel);
	tables_free(tables);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command);
}

static void test_running(void **state)
{
	(void)state;
	tell(false, id, 20);
	named(RECORDED + 0x1010, "do_work");
	named(RECORDED + 0x2010, "do_more");
	named(HERE + 0x1010, NULL);
	named(0xffffffffc0000010 - HERE + RECORDED, NULL); /* modules lie elsewhere at each boot */
	assert_string_equal(reckernel_why(&kernel), "");
}

static void test_same_boot(void **state)
{
	(void)state;
	struct raw_origin o = {.same_boot = true};
	assert_true(reckernel_origin(&kernel, &o));
	named(HERE + 0x1010, "do_work");
	named(0xffffffffc0000010, "in_module");
}

static void test_other(void **state)
{
	(void)state;
	uint8_t other[20] = "some other kernel...";
	tell(false, other, 20);
	named(RECORDED + 0x1010, NULL);
	assert_non_null(strstr(reckernel_why(&kernel), "another kernel"));
	assert_non_null(strstr(reckernel_why(&kernel), "vmlinux-9.9.9-test"));
	/* The right one comes to be known later: that is news. */
	struct raw_origin o = {.kernel_build_id = id, .kernel_build_id_size = 20};
	assert_true(reckernel_origin(&kernel, &o));
	named(RECORDED + 0x1010, "do_work");
}

static void test_unknown(void **state)
{
	(void)state;
	named(HERE + 0x1010, NULL);
	assert_non_null(strstr(reckernel_why(&kernel), "does not say"));
}

/* perf record -B: no build id, but this machine's name and release, and its text where ours is. */
static void test_same_machine(void **state)
{
	(void)state;
	struct raw_origin o = {
		.same_machine = true, .kernel_text = RECORDED, .kernel_symbol = "_text"};
	named(HERE + 0x1010, NULL);
	assert_true(reckernel_origin(&kernel, &o));
	named(RECORDED + 0x1010, NULL); /* another boot's */
	named(HERE + 0x1010, NULL);
	assert_non_null(strstr(reckernel_why(&kernel), "does not say"));
	o.kernel_text = HERE;
	assert_true(reckernel_origin(&kernel, &o));
	named(HERE + 0x1010, "do_work");
	named(0xffffffffc0000010, NULL); /* nobody knows when its modules were loaded */
	assert_string_equal(reckernel_why(&kernel), "");
	o.same_machine = false;
	assert_true(reckernel_origin(&kernel, &o));
	named(HERE + 0x1010, NULL);
	o.same_machine = true;
	o.kernel_symbol = "_other"; /* which ours has not */
	reckernel_origin(&kernel, &o);
	named(HERE + 0x1010, NULL);
	o.kernel_symbol = "_text";
	o.kernel_build_id = (const uint8_t *)"some other kernel...";
	o.kernel_build_id_size = 20;
	assert_true(reckernel_origin(&kernel, &o));
	named(HERE + 0x1010, NULL);
}

static void test_perf_cache(void **state)
{
	(void)state;
	uint8_t other[20];
	char path[256], place[160];
	memset(other, 0xab, sizeof other);
	snprintf(place, sizeof place, "%s/.debug", dir);
	mkdir(place, 0700);
	strcat(place, "/.build-id");
	mkdir(place, 0700);
	strcat(place, "/ab");
	mkdir(place, 0700);
	strcat(place, "/ababababababababababababababababababab");
	assert_int_equal(strlen(strrchr(place, '/')), 39);
	mkdir(place, 0700);
	write_kallsyms(".debug/.build-id/ab/ababababababababababababababababababab/kallsyms",
		       HERE + 0x5000000, path);
	tell(false, other, 20);
	named(RECORDED + 0x1010, "do_work");
}

/* Any program with a build id serves as a vmlinux here. */
static void test_vmlinux(void **state)
{
	(void)state;
	struct image *image;
	struct err err;
	char path[256], self[256];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	assert_true(n > 0);
	self[n] = '\0';
	FILE *f = fopen(self, "r");
	assert_int_equal(image_open(fileno(f), 0, &image, &err), 0);
	fclose(f);
	if (!image->build_id_size) {
		image_close(image);
		print_message("# skipped: this compiler gives programs no build id\n");
		return;
	}
	snprintf(path, sizeof path, "%s/boot", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/boot/vmlinux-9.9.9-test", dir);
	assert_int_equal(symlink(self, path), 0);
	here.access.symfs = dir;
	struct raw_origin o = {.release = "9.9.9-test",
			       .kernel_text = RECORDED,
			       .kernel_symbol = "main",
			       .kernel_build_id = image->build_id,
			       .kernel_build_id_size = image->build_id_size};
	reckernel_origin(&kernel, &o);
	named(RECORDED, NULL);
	uint64_t addr;
	struct program *p = reckernel_file(&kernel, RECORDED + 4, &addr);
	assert_non_null(p);
	struct found found;
	found_init(&found);
	program_name(p, addr, &found);
	assert_string_equal(found_str(&found, found.lines[0].raw), "main");
	assert_int_equal(addr, found.lines[0].start + 4);
	found_fini(&found);
	image_close(image);
	/* The same file is not that of another build id, wherever it lies. */
	tell(false, (const uint8_t *)"another kernel, yes.", 20);
	assert_null(reckernel_file(&kernel, RECORDED, &addr));
}

/* A BPF program lay where the recording's records say. */
static void test_made(void **state)
{
	(void)state;
	reckernel_add(&kernel, 0xffffffffc1000000, 0x100, "bpf_prog_1234_filter");
	reckernel_add(&kernel, UINT64_MAX, 0x100, "wraps");
	reckernel_add(&kernel, 0xffffffffc1000200, 0, "empty");
	named(0xffffffffc10000ff, "bpf_prog_1234_filter");
	named(0xffffffffc1000100, NULL);
	named(0xffffffffc1000200, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_running, setup, teardown),
		cmocka_unit_test_setup_teardown(test_same_boot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_same_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(test_perf_cache, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vmlinux, setup, teardown),
		cmocka_unit_test_setup_teardown(test_made, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
