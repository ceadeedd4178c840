/*
 * Programs made to harm: references that go round in circles, entries nested thousands deep,
 * sections that unpack to a hundred times their size, files cut short while they are read. Each
 * time one counter rises, nothing hangs or crashes, and what is whole is used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard.h"
#include "symbol/resolver.h"

static char tmp[64];

static int setup(void **state)
{
	(void)state;
	strcpy(tmp, "/tmp/altpttop-hostile-XXXXXX");
	return mkdtemp(tmp) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", tmp);
	return system(command);
}

/* One function of 16 bytes; its abbreviations; the start of a DWARF 4 unit around it. */
static const char common[] =
	"	.text\n"
	"	.globl victim\n"
	"	.type victim, %function\n"
	"victim:	.zero 16\n"
	"victim_end:\n"
	"	.size victim, 16\n"
	"	.section .debug_abbrev,\"\",%progbits\n"
	"	.byte 1,0x11,1, 0x11,1, 0x12,7, 0,0\n"            /* unit: low, high(data8) */
	"	.byte 2,0x2e,1, 3,8, 0x11,1, 0x12,7, 0,0\n"       /* subprogram: name, low, high */
	"	.byte 3,0x1d,0, 0x31,0x13, 0x11,1, 0x12,7, 0,0\n" /* inlined: origin(ref4), low,
								     high */
	"	.byte 4,0x2e,0, 0x31,0x13, 0,0\n"                 /* abstract: origin */
	"	.byte 5,0x0b,1, 0,0\n"                            /* block */
	"	.byte 0\n"
	"	.section .debug_info,\"\",%progbits\n"
	"unit:	.long unit_end - unit - 4\n"
	"	.short 4\n"
	"	.long 0\n"
	"	.byte 8\n"
	"	.byte 1\n"
	"	.quad victim, 16\n"
	"	.byte 2\n"
	"	.asciz \"victim\"\n"
	"	.quad victim, 16\n";

static void build(const char *entries, const char *more)
{
	char path[128], command[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/x.s", tmp);
	f = fopen(path, "we");
	assert_non_null(f);
	fprintf(f, "%s%sunit_end:\n	.section .note.GNU-stack,\"\",%%progbits\n", common,
		entries);
	fclose(f);
	snprintf(
		command, sizeof command,
		"cd %s && ${CC:-gcc} -nostdlib -shared -o x.so x.s 2>/dev/null && nm x.so | awk '$3 == "
		"\"victim\" { print $1 }' > addr%s",
		tmp, more);
	if (system(command)) {
		print_message("skipped: no assembler here\n");
		skip();
	}
}

struct prog {
	struct tables *t;
	struct resolver *r;
	module_id module;
	uint64_t addr;
};

static struct prog prog_open(void)
{
	struct resolver_config config = {.debug_dirs = ":"};
	struct module m = {.kind = MODULE_FILE};
	struct prog p = {.t = tables_new()};
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/addr", tmp);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lx", &p.addr), 1);
	fclose(f);
	p.r = resolver_new(p.t, &config, NULL);
	snprintf(path, sizeof path, "%s/x.so", tmp);
	m.path = tables_str(p.t, path);
	m.name = tables_str(p.t, "x.so");
	p.module = tables_module(p.t, &m);
	return p;
}

static void prog_close(struct prog *p)
{
	resolver_free(p->r);
	tables_free(p->t);
}

static const struct loc *at(struct prog *p, uint64_t offset)
{
	struct frame f = {.module = p->module, .addr = p->addr + offset};
	frame_id frame = tables_frame(p->t, &f);

	resolver_now(p->r, frame);
	assert_non_null(tables_loc(p->t, frame));
	return tables_loc(p->t, frame);
}

static const char *last_name(struct prog *p, const struct loc *l)
{
	return tables_text(p->t, tables_func_get(p->t, l->lines[l->n - 1].func)->name);
}

static void test_cycle(void **state)
{
	struct prog p;

	(void)state;
	build("	.byte 3\n	.long a - unit\n	.quad victim, 8\n" /* inlined a */
	      "	.byte 0\n"
	      "a:	.byte 4\n	.long b - unit\n" /* a comes from b comes from a */
	      "b:	.byte 4\n	.long a - unit\n"
	      "	.byte 0\n",
	      "");
	p = prog_open();
	assert_int_equal(at(&p, 2)->n, 2); /* an inlined call without a name is still one */
	assert_string_equal(last_name(&p, at(&p, 2)), "victim");
	assert_int_equal(at(&p, 9)->n, 1);
	prog_close(&p);
}

static void test_self(void **state)
{
	struct prog p;

	(void)state;
	/* An inlined call of itself, and one of an entry outside of the unit. */
	build("self:	.byte 3\n	.long self - unit\n	.quad victim, 4\n"
	      "	.byte 3\n	.long 0x7fffffff\n	.quad victim + 4, 4\n"
	      "	.byte 0\n	.byte 0\n",
	      "");
	p = prog_open();
	assert_string_equal(last_name(&p, at(&p, 1)), "victim");
	assert_string_equal(last_name(&p, at(&p, 5)), "victim");
	prog_close(&p);
}

static void test_deep(void **state)
{
	struct prog p;

	(void)state;
	build("	.rept 100000\n	.byte 5\n	.endr\n"
	      "	.byte 3\n	.long 0\n	.quad victim, 8\n"
	      "	.rept 100002\n	.byte 0\n	.endr\n",
	      "");
	p = prog_open();
	assert_string_equal(last_name(&p, at(&p, 1)), "victim");
	assert_true(resolver_damage(p.r) > 0);
	prog_close(&p);
}

static void test_cut_off(void **state)
{
	struct prog p;

	(void)state;
	build("	.byte 99\n", ""); /* an abbreviation that is not there */
	p = prog_open();
	assert_string_equal(last_name(&p, at(&p, 1)), "victim");
	assert_true(resolver_damage(p.r) > 0);
	prog_close(&p);
}

static long peak_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static void test_bomb(void **state)
{
	struct prog p;
	long before;
	uint64_t start;

	(void)state;
	build("	.byte 0\n	.byte 0\n"
	      "	.section .debug_str,\"\",%progbits\n	.zero 200000000\n"
	      "	.section .debug_info,\"\",%progbits\n",
	      " && objcopy --compress-debug-sections=zlib x.so && rm -f x.s");
	before = peak_kib();
	start = clock_thread_cpu_ns();
	p = prog_open();
	assert_string_equal(last_name(&p, at(&p, 1)), "victim");
	assert_true(resolver_damage(p.r) > 0);
	assert_true(clock_thread_cpu_ns() - start < 1000000000ull);
	assert_true(peak_kib() - before < 50000);
	prog_close(&p);
}

/* Some pages of debug information, so that they are not all in memory by reading the header. */
static void test_cut_short(void **state)
{
	struct prog p;
	char path[128];

	(void)state;
	build("	.byte 0\n	.rept 200000\n	.byte 4\n	.long 0\n	.endr\n	.byte 0\n",
	      "");
	p = prog_open();
	guard_install(); /* cmocka put a handler of its own before us */
	snprintf(path, sizeof path, "%s/x.so", tmp);
	assert_string_equal(last_name(&p, at(&p, 1)), "victim");
	assert_int_equal(truncate(path, 4096), 0);
	/* An address that was not asked for: everything has to be read again. */
	assert_non_null(last_name(&p, at(&p, 5)));
	assert_non_null(last_name(&p, at(&p, 0x100000)));
	assert_true(resolver_damage(p.r) > 0);
	prog_close(&p);
}

/* The same, but nothing was read yet save the symbols. */
static void test_cut_short_early(void **state)
{
	struct prog p;
	char path[128];
	struct frame f;
	frame_id frame;

	(void)state;
	build("	.byte 0\n	.rept 200000\n	.byte 4\n	.long 0\n	.endr\n	.byte 0\n",
	      "");
	p = prog_open();
	guard_install();
	f = (struct frame){.module = p.module, .addr = p.addr + 1};
	frame = tables_frame(p.t, &f);
	assert_int_equal(resolver_start(p.r), 0);
	resolver_want(p.r, &frame, 1);
	snprintf(path, sizeof path, "%s/x.so", tmp);
	assert_int_equal(truncate(path, 4096), 0);
	assert_true(resolver_settle(p.r, 60000));
	assert_non_null(tables_loc(p.t, frame));
	resolver_stop(p.r);
	assert_true(resolver_join(p.r, 60000));
	prog_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_cycle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_self, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bomb, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_short, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_short_early, setup, teardown),
	};

	return cmocka_run_group_tests_name("symbol_hostile", tests, NULL, NULL);
}
