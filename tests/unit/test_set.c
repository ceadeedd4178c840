/* formula and set: arithmetic by hand-computed values, set files right and wrong, the built-in
 * ones. */
#include <dirent.h>
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

static const struct formula_names known = {find, NULL, NULL};

static double value(const char *text, double unknown_b)
{
	const double values[] = {6, unknown_b, 3, 0};
	struct formula f;
	struct err err = {0};

	if (formula_parse(text, &known, &f, &err))
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
	char longer[1200] = "a";

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct formula f;
		struct err err = {0};

		assert_int_equal(formula_parse(bad[i], &known, &f, &err), -EINVAL);
		assert_true(err.msg[0]);
	}
	for (int i = 0; i < FORMULA_OPS; i++)
		strcat(longer, "+a");
	assert_int_equal(formula_parse(longer, &known, &(struct formula){0}, NULL), -EINVAL);
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
		"event c = cycles\nlet c = c + c\n",
		"event c = cycles\nlet d\n",
		"event c = cycles\nlet d = e\n",
		"event c = cycles\nslots\n",
		"event c = cycles\nsample d\n",
		"event c = cycles\nsample c 0\n",
		"event c = cycles\nsample\n",
		"event c = cycles\nrare d\n",
		"event c = cycles\nmetric A = c\npart all\nmeaning m\n",
		"event c = cycles\nslots c\nmetric A = c\npart all\nof B\nmeaning m\n",
		"event c = cycles\nslots c\nmetric A = c\npart all\nof A\nmeaning m\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct event_set s;
		struct err err = {0};

		assert_int_equal(event_set_parse("bad", bad[i], &s, &err), -EINVAL);
		assert_non_null(strstr(err.msg, "event set bad"));
	}
}

/* Words for sets that tell where the pipeline's slots go. */
static void test_parts(void **state)
{
	static const char text[] = "event s = slots\nevent c = cycles\nevent x = r1\nevent y = r2\n"
				   "sample c 2000003\nrare x y\n"
				   "let lost = x + y\nlet half = lost / 2\nslots s\nrest the rest\n"
				   "metric A% = 100 * lost / s\npart waiting\nmeaning m\n"
				   "metric B% = 100 * half / s\npart for data\nof A%\nmeaning m\n";
	const double values[] = {400, 1, 60, 20};
	struct event_set s;
	struct err err = {0};

	(void)state;
	if (event_set_parse("t", text, &s, &err))
		fail_msg("%s", err.msg);
	assert_true(!s.events[0].sampled && s.events[1].sampled && !s.events[2].sampled);
	assert_int_equal(s.period, 2000003);
	assert_int_equal(s.rare, 0xc);
	assert_true(s.has_slots);
	assert_string_equal(s.rest, "the rest");
	assert_true(fabs(formula_value(&s.slots, values) - 400) < 1e-9);
	assert_true(fabs(formula_value(&s.metrics[1].formula, values) - 10) < 1e-9);
	assert_int_equal(s.metrics[1].formula.uses, 0xd);
	assert_int_equal(s.metrics[0].of, -1);
	assert_int_equal(s.metrics[1].of, 0);
	assert_string_equal(s.metrics[1].part, "for data");
}

/* A set that does not fit has a neighbour that does, by what both tell. */
static void test_nearest(void **state)
{
	static const char *const texts[] = {
		"cpu nowhere\nevent a = cycles\nslots a\nmetric X% = a\npart waiting\nmeaning m\n"
		"metric Y = a\nmeaning m\n",
		"event a = page-faults\nslots a\nmetric Z% = a\npart waiting\nmeaning m\n",
		"event a = page-faults\nmetric Y = a\nmeaning m\nmetric X% = a\nmeaning m\n",
		"cpu nowhere\nevent a = page-faults\nmetric X% = a\nmeaning m\nmetric Y = a\n"
		"meaning m\n",
		"event a = page-faults\nmetric Q = a\nmeaning m\n",
	};
	static struct event_set sets[5];
	char name[2] = "a";
	struct err err = {0};

	(void)state;
	for (int i = 0; i < 5; i++, name[0]++)
		assert_int_equal(event_set_parse(name, texts[i], &sets[i], NULL), 0);
	if (event_set_try(&sets[1], &err) != VALUE_OK) {
		print_message("skip: no event can be opened here\n");
		skip();
	}
	assert_ptr_equal(event_set_nearest(sets, 5, &sets[0]), &sets[2]);
	assert_ptr_equal(event_set_nearest(sets, 2, &sets[0]), &sets[1]);
	assert_null(event_set_nearest(sets, 5, &sets[4]));
}

/* The built-in sets are right: each metric says what it means and each bad part what to do. */
static void test_builtin(void **state)
{
	DIR *d = opendir("src/event/sets");
	struct dirent *e;
	size_t seen = 0;

	(void)state;
	assert_non_null(d);
	while ((e = readdir(d))) {
		struct event_set s;
		struct err err = {0};
		char path[300];

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "src/event/sets/%s", e->d_name);
		if (event_set_read(path, &s, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(strncmp(s.name, e->d_name, strlen(s.name)), 0);
		assert_true(s.about[0]);
		for (uint32_t k = 0; k < s.nmetrics; k++) {
			assert_true(s.metrics[k].meaning[0]);
			assert_true(!s.metrics[k].part[0] || s.metrics[k].next[0]);
		}
		seen++;
	}
	closedir(d);
	assert_true(seen >= 19);
}

/* What runs now, and what is offered where others hold the counters: the clock, if nothing else. */
static void test_running(void **state)
{
	static const char *const texts[] = {
		"about c\nevent clock = cpu-clock\nevent faults = page-faults\n"
		"metric F = faults / clock\n",
		"about n\nevent none = r1fffffffffff:k\nmetric F = none / 2\n",
		"about f\nevent clock = cpu-clock\ngroup\nevent faults = page-faults\n"
		"metric G = faults / clock\n",
		"about w\nevent cycles = cycles\nmetric G = cycles / 2\nmetric F = cycles\n",
	};
	static const char *const names[] = {"clock", "none", "other", "wanted"};
	static struct event_set sets[4];
	struct err err;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(event_set_parse(names[i], texts[i], &sets[i], &err), 0);
	if (event_set_try(&sets[0], &err) != VALUE_OK)
		skip(); /* no perf events at all */
	assert_true(event_set_runs(&sets[0]));
	assert_false(event_set_runs(&sets[1]));
	assert_true(event_set_runs(&sets[2]));
	assert_ptr_equal(event_set_running(sets, 4, &sets[3]), &sets[0]);
	assert_ptr_equal(event_set_running(sets, 4, NULL), &sets[0]);
	assert_ptr_equal(event_set_running(sets + 1, 3, &sets[3]), &sets[2]);
	assert_null(event_set_running(sets + 1, 1, &sets[3]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),  cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_set),     cmocka_unit_test(test_wrong_sets),
		cmocka_unit_test(test_builtin), cmocka_unit_test(test_parts),
		cmocka_unit_test(test_nearest), cmocka_unit_test(test_running),
	};

	return cmocka_run_group_tests_name("set", tests, NULL, NULL);
}
