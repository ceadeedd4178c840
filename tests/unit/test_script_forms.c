/* perf script text by what -F leaves of it: each form comes to the same stacks, and other text to
 * none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "counting_sink.h"
#include "import/scriptline.h"

#define STACKS_OPEN \
	"\tffffffff81d33df2 read_zero ([kernel.kallsyms])\n" \
	"\t           f82b3 read (/usr/lib/libc.so.6)\n"
#define STACKS STACKS_OPEN "\n"

static const struct {
	const char *fields, *text;
	const char *comms;
} forms[] = {
	{"comm,pid,tid,cpu,time,period,event",
	 "a b 12/13  [002] 1.5:  2 cycles: \n" STACKS "a b 12/13  [002] 1.6:  2 cycles: \n" STACKS,
	 "12/13 a b\n"},
	{"+misc", "dd 12 U     1.5:  2 cycles: \n" STACKS "dd 12 K     1.6:  2 cycles: \n" STACKS,
	 "12/12 dd\n"},
	{"+cpu,+misc",
	 "dd 12 [001] U   1.5: 2 cycles: \n" STACKS "dd 12 [1] KE 1.6: 2 cycles: \n" STACKS,
	 "12/12 dd\n"},
	{"comm,pid,tid", "a b 12/13 \n" STACKS "a b 12/13 \n" STACKS, "12/13 a b\n"},
	{"comm,tid", "dd 12 \n" STACKS "dd 12 \n" STACKS, "12/12 dd\n"},
	{"+brstack",
	 "dd 12 1.5: cycles: \n" STACKS_OPEN " 0x4005c8/0x4005dc/P/-/-/0  0x1/0x2/M/X/A/9\n\n"
	 "dd 12 1.6: cycles: \n" STACKS_OPEN "f+0x4(/bin/a b)/g(int)(/bin/a b)/PN/-/-/0/ \n\n",
	 "12/12 dd\n"},
	{"pid,time,event", "12 1.5: cycles: \n" STACKS "12 1.6: cycles: \n" STACKS, NULL},
	{"time", "1.5: \n" STACKS "1.6: \n" STACKS, NULL},
	{"comm,pid,event", "dd 12 cycles: \n" STACKS "dd 12 cycles: \n" STACKS, "12/12 dd\n"},
	{"comm,event", "dd cycles:u: \n" STACKS "a b c cycles:u: \n" STACKS, NULL},
	{"", STACKS "\n" STACKS, NULL},
	{"event", "  cycles: \n" STACKS "cycles:u: \n" STACKS, NULL},
	{"comm", "a b \n" STACKS "a b \n" STACKS, NULL},
	{"tid", "   12 \n" STACKS "     12 \n" STACKS, NULL},
	{"pid,tid", "   12/13    \n" STACKS "     12/13    \n" STACKS, NULL},
	{"period,event", "         2  cycles: \n" STACKS "1234567890  cycles: \n" STACKS, NULL},
	{"comm,period,event",
	 "a 2          7  cycles: \n" STACKS "a 2          7  cycles: \n" STACKS, NULL},
};

static void test_forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct counting c;
		struct err err = {0};
		counting_init(&c);
		int rc = counting_text(&c, forms[i].text, strlen(forms[i].text), NULL, &err);
		if (rc || c.samples != 2 || c.loss[LOSS_BAD_RECORD] ||
		    strncmp(c.folded.buf, "read;read_zero ", 15) != 0)
			fail_msg("-F %s: %d %s, %llu samples, %llu bad: %s", forms[i].fields, rc,
				 err.msg, (unsigned long long)c.samples,
				 (unsigned long long)c.loss[LOSS_BAD_RECORD], c.folded.buf);
		if (forms[i].comms)
			assert_string_equal(c.comms.buf, forms[i].comms);
		counting_fini(&c);
	}
}

/* One line a sample, without an event's name, the instruction behind the place. */
#define FLAT(lead, tail) \
	"main 7 " lead "1.5:  401000 main+0x0 (/tmp/a b)" tail "\n" \
	"main 7 " lead "1.6:            401000 main+0x0 (/tmp/a b)" tail "\n" \
	"main 7 " lead "1.7:      7f0045 work(int)+0x5 (/tmp/a b)" tail "\n"

static const char *const flat[] = {
	FLAT("", ""),
	FLAT("[000] ", ""),
	FLAT("", " insn: 55"),
	FLAT("[000] ", " insn: 48 89 e5"),
	FLAT("", " ilen: 3"),
	FLAT("", " ilen: 3 insn: 48 89 e5"),
	FLAT("", "\t IPC: 1.25 (5/4)  ilen: 3 insn: 48 89 e5"),
	FLAT("", "\t\tmovq  %rax, (%rax,%rax,1)"),
	FLAT("", " 0x401010/0x401000/P/-/-/3/  0x401010/0x401000/M/X/A/12/COND/-"),
	FLAT("[000] ", " 0x401010(/tmp/a b)/0x401000(/tmp/a b)/PN/-/-/0//-"),
	FLAT("",
	     "[unknown](/tmp/a b)/work(int)+0x4(/tmp/a b)/-/-/-/0/ main(/tmp/a b)/f()(/b)/P/-/-/0/"),
	FLAT("", " ABI:2    AX:0x12    BX:0x7f00"),
	FLAT("", " insn: 48 89 e5\n\tmain:\n\t0000000000401000\tinsn: 55 \t# PRED 1 cycles [1]\n"
		 "\tf(int, long):\n\t0000000000401001\tinsn: c3"),
};

/* -F comm,ip,sym and its like: an address has sixteen columns. */
#define COLUMNS(comm, lead) \
	comm lead "           401000 main\n" comm lead "           401000 main\n" comm lead \
		  "           7f0045 work(int)\n"

/* Without times, events or threads: still one line a sample. */
static const char *const lines[] = {
	"      main 7/8   401000 main (/tmp/a b)\n      main 7/8   401000 main (/tmp/a b)\n"
	"      main 7/8   7f0045 work(int) (/tmp/a b)\n",
	"           401000 main\n           401000 main\n           7f0045 work(int)\n",
	"    7 1.5:  401000 main+0x0 (/tmp/a b)\n    7 1.6:  401000 main+0x0 (/tmp/a b)\n"
	"    7 1.7:  7f0045 work(int)+0x5 (/tmp/a b)\n",
	"    7 [000] 1.5:  401000 main (/tmp/a b)\n    7 [000] 1.6:  401000 main (/tmp/a b)\n"
	"    7 [001] 1.7:  7f0045 work(int) (/tmp/a b)\n",
	"  main  7  cycles:  401000 main\n  main  7  cycles:  401000 main\n"
	"  main  7  cycles:  7f0045 work(int)\n",
	"    7  cycles:  401000 main\n    7  cycles:  401000 main\n"
	"  123  cycles:  7f0045 work(int)\n",
	COLUMNS("", "cycles: "),
	COLUMNS("            main ", ""),
	COLUMNS("        cafe: 12 ", ""),
	COLUMNS("       tmux: srv ", "cycles:u: "),
	COLUMNS("            main ", "    7 "),
	COLUMNS("            main ", "70000/70001 "),
	COLUMNS("", "      cycles: "),
	"       401000 main 0x401010/0x401000/P/-/-/3/ \n       401000 main 0x1/0x2/P/-/-/3/ \n"
	"       7f0045 work(int) 0x401010/0x401000/P/-/-/3/ \n",
};

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct counting c;
		struct err err = {0};
		counting_init(&c);
		int rc = counting_text(&c, lines[i], strlen(lines[i]), NULL, &err);
		if (rc || c.samples != 3 || c.loss[LOSS_BAD_RECORD] ||
		    strcmp(c.folded.buf, "main 1\nmain 1\nwork(int) 1\n") != 0)
			fail_msg("%s%d %s, %llu bad: %s", lines[i], rc, err.msg,
				 (unsigned long long)c.loss[LOSS_BAD_RECORD], c.folded.buf);
		counting_fini(&c);
	}
}

/* A branch is where it was taken, not where it leads; without times too. */
static void test_branches(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"  main 7 [005] 1.5:  1 branches:  401000 main+0x0 (/a) => 402000 work+0x0 (/a)\n"
		"  main 7 [005] 1.6:  1 branches:  401004 main+0x4 (/a) => 402000 work+0x0 (/a)\n",
		"  main 7 [005]    1   branches:  401000 main+0x0 (/a) => 402000 work+0x0 (/a)\n"
		"  main 7 [005]    1   branches:  401004 main+0x4 (/a) => 402000 work+0x0 (/a)\n",
		"  main 7  1 branches:  jmp   401000 main+0x0 (/a) => 402000 work+0x0 (/a)\n"
		"  main 7  1 branches:  call  401004 main+0x4 (/a) => 402000 work+0x0 (/a)\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct counting c;
		struct err err = {0};
		counting_init(&c);
		int rc = counting_text(&c, texts[i], strlen(texts[i]), NULL, &err);
		if (rc || strcmp(c.folded.buf, "main 1\nmain 1\n") != 0)
			fail_msg("%zu: %d %s: %s", i, rc, err.msg, c.folded.buf);
		assert_string_equal(c.events[0].name, "branches");
		counting_fini(&c);
	}
}

static void write_time(struct counting *c, const struct raw_sample *s)
{
	strbuf_printf(c->each_ctx, "%llu ", (unsigned long long)s->time_ns);
}

/* Times that are differences, also between the records that --show-mmap-events prints; times since
 * the first; and what has none of its own. */
static void test_times(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want, *said;
	} cases[] = {
		{"dd 12 0.000000: 2 cycles: \n" STACKS "dd 12 0.000500: 2 cycles: \n" STACKS
		 "dd 12 0.000250: 2 cycles: \n" STACKS,
		 "0 500000 750000 ", "--deltatime"},
		{"dd 0 0.000000: PERF_RECORD_COMM: dd:12/12\n"
		 "dd 12 0.000500: 2 cycles: \n" STACKS
		 "dd 12 0.000100: PERF_RECORD_MMAP2 12/12: [0x1000(0x1000) @ 0 fe:00 1 0]: r-xp /a\n"
		 "dd 12 0.000250: 2 cycles: \n" STACKS,
		 "500000 850000 ", "--deltatime"},
		{"dd 12 0.000000: 2 cycles: \n" STACKS "dd 12 0.000500: 2 cycles: \n" STACKS
		 "dd 12 0.000750: 2 cycles: \n" STACKS,
		 "0 500000 750000 ", NULL},
		{"dd 12 1.500000: 2 cycles: \n" STACKS "dd 12 0.000250: 2 cycles: \n" STACKS,
		 "1500000000 250000 ", NULL},
		{"dd 12 1.500000: 2 cycles: \n" STACKS
		 "dd 12 [000] 18446744069.414584: 7 offcpu-time: \n" STACKS,
		 "1500000000 1500000000 ", "1 samples are sums"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct counting c;
		struct strbuf b;
		struct err err = {0};
		strbuf_init(&b);
		counting_init(&c);
		c.each_ctx = &b;
		c.each_sample = write_time;
		int rc = counting_text(&c, cases[i].text, strlen(cases[i].text), NULL, &err);
		if (rc || strcmp(b.buf, cases[i].want) != 0)
			fail_msg("%zu: %d %s: %s", i, rc, err.msg, b.buf);
		if (cases[i].said)
			assert_non_null(strstr(c.said.buf, cases[i].said));
		if (c.nevents == 2) {
			assert_int_equal(c.events[1].unit, EVENT_NS);
			assert_int_equal(c.weight, 2 + 7);
		}
		counting_fini(&c);
		strbuf_fini(&b);
	}
}

/* Without periods what was counted is not known; a tracepoint's samples are what happened. */
static void test_periods(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool said;
	} texts[] = {
		{"dd 12 1.5: cycles: \n" STACKS "dd 12 1.6: cycles: \n" STACKS, true},
		{"dd 12 1.5: cycles:u: \n" STACKS, true},
		{"dd 12 1.5: 7 cycles: \n" STACKS "dd 12 1.6: 1 cycles: \n" STACKS, false},
		{"dd 12 1.5: sched:sched_switch: prev_pid=1\n" STACKS, false},
		{"dd 12 1.5: \n" STACKS, false},
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct counting c;
		struct err err = {0};
		counting_init(&c);
		assert_int_equal(
			counting_text(&c, texts[i].text, strlen(texts[i].text), NULL, &err), 0);
		if ((c.said.len && strstr(c.said.buf, "without periods")) != texts[i].said)
			fail_msg("%s%s", texts[i].text, c.said.len ? c.said.buf : "");
		counting_fini(&c);
	}
}

/* What a tracepoint tells of itself is no place, though it may look like one. */
static void test_fields(void **state)
{
	(void)state;
	static const char *const fields[] = {
		"probe:tcp_sendmsg: (ffffffff81505d80) size=b0",
		"raw_syscalls:sys_enter: NR 0 (0, 7ffc3b0, 1000, 0, 0, 0)",
		"block:block_rq_issue: 8,0 W 4096 () 123456 + 8 [kworker/0:1]",
		"syscalls:sys_enter_openat: dfd: 0x9c, filename: 0x7f1234, flags: 0x80000 (O_CLOEXEC)",
		"kmem:kmalloc: call_site=ffffffff81234567 bytes_req=64 64 (zeroed)",
		"sched:sched_switch: dd:12 [120] S ==> swapper/1:0 [120]",
	};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		for (int stack = 0; stack < 2; stack++) {
			char text[512];
			struct counting c;
			struct err err = {0};
			snprintf(text, sizeof text, "dd 12 [001] 1.5: %s\n%s", fields[i],
				 stack ? STACKS : "");
			counting_init(&c);
			assert_int_equal(counting_text(&c, text, strlen(text), NULL, &err), 0);
			assert_int_equal(c.samples, 1);
			if (strcmp(c.folded.buf, stack ? "read;read_zero 1\n" : "[unknown] 1\n") !=
			    0)
				fail_msg("%s: %s", fields[i], c.folded.buf);
			counting_fini(&c);
		}
	/* -F +ip,sym,dso puts the place behind them */
	static const char flat_place[] =
		"dd 12 [001] 1.5: raw_syscalls:sys_enter: NR 0 (0, 7ffc3b0) "
		"ffffffff81001234 do_syscall ([kernel.kallsyms])\n";
	struct counting c;
	struct err err = {0};
	counting_init(&c);
	assert_int_equal(counting_text(&c, flat_place, strlen(flat_place), NULL, &err), 0);
	assert_string_equal(c.folded.buf, "do_syscall 1\n");
	counting_fini(&c);
}

/* --show-mmap-events and its like tell of maps, tasks and losses between the samples: no samples.
 */
static void test_records(void **state)
{
	(void)state;
	static const char text[] =
		"dd -1/0 [000] 0.000000: PERF_RECORD_MMAP -1/0: [0xffff(0x9) @ 0]: x [kernel]_text\n"
		"dd 12/12 [000] 1.4: PERF_RECORD_COMM exec: dd:12/12\n"
		"dd 12/12 [000] 1.4: PERF_RECORD_NAMESPACES 12/12 - nr_namespaces: 2\n"
		"\t\t[0/net: 3/0xf0000098, 1/uts: 3/0xeffffffe]\n"
		"dd 12/12 [000] 1.4: PERF_RECORD_FORK(12:12):(1:1)\n"
		"dd 12 [000] 1.5: 5 cycles: \n" STACKS
		"dd 12 [000] 1.55: PERF_RECORD_LOST lost 461\n"
		"dd 12 [000] 1.6: 5 cycles: \n" STACKS_OPEN
		"dd 12/12 [000] 1.7: PERF_RECORD_EXIT(12:12):(1:1)\n"
		"PERF_RECORD_MMAP2 12/12: [0x400000(0x1000) @ 0 00:1d 1 2]: r-xp /bin/dd\n";
	struct counting c;
	struct err err = {0};
	counting_init(&c);
	assert_int_equal(counting_text(&c, text, strlen(text), NULL, &err), 0);
	assert_int_equal(c.samples, 2);
	assert_int_equal(c.weight, 10);
	assert_int_equal(c.nevents, 1);
	assert_int_equal(c.loss[LOSS_RING], 461);
	assert_int_equal(c.loss[LOSS_BAD_RECORD], 0);
	counting_fini(&c);
}

/* Columns that another number stands in, or beside, and one line alone, are of no kind. */
static void test_columns_in_doubt(void **state)
{
	(void)state;
	static const char *const texts[] = {
		COLUMNS("", "cycles:  "), /* a column too many */
		COLUMNS("", "12: "),
		COLUMNS("           main ", ""),
		"cycles:           401000 main\n",
		"cycles:           7ffe10           401000 main\n"
		"cycles:           7ffe20           401000 main\n", /* -F event,addr,ip,sym */
		"cycles:           401000 main\nand then some words\n"
		"cycles:           401000 main\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct counting c;
		struct err err = {0};
		counting_init(&c);
		int rc = counting_text(&c, texts[i], strlen(texts[i]), NULL, &err);
		if (rc != -EINVAL || c.samples)
			fail_msg("%s%d %s, %llu samples: %s", texts[i], rc, err.msg,
				 (unsigned long long)c.samples, c.folded.buf);
		counting_fini(&c);
	}
}

/* Addresses and branches without names are refused by what they are, not as one deep stack. */
static void test_nameless(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"           40051c 0x400513/0x4004ed/P/-/-/0/  0x400523/0x400513/P/-/-/0/ \n"
		"           4004ed 0x400501/0x400518/P/-/-/0/ \n",
		"\t          40062f\n\t          400645\n"
		" 0x4005c8/0x4005dc/P/-/-/0  0x40062f/0x4005b0/P/-/-/0 \n\n",
		"26083            40051c 0x400513/0x4004ed/P/-/-/0/ \n"
		"26083            4004ed 0x400513/0x4004ed/P/-/-/0/ \n",
		"PERF_RECORD_MMAP2 9/9: [0x400000(0x1000) @ 0 00:1d 1 2]: r-xp /bin/a\n"
		"\t          40062f\n\t          400645\n\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct counting c;
		struct err err = {0};
		counting_init(&c);
		assert_int_equal(counting_text(&c, texts[i], strlen(texts[i]), NULL, &err),
				 -EINVAL);
		if (!strstr(err.msg, "without a name"))
			fail_msg("%s%s", texts[i], err.msg);
		counting_fini(&c);
	}
}

static void test_instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof flat / sizeof *flat; i++) {
		struct counting c;
		struct err err = {0};
		counting_init(&c);
		int rc = counting_text(&c, flat[i], strlen(flat[i]), NULL, &err);
		if (rc || c.nevents != 1 || strcmp(c.events[0].name, "samples") != 0 ||
		    c.weight != 3 || c.loss[LOSS_BAD_RECORD] ||
		    strcmp(c.folded.buf, "main 1\nmain 1\nwork(int) 1\n") != 0)
			fail_msg("%s%d %s, %u events, the first %s, %llu bad: %s", flat[i], rc,
				 err.msg, c.nevents, c.events[0].name,
				 (unsigned long long)c.loss[LOSS_BAD_RECORD], c.folded.buf);
		counting_fini(&c);
	}
	/* a stack's instruction stands on a line of its own; a period needs no event */
	static const char stack[] = "main 7 1.5: cycles: \n\t401000 leaf+0x0 (/tmp/a)\n"
				    "\t402000 main+0x9 (/tmp/a)\n insn: 48 89 e5\n\n"
				    "main 7 1.6:   12 cycles: 401000 leaf+0x0 (/tmp/a) insn: 55\n";
	static const char period[] = "main 7 1.5:   12 401000 leaf+0x0 (/tmp/a) insn: 55\n";
	struct counting c;
	struct err err = {0};
	counting_init(&c);
	assert_int_equal(counting_text(&c, stack, strlen(stack), NULL, &err), 0);
	assert_string_equal(c.folded.buf, "main;leaf 1\nleaf 12\n");
	assert_int_equal(c.loss[LOSS_BAD_RECORD], 0);
	counting_fini(&c);
	counting_init(&c);
	assert_int_equal(counting_text(&c, period, strlen(period), NULL, &err), 0);
	assert_string_equal(c.folded.buf, "leaf 12\n");
	counting_fini(&c);
}

static uint64_t cuts[CUT_REASONS];

static void count_cut(struct counting *c, const struct raw_sample *s)
{
	(void)c;
	cuts[s->cut]++;
}

static uint64_t cut_stacks(const char *text)
{
	struct counting c;
	struct err err = {0};
	counting_init(&c);
	memset(cuts, 0, sizeof cuts);
	c.each_sample = count_cut;
	int rc = counting_text(&c, text, strlen(text), NULL, &err);
	if (rc || c.samples != cuts[CUT_NONE] + cuts[CUT_NO_ROOT])
		fail_msg("%d %s: %s", rc, err.msg, text);
	counting_fini(&c);
	return cuts[CUT_NO_ROOT];
}

static void test_roots(void **state)
{
	(void)state;
#define HEAD "app 7 1.5: cycles: \n\t401000 leaf+0x5 (/tmp/app)\n"
	assert_int_equal(cut_stacks(HEAD "\t7ffe00 [unknown] ([unknown])\n\n"), 1);
	assert_int_equal(cut_stacks(HEAD "\t402000 helper+0x5 (/tmp/app)\n\n"), 1);
	assert_int_equal(cut_stacks(HEAD "\n"), 1);
	assert_int_equal(cut_stacks(HEAD "\t402000 main+0x5 (/tmp/app)\n\n"), 0);
	assert_int_equal(cut_stacks(HEAD "\t7f00 [unknown] (/tmp/app)\n"
					 "\t30000 __libc_start_main@@GLIBC_2.34+0x1 (/lib/c)\n\n"),
			 0);
	assert_int_equal(cut_stacks(HEAD "\t30000 clone3+0x2f (/lib/libc.so.6)\n\n"), 0);
	/* the kernel's part needs no caller */
	assert_int_equal(cut_stacks("app 7 1.5: cycles: \n" STACKS), 1);
	assert_int_equal(cut_stacks("app 7 1.5: cycles: \n\tffffffff81d33df2 f ([kernel])\n\n"), 0);
	assert_int_equal(cut_stacks("app 7 1.5: cycles:  401000 leaf+0x5 (/tmp/app)\n"), 1);
	/* folded stacks may begin with a command's name, and with names of any language */
	assert_int_equal(cut_stacks("[unknown];leaf 3\n_start;main;leaf 1\n"), 1);
	assert_int_equal(cut_stacks("app;[unknown];leaf 3\napp;_start;main 1\n"), 1);
	assert_int_equal(cut_stacks("[truncated];f;leaf 3\nmain;[unknown];f 1\n"), 1);
	assert_int_equal(cut_stacks("<module>;f;[unknown] 3\n<module>;f;g 1\n"), 0);
}

static void test_other_text(void **state)
{
	(void)state;
	static const char *const others[] = {
		"services:\n  web:\n    image: nginx\n",
		"Dear reader:\n\n  nothing here is a stack\n",
		"    deadbeef\n    cafe\n",
		"usage: prog:\n  -a do it\n",
		/* other tools' texts and tables have words before colons, numbers and times too */
		"EVENT 0.000: System/Trace PID=3904; TID=3872; Name=a;\n"
		"EVENT 0.001: System/Image PID=0; TID=0; Path=\\??\\; Command: b\n",
		"# callgrind format\nevents: Instructions\nfl=file1.c\nfn=main\n16 20\n"
		"cfn=func1\ncalls=1 50\n16 400\n",
		"cpu  10 0 12\ncpu0 5 0 6\ncpu1 5 0 6\n",
		"    main  12\n    work  13\n",
		"threadcreate profile: total 7\n1 @ 0x44cb3 0x45045\n1 @ 0x44cb3\n",
		" * For example:\n *\n   0x1 <+0>: push\n",
		" bytes: Total 103B of 103B\n   65536000B (63.37%): 1638400B\n"
		"   32768000B (31.68%): 409600B\n",
		"# ==================\n# Owners\n/src  @somebody\n",
		/* what looks like names, threads and events above stacks */
		"#!/usr/bin/perl\n# dd 12 1.5: 2 cycles:\n"
		"dd 12 1.5: 2 cycles: \n\tffffffff81d33df2 read_zero ([kernel.kallsyms])\n",
		"fruit \n\tadd sugar\n\tbake it\n\n",
		"   12 \nsome text\n",
		"key: \n  name: value\n",
	};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct counting c;
		struct err err = {0};
		counting_init(&c);
		assert_int_equal(counting_text(&c, others[i], strlen(others[i]), NULL, &err),
				 -EINVAL);
		assert_int_equal(c.samples, 0);
		counting_fini(&c);
	}
}

/* A wrapper cut before anything comes out of it is no empty file. */
static void test_cut_wrapper(void **state)
{
	(void)state;
	char text[4096], packed[4096];
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)('a' + i * i % 23);
	size_t n = ZSTD_compress(packed, sizeof packed, text, sizeof text, 1);
	struct counting c;
	struct err err = {0};
	counting_init(&c);
	assert_int_equal(counting_text(&c, packed, n / 2, NULL, &err), -EBADMSG);
	assert_non_null(strstr(err.msg, "the zstd wrapper is cut off"));
	counting_fini(&c);
	counting_init(&c);
	assert_int_equal(counting_text(&c, "", 0, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "is empty"));
	counting_fini(&c);
}

/* The least CPU time of some runs that a line of @n bytes takes: @lead, @piece repeated, @tail. */
static uint64_t time_of_line(const char *lead, const char *piece, const char *tail, size_t n)
{
	char *line = malloc(n + 1);
	size_t at = strlen(lead);
	uint64_t least = UINT64_MAX;
	assert_non_null(line);
	memcpy(line, lead, at);
	while (at + strlen(piece) + strlen(tail) <= n) {
		memcpy(line + at, piece, strlen(piece));
		at += strlen(piece);
	}
	memcpy(line + at, tail, strlen(tail));
	at += strlen(tail);
	for (int i = 0; i < 5; i++) {
		struct script_header h;
		struct script_place p;
		uint64_t begin = clock_thread_cpu_ns();
		scriptline_header(line, at, &h);
		scriptline_frame(line, at, &p);
		scriptline_without_behind(line, at);
		uint64_t took = clock_thread_cpu_ns() - begin;
		least = took < least ? took : least;
	}
	free(line);
	return least;
}

/* A line of sixteen times the length takes about as many times as long, not 256 times. */
static void test_long_lines(void **state)
{
	static const struct {
		const char *lead, *piece, *tail;
	} endless[] = {
		{"app 12/12 1.0: 100 cycles: ", ")\t", ""},
		{"401000 ", ") ", ""},
		{"\t401000 ", "/P/-/-/0 ) ", ""},
		{"a ", "1/1 1 x ", ")"},
		{"a ", "1 ", ""},
		{"a ", "b: ", ""},
		{"", "f(int) ", "(/bin/app)"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
		uint64_t one = time_of_line(endless[i].lead, endless[i].piece, endless[i].tail,
					    4096);
		uint64_t more = time_of_line(endless[i].lead, endless[i].piece, endless[i].tail,
					     16 * 4096);
		if (more > 80 * one)
			fail_msg("\"%s%s…\": %llu ns, of 16 times the length %llu", endless[i].lead,
				 endless[i].piece, (unsigned long long)one,
				 (unsigned long long)more);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),        cmocka_unit_test(test_lines),
		cmocka_unit_test(test_branches),     cmocka_unit_test(test_times),
		cmocka_unit_test(test_records),      cmocka_unit_test(test_fields),
		cmocka_unit_test(test_periods),      cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_instructions), cmocka_unit_test(test_roots),
		cmocka_unit_test(test_other_text),   cmocka_unit_test(test_cut_wrapper),
		cmocka_unit_test(test_long_lines),   cmocka_unit_test(test_columns_in_doubt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
