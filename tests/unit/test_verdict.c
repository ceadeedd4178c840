/* verdict: every rule at both sides of each of its conditions; unknown facts; Amdahl; the
 * document's table. */
#include "engine/verdict_facts.h"

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
	for (unsigned s = VERDICT_SAMPLES; s <= VERDICT_TARGET; s <<= 1)
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
		f.source = (enum verdict_source)(VERDICT_TARGET << 1);
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

/* A span is slow by its own time, not by what it contains: at both sides of both thresholds. */
static void test_slow_per_call(void **state)
{
	(void)state;
	static const struct {
		double share, self_share, self_ns;
		bool slow;
	} spans[] = {{1, 0, 0, false},        {1, 0.1, 1e6, true},     {0.1, 0.1, 1e6, true},
		     {1, 0.0999, 1e6, false}, {1, 0.1, 999999, false}, {1, 1, 5e9, true},
		     {1, 0.05, 5e9, false},   {0.5, 0.2, 2e6, true}};
	static const struct snapshot_column columns[] = {{"count", "", 0}, {"avg", "ns", 0}};
	for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
		const struct analysis_row row = {.share = spans[i].share,
						 .self_share = spans[i].self_share,
						 .self_ns = spans[i].self_ns};
		const double cells[] = {1, 5e9};
		const struct analysis a = {.view = VIEW_DURATION,
					   .columns = columns,
					   .ncolumns = 2,
					   .nrows = 1,
					   .rows = &row,
					   .cells = cells};
		struct verdict_facts f;
		unsigned held = 0;
		for (int own = 0; own < 2; own++) {
			analysis_facts(&a, 0, own, &f);
			for (unsigned k = 0; k < verdict_rule_count; k++)
				held += verdict_holds(&verdict_rules[k], &f);
		}
		assert_int_equal(held, spans[i].slow);
		assert_float_equal(f.share, spans[i].self_share, 0); /* what could be gained */
	}
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
		cmocka_unit_test(test_both_sides), cmocka_unit_test(test_multiplexed),
		cmocka_unit_test(test_gain),       cmocka_unit_test(test_slow_per_call),
		cmocka_unit_test(test_documented),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
