/*
 * codelist: the listing of a program made here: its lines, inlined callees under their call site,
 * call targets, bytes that are no instruction, a source that was moved, is missing, or is newer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "symbol/resolver.h"

static char tmp[64];

static const char source[] =
	"static inline __attribute__((always_inline)) int inner(volatile int *p)\n" /* 1 */
	"{\n"
	"	return *p * 17 + *p;\n" /* 3 */
	"}\n"
	"__attribute__((noinline)) int callee(volatile int *p)\n"
	"{\n"
	"	return *p + 1;\n"
	"}\n"
	"__attribute__((noinline)) int caller(volatile int *p)\n" /* 9 */
	"{\n"
	"	int x = callee(p);\n" /* 11 */
	"#ifdef __x86_64__\n"
	"	__asm__ volatile(\"jmp 1f\\n\\t.byte 0x06,0x06,0x06\\n1:\");\n" /* 13 */
	"#endif\n"
	"	x += inner(p);\n" /* 15 */
	"	*p = x;\n"
	"	return x;\n"
	"}\n"
	"int main(void)\n"
	"{\n"
	"	volatile int v = 3;\n"
	"	return caller(&v) & 1;\n"
	"}\n";

static int setup(void **state)
{
	char path[128], command[512];
	FILE *f;

	(void)state;
	strcpy(tmp, "/tmp/altpttop-codelist-XXXXXX");
	if (!mkdtemp(tmp))
		return -1;
	snprintf(path, sizeof path, "%s/x.c", tmp);
	f = fopen(path, "we");
	fputs(source, f);
	fclose(f);
	snprintf(
		command, sizeof command,
		"cd %s && ${CC:-gcc} -g -O2 -o x %s/x.c 2>/dev/null && nm x | awk '$3 == \"caller\" { "
		"print $1 }' > addr",
		tmp, tmp);
	return system(command) ? -1 : 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", tmp);
	return system(command);
}

struct view {
	struct tables *t;
	struct resolver *r;
	const struct listing *l;
	func_id func;
};

static struct view look(const char *from, const char *to)
{
	struct resolver_config config = {.path_from = from, .path_to = to};
	struct module m = {.kind = MODULE_FILE};
	struct view v = {.t = tables_new()};
	struct frame frame = {0};
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/addr", tmp);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lx", &frame.addr), 1);
	fclose(f);
	v.r = resolver_new(v.t, &config, NULL);
	snprintf(path, sizeof path, "%s/x", tmp);
	m.path = tables_str(v.t, path);
	m.name = tables_str(v.t, "x");
	frame.module = tables_module(v.t, &m);
	frame_id id = tables_frame(v.t, &frame);
	resolver_now(v.r, id);
	v.func = tables_loc(v.t, id)->lines[tables_loc(v.t, id)->n - 1].func;
	assert_string_equal(tables_text(v.t, tables_func_get(v.t, v.func)->name), "caller");
	v.l = resolver_listing_now(v.r, v.func);
	assert_non_null(v.l);
	return v;
}

static void leave(struct view *v)
{
	listing_unref(v->l);
	resolver_free(v->r);
	tables_free(v->t);
}

static void test_lines(void **state)
{
	struct view v = look(NULL, NULL);
	bool text = false;

	(void)state;
	assert_string_equal(v.l->note, "");
	assert_true(v.l->lines[0].line <= 9);
	assert_true(v.l->lines[v.l->nlines - 1].line >= 17);
	for (uint32_t i = 0; i < v.l->nlines; i++)
		if (v.l->lines[i].line == 15) {
			assert_string_equal(v.l->lines[i].text, "	x += inner(p);");
			text = true;
		}
	assert_true(text);
	assert_int_equal(tables_func_get(v.t, v.func)->line, 9);
	leave(&v);
}

static void test_instructions(void **state)
{
	struct view v = look(NULL, NULL);
	bool called = false, inlined = false, data = false, after = false;

	(void)state;
	for (uint32_t i = 0; i < v.l->ninsns; i++) {
		const struct listing_insn *in = &v.l->insns[i];

		if (in->callee &&
		    !strcmp(tables_text(v.t, tables_func_get(v.t, in->callee)->name), "callee")) {
			assert_non_null(strstr(in->text, "<callee>"));
			assert_int_equal(in->line, 11);
			called = true;
		}
		if (in->inlined) {
			assert_string_equal(tables_text(v.t, in->inlined), "inner");
			assert_int_equal(in->call_line, 15);
			inlined = true;
		}
		if (data && !in->data)
			after = true;
		data |= in->data;
	}
	assert_true(called);
	assert_true(inlined);
#ifdef __x86_64__
	assert_true(data); /* 0x06 is none on this machine */
	assert_true(after);
#else
	(void)after;
#endif
	leave(&v);
}

/* A function that has no code of its own shows its text all the same. */
static void test_inlined_only(void **state)
{
	struct view v = look(NULL, NULL);
	const struct listing *l = NULL;
	struct frame frame = {.module = tables_func_get(v.t, v.func)->module};
	bool found = false;

	(void)state;
	for (uint32_t i = 0; i < v.l->ninsns && !frame.addr; i++)
		frame.addr = v.l->insns[i].inlined ? v.l->insns[i].addr : 0;
	assert_true(frame.addr);
	frame_id id = tables_frame(v.t, &frame);
	resolver_now(v.r, id);
	l = resolver_listing_now(v.r, tables_loc(v.t, id)->lines[0].func);
	assert_non_null(l);
	assert_int_not_equal(l->func, v.func);
	for (uint32_t i = 0; i < l->nlines; i++)
		found |= l->lines[i].line == tables_loc(v.t, id)->lines[0].line &&
			 *l->lines[i].text;
	assert_true(found);
	listing_unref(l);
	leave(&v);
}

/* Without line tables the note says so, and the instructions are there. */
static void test_without_lines(void **state)
{
	char command[256];
	struct view v;

	(void)state;
	snprintf(command, sizeof command, "strip -g '%s/x'", tmp);
	assert_int_equal(system(command), 0);
	v = look(NULL, NULL);
	assert_non_null(strstr(v.l->note, "built without -g"));
	assert_int_equal(v.l->nlines, 0);
	assert_true(v.l->ninsns > 5);
	leave(&v);
}

static void test_missing_moved(void **state)
{
	char was[128], now[256], dir[128];
	struct view v;

	(void)state;
	snprintf(was, sizeof was, "%s/x.c", tmp);
	snprintf(dir, sizeof dir, "%s/moved", tmp);
	snprintf(now, sizeof now, "%s/x.c", dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(rename(was, now), 0);
	v = look(NULL, NULL);
	assert_non_null(strstr(v.l->note, "source not found"));
	assert_non_null(strstr(v.l->note, was));
	assert_true(v.l->ninsns > 5); /* the instructions are there all the same */
	leave(&v);
	v = look(tmp, dir);
	assert_string_equal(v.l->note, "");
	assert_true(v.l->nlines > 5);
	leave(&v);
}

static void test_newer(void **state)
{
	struct utimbuf later = {time(NULL) + 100, time(NULL) + 100};
	char path[128];
	struct view v;

	(void)state;
	snprintf(path, sizeof path, "%s/x.c", tmp);
	assert_int_equal(utime(path, &later), 0);
	v = look(NULL, NULL);
	assert_non_null(strstr(v.l->note, "newer"));
	leave(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_instructions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_inlined_only, setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_newer, setup, teardown),
	};

	return cmocka_run_group_tests_name("codelist", tests, NULL, NULL);
}
