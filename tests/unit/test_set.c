/* formula and set: arithmetic by hand-computed values, set files right and wrong, the built-in
 * ones. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event/set.h"

static int find(void *ctx, const char *name, int len)
{
	static const char *const names[] = {"a", "b", "c.d", "zero"};

	(void)ctx;
	for (int i = 0; i < 4; i++)
		if (strncmp(names[i], name, (size_t)len) == 0 && !names[i][len])
			return i;
	return -1;
}

static double value(const char *text, double unknown_b)
{
	const double values[] = {6, unknown_b, 3, 0};
	struct formula f;
	struct err err = {0};

	if (formula_parse(text, find, NULL, &f, &err))
		fail_msg("%s: %s", text, err.msg);
	return formula_value(&f, values);
}

static void test_values(void **state)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
		{"a / b", 3},       {"100 * a / (a + b)", 75},
		{"a - b - c.d", 1}, {"a - (b - c.d)", 7},
		{"a / b / c.d", 1}, {"2 + 3 * 4", 14},
		{"-a + 10", 4},     {"--a", 6},
		{"1.5e2", 150},     {"((a))", 6},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_true(fabs(value(cases[i].text, 2) - cases[i].value) < 1e-9);
	assert_true(isnan(value("a / zero", 2)));
	assert_true(isnan(value("a + b", (double)NAN)));
	assert_true(isnan(value("a / (b - b)", 2)));
	assert_true(!isnan(value("a + c.d", (double)NAN)));
}

static void test_wrong(void **state)
{
	static const char *const bad[] = {"",
					  "a +",
					  "nosuch",
					  "(a",
					  "a)",
					  "a b",
					  "* a",
					  "a // b",
					  "1 2",
					  "a.",
					  "((((((((((((((((((a))))))))))))))))))"};
	char longer[600] = "a";

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct formula f;
		struct err err = {0};

		assert_int_equal(formula_parse(bad[i], find, NULL, &f, &err), -EINVAL);
		assert_true(err.msg[0]);
	}
	for (int i = 0; i < 60; i++)
		strcat(longer, "+a");
	assert_int_equal(formula_parse(longer, find, NULL, &(struct formula){0}, NULL), -EINVAL);
}

static void test_set(void **state)
{
	static const char text[] = "# a comment\n"
				   "about Cycles\n"
				   "event c = cycles:u\n"
				   "event i = instructions\n"
				   "group\n"
				   "event m = cpu/mem-loads,ldlat=3/\n"
				   "metric IPC = i / c\n"
				   "unit x\n decimals 3\n\tgood > 1.5\nbad < 0.7\n"
				   "meaning Much.\nnext Do it.\n"
				   "metric M = m\nbad > 5\n";
	const double values[] = {10, 25, 7};
	struct event_set s;

	(void)state;
	assert_int_equal(event_set_parse("t", text, &s, NULL), 0);
	assert_string_equal(s.about, "Cycles");
	assert_int_equal(s.nevents, 3);
	assert_string_equal(s.events[2].name, "cpu/mem-loads,ldlat=3/");
	assert_int_equal(s.events[1].group, 0);
	assert_int_equal(s.events[2].group, 1);
	assert_int_equal(s.nmetrics, 2);
	assert_int_equal(s.metrics[0].decimals, 3);
	assert_true(s.metrics[0].high_is_good && s.metrics[0].has_bad);
	assert_false(s.metrics[1].high_is_good);
	assert_false(s.metrics[1].has_good);
	assert_int_equal(s.metrics[0].formula.uses, 3);
	assert_true(fabs(formula_value(&s.metrics[0].formula, values) - 2.5) < 1e-9);
}

static void test_wrong_sets(void **state)
{
	static const char *const bad[] = {
		"",
		"about nothing\n",
		"event c cycles\n",
		"event c = cycles\nevent c = instructions\n",
		"event c = cycles\nmetric X = c / d\n",
		"event c = cycles\nunit %\n",
		"event c = cycles\nmetric X = c\ngood 5\n",
		"event c = cycles\nmetric X = c\nbad > five\n",
		"event c = cycles\nmetric X = c\ndecimals 12\n",
		"event c = cycles\nnonsense\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct event_set s;
		struct err err = {0};

		assert_int_equal(event_set_parse("bad", bad[i], &s, &err), -EINVAL);
		assert_non_null(strstr(err.msg, "event set bad"));
	}
}

static void complain(void *ctx, const char *sentence)
{
	(void)ctx;
	fail_msg("%s", sentence);
}

/* The built-in sets are right, and what fits everywhere can be opened wherever perf works. */
static void test_builtin(void **state)
{
	static const char *const names[] = {"backend",  "branch",   "clock",  "e6500",
					    "frontend", "ipc",      "memory", "neoverse",
					    "smt",      "software", "topdown"};
	size_t seen = 0;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct event_set s;
		struct err err = {0};
		char path[64];

		snprintf(path, sizeof path, "src/event/sets/%s.set", names[i]);
		if (event_set_read(path, &s, &err))
			complain(NULL, err.msg);
		assert_string_equal(s.name, names[i]);
		assert_true(s.about[0]);
		for (uint32_t k = 0; k < s.nmetrics; k++)
			assert_true(s.metrics[k].meaning[0]);
		seen++;
	}
	assert_int_equal(seen, sizeof names / sizeof *names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),  cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_set),     cmocka_unit_test(test_wrong_sets),
		cmocka_unit_test(test_builtin),
	};

	return cmocka_run_group_tests_name("set", tests, NULL, NULL);
}
