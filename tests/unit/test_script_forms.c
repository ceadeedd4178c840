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
#include <cmocka.h>

#include "counting_sink.h"

#define STACKS \
	"\tffffffff81d33df2 read_zero ([kernel.kallsyms])\n" \
	"\t           f82b3 read (/usr/lib/libc.so.6)\n\n"

static const struct {
	const char *fields, *text;
	const char *comms;
} forms[] = {
	{"comm,pid,tid,cpu,time,period,event",
	 "a b 12/13  [002] 1.5:  2 cycles: \n" STACKS "a b 12/13  [002] 1.6:  2 cycles: \n" STACKS,
	 "12/13 a b\n"},
	{"+misc", "dd 12 U     1.5:  2 cycles: \n" STACKS "dd 12 K     1.6:  2 cycles: \n" STACKS,
	 NULL},
	{"pid,time,event", "12 1.5: cycles: \n" STACKS "12 1.6: cycles: \n" STACKS, NULL},
	{"time", "1.5: \n" STACKS "1.6: \n" STACKS, NULL},
	{"comm,pid,event", "dd 12 cycles: \n" STACKS "dd 12 cycles: \n" STACKS, "12/12 dd\n"},
	{"comm,event", "dd cycles:u: \n" STACKS "a b c cycles:u: \n" STACKS, NULL},
	{"", STACKS "\n" STACKS, NULL},
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
	FLAT("", " insn: 48 89 e5\n\tmain:\n\t0000000000401000\tinsn: 55 \t# PRED 1 cycles [1]\n"
		 "\tf(int, long):\n\t0000000000401001\tinsn: c3"),
};

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_other_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
