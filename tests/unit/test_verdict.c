/* verdict: every rule at both sides of each of its conditions; unknown facts; Amdahl; the
 * document's table. */
#include "insight/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Facts for which @r holds by the least that it asks for. */
static struct verdict_facts barely(const struct verdict_rule *r)
{
	struct verdict_facts f = {.share = r->share, .hits = r->hits};
	for (unsigned s = VERDICT_SAMPLES; s <= VERDICT_COUNTED; s <<= 1)
		if (r->sources & s)
			f.source = (enum verdict_source)s;
	for (int i = 0; i < FACTS; i++)
		f.fact[i] = NAN;
	f.fact[r->fact] = r->below ? r->threshold * 0.999 : r->threshold;
	if (r->also < FACTS)
		f.fact[r->also] = r->least;
	return f;
}

static void test_both_sides(void **state)
{
	(void)state;
	for (unsigned i = 0; i < verdict_rule_count; i++) {
		const struct verdict_rule *r = &verdict_rules[i];
		struct verdict_facts good = barely(r), f = good;
		assert_true(verdict_holds(r, &f));
		f.fact[r->fact] = r->below ? r->threshold : r->threshold * 0.999;
		assert_false(verdict_holds(r, &f));
		f = good;
		f.fact[r->fact] = NAN;
		assert_false(verdict_holds(r, &f));
		f = good;
		f.share = r->share * 0.999;
		assert_false(verdict_holds(r, &f));
		f = good;
		f.share_margin = r->share * 0.01; /* the interval reaches below the least share */
		assert_false(verdict_holds(r, &f));
		f = good;
		f.hits = r->hits - 1;
		assert_false(verdict_holds(r, &f));
		f = good;
		f.source = (enum verdict_source)(32);
		assert_false(verdict_holds(r, &f));
		if (r->also < FACTS) {
			f = good;
			f.fact[r->also] = r->least - 1;
			assert_false(verdict_holds(r, &f));
			f.fact[r->also] = NAN;
			assert_false(verdict_holds(r, &f));
		}
	}
}

static void test_multiplexed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < verdict_rule_count; i++) {
		const struct verdict_rule *r = &verdict_rules[i];
		struct verdict_facts f = barely(r);
		f.multiplexed = true;
		bool counter = r->fact >= FACT_IPC && r->fact <= FACT_BACKEND;
		assert_int_equal(verdict_holds(r, &f), !counter);
	}
}

static void test_gain(void **state)
{
	(void)state;
	assert_float_equal(verdict_gain(0), 1, 0);
	assert_float_equal(verdict_gain(0.5), 2, 1e-12);
	assert_float_equal(verdict_gain(0.2), 1.25, 1e-12);
	assert_float_equal(verdict_gain(0.9999), 10000, 1e-6);
	assert_true(isinf(verdict_gain(1)));
	assert_float_equal(verdict_gain(NAN), 1, 0);
}

/* doc/verdicts.md has a line for each rule, with its kind and threshold. */
static void test_documented(void **state)
{
	(void)state;
	FILE *f = fopen("doc/verdicts.md", "r");
	assert_non_null(f);
	char *line = NULL;
	size_t cap = 0;
	unsigned found = 0;
	while (getline(&line, &cap, f) > 0)
		for (unsigned i = 0; i < verdict_rule_count; i++) {
			const struct verdict_rule *r = &verdict_rules[i];
			char start[80];
			snprintf(start, sizeof start, "| %s | %s %g |", r->kind,
				 r->below ? "<" : "\xe2\x89\xa5", r->threshold);
			found += !strncmp(line, start, strlen(start));
		}
	free(line);
	fclose(f);
	assert_int_equal(found, verdict_rule_count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_sides),
		cmocka_unit_test(test_multiplexed),
		cmocka_unit_test(test_gain),
		cmocka_unit_test(test_documented),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
