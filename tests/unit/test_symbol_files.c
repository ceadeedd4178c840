/*
 * Every way to a debug file, on the corpus's ELF files where they lie beside the checkout: build id
 * directories under --symfs, checked links, dwz supplements, .dwo, mini-debuginfo, prelink, zlib
 * and zstd sections, files without section headers. What tools said of the same files is the
 * oracle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbol/resolver.h"

#define ELF "../shared/corpus/elf/"

static char tmp[64];

static int setup(void **state)
{
	(void)state;
	strcpy(tmp, "/tmp/altpttop-symbol-XXXXXX");
	return mkdtemp(tmp) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", tmp);
	return system(command);
}

static void need_corpus(void)
{
	if (access(ELF, R_OK)) {
		print_message("skipped: no corpus beside the checkout\n");
		skip();
	}
}

/* Copy a corpus file to tmp/NAME, directories and all. */
static void put(const char *file, const char *name)
{
	char from[512], to[512], *slash;
	static char bytes[4 << 20];
	FILE *f;
	size_t n;

	snprintf(from, sizeof from, ELF "%s", file);
	snprintf(to, sizeof to, "%s/%s", tmp, name);
	for (slash = to + strlen(tmp) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(to, 0700);
		*slash = '/';
	}
	f = fopen(from, "re");
	assert_non_null(f);
	n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	f = fopen(to, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

struct prog {
	struct tables *t;
	struct resolver *r;
	module_id module;
};

static struct prog prog_open(const char *path, const char *symfs, const char *debug_dirs)
{
	struct resolver_config config = {.symfs = symfs,
					 .debug_dirs = debug_dirs ? debug_dirs : ":"};
	struct module m = {.kind = MODULE_FILE};
	struct prog p = {.t = tables_new()};

	p.r = resolver_new(p.t, &config, NULL);
	assert_non_null(p.r);
	m.path = tables_str(p.t, path);
	m.name = tables_str(p.t, strrchr(path, '/') + 1);
	p.module = tables_module(p.t, &m);
	return p;
}

/* A corpus file in place. */
static struct prog prog_corpus(const char *file)
{
	char path[PATH_MAX], full[PATH_MAX];

	snprintf(path, sizeof path, ELF "%s", file);
	assert_non_null(realpath(path, full));
	return prog_open(full, NULL, NULL);
}

/* tmp/NAME. */
static struct prog prog_tmp(const char *name)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%s", tmp, name);
	return prog_open(path, NULL, NULL);
}

static void prog_close(struct prog *p)
{
	resolver_free(p->r);
	tables_free(p->t);
}

static const struct loc *at(struct prog *p, uint64_t addr)
{
	struct frame f = {.module = p->module, .addr = addr};
	frame_id frame = tables_frame(p->t, &f);

	resolver_now(p->r, frame);
	assert_non_null(tables_loc(p->t, frame));
	return tables_loc(p->t, frame);
}

static const char *name_at(struct prog *p, uint64_t addr)
{
	const struct loc *l = at(p, addr);

	return tables_text(p->t, tables_func_get(p->t, l->lines[l->n - 1].func)->name);
}

static const char *file_at(struct prog *p, uint64_t addr)
{
	const char *path = tables_text(p->t, at(p, addr)->lines[0].file);

	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

/* ---- Breakpad symbol files as oracle ---- */

static void check_breakpad(struct prog *p, const char *file, unsigned least)
{
	char path[512], text[512], name[400] = "";
	unsigned long long addr, size, skip_;
	unsigned line, number, checked = 0, names = 0;
	FILE *f;

	snprintf(path, sizeof path, ELF "%s", file);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(text, sizeof text, f)) {
		text[strcspn(text, "\n")] = '\0';
		if (sscanf(text, "FUNC %llx %llx %llx %399[^\n]", &addr, &size, &skip_, name) ==
			    4 ||
		    (sscanf(text, "PUBLIC %llx %llx %399[^\n]", &addr, &skip_, name) == 3 &&
		     name[0] != '<')) {
			/* Its demangler writes parameters for C++ only, as ours. */
			assert_string_equal(name_at(p, addr), name);
			names++;
		} else if (sscanf(text, "%llx %llx %u %u", &addr, &size, &line, &number) == 4 &&
			   strspn(text, "0123456789abcdef") && text[0] != 'S') {
			assert_int_equal(at(p, addr)->lines[0].line, line);
			assert_int_equal(at(p, addr + size - 1)->lines[0].line, line);
			checked++;
		}
	}
	fclose(f);
	print_message("%s: %u names, %u lines\n", file, names, checked);
	assert_true(names + checked >= least);
}

static void test_breakpad(void **state)
{
	struct prog p;

	(void)state;
	need_corpus();
	p = prog_corpus("dump_syms__basic.full");
	check_breakpad(&p, "dump_syms__basic.full.inlines.sym", 40);
	/* inline_2 calls inline_1, inlined at line 10. */
	assert_int_equal(at(&p, 0x1158)->n, 2);
	assert_int_equal(at(&p, 0x1158)->lines[1].line, 10);
	assert_string_equal(
		tables_text(p.t, tables_func_get(p.t, at(&p, 0x1158)->lines[0].func)->name),
		"inline_1(int)");
	/* The inlined function is the one that also exists on its own. */
	assert_int_equal(at(&p, 0x1158)->lines[0].func, at(&p, 0x1125)->lines[0].func);
	assert_int_equal(resolver_module(p.r, p.module), SYMBOLS_LINES);
	prog_close(&p);

	p = prog_corpus("dump_syms__basic.minidebuginfo");
	check_breakpad(&p, "dump_syms__basic.minidebuginfo.sym", 15);
	assert_int_equal(resolver_module(p.r, p.module), SYMBOLS_FULL);
	prog_close(&p);

	/* Its dwz supplement is itself: nothing may go round in circles. */
	put("dump_syms__basic.dwz", "basic.dwz");
	p = prog_tmp("basic.dwz");
	check_breakpad(&p, "dump_syms__basic.dwz.inlines.sym", 5);
	prog_close(&p);
}

/* ---- the ways to debug files ---- */

static void test_build_id_symfs(void **state)
{
	struct prog p, plain;
	unsigned lines = 0, inlined = 0, same = 0;

	(void)state;
	need_corpus();
	put("samply__ls-linux_ls", "bin/ls");
	put("samply__ls-linux_63_260a3e6e46db57abf718f6a3562c6eedccf269.debug",
	    "usr/lib/debug/.build-id/63/260a3e6e46db57abf718f6a3562c6eedccf269.debug");
	put("samply__ls-linux_coreutils.debug",
	    "usr/lib/debug/.dwz/aarch64-linux-gnu/coreutils.debug");
	p = prog_open("/bin/ls", tmp, "/usr/lib/debug");
	plain = prog_corpus("samply__ls-linux_ls");
	for (uint64_t addr = 0x4000; addr < 0x17000; addr += 0x64) {
		const struct loc *l = at(&p, addr);

		lines += l->lines[0].line != 0;
		inlined += l->n > 1;
		same += !strcmp(name_at(&p, addr), name_at(&plain, addr));
	}
	assert_true(lines > 500);
	assert_true(inlined > 30);
	assert_true(same < 500); /* without the debug file there are few names */
	assert_int_equal(resolver_module(p.r, p.module), SYMBOLS_LINES);
	prog_close(&p);
	prog_close(&plain);
}

static void test_wrong_build_id(void **state)
{
	struct prog p;

	(void)state;
	need_corpus();
	put("samply__ls-linux_ls", "bin/ls");
	put("dump_syms__basic.dbg",
	    "usr/lib/debug/.build-id/63/260a3e6e46db57abf718f6a3562c6eedccf269.debug");
	p = prog_open("/bin/ls", tmp, "/usr/lib/debug");
	assert_non_null(strstr(name_at(&p, 0x1140), "ls+0x")); /* main() of the other program */
	assert_int_equal(resolver_module(p.r, p.module), SYMBOLS_DYNAMIC);
	prog_close(&p);
}

static void test_debuglink(void **state)
{
	struct prog p;

	(void)state;
	need_corpus();
	/* Prelinked to 0x3000000000, its debug file is not. */
	put("elfutils__testfile52-64.prelink.so", "testfile52-64.prelink.so");
	put("elfutils__testfile52-64.so.debug", ".debug/testfile52-64.so.debug");
	p = prog_tmp("testfile52-64.prelink.so");
	assert_string_equal(name_at(&p, 0x300000056c), "foo");
	assert_int_not_equal(at(&p, 0x300000056c)->lines[0].line, 0);
	assert_int_equal(tables_func_get(p.t, at(&p, 0x300000056c)->lines[0].func)->start,
			 0x300000056c);
	prog_close(&p);
}

/* Without build ids the checksum decides whether the linked file is the right one. */
static void test_debuglink_crc(void **state)
{
	char command[1024], path[512];
	uint64_t addr = 0;
	struct prog p;
	FILE *f;
	int fd;

	(void)state;
	snprintf(
		command, sizeof command,
		"cd %s && printf 'int crc_target(int x) { return x * 3; }\\nint main(void) { return "
		"crc_target(0); }\\n' > x.c && ${CC:-gcc} -g -O0 -Wl,--build-id=none -o x x.c && nm x | "
		"awk '$3 == \"crc_target\" { print $1 }' > addr && objcopy --only-keep-debug x x.dbg && "
		"objcopy --strip-all x && objcopy --add-gnu-debuglink=x.dbg x",
		tmp);
	if (system(command)) {
		print_message("skipped: no compiler or no objcopy here\n");
		skip();
	}
	snprintf(path, sizeof path, "%s/addr", tmp);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lx", &addr), 1);
	fclose(f);
	p = prog_tmp("x");
	assert_string_equal(name_at(&p, addr), "crc_target");
	assert_int_equal(at(&p, addr)->lines[0].line, 1);
	prog_close(&p);
	/* One byte more: another file. */
	snprintf(path, sizeof path, "%s/x.dbg", tmp);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	p = prog_tmp("x");
	assert_int_equal(at(&p, addr)->lines[0].line, 0);
	assert_non_null(strstr(name_at(&p, addr), "x+0x"));
	prog_close(&p);
}

static void test_dwz(void **state)
{
	struct prog p;

	(void)state;
	need_corpus();
	put("elfutils__testfile-dwzstr", "testfile-dwzstr");
	put("elfutils__testfile-dwzstr.multi", "testfile-dwzstr.multi");
	p = prog_tmp("testfile-dwzstr");
	assert_string_equal(name_at(&p, 0x4004f0), "main");
	assert_int_not_equal(at(&p, 0x4004f0)->lines[0].line, 0);
	prog_close(&p);
}

static void test_split(void **state)
{
	struct prog with, without;
	unsigned inlined = 0;

	(void)state;
	need_corpus();
	put("elfutils__testfile-splitdwarf-5", "testfile-splitdwarf-5");
	without = prog_tmp("testfile-splitdwarf-5");
	/* Lines are in the program itself. */
	assert_string_equal(file_at(&without, 0x401160), "hello.c");
	put("elfutils__testfile-hello5.dwo", "testfile-hello5.dwo");
	put("elfutils__testfile-world5.dwo", "testfile-world5.dwo");
	with = prog_tmp("testfile-splitdwarf-5");
	for (uint64_t addr = 0x401050; addr < 0x401260; addr++) {
		assert_string_equal(name_at(&with, addr), name_at(&without, addr));
		assert_int_equal(at(&with, addr)->lines[0].line, at(&without, addr)->lines[0].line);
		inlined += at(&with, addr)->n > 1;
	}
	assert_string_equal(name_at(&with, 0x401160), "foo");
	assert_int_not_equal(tables_func_get(with.t, at(&with, 0x401160)->lines[0].func)->line, 0);
	print_message("split: %u addresses in inlined code\n", inlined);
	prog_close(&with);
	prog_close(&without);
}

static void assert_same(struct prog *a, struct prog *b, uint64_t addr)
{
	const struct loc *x = at(a, addr), *y = at(b, addr);

	assert_int_equal(x->n, y->n);
	for (uint32_t i = 0; i < x->n; i++) {
		assert_string_equal(
			tables_text(a->t, tables_func_get(a->t, x->lines[i].func)->raw),
			tables_text(b->t, tables_func_get(b->t, y->lines[i].func)->raw));
		/* Built in different places. */
		assert_string_equal(strrchr(tables_text(a->t, x->lines[i].file), '/'),
				    strrchr(tables_text(b->t, y->lines[i].file), '/'));
		assert_int_equal(x->lines[i].line, y->lines[i].line);
	}
}

static void test_compressed(void **state)
{
	static const char *const packed[] = {"otel-ebpf-profiler__inline-compressed-dwarf",
					     "otel-ebpf-profiler__inline-compressed-dwarf-zstd"};
	struct prog plain, p;
	unsigned inlined = 0;

	(void)state;
	need_corpus();
	put("otel-ebpf-profiler__inline", "a/inline");
	plain = prog_tmp("a/inline");
	for (int i = 0; i < 2; i++) {
		char name[16];

		snprintf(name, sizeof name, "%c/inline", 'b' + i);
		put(packed[i], name);
		p = prog_tmp(name);
		for (uint64_t addr = 0x600; addr < 0x1200; addr += 4) {
			if (!at(&plain, addr)->lines[0].line)
				continue;
			assert_same(&plain, &p, addr);
			inlined += at(&plain, addr)->n > 1;
		}
		prog_close(&p);
	}
	assert_true(inlined >= 2);
	assert_int_equal(at(&plain, 0x650)->n, 5);
	prog_close(&plain);
}

static void test_no_sections(void **state)
{
	struct prog with, without;

	(void)state;
	need_corpus();
	with = prog_corpus("ddprof__gnu_exe");
	without = prog_corpus("ddprof__gnu_exe_without_sections");
	assert_string_equal(name_at(&with, 0x1064), "main");
	/* No section list, no symbol of that code: a name all the same, the FDE's. */
	assert_non_null(strstr(name_at(&without, 0x1064), "sections+0x1060"));
	prog_close(&with);
	prog_close(&without);
	with = prog_corpus("elfutils__testfile52-64.noshdrs.so");
	assert_string_equal(name_at(&with, 0x42000570), "foo");
	prog_close(&with);
}

/* ---- what is broken ---- */

static void sweep(const char *dir, unsigned least)
{
	struct dirent *e;
	DIR *d = opendir(dir);
	unsigned files = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		char path[PATH_MAX + 300], full[PATH_MAX];
		uint64_t start = clock_thread_cpu_ns();
		struct prog p;

		snprintf(path, sizeof path, "%s%s", dir, e->d_name);
		if (e->d_name[0] == '.' || !realpath(path, full))
			continue;
		p = prog_open(full, NULL, NULL);
		for (uint64_t addr = 0; addr < 0x6000; addr += 0x1f) {
			at(&p, addr);
			at(&p, addr + 0x400000);
			at(&p, addr + 0x8048000);
		}
		prog_close(&p);
		assert_true(clock_thread_cpu_ns() - start < 5000000000ull);
		files++;
	}
	closedir(d);
	print_message("%s: %u files\n", dir, files);
	assert_true(files >= least);
}

static void test_broken(void **state)
{
	(void)state;
	need_corpus();
	sweep("../shared/corpus/elffuzz/", 30);
	sweep(ELF, 70);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_breakpad, setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_id_symfs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong_build_id, setup, teardown),
		cmocka_unit_test_setup_teardown(test_debuglink, setup, teardown),
		cmocka_unit_test_setup_teardown(test_debuglink_crc, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dwz, setup, teardown),
		cmocka_unit_test_setup_teardown(test_split, setup, teardown),
		cmocka_unit_test_setup_teardown(test_compressed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_sections, setup, teardown),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests_name("symbol_files", tests, NULL, NULL);
}
