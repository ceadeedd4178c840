/*
 * Inlined functions without a linker name are called by their scopes: made with g++ and clang++,
 * every address of main is asked for its chain. Also a unit of C, whose names stay as they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/resolver.h"

static const char cxx[] =
	"#include <algorithm>\n"
	"#define IN inline __attribute__((always_inline))\n"
	"volatile int sink;\n"
	"namespace outer { namespace {\n"
	"IN void hidden(int x) { sink = x * 3; }\n"
	"struct Box { template <class T> IN void put(T x) { sink = x + 1; } };\n"
	"} struct Shown { int x; template <class T> IN void show(T y) { sink = x + y; } };\n"
	"inline namespace v1 { template <class F> IN void twice(F f) { f(1); f(2); } } }\n"
	"static IN void plain(int x) { sink = x - 7; }\n"
	"extern \"C\" { static IN void c_like(int x) { sink = x ^ 5; } }\n"
	"int main(int argc, char **) {\n"
	"	struct Local { IN void step(int x) { sink = x * 11; } } local;\n"
	"	outer::Box box; outer::Shown shown = {argc}; shown.show(3);\n"
	"	outer::hidden(argc); box.put(argc); plain(argc); c_like(argc);\n"
	"	local.step(argc);\n"
	"	int a[64], n = 0;\n"
	"	std::generate_n(a, 64, [&]() __attribute__((always_inline)) { return sink + n++; });\n"
	"	outer::twice([&](int x) __attribute__((always_inline)) { sink = a[x + argc]; });\n"
	"}\n";

static const char c[] =
	"volatile int sink;\n"
	"static inline __attribute__((always_inline)) void plain(int x) { sink = x; }\n"
	"int main(int argc, char **argv) { (void)argv; plain(argc); return 0; }\n";

static char names[16384]; /* of all inlined functions of main, a line each */

static bool build(const char *dir, const char *compiler, const char *flags, const char *file,
		  const char *text)
{
	char command[600], path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, file);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	snprintf(
		command, sizeof command,
		"cd %s && %s -g %s -o x %s 2>log && nm -S x | awk '$4 == \"main\" { print $1, $2 }' "
		">range",
		dir, compiler, flags, file);
	return system(command) == 0;
}

static void note(const struct tables *t, const struct loc *l)
{
	for (uint32_t i = 0; i + 1 < l->n; i++) {
		const char *name = tables_text(t, tables_func_get(t, l->lines[i].func)->name);
		char line[600];

		snprintf(line, sizeof line, "%.590s\n", name);
		if (!strstr(names, line) && strlen(names) + strlen(line) < sizeof names)
			strcat(names, line);
	}
}

static void ask_main(const char *dir)
{
	struct resolver_config config = {.debug_dirs = ":"};
	struct module m = {.kind = MODULE_FILE};
	struct tables *t = tables_new();
	struct resolver *r = resolver_new(t, &config, NULL);
	unsigned long long start = 0, size = 0;
	struct frame f = {0};
	char path[128];
	FILE *range;

	snprintf(path, sizeof path, "%s/range", dir);
	range = fopen(path, "re");
	assert_non_null(range);
	assert_int_equal(fscanf(range, "%llx %llx", &start, &size), 2);
	fclose(range);
	snprintf(path, sizeof path, "%s/x", dir);
	m.path = m.name = tables_str(t, path);
	f.module = tables_module(t, &m);
	names[0] = '\0';
	for (f.addr = start; f.addr < start + size; f.addr++) {
		frame_id id = tables_frame(t, &f);

		resolver_now(r, id);
		note(t, tables_loc(t, id));
	}
	resolver_free(r);
	tables_free(t);
}

static void has(const char *part)
{
	if (!strstr(names, part))
		print_message("no %s in\n%s", part, names);
	assert_non_null(strstr(names, part));
}

static void lacks(const char *line)
{
	if (strstr(names, line))
		print_message("%s in\n%s", line, names);
	assert_null(strstr(names, line));
}

static void check(const char *compiler, const char *flags)
{
	char dir[] = "/tmp/altpttop-scopes-XXXXXX", command[64];

	assert_non_null(mkdtemp(dir));
	print_message("%s %s\n", compiler, flags);
	if (build(dir, compiler, flags, "x.cc", cxx)) {
		ask_main(dir);
		has("outer::(anonymous namespace)::hidden");
		/* gcc keeps only a stub of a class that went into a type unit, at the top. */
		has("outer::(anonymous namespace)::Box::put<int>");
		lacks("\nBox::put<int>");
		has("outer::Shown::show<int>");
		has("main::Local::step");
		if (strstr(compiler, "++") && !strstr(compiler, "clang"))
			has("main::{lambda}::operator()");
		has("std::generate_n<");
		has("outer::v1::twice<");
		has("plain");
		has("c_like");
		lacks("\nhidden");
		lacks("\nstep");
		lacks("\noperator()");
		lacks("\ngenerate_n");
		lacks("::plain");
	} else {
		print_message("skipped: %s %s does not build here\n", compiler, flags);
	}
	snprintf(command, sizeof command, "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static void test_gcc(void **state)
{
	(void)state;
	check("${CXX:-g++}", "-O2");
	check("${CXX:-g++}", "-O2 -gdwarf-4");
	check("${CXX:-g++}", "-O2 -gdwarf-4 -fdebug-types-section");
	check("${CXX:-g++}", "-O2 -fdebug-types-section");
	check("${CXX:-g++}", "-O2 -gsplit-dwarf -dumpdir ./");
	check("${CXX:-g++}", "-O2 -gsplit-dwarf -fdebug-types-section -dumpdir ./");
	check("${CXX:-g++}", "-O2 -flto");
}

static void test_clang(void **state)
{
	(void)state;
	check("clang++", "-O2");
	check("clang++", "-O2 -gdwarf-4");
	check("clang++", "-O2 -std=c++20");
	check("clang++", "-O2 -fdebug-types-section");
}

static void test_c(void **state)
{
	char dir[] = "/tmp/altpttop-scopes-XXXXXX", command[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_true(build(dir, "${CC:-gcc}", "-O2", "x.c", c));
	ask_main(dir);
	assert_string_equal(names, "plain\n");
	snprintf(command, sizeof command, "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gcc),
		cmocka_unit_test(test_clang),
		cmocka_unit_test(test_c),
	};

	return cmocka_run_group_tests_name("scopes", tests, NULL, NULL);
}
