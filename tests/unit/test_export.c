/* The text formats of a profile built by hand: exact bytes where they matter, escaping, files. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answer.h"
#include "export/opentree.h"
#include "export/escape.h"
#include "export/export.h"
#include "export/ranking.h"
#include "made_snapshot.h"

#define HOSTILE_PLAIN "ev\"il;\\name\\x0a\\xff\\x01 <T>::f(int)"

static void assert_holds(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

/* How each thread spent its time, as far as it is known; a file's threads are not told of. */
static void test_usages(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	struct snapshot_usage usages[] = {{m.cells[0].task, 0.3, 0.25, -1}};
	m.s.usages = usages;
	m.s.nusages = 1;
	m.s.recorded = false;
	char *text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_holds(text, "TID   CPU% READY%  WAIT% NAME");
	assert_holds(text, "       100   30.0   25.0    n/a main");
	assert_holds(text, "       101    n/a    n/a    n/a wor;ker");
	free(text);
	m.s.recorded = true;
	text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_null(strstr(text, "READY%"));
	free(text);
	made_fini(&m);
}

static void test_folded(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	char *text = made_export(&m, FORMAT_FOLDED, NULL, NULL);
	assert_string_equal(text, "main;main;outer();inner(int) 40\n"
				  "wor:ker\\x0a;main;outer();inner(int) 20\n"
				  "main;main;rec;rec 10\n"
				  "wor:ker\\x0a;main;ev\"il:\\name\\x0a\\xff\\x01 <T>::f(int) 25\n"
				  "main;main;prog+0x9000 3\n"
				  "wor:ker\\x0a;[truncated];kernel_fn 2\n");
	free(text);
	made_fini(&m);
}

/* What sampling took, where it was measured; recordings know nothing of it. */
static void test_costs(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	m.s.recorded = false;
	m.s.rate_hz = 997;
	char *text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_null(strstr(text, "\ncosts"));
	free(text);
	m.s.sample_cost_ns = 20700;
	m.s.read_cost_ns = 625;
	m.s.cost_ppm = 21260;
	text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_holds(text,
		     "\ncosts     a sample 20.7 \xc2\xb5s, reading the set's counters 625 ns; "
		     "2.13 % of the target's time at 997 Hz, not deducted\n");
	free(text);
	m.s.recorded = true;
	text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_null(strstr(text, "\ncosts"));
	free(text);
	made_fini(&m);
}

/* Code without frame pointers, recorded by them: what to record instead, when it is worth it. */
static void test_frame_pointers(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	m.s.cut[CUT_NONE] = 898;
	m.s.cut[CUT_FP_CHAIN] = 100;
	char *text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_holds(text, "\nstacks    89.80 % complete; cut: stack dump too short 2, frame "
			   "pointers ended 100\n");
	free(text);
	m.s.cut[CUT_FP_CHAIN] = 1100;
	m.s.recorded = true;
	text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_holds(text, "frame pointers ended 1100; frame pointers do not lead to the root of "
			   "55.00 % of the stacks: record with perf record --call-graph dwarf, or "
			   "watch live without --call-graph fp\n");
	free(text);
	m.s.recorded = false;
	text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_holds(text, "55.00 % of the stacks: watch without --call-graph fp\n");
	free(text);
	made_fini(&m);
}

/* Addresses are told apart in the profile, not in its lines. */
static void test_folded_sums_addresses(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	/* A second address in "rec", called from the same place. */
	frame_id other = tables_frame(m.tables,
				      &(struct frame){.module = m.s.main_module, .addr = 0x3050});
	const struct loc *rec = tables_loc(m.tables, m.nodes[3].frame);
	tables_resolve(m.tables, other, rec->lines, 1);
	m.nodes[1].frame = other;
	m.nodes[1].parent = 0;
	m.cells[2].node = 2;
	char *text = made_export(&m, FORMAT_FOLDED, NULL, NULL);
	assert_holds(text, "main;main;rec 50\n");
	assert_holds(text, "wor:ker\\x0a;main;rec 20\n");
	free(text);
	made_fini(&m);
}

static void test_rollup_counts_recursion_once(void **state)
{
	(void)state;
	struct made m;
	struct namelist names;
	struct rollup r;
	made_init(&m);
	assert_int_equal(namelist_init(&names, &m.s), 0);
	assert_int_equal(rollup_init(&r, &m.s, &names, 0), 0);
	static const struct {
		const char *name;
		uint64_t self, total;
	} expected[] = {{"main", 0, 98},       {"outer()", 0, 60},     {"inner(int)", 60, 60},
			{"rec", 10, 10},       {MADE_HOSTILE, 25, 25}, {"prog+0x9000", 3, 3},
			{"[truncated]", 0, 2}, {"kernel_fn", 2, 2}};
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		size_t at = 0;
		while (at < names.funcs.len && strcmp(names.funcs.data[at].name, expected[i].name))
			at++;
		assert_true(at < names.funcs.len);
		assert_int_equal(r.funcs[at].self.samples, expected[i].self);
		assert_int_equal(r.funcs[at].total.samples, expected[i].total);
		assert_int_equal(r.funcs[at].self.weight, expected[i].self * MADE_WEIGHT);
	}
	assert_int_equal(r.all.samples, 100);
	assert_int_equal(r.tasks.len, 2);
	assert_int_equal(r.tasks.data[0].self.samples, 53);
	assert_int_equal(r.tasks.data[1].self.samples, 47);
	for (size_t i = 0; i < r.modules.len; i++)
		if (r.modules.data[i].id == m.s.main_module)
			assert_int_equal(r.modules.data[i].total.samples, 98);
	rollup_fini(&r);
	namelist_fini(&names);
	made_fini(&m);
}

static void test_no_stack_is_unknown(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	m.cells[m.s.ncells++] = (struct snapshot_cell){.node = SNAPSHOT_ROOT,
						       .task = 1,
						       .samples = 4,
						       .weight = 4 * MADE_WEIGHT,
						       .weight_sq = 4e12};
	char *text = made_export(&m, FORMAT_FOLDED, NULL, NULL);
	assert_holds(text, "\nmain;[unknown] 4\n");
	free(text);
	struct namelist names;
	struct rollup r;
	struct opentree tree;
	assert_int_equal(namelist_init(&names, &m.s), 0);
	assert_int_equal(rollup_init(&r, &m.s, &names, 0), 0);
	assert_int_equal(opentree_init(&tree, &m.s, &names, &r, 0), 0);
	assert_int_equal(opentree_open(&tree, 0), 0);
	assert_int_equal(r.funcs[0].self.samples, 4);
	assert_int_equal(r.funcs[0].total.samples, 4);
	uint64_t sum = 0;
	for (uint32_t i = tree.nodes.data[0].children; i; i = tree.nodes.data[i].next) {
		bool unknown = tree.nodes.data[i].func == 0;
		assert_true(!unknown || tree.nodes.data[i].self.samples == 4);
		sum += tree.nodes.data[i].total.samples;
	}
	assert_int_equal(sum, 104);
	opentree_fini(&tree);
	rollup_fini(&r);
	namelist_fini(&names);
	made_fini(&m);
}

/* Children of which there is too little are counted, however many they are; the others are those
 * that a tree of all has, in its order. */
static void compare_open(struct opentree *all, uint32_t a, struct opentree *some, uint32_t b)
{
	uint32_t small = 0, x, y;
	assert_int_equal(opentree_open(all, a), 0);
	assert_int_equal(opentree_open(some, b), 0);
	y = some->nodes.data[b].children;
	for (x = all->nodes.data[a].children; x; x = all->nodes.data[x].next) {
		if (opentree_percent(all, &all->nodes.data[x].total) < some->least) {
			small++;
			continue;
		}
		assert_int_not_equal(y, 0);
		assert_int_equal(some->nodes.data[y].func, all->nodes.data[x].func);
		assert_int_equal(some->nodes.data[y].parent, b);
		assert_int_equal(some->nodes.data[y].total.weight, all->nodes.data[x].total.weight);
		assert_int_equal(some->nodes.data[y].self.samples, all->nodes.data[x].self.samples);
		compare_open(all, x, some, y);
		y = some->nodes.data[y].next;
	}
	assert_int_equal(y, 0);
	assert_int_equal(some->nodes.data[b].small, small);
	assert_int_equal(all->nodes.data[a].small, 0);
}

static void test_small_paths(void **state)
{
	(void)state;
	static const double least[] = {0.5, 5, 12, 30, 101};
	struct made m;
	struct namelist names;
	struct rollup r;
	uint32_t before = UINT32_MAX;
	made_init(&m);
	assert_int_equal(namelist_init(&names, &m.s), 0);
	assert_int_equal(rollup_init(&r, &m.s, &names, 0), 0);
	for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
		struct opentree all, some;
		assert_int_equal(opentree_init(&all, &m.s, &names, &r, 0), 0);
		assert_int_equal(opentree_init(&some, &m.s, &names, &r, least[i]), 0);
		compare_open(&all, 0, &some, 0);
		assert_true(some.nodes.len <= before);
		before = (uint32_t)some.nodes.len;
		opentree_fini(&all);
		opentree_fini(&some);
	}
	assert_int_equal(before, 1);
	rollup_fini(&r);
	namelist_fini(&names);
	made_fini(&m);
}

static void test_csv(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	char *text = made_export(&m, FORMAT_CSV, NULL, NULL);
	static const char header[] = "function,module,self_percent,self_margin,total_percent,"
				     "self_samples,total_samples,total_margin,self_cpu-clock_ns,"
				     "total_cpu-clock_ns,confidence,space,file,line\n";
	assert_memory_equal(text, header, sizeof header - 1);
	/* 60 of 100: √(0.6·0.4/100)·1.96 = 9.60 % */
	assert_holds(text,
		     "\ninner(int),prog,60.0000,9.6018,60.0000,60,60,9.6018,60000000,60000000,"
		     "ok,user,/src/prog.cc,10\n");
	assert_holds(text, "\n\"ev\"\"il;\\name\\x0a\\xff\\x01 <T>::f(int)\",prog,25.0000,");
	assert_holds(text, "\nprog+0x9000,prog,3.0000,");
	assert_holds(text, "3000000,3000000,unranked,user,,\n");
	assert_holds(text, "\nrec,prog,10.0000,");
	assert_holds(text, "10000000,10000000,low,user,/src/prog.cc,10\n");
	assert_holds(text, "\nkernel_fn,[kernel],2.0000,");
	assert_holds(text, ",unranked,kernel,");
	free(text);
	made_fini(&m);
}

/* A part of a recording does not pass for the whole. */
static void test_part(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	m.s.recorded = true;
	char *text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_null(strstr(text, "\npart "));
	free(text);
	m.s.partial = true;
	text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_holds(text, "\npart      not all of the recording was read\n");
	free(text);
	m.s.part = 0.3125;
	text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_holds(text, "\npart      about 31.2 % of the recording was read\n");
	free(text);
	made_fini(&m);
}

/* No two columns have one title, whatever the events are called. */
static void test_csv_titles(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	m.s.nevents = 2;
	m.events[1] = m.events[0];
	char *text = made_export(&m, FORMAT_CSV, NULL, NULL);
	assert_holds(text, ",self_cpu-clock_ns,total_cpu-clock_ns,self_cpu-clock_ns_2,"
			   "total_cpu-clock_ns_2,confidence");
	free(text);
	strcpy(m.events[1].desc.name, "samples");
	m.events[1].desc.unit = EVENT_COUNT;
	text = made_export(&m, FORMAT_CSV, NULL, NULL);
	assert_holds(text, "total_cpu-clock_ns,self_samples_2,total_samples_2,confidence");
	free(text);
	made_fini(&m);
}

/* A short window is told with its figures, and one of no length is not known. */
static void test_short(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	m.s.end_ns = m.s.start_ns + 20400;
	for (uint32_t i = 0; i < m.s.ncells; i++)
		m.cells[i].weight /= 1000;
	char *text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_holds(text, "window    20.4 \xc2\xb5s from 20");
	assert_holds(text, "cpu-clock, 100 \xc2\xb5s of CPU time");
	free(text);
	m.s.end_ns = m.s.start_ns + 1500000;
	text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_holds(text, "window    1.50 ms from 20");
	free(text);
	m.s.end_ns = m.s.start_ns;
	m.s.wall_start_ns = 0;
	text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_holds(text, "window    not known\n");
	free(text);
	made_fini(&m);
}

static void test_text(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	char *text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_holds(text, "target    altpttop -p 100 (prog)\n");
	assert_holds(text, "samples   100 of cpu-clock, 0.100 s of CPU time, 100.0 % of one CPU, "
			   "asked 1000 Hz\n");
	assert_holds(text, "98.00 % complete; cut: ");
	assert_holds(text, loss_kind_name(LOSS_RING));
	assert_holds(text,
		     "   60.00   9.60   60.00   9.60         60         60    prog            "
		     "     [.] inner(int)\n");
	assert_holds(text, " 25 ?  prog                 [.] " HOSTILE_PLAIN "\n");
	/* No hits of its own is no doubt about them. */
	assert_holds(text, "    0.00   1.85   98.00   3.23          0         98    prog");
	assert_holds(text, "[k] kernel_fn\n");
	/* Too few hits stand apart, after everything else. */
	const char *unranked = strstr(text, "\nNot ranked, fewer than 5 samples:\n");
	assert_non_null(unranked);
	assert_holds(unranked, "prog+0x9000");
	assert_holds(unranked, " 3 ·  prog "); /* marked as on the screen */
	assert_true(strstr(text, "[.] prog+0x9000") > unranked);
	/* A chain is one line, recursion is shown as it is called. */
	assert_holds(text, "   98.00     0.00  main\n");
	assert_holds(text, "   60.00    60.00    outer() > inner(int)\n");
	assert_holds(text, "   10.00    10.00    rec > rec\n");
	assert_holds(text, "    2.00     2.00  [truncated] > kernel_fn\n");
	for (const char *p = text; *p; p++)
		assert_true((unsigned char)*p >= 0x20 || *p == '\n');
	free(text);
	made_fini(&m);
}

static void test_text_limit_and_sort(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	struct export_options o = {.percent_limit = 20, .sort = COLUMN_TOTAL};
	char *text = made_export(&m, FORMAT_TEXT, &o, NULL);
	assert_holds(text, "Functions by total time.");
	assert_true(strstr(text, "[.] main\n") < strstr(text, "[.] inner(int)\n"));
	assert_null(strstr(text, "[.] rec\n"));
	assert_holds(text, "   10.00  in 1 more functions below 20 %\n");
	free(text);
	made_fini(&m);
}

static void test_text_without_samples(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	m.s.ncells = 0;
	char *text = made_export(&m, FORMAT_TEXT, NULL, NULL);
	assert_holds(text, "samples   0 of cpu-clock");
	assert_holds(text, "No samples: ");
	free(text);
	made_fini(&m);
}

static char *empty(struct made *m, uint64_t cpu_ns)
{
	m->s.cpu_ns = cpu_ns;
	return made_export(m, FORMAT_TEXT, NULL, NULL);
}

/* Why there is nothing is said as far as it is known, and only then. */
static void test_why_no_samples(void **state)
{
	static const char idle[] = "No samples: the target used no CPU time";
	(void)state;
	struct made m;
	made_init(&m);
	m.s.ncells = m.s.nnodes = 0;
	m.events[0].samples = m.events[0].weight = 0;
	char *text = empty(&m, 0);
	assert_holds(text, idle);
	free(text);
	text = empty(&m, UINT64_MAX); /* not known */
	assert_null(strstr(text, idle));
	assert_null(strstr(text, "0.000 s"));
	free(text);
	m.events[0].desc.period = 1000000000;
	text = empty(&m, 250000000);
	assert_holds(text, "No samples: the target used 0.250 s of CPU time, and no sample met it; "
			   "one is taken every 1 s of CPU time.");
	free(text);
	m.s.no_kernel = true;
	text = empty(&m, 250000000);
	assert_holds(text, "; kernel code is left out");
	free(text);
	m.s.recorded = true;
	text = empty(&m, UINT64_MAX);
	assert_holds(text, "No samples: this recording holds none outside the hidden kernel code.");
	free(text);
	m.s.recorded = false;
	m.events[0].desc = (struct event_desc){.name = "context-switches:u", .sampled = true};
	text = empty(&m, 250000000);
	assert_holds(text, "No samples: context-switches:u gave none while the target was watched, "
			   "which used 0.250 s of CPU time.");
	assert_null(strstr(text, "0 counted"));
	free(text);
	m.events[0].state = VALUE_HIDDEN;
	text = empty(&m, 250000000);
	assert_holds(text, "context-switches:u: n/a: it happens in the kernel");
	free(text);
	made_fini(&m);
}

/* The set was changed while the target ran: the new one is written, not the old, which is over. */
static void test_newest_set(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	m.s.nevents = 2;
	m.events[1] = m.events[0];
	m.events[1].desc.set = 1;
	m.events[0].samples = m.events[0].weight = 0;
	for (uint32_t i = 0; i < m.s.ncells; i++)
		m.cells[i].event = 1;
	assert_int_equal(export_main_event(&m.s, NULL), 1);
	char *text = made_export(&m, FORMAT_FOLDED, NULL, NULL);
	assert_holds(text, "inner(int)");
	free(text);

	/* In part: what is seen is the new one. Nothing of that yet: the old one. */
	m.events[0].samples = m.events[0].weight = 1000000;
	assert_int_equal(export_main_event(&m.s, NULL), 1);
	m.events[1].samples = m.events[1].weight = 0;
	assert_int_equal(export_main_event(&m.s, NULL), 0);
	made_fini(&m);
}

/* -s EVENT: that event, also where 'u' was put behind it; the first one where it counted nothing.
 */
static void test_main_event(void **state)
{
	struct export_options o = {.event = "page-faults"};
	(void)state;
	struct made m;
	made_init(&m);
	m.s.nevents = 2;
	strcpy(m.events[1].desc.name, "page-faults:u");
	m.events[1].weight = 5;
	assert_int_equal(export_main_event(&m.s, &o), 1);
	assert_true(export_has_event(&m.s, &o, 1));
	m.events[1].weight = 0;
	assert_int_equal(export_main_event(&m.s, &o), 0);
	assert_false(export_has_event(&m.s, &o, 0));
	char *text = made_export(&m, FORMAT_TEXT, &o, NULL);
	assert_holds(text,
		     "order     page-faults (-s) counted nothing: the tables are of the event "
		     "above");
	assert_holds(text, "inner(int)");
	free(text);
	o.event = "cpu-clock";
	assert_int_equal(export_main_event(&m.s, &o), 0);
	assert_true(export_has_event(&m.s, &o, 0));
	made_fini(&m);
}

static void test_chrome(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	char *text = made_export(&m, FORMAT_CHROME, NULL, NULL);
	assert_holds(text, "{\"ph\":\"X\",\"name\":\"main\",\"cat\":\"prog\",\"ts\":0.000,\"dur\":"
			   "53000.000,\"pid\":100,\"tid\":100,\"args\":{\"samples\":0,");
	assert_holds(text, "\"name\":\"outer()\",\"cat\":\"prog\",\"ts\":0.000,\"dur\":40000.000");
	assert_holds(text,
		     "\"name\":\"inner(int)\",\"cat\":\"prog\",\"ts\":0.000,\"dur\":40000.000,"
		     "\"pid\":100,\"tid\":100,\"args\":{\"samples\":40,");
	assert_holds(text, "\"name\":\"rec\",\"cat\":\"prog\",\"ts\":40000.000,\"dur\":10000.000");
	assert_holds(text, "\"name\":\"ev\\\"il;\\\\name\\u000a\\\\xff\\u0001 <T>::f(int)\"");
	assert_holds(text, "\"name\":\"thread_name\",\"pid\":100,\"tid\":101,\"args\":{\"name\":"
			   "\"wor;ker\\u000a\"}}");
	free(text);
	made_fini(&m);
}

static void test_escape(void **state)
{
	(void)state;
	static const struct {
		void (*escape)(struct strbuf *b, const char *text);
		const char *in, *out;
	} cases[] = {
		{escape_plain, "grün €", "grün €"},
		{escape_plain, "\xc3", "\\xc3"},
		{escape_plain, "\xc0\xaf", "\\xc0\\xaf"},                   /* overlong */
		{escape_plain, "\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* surrogate */
		{escape_plain, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* > U+10FFFF */
		{escape_plain, "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		{escape_plain, "\033[31m", "\\x1b[31m"},
		{escape_plain, "\xc2\x9b", "\\xc2\\x9b"}, /* C1 CSI */
		{escape_folded, "#a;b", "\\x23a:b"},
		{escape_name, "main", "main"},
		{escape_json, "\xc2\x9b\t\"", "\"\\u009b\\u0009\\\"\""},
		{escape_csv, "a,b", "\"a,b\""},
		{escape_csv, "plain", "plain"},
		{escape_csv, "", ""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct strbuf b;
		strbuf_init(&b);
		cases[i].escape(&b, cases[i].in);
		assert_string_equal(b.buf ? b.buf : "", cases[i].out);
		strbuf_fini(&b);
	}
}

static void test_file(void **state)
{
	(void)state;
	struct made m;
	struct err err;
	char dir[] = "/tmp/altpttop-export-XXXXXX", path[64];
	made_init(&m);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/a.folded", dir);
	assert_int_equal(export_file(&m.s, path, FORMAT_FOLDED, NULL, false, &err), 0);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size > 100);
	assert_int_equal(export_file(&m.s, path, FORMAT_FOLDED, NULL, false, &err), -EEXIST);
	assert_int_equal(export_file(&m.s, path, FORMAT_FOLDED, NULL, true, &err), 0);
	assert_true(export_file(&m.s, "/nonexistent/x.csv", FORMAT_CSV, NULL, false, &err) < 0);
	assert_holds(err.msg, "/nonexistent/x.csv");
	assert_int_equal(export_file(&m.s, "/dev/full", FORMAT_TEXT, NULL, true, &err), -ENOSPC);
	assert_holds(err.msg, "/dev/full");
	assert_int_equal(export_file(&m.s, path, FORMAT_AUTO, NULL, true, &err), -EINVAL);
	unlink(path);
	rmdir(dir);
	made_fini(&m);
}

/* What the format cannot hold of this snapshot is told, and only that. */
static void test_lacks(void **state)
{
	(void)state;
	struct made m;
	struct err err;
	char dir[] = "/tmp/altpttop-export-XXXXXX", path[64];
	made_init(&m);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/a", dir);
	assert_int_equal(export_file(&m.s, path, FORMAT_FOLDED, NULL, true, &err), 0);
	assert_string_equal(err.msg, "it lacks the times that samples stand for, which folded "
				     "files cannot hold (.pb.gz can)");
	const struct task *one = tables_task_get(m.tables, m.cells[0].task);
	task_id twin = tables_task(m.tables, one->pid, 102, 1, one->comm);
	m.cells[m.s.ncells++] = (struct snapshot_cell){
		.node = SNAPSHOT_ROOT, .task = m.cells[0].task, .weight = 1500000000};
	m.cells[m.s.ncells++] = (struct snapshot_cell){
		.node = 0, .task = twin, .samples = 1, .weight = MADE_WEIGHT};
	m.events[m.s.nevents++] = (struct snapshot_event){.samples = 3};
	assert_int_equal(export_file(&m.s, path, FORMAT_FOLDED, NULL, true, &err), 0);
	assert_holds(err.msg, "it lacks the times that samples stand for, 1.50 s of CPU time that "
			      "no sample covered ([unsampled]), 1 other event, which of the "
			      "threads of one name it was, which folded files");
	assert_int_equal(export_file(&m.s, path, FORMAT_PPROF, NULL, true, &err), 0);
	assert_string_equal(err.msg, "");
	unlink(path);
	rmdir(dir);
	made_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_usages),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_frame_pointers),
		cmocka_unit_test(test_folded_sums_addresses),
		cmocka_unit_test(test_rollup_counts_recursion_once),
		cmocka_unit_test(test_no_stack_is_unknown),
		cmocka_unit_test(test_small_paths),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_csv_titles),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_limit_and_sort),
		cmocka_unit_test(test_text_without_samples),
		cmocka_unit_test(test_why_no_samples),
		cmocka_unit_test(test_newest_set),
		cmocka_unit_test(test_main_event),
		cmocka_unit_test(test_chrome),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_lacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
