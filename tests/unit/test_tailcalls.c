/*
 * Functions that tail calls left no frame of: found in the DWARF of tests/programs/tailcalls.c, as
 * gcc and clang write it, where one way leads there and nowhere else; put into folds and snapshots
 * only when asked for.
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

#include "profile/fold.h"
#include "profile/snap.h"
#include "profile_bed.h"
#include "symbol/resolver.h"

/* ---- DWARF ---- */

static char dir[64];

struct prog {
	struct tables *t;
	struct resolver *r;
	module_id module;
};

struct range {
	unsigned long long start, size;
};

static bool build(const char *compiler, const char *flags)
{
	char command[512];

	snprintf(
		command, sizeof command,
		"%s -O2 -g %s -std=gnu17 -D_GNU_SOURCE -o %s/x tests/programs/tailcalls.c 2>%s/log && "
		"nm -S %s/x >%s/symbols",
		compiler, flags, dir, dir, dir, dir);
	return system(command) == 0;
}

static struct range range_of(const char *name)
{
	struct range r = {0};
	char line[256], path[128], found[200], kind;
	unsigned long long start, size;
	FILE *f;

	snprintf(path, sizeof path, "%s/symbols", dir);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "%llx %llx %c %199s", &start, &size, &kind, found) == 4 &&
		    !strcmp(found, name))
			r = (struct range){start, size};
	fclose(f);
	assert_true(r.size > 0);
	return r;
}

static struct prog prog_open(void)
{
	struct resolver_config config = {.debug_dirs = ":"};
	struct module m = {.kind = MODULE_FILE};
	struct prog p = {.t = tables_new()};
	char path[128];

	p.r = resolver_new(p.t, &config, NULL);
	snprintf(path, sizeof path, "%s/x", dir);
	m.path = m.name = tables_str(p.t, path);
	p.module = tables_module(p.t, &m);
	return p;
}

static void prog_close(struct prog *p)
{
	resolver_free(p->r);
	tables_free(p->t);
}

static const char *name_of(const struct prog *p, frame_id frame)
{
	const struct loc *l = tables_loc(p->t, frame);

	return l ? tables_text(p->t, tables_func_get(p->t, l->lines[l->n - 1].func)->name) : "";
}

/* Every address of main as the return address of a call that seems to have gone to @callee: what
 * is missing in between, outermost first, blanks between; "" nothing. */
static void missing(const struct prog *p, const char *callee, char text[256])
{
	struct range main_ = range_of("main"), to = range_of(callee);
	struct frame down = {.module = p->module, .addr = to.start + to.size / 2};
	frame_id inner = tables_frame(p->t, &down);

	text[0] = '\0';
	for (uint64_t at = main_.start + 1; at <= main_.start + main_.size; at++) {
		struct frame up = {.module = p->module, .addr = at, .flags = FRAME_RETURN};
		frame_id outer = tables_frame(p->t, &up);
		const struct tail_calls *c;

		assert_true(tables_tail_possible(p->t, outer, inner));
		assert_null(tables_tail_get(p->t, outer, inner));
		resolver_tail_now(p->r, outer, inner);
		c = tables_tail_get(p->t, outer, inner);
		assert_non_null(c);
		for (uint32_t i = 0; i < c->n; i++) {
			const struct frame *f = tables_frame_get(p->t, c->frames[i]);

			assert_true(f->flags & FRAME_TAILCALL);
			assert_int_equal(f->module, p->module);
			snprintf(text + strlen(text), 256 - strlen(text), "%s%s", *text ? " " : "",
				 name_of(p, c->frames[i]));
		}
	}
}

static void check(const char *compiler, const char *flags)
{
	static const struct {
		const char *callee, *missing;
	} cases[] = {
		{"leaf", "first second"},
		{"second", "first"},
		{"first", ""}, /* called */
		{"plain", ""},
		{"shared", ""}, /* two ways */
		{"left", "either"},
		{"even", ""},   /* called, or round in circles */
		{"odd", ""},    /* likewise */
		{"hidden", ""}, /* through a pointer */
	};
	char text[256], command[128];

	strcpy(dir, "/tmp/altpttop-tail-XXXXXX");
	assert_non_null(mkdtemp(dir));
	if (build(compiler, flags)) {
		struct prog p = prog_open();

		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
			missing(&p, cases[i].callee, text);
			if (strcmp(text, cases[i].missing) != 0)
				print_message("%s %s, %s\n", compiler, flags, cases[i].callee);
			assert_string_equal(text, cases[i].missing);
		}
		prog_close(&p);
	} else {
		print_message("skipped: %s %s does not build it here\n", compiler, flags);
	}
	snprintf(command, sizeof command, "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

/* A library's function is called and jumps on: told by the program's DWARF and the library's. */
static const char user[] = "extern int lib_first(int), lib_either(int), lib_plain(int);\n"
			   "int main(int argc, char **argv) {\n"
			   "	volatile int sink = lib_first(argc);\n"
			   "	sink = sink + lib_either(argc);\n"
			   "	sink = sink + lib_plain(argc);\n"
			   "	return argv[0][0] == sink;\n"
			   "}\n";
static const char library[] =
	"#define FN __attribute__((noipa))\n"
	"static FN int leaf(int x) { __asm__ volatile(\"\" : \"+r\"(x)); return x; }\n"
	"static FN int second(int x) { return leaf(x * 3); }\n"
	"FN int lib_first(int x) { return second(x + 1); }\n"
	"static FN int target(int x) { __asm__ volatile(\"\" : \"+r\"(x)); return x; }\n"
	"static FN int left(int x) { return target(x + 5); }\n"
	"static FN int right(int x) { return target(x + 7); }\n"
	"FN int lib_either(int x) { return x & 1 ? left(x) : right(x); }\n"
	"FN int lib_plain(int x) { __asm__ volatile(\"\" : \"+r\"(x)); return x; }\n";

static void write_text(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* As missing(), for a function of the library and every return address in main. */
static void missing_there(const struct prog *p, module_id lib, struct range main_, struct range to,
			  char text[256])
{
	struct frame down = {.module = lib, .addr = to.start + to.size / 2};
	frame_id inner = tables_frame(p->t, &down);

	text[0] = '\0';
	for (uint64_t at = main_.start + 1; at <= main_.start + main_.size; at++) {
		struct frame up = {.module = p->module, .addr = at, .flags = FRAME_RETURN};
		frame_id outer = tables_frame(p->t, &up);
		const struct tail_calls *c;

		resolver_tail_now(p->r, outer, inner);
		c = tables_tail_get(p->t, outer, inner);
		for (uint32_t i = 0; i < c->n; i++) {
			const struct frame *f = tables_frame_get(p->t, c->frames[i]);

			assert_true(f->flags & FRAME_TAILCALL);
			assert_int_equal(f->module, lib);
			snprintf(text + strlen(text), 256 - strlen(text), "%s%s", *text ? " " : "",
				 name_of(p, c->frames[i]));
		}
	}
}

static void test_library(void **state)
{
	static const struct {
		const char *callee, *missing;
	} cases[] = {{"leaf", "lib_first second"},
		     {"second", "lib_first"},
		     {"lib_first", ""}, /* called */
		     {"target", ""},    /* two ways */
		     {"left", "lib_either"},
		     {"lib_plain", ""}};
	char text[256], command[512];

	(void)state;
	strcpy(dir, "/tmp/altpttop-tail-XXXXXX");
	assert_non_null(mkdtemp(dir));
	write_text("user.c", user);
	write_text("lib.c", library);
	snprintf(command, sizeof command,
		 "cd %s && ${CC:-gcc} -O2 -g -fPIC -shared -o lib.so lib.c 2>log && "
		 "${CC:-gcc} -O2 -g -o x user.c ./lib.so 2>log && nm -S x >symbols",
		 dir);
	if (system(command) != 0) {
		print_message("skipped: it does not build here\n");
		skip();
	}
	struct range main_ = range_of("main");
	struct prog p = prog_open();
	struct module m = {.kind = MODULE_FILE};

	snprintf(command, sizeof command, "%s/lib.so", dir);
	m.path = m.name = tables_str(p.t, command);
	module_id lib = tables_module(p.t, &m);

	snprintf(command, sizeof command, "cd %s && nm -S lib.so >symbols", dir);
	assert_int_equal(system(command), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		missing_there(&p, lib, main_, range_of(cases[i].callee), text);
		assert_string_equal(text, cases[i].missing);
	}
	prog_close(&p);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static void test_gcc(void **state)
{
	(void)state;
	if (access("tests/programs/tailcalls.c", R_OK))
		skip();
	check("${CC:-gcc}", "");
	check("${CC:-gcc}", "-gdwarf-4");
}

static void test_clang(void **state)
{
	(void)state;
	if (access("tests/programs/tailcalls.c", R_OK))
		skip();
	check("clang", "");
	check("clang", "-gdwarf-4 -ggdb");
}

/* ---- folds and snapshots ---- */

static struct profile_bed b;

static frame_id told(const char *name)
{
	struct frame f = *tables_frame_get(b.t, pbed_frame(&b, name));
	const struct loc *loc = tables_loc(b.t, pbed_frame(&b, name));
	frame_id id;

	f.flags |= FRAME_TAILCALL;
	id = tables_frame(b.t, &f);
	tables_resolve(b.t, id, loc->lines, loc->n);
	return id;
}

static void up(void)
{
	struct tail_calls tail = {.n = 2};

	pbed_up(&b);
	pbed_add(&b, 1, "main>leaf", 5, 10);
	pbed_add(&b, 1, "main>second>leaf", 2, 10);
	pbed_add(&b, 1, "main>other>leaf>deep", 1, 10);
	tail.caller = pbed_frame(&b, "main");
	tail.callee = pbed_frame(&b, "leaf");
	tail.frames[0] = told("first");
	tail.frames[1] = told("second");
	tables_tail(b.t, &tail);
}

static const struct fold_row *row(struct fold_rows *rows, const char *name)
{
	return fold_rows_find(rows, script_func(b.t, name));
}

static void test_fold(void **state)
{
	struct fold_rows rows = {0};

	(void)state;
	up();
	pbed_flat(&b, 0, 0);
	assert_int_equal(fold_functions(&rows, &b.flat, b.t, 0), 0);
	assert_null(row(&rows, "first"));
	assert_int_equal(row(&rows, "second")->total.samples, 2);

	pbed_flat(&b, QUERY_TAIL_CALLS, 0);
	assert_int_equal(fold_functions(&rows, &b.flat, b.t, QUERY_TAIL_CALLS), 0);
	assert_int_equal(b.flat.all.samples, 8);
	assert_int_equal(row(&rows, "main")->total.samples, 8);
	assert_int_equal(row(&rows, "first")->total.samples, 5);
	assert_int_equal(row(&rows, "first")->self.samples, 0);
	assert_int_equal(row(&rows, "first")->told_weight, 50);
	assert_int_equal(row(&rows, "second")->total.samples, 7);
	assert_int_equal(row(&rows, "second")->told_weight, 50);
	assert_int_equal(row(&rows, "leaf")->self.samples, 7);
	assert_int_equal(row(&rows, "deep")->total.samples, 1);
	/* Preorder holds: every subtree sums up. */
	for (uint32_t i = 0; i < b.flat.n; i++)
		assert_true(b.flat.nodes[i].parent == FLAT_NONE || b.flat.nodes[i].parent < i);
	fold_rows_fini(&rows);
	pbed_down(&b);
}

static void test_snapshot(void **state)
{
	struct event_desc event = {.name = "cpu-clock", .sampled = true};
	const struct snapshot *s, *with;
	struct window w;
	uint64_t weight = 0;

	(void)state;
	up();
	w = pbed_all(&b);
	s = snap_new(&b.p, b.t, &w, &event, 1, 0);
	assert_non_null(s);
	with = snap_with_tail_calls(s);
	assert_non_null(with);
	assert_int_equal(with->nnodes, s->nnodes + 2);
	assert_int_equal(with->ncells, s->ncells);
	for (uint32_t i = 0; i < with->nnodes; i++)
		assert_true(with->nodes[i].parent == SNAPSHOT_ROOT || with->nodes[i].parent < i);
	for (uint32_t i = 0; i < with->ncells; i++) {
		const struct snapshot_cell *c = &with->cells[i], *old = &s->cells[i];

		weight += c->weight;
		assert_int_equal(with->nodes[c->node].frame, s->nodes[old->node].frame);
		if (with->nodes[c->node].frame == pbed_frame(&b, "leaf") && c->weight == 50) {
			uint32_t at = with->nodes[c->node].parent;

			assert_int_equal(with->nodes[at].frame, told("second"));
			at = with->nodes[at].parent;
			assert_int_equal(with->nodes[at].frame, told("first"));
			at = with->nodes[at].parent;
			assert_int_equal(with->nodes[at].frame, pbed_frame(&b, "main"));
		}
	}
	assert_int_equal(weight, 80);
	snapshot_unref(with);
	snapshot_unref(s);
	pbed_down(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gcc),      cmocka_unit_test(test_library),
		cmocka_unit_test(test_clang),    cmocka_unit_test(test_fold),
		cmocka_unit_test(test_snapshot),
	};

	return cmocka_run_group_tests_name("tailcalls", tests, NULL, NULL);
}
