/* rule: every form of --trigger, what is refused and in which words, and when a rule trips. */
#include "insight/rule.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ULL

static const char *const metrics[] = {"IPC", "MISS/ki", "BE%"};
static const struct rule_words words = {.names = metrics, .n = 3, .where = "the event set backend"};

static struct rule good(const char *text)
{
	struct rule r;
	struct err err = {0};

	if (rule_parse(text, &words, &r, &err))
		fail_msg("%s: %s", text, err.msg);
	return r;
}

static void metrics_by_name(void **state)
{
	(void)state;
	struct rule r = good("ipc<0.5 for 2s");

	assert_int_equal(r.kind, RULE_VALUE);
	assert_int_equal(r.nnames, 1);
	assert_string_equal(r.names[0], "IPC");
	assert_int_equal(r.comparison, RULE_BELOW);
	assert_true(r.limit == 0.5);
	assert_int_equal(r.for_ns, 2000 * MS);
	assert_true(formula_value(&r.formula, (double[]){0.25}) == 0.25);

	r = good(" MISS/KI >= 5 ");
	assert_string_equal(r.names[0], "MISS/ki");
	assert_int_equal(r.comparison, RULE_AT_LEAST);
	assert_int_equal(r.for_ns, RULE_DEFAULT_NS);
	r = good("BE%>50% for 500ms");
	assert_string_equal(r.names[0], "BE%");
	assert_true(r.limit == 50);
	assert_int_equal(r.for_ns, 500 * MS);
}

static void arithmetic(void **state)
{
	(void)state;
	struct rule r = good("(cpu - 100) * ipc <= 2.5e1 for 1m");

	assert_int_equal(r.nnames, 2);
	assert_string_equal(r.names[0], "cpu");
	assert_string_equal(r.names[1], "IPC");
	assert_true(formula_value(&r.formula, (double[]){150, 0.5}) == 25);
	assert_true(rule_holds(&r, 25));
	assert_int_equal(r.for_ns, 60000 * MS);
}

static void functions(void **state)
{
	(void)state;
	struct rule r = good("self(parse_*)>20%");

	assert_int_equal(r.kind, RULE_SELF);
	assert_string_equal(r.pattern, "parse_*");
	assert_true(r.limit == 20);
	r = good("total(std::vector<int, std::less<int>>::at(unsigned long))>5 for 0.5 s");
	assert_int_equal(r.kind, RULE_TOTAL);
	assert_string_equal(r.pattern, "std::vector<int, std::less<int>>::at(unsigned long)");
	assert_int_equal(r.for_ns, 500 * MS);
}

static void addresses(void **state)
{
	(void)state;
	struct rule r = good("mem:0x4010/8:w");

	assert_int_equal(r.kind, RULE_EVENT);
	assert_string_equal(r.pattern, "mem:0x4010/8:w");
	good("mem:4096:x");
	good("mem:0x10");
	r = good("mem:libc.so:free:x");
	assert_string_equal(r.pattern, "mem:libc.so:free:x");
	good("mem:std::array<int,5>::at"); /* < and > of a name compare nothing */
	good("mem:operator>");
}

static void bad_ones(void **state)
{
	static const struct {
		const char *text, *part;
	} bad[] = {
		{"", "begins with a quantity"},
		{"mem:x>5", "nothing is compared"},
		{"mem:x <= .5 for 2s", "nothing is compared"},
		{"   ", "begins with a quantity"},
		{"<5", "begins with a quantity"},
		{"ipc", "one of < > <= >="},
		{"ipc 5", "at \"5\""},
		{"ipc=5", "one of < > <= >="},
		{"ipc<", "a number is missing"},
		{"ipc<x", "a number is missing"},
		{"ipc<nan", "a number is missing"},
		{"ipc<1e999", "a number is missing"},
		{"ipc<1 2", "for and a time"},
		{"ipc<1 for", "a time is missing"},
		{"ipc<1 for -2s", "a time is missing"},
		{"ipc<1 for 2 weeks", "ends in ms, s, m or h"},
		{"ipc<1 for 1ms", "from 100ms to 1h"},
		{"ipc<1 for 2h", "from 100ms to 1h"},
		{"ipc<1 fortnight", "for and a time"},
		{"l3miss>5", "no quantity is called l3miss: there are cpu, offcpu"},
		{"l3miss>5", "IPC, MISS/ki, BE% (of the event set backend)"},
		{"1<2", "nothing that is measured"},
		{"ipc+>2", "a name or a number is missing"},
		{"(ipc>2", ") is missing"},
		{"self()>5", "name is missing"},
		{"self(f>5", ") is missing"},
		{"self(f)", "one of < > <= >="},
		{"self(f)>101%", "from 0 to 100 %"},
		{"self(f)>-1", "from 0 to 100 %"},
		{"mem:", "mem:0xADDRESS"},
		{"mem:zero/3", "mem:0xADDRESS"},
		{"mem:0x10:q", "mem:0xADDRESS"},
		{"mem:0x10/3", "mem:0xADDRESS"},
		{"mem:0x10 for 2s", "behind an address comes nothing"},
	};
	struct rule r = {.limit = 7};
	char longer[400];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err = {0};

		if (rule_parse(bad[i].text, &words, &r, &err) != -EINVAL)
			fail_msg("\"%s\" was taken", bad[i].text);
		if (!strstr(err.msg, bad[i].part) || strchr(err.msg, '\n'))
			fail_msg("\"%s\": no \"%s\" in: %s", bad[i].text, bad[i].part, err.msg);
	}
	memset(longer, 'a', sizeof longer);
	longer[sizeof longer - 1] = '\0';
	assert_int_equal(rule_parse(longer, &words, &r, NULL), -EINVAL);
	snprintf(longer, sizeof longer, "self(%0150d)>1", 1);
	good(longer);
	assert_true(r.limit == 7); /* untouched on failure */

	struct err err = {0};
	assert_int_equal(rule_parse("ipc<1", NULL, &r, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "-E SET has more"));
}

/* Looks every 250 ms; each tells of the second before it. */
static void trips_once_it_held_long_enough(void **state)
{
	(void)state;
	const struct rule r = good("cpu>50% for 2s");
	struct rule_state s = {0};
	uint64_t t = 10000 * MS;
	int looks = 0;

	for (int i = 0; i < 3; i++, t += 250 * MS)
		assert_false(rule_look(&r, &s, t, 80));
	assert_false(rule_look(&r, &s, t, 40)); /* it ceased: all begins anew */
	t += 250 * MS;
	while (!rule_look(&r, &s, t, 80)) {
		t += 250 * MS;
		looks++;
	}
	assert_int_equal(looks, 4); /* one second after the look that told of the first */
	assert_int_equal(s.since_ns, t - 2000 * MS);
	for (int i = 0; i < 20; i++)
		assert_false(rule_look(&r, &s, t += 250 * MS, 80));
	assert_false(rule_look(&r, &s, t += 250 * MS, (double)NAN)); /* unknown does not hold */
	assert_false(s.tripped);
	for (looks = 0; !rule_look(&r, &s, t += 250 * MS, 80); looks++)
		;
	assert_int_equal(looks, 4);
}

static void short_times_are_one_look(void **state)
{
	(void)state;
	const struct rule r = good("cpu>50 for 200ms");
	struct rule_state s = {0};

	assert_int_equal(rule_look_ns(&r), 200 * MS);
	assert_true(rule_look(&r, &s, 1000 * MS, 51));
	assert_int_equal(s.since_ns, 800 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_by_name),
		cmocka_unit_test(arithmetic),
		cmocka_unit_test(functions),
		cmocka_unit_test(addresses),
		cmocka_unit_test(bad_ones),
		cmocka_unit_test(trips_once_it_held_long_enough),
		cmocka_unit_test(short_times_are_one_look),
	};
	return cmocka_run_group_tests_name("rule", tests, NULL, NULL);
}
