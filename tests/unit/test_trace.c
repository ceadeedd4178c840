/* trace: duration, cache and edge on small recordings whose outcome was worked out by hand. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "counting_sink.h"

static struct counting c;
static struct err err;

static const struct analysis *read_text(const char *text, const struct analyser_options *options,
					unsigned which)
{
	counting_init(&c);
	err = (struct err){0};
	int rc = counting_text(&c, text, strlen(text), options, &err);
	if (rc || c.nanalyses <= which)
		fail_msg("%d %s: %u analyses; said %s", rc, err.msg, c.nanalyses, c.said.buf);
	return c.analyses[which];
}

static double cell(const struct analysis *a, const char *name, const char *title)
{
	int row = counting_row(a, c.tables, name);
	if (row < 0)
		fail_msg("no row %s", name);
	return counting_cell(a, row, title);
}

#define assert_cell(a, name, title, value) assert_float_equal(cell(a, name, title), value, 1e-9)

/* --- duration --- */

/* outer [0,100] holds a [10,20], a [30,60] (which holds b [35,45]) and b [70,71.5]; alone
 * [200,210]. µs. */
static const char spans[] =
	"[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":70,\"dur\":1.5,\"name\":\"b\"},"
	"{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":0,\"name\":\"outer\"},"
	"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":10,\"dur\":10,\"name\":\"a\"},"
	"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":30,\"dur\":30,\"name\":\"a\"},"
	"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":\"35\",\"dur\":\"10.0\",\"name\":\"b\"},"
	"{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":100},"
	"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":200,\"dur\":10,\"name\":\"alone\"}]";

static void test_duration(void **state)
{
	(void)state;
	const struct analyser_options options = {.pattern = PATTERN_DURATION};
	const struct analysis *a = read_text(spans, &options, 0);
	assert_int_equal(a->nrows, 4);
	assert_cell(a, "a", "count", 2);
	assert_cell(a, "a", "total", 40000);
	assert_cell(a, "a", "avg", 20000);
	assert_cell(a, "a", "min", 10000);
	assert_cell(a, "a", "max", 30000);
	assert_cell(a, "a", "max_avg", 1.5);
	assert_cell(a, "a", "sd_avg", 0.5);
	assert_cell(a, "a", "cachemiss", 10000 / 150.0);
	assert_cell(a, "a", "avg_child_nb", 0.5);
	assert_cell(a, "a", "avg_loop_size", 1);
	assert_cell(a, "a", "p50", 10000);
	assert_cell(a, "a", "p95", 30000);
	/* outer: children a, a, b (the inner b is a's): three of two names */
	assert_cell(a, "outer", "avg_child_nb", 3);
	assert_cell(a, "outer", "avg_loop_size", 1.5);
	assert_cell(a, "alone", "avg_loop_size", 0);
	const struct analysis_row *outer = &a->rows[counting_row(a, c.tables, "outer")];
	assert_float_equal(outer->share, 100 / 110.0, 1e-9);
	assert_float_equal(outer->self_share, 58.5 / 110, 1e-9);
	assert_float_equal(outer->self_ns, 58500, 1e-9);
	assert_float_equal(a->rows[counting_row(a, c.tables, "a")].self_ns, 15000, 1e-9);
	/* self times are the samples: outer 100 - 10 - 30 - 1.5, a 10 + 20, b 10 + 1.5, alone 10 */
	assert_int_equal(c.weight, 110000);
	assert_non_null(strstr(c.folded.buf, "outer 58500\n"));
	assert_non_null(strstr(c.folded.buf, "outer;a 30000\n"));
	assert_non_null(strstr(c.folded.buf, "outer;a;b 10000\n"));
	counting_fini(&c);
}

static void test_duration_score(void **state)
{
	(void)state;
	const struct analyser_options options = {.pattern = PATTERN_DURATION};
	const struct analysis *a = read_text("[{\"ph\":\"X\",\"ts\":0,\"dur\":1,\"name\":\"few\"},"
					     "{\"ph\":\"X\",\"ts\":2,\"dur\":1,\"name\":\"many\"},"
					     "{\"ph\":\"X\",\"ts\":4,\"dur\":1,\"name\":\"many\"}]",
					     &options, 0);
	/* count 1 and 2, total 1000 and 2000: 0 and 1; avg, max_avg, sd_avg equal: 0 */
	assert_cell(a, "many", "score", 0.70);
	assert_cell(a, "few", "score", 0);
	assert_string_equal(tables_text(c.tables, a->rows[0].name), "many");
	counting_fini(&c);
}

static void test_duration_leaf(void **state)
{
	(void)state;
	struct analyser_options options = {.pattern = PATTERN_DURATION, .leaf = true};
	const struct analysis *a = read_text(spans, &options, 0);
	assert_cell(a, "a", "count", 1);
	assert_cell(a, "b", "count", 2);
	assert_int_equal(counting_row(a, c.tables, "outer"), -1);
	counting_fini(&c);
	options = (struct analyser_options){.pattern = PATTERN_DURATION, .leaf_parent = true};
	a = read_text(spans, &options, 0);
	assert_int_equal(a->nrows, 1);
	assert_cell(a, "a", "count", 1);
	assert_cell(a, "a", "total", 30000);
	counting_fini(&c);
}

static void test_duration_filter(void **state)
{
	(void)state;
	const struct analyser_options options = {.pattern = PATTERN_DURATION,
						 .filter = "count>=2, avg<20000"};
	const struct analysis *a = read_text(spans, &options, 0);
	assert_int_equal(a->nrows, 1);
	assert_string_equal(tables_text(c.tables, a->rows[0].name), "b");
	counting_fini(&c);
	static const char *const bad[] = {"cuont>1", "count>", "count!1", "count>1;avg>1",
					  "count 5"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		counting_init(&c);
		struct analyser *analyser;
		const struct analyser_options o = {.filter = bad[i]};
		err = (struct err){0};
		assert_int_equal(analyser_new(&o, c.tables, &c.sink, &analyser, &err), -EINVAL);
		assert_true(err.msg[0]);
		counting_fini(&c);
	}
}

static void test_duration_spilled(void **state)
{
	(void)state;
	struct strbuf text;
	strbuf_init(&text);
	strbuf_putc(&text, '[');
	for (unsigned i = 0; i < 20000; i++)
		strbuf_printf(
			&text,
			"{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"dur\":%u,\"name\":\"n%u\"},",
			i % 7, (i * 7919) % 20000, i % 13, i % 11);
	struct analyser_options options = {.pattern = PATTERN_DURATION};
	struct counting in_memory;
	const struct analysis *whole = read_text(text.buf, &options, 0);
	in_memory = c;
	options.span_bytes = 1; /* the least: 1,024 spans in memory */
	const struct analysis *spilled = read_text(text.buf, &options, 0);
	assert_int_equal(whole->nrows, spilled->nrows);
	assert_int_equal(whole->nrows, 11);
	assert_memory_equal(whole->cells, spilled->cells,
			    sizeof(double) * whole->nrows * whole->ncolumns);
	strbuf_fini(&text);
	counting_fini(&c);
	counting_fini(&in_memory);
}

/* --- cache --- */

#define LINE(time, flags, ip, symbol) \
	"prog 7/7 [000] 1.00000" time ": instructions:u: " flags " " ip " " symbol " (/bin/prog)\n"

/*
 * main calls f (10 ns later), f runs two instructions and calls itself once, both return; main goes
 * on, jumps to g as a tail call.
 */
static const char calls[] = LINE("0000", "", "100", "main+0x0")
	LINE("0010", "call", "104", "main+0x4") LINE("0020", "", "200", "f+0x0")
		LINE("0025", "call", "204", "f+0x4") LINE("0030", "", "200", "f+0x0") LINE(
			"0035", "return", "208", "f+0x8") LINE("0045", "return", "208", "f+0x8")
			LINE("0050", "", "108", "main+0x8") LINE("0060", "jmp", "10c", "main+0xc")
				LINE("0070", "", "300", "g+0x0")
					LINE("0090", "return", "304", "g+0x4");

static void test_cache(void **state)
{
	(void)state;
	const struct analyser_options options = {.pattern = PATTERN_CACHE, .ghz = 2};
	const struct analysis *a = read_text(calls, &options, 0);
	assert_int_equal(a->nrows, 3);
	/* f: entered twice; five instructions in 30 ns (from 20 to 50, once each although it
	 * recurs) */
	assert_cell(a, "f", "count", 2);
	assert_cell(a, "f", "inst", 2.5);
	assert_cell(a, "f", "self_inst", 2.5);
	assert_cell(a, "f", "time", 15);
	assert_cell(a, "f", "ipc", 5 / (30.0 * 2));
	assert_cell(a, "f", "depth", 1.5);
	/* main: from 0 to 70, its own time is 20 before f and 20 after it */
	assert_cell(a, "main", "count", 1);
	assert_cell(a, "main", "inst", 9);
	assert_cell(a, "main", "self_inst", 4);
	assert_cell(a, "main", "time", 70);
	assert_cell(a, "main", "self_time", 40);
	assert_cell(a, "main", "depth", 0);
	/* g took main's place */
	assert_cell(a, "g", "time", 20);
	assert_cell(a, "g", "trace_time_pct", 100 * 20 / 90.0);
	assert_cell(a, "g", "depth", 0);
	assert_int_equal(c.weight, 90);
	assert_non_null(strstr(c.folded.buf, "main;f;f 15\n"));
	assert_null(strstr(a->note, "made no sense"));
	counting_fini(&c);
}

static void test_cache_repair(void **state)
{
	(void)state;
	/* main runs into the middle of f without a branch: nothing is known of the callers any more
	 */
	const struct analyser_options options = {.pattern = PATTERN_CACHE};
	const struct analysis *a = read_text(
		LINE("0000", "call", "100", "main+0x0") LINE("0010", "", "200", "f+0x0")
			LINE("0020", "", "308", "g+0x8") LINE("0030", "", "400", "h+0x0"),
		&options, 0);
	assert_non_null(strstr(a->note, "1 times the stack made no sense"));
	assert_non_null(strstr(a->note, "--ghz"));
	assert_true(isnan(cell(a, "f", "ipc")));
	/* h was entered at its first byte: it lies on g */
	assert_cell(a, "h", "depth", 1);
	assert_cell(a, "g", "depth", 0);
	counting_fini(&c);
}

static void test_cache_trampoline(void **state)
{
	(void)state;
	/* main → stub@plt, which jumps to f; f returns to main. Then a return to a function never
	 * seen. */
	const struct analyser_options options = {.pattern = PATTERN_CACHE};
	const struct analysis *a = read_text(
		LINE("0000", "call", "100", "main+0x0") LINE("0010", "jmp", "150", "f@plt+0x0")
			LINE("0020", "return", "200", "f+0x0")
				LINE("0030", "return", "104", "main+0x4")
					LINE("0040", "", "500", "start+0x9"),
		&options, 0);
	assert_cell(a, "f@plt", "count", 1);
	assert_cell(a, "f@plt", "time", 10);
	assert_cell(a, "f", "depth", 1);
	assert_cell(a, "main", "time", 40);
	assert_cell(a, "start", "depth", 0);
	counting_fini(&c);
}

static void test_cache_files(void **state)
{
	(void)state;
	char chrome[] = "/tmp/altpttop-test-XXXXXX", trend[] = "/tmp/altpttop-test-XXXXXX",
	     text[4096];
	close(mkstemp(chrome));
	close(mkstemp(trend));
	const struct analyser_options options = {
		.pattern = PATTERN_CACHE, .ghz = 1, .chrometracing = chrome, .ipc_trending = trend};
	read_text(calls, &options, 0);
	counting_fini(&c);
	FILE *f = fopen(trend, "r");
	size_t n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = 0;
	assert_non_null(strstr(
		text, "function,depth,inclusive_ipc,self_ipc,ipc_drop_from_parent,call_count\n"));
	assert_non_null(strstr(text, "\n\"main\",0,"));
	assert_non_null(strstr(text, "\n\"main->f\",1,"));
	assert_non_null(strstr(text, "\n\"main->f->f\",2,"));
	/* What we write we can read: the rebuilt stacks as spans give f twice, main once. */
	struct analyser_options again = {.pattern = PATTERN_DURATION};
	counting_init(&c);
	assert_int_equal(counting_read(&c, chrome, &again, &err), 0);
	assert_cell(c.analyses[0], "f", "count", 2);
	assert_cell(c.analyses[0], "main", "total", 70);
	counting_fini(&c);
	unlink(chrome);
	unlink(trend);
}

/* Calls and returns alone: what ran between two of them is what the first led to. */
#define BRANCH(time, flags, ip, symbol, to) \
	"prog 7/7 [000] 1.00000" time ": 1 branches:uH: " flags " " ip " " symbol \
	" (/bin/prog) => " to " (/bin/prog)\n"

static const char branches[] = BRANCH("0100", "call", "104", "main+0x4", "200 work+0x0")
	BRANCH("0200", "return", "210", "work+0x10", "109 main+0x9")
		BRANCH("0300", "call", "114", "main+0x14", "200 work+0x0")
			BRANCH("9450", "return", "210", "work+0x10", "119 main+0x19");

static void test_branch_times(void **state)
{
	(void)state;
	struct analyser_options options = {.pattern = PATTERN_CACHE};
	const struct analysis *a = read_text(branches, &options, 0);
	assert_cell(a, "work", "count", 2);
	assert_cell(a, "work", "self_time", (100 + 9150) / 2.0);
	assert_cell(a, "main", "self_time", 100);
	assert_cell(a, "main", "time", 9350);
	assert_cell(a, "work", "trace_time_pct", 100 * 9250 / 9350.0);
	assert_int_equal(c.weight, 9350);
	assert_int_equal(c.extents, 1);
	assert_int_equal(c.extent_from_ns, 1000000100);
	counting_fini(&c);
	options.pattern = PATTERN_EDGE;
	a = read_text(branches, &options, 0);
	assert_cell(a, "work", "total_time", 9250);
	assert_cell(a, "main", "total_time", 100);
	/* from where the branch before led to the branch that leaves; the first run's begin is
	 * unknown */
	assert_int_equal(a->nrows, 3);
	const struct analysis_row *row = &a->rows[counting_row(a, c.tables, "work")];
	assert_int_equal(row->first, 0x200);
	assert_int_equal(row->last, 0x210);
	row = &a->rows[counting_row(a, c.tables, "main")];
	assert_int_equal(row->first, 0x109);
	assert_int_equal(row->last, 0x114);
	counting_fini(&c);
	/* user code alone is traced: the time of a system call is that of what made it */
	options.pattern = PATTERN_CACHE;
	a = read_text(BRANCH("0100", "call", "104", "main+0x4", "200 work+0x0") BRANCH(
			      "0200", "tr end  syscall", "208", "work+0x8", "0 [unknown]")
			      BRANCH("0500", "tr strt", "0", "[unknown]", "20a work+0xa") BRANCH(
				      "0530", "return", "210", "work+0x10", "109 main+0x9")
				      BRANCH("0540", "jmp", "114", "main+0x14", "109 main+0x9"),
		      &options, 0);
	assert_cell(a, "work", "self_time", 430);
	assert_cell(a, "main", "self_time", 10);
	counting_fini(&c);
}

static void test_branch_spans(void **state)
{
	(void)state;
	char chrome[] = "/tmp/altpttop-test-XXXXXX";
	close(mkstemp(chrome));
	const struct analyser_options options = {.pattern = PATTERN_CACHE, .chrometracing = chrome},
				      again = {.pattern = PATTERN_DURATION};
	read_text(branches, &options, 0);
	counting_fini(&c);
	counting_init(&c);
	assert_int_equal(counting_read(&c, chrome, &again, &err), 0);
	assert_cell(c.analyses[0], "work", "max", 9150);
	assert_cell(c.analyses[0], "work", "min", 100);
	counting_fini(&c);
	unlink(chrome);
}

/* Samples and messages of other events between the lines of a trace are none of its steps. */
static void test_other_events(void **state)
{
	(void)state;
	const struct analyser_options options = {.pattern = PATTERN_CACHE};
	const struct analysis *a = read_text(
		BRANCH("0100", "call", "104", "main+0x4",
		       "200 work+0x0") "prog 7/7 [000] 1.000000150: 301343 cycles:  7f00 other+0x5 (/bin/prog)\n"
				       "prog 7/7 [000] 1.000000155:   \n"
				       "prog 7/7 [000] 1.000000160: psb:  psb offs: 0x42  7f00 other+0x5 (/bin/prog)\n" BRANCH(
					       "0200", "return", "210", "work+0x10",
					       "109 main+0x9"),
		&options, 0);
	assert_int_equal(counting_row(a, c.tables, "other"), -1);
	assert_cell(a, "work", "time", 100);
	assert_null(strstr(a->note, "made no sense"));
	assert_non_null(strstr(c.said.buf, "3 lines of other events"));
	assert_int_equal(c.loss[LOSS_BAD_RECORD], 0);
	counting_fini(&c);
}

/* --- what --insn-trace and --call-trace print --- */

#define INSN(time, ip, symbol, insn) \
	"prog 7 [000] 1.00000" time ":  " ip " " symbol " (/bin/prog)" insn "\n"
#define PROGRAM(a, b, c, d, e, f) \
	INSN("0100", "401000", "main+0x0", a) \
	INSN("0110", "401001", "main+0x1", b) \
	INSN("0120", "401004", "main+0x4", c) \
	INSN("0130", "401100", "work+0x0", d) \
	INSN("0150", "401101", "work+0x1", e) INSN("0160", "401009", "main+0x9", f)

static void test_insn_trace(void **state)
{
	(void)state;
	static const char *const texts[] = {
		PROGRAM(" insn: 55", " insn: 48 89 e5", " insn: e8 f7 00 00 00", " insn: 90",
			" insn: f3 c3", " insn: 90"),
		PROGRAM(" ilen: 1 insn: 55", " ilen: 3 insn: 48 89 e5",
			" ilen: 5 insn: e8 f7 00 00 00", " ilen: 1 insn: 90", " ilen: 1 insn: c3",
			" ilen: 1 insn: 90"),
		/* a sample of another event among them is no instruction */
		PROGRAM(" insn: 55\nprog 7 1.000000101:  401050 main+0x50 (/bin/prog)",
			" insn: 48 89 e5", " insn: e8 f7 00 00 00", " insn: 90", " insn: c3",
			" insn: 90"),
		PROGRAM("\t\tpushq %rbp", "\t\tmovq %rsp, %rbp", "\t\tcallq 0x401100",
			"\t\tnopl  %eax, (%rax,%rax,1)", "\t\tretq", "\t\tnop"),
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct analyser_options options = {.pattern = PATTERN_CACHE, .ghz = 1};
		const struct analysis *a = read_text(texts[i], &options, 0);
		assert_cell(a, "main", "count", 1);
		assert_cell(a, "main", "inst", 6);
		assert_cell(a, "main", "self_time", 30);
		assert_cell(a, "work", "time", 30);
		assert_cell(a, "work", "self_inst", 2);
		assert_cell(a, "work", "depth", 1);
		assert_cell(a, "work", "ipc", 2 / 30.0);
		assert_string_equal(a->note, "");
		counting_fini(&c);
		options.pattern = PATTERN_EDGE;
		a = read_text(texts[i], &options, 0);
		const struct analysis_row *work = &a->rows[counting_row(a, c.tables, "work")];
		assert_string_equal(tables_text(c.tables, work->third), "ret");
		assert_int_equal(work->first, 0x401100);
		assert_int_equal(work->last, 0x401101);
		counting_fini(&c);
	}
}

#define CALL(time, flags, name) "prog 7 [000] 1.00000" time ": " flags "(/bin/prog   )\t" name "\n"

static void test_call_trace(void **state)
{
	(void)state;
	const struct analyser_options options = {.pattern = PATTERN_CACHE};
	/* a calls b, which calls c; c and b return, a calls d */
	const struct analysis *a = read_text(CALL("0100", "", "   a") CALL("0110", "", "       b")
						     CALL("0130", "", "           c")
							     CALL("0160", "", "       d")
								     CALL("0200", "", "   a"),
					     &options, 0);
	assert_cell(a, "a", "count", 2);
	assert_cell(a, "a", "time", 100 / 2.0);
	assert_cell(a, "a", "self_time", 10 / 2.0);
	assert_cell(a, "b", "time", 50);
	assert_cell(a, "c", "depth", 2);
	assert_cell(a, "d", "self_time", 40);
	assert_non_null(strstr(a->note, "returns are not in the trace"));
	counting_fini(&c);
	/* blanks instead of a tab; without a symbol an address, padded to sixteen digits */
	a = read_text(
		"prog 7 1.0: (/bin/prog)        a\nprog 7 1.1: (/bin/prog)                      401100\n"
		"prog 7 1.3: (/bin/prog)        b\n",
		&options, 0);
	assert_cell(a, "a", "time", 300000000);
	assert_cell(a, "[unknown]", "depth", 1);
	assert_cell(a, "b", "depth", 0);
	counting_fini(&c);
	/* with returns the time after them is the caller's, and nobody's above the first */
	a = read_text(CALL("0100", "call   ", "   a") CALL("0110", "call   ", "       b")
			      CALL("0130", "return ", "       b") CALL("0160", "return ", "   a")
				      CALL("0200", "call   ", "   a"),
		      &options, 0);
	assert_cell(a, "a", "time", 60 / 2.0);
	assert_cell(a, "a", "self_time", 40 / 2.0);
	assert_cell(a, "b", "time", 20);
	assert_null(strstr(a->note, "returns are not"));
	assert_non_null(strstr(c.folded.buf, "a;b 20\n"));
	assert_int_equal(c.weight, 60);
	counting_fini(&c);
}

/* --- edge --- */

static void test_edge(void **state)
{
	(void)state;
	const struct analyser_options options = {.pattern = PATTERN_EDGE};
	const struct analysis *a = read_text(calls, &options, 0);
	/* main 100–104 call, f 200–208 ret, main 108–10c branch, g 300–304 ret */
	assert_int_equal(a->nrows, 4);
	int row = counting_row(a, c.tables, "f");
	assert_int_equal(a->rows[row].first, 0x200);
	assert_int_equal(a->rows[row].last, 0x208);
	assert_string_equal(tables_text(c.tables, a->rows[row].third), "ret");
	assert_float_equal(counting_cell(a, row, "count"), 1, 0);
	assert_float_equal(counting_cell(a, row, "total_time"), 30, 0);
	assert_float_equal(counting_cell(a, row, "avg_inst"), 5, 0);
	assert_string_equal(tables_text(c.tables, a->rows[0].name), "f");
	counting_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_duration),         cmocka_unit_test(test_duration_score),
		cmocka_unit_test(test_duration_leaf),    cmocka_unit_test(test_duration_filter),
		cmocka_unit_test(test_duration_spilled), cmocka_unit_test(test_cache),
		cmocka_unit_test(test_cache_repair),     cmocka_unit_test(test_cache_trampoline),
		cmocka_unit_test(test_cache_files),      cmocka_unit_test(test_edge),
		cmocka_unit_test(test_branch_times),     cmocka_unit_test(test_branch_spans),
		cmocka_unit_test(test_other_events),     cmocka_unit_test(test_insn_trace),
		cmocka_unit_test(test_call_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
