/* confidence: intervals against values computed by hand, and what few hits mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "answer.h"
#include "insight/confidence.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 5e-6)

/* @k of @n samples that weigh @w each. */
static struct interval share(uint64_t k, uint64_t n, uint64_t w)
{
	double ww = (double)w * (double)w;
	return confidence_interval(k * w, (double)k * ww, n * w,
				   confidence_effective(n * w, (double)n * ww));
}

static void test_normal(void **state)
{
	(void)state;
	/* 400 of 1000: 1.959964 × √(0.4 × 0.6 / 1000) = 1.959964 × 0.01549193 = 0.03036363 */
	struct interval i = share(400, 1000, 1);
	NEAR(i.share, 0.4);
	NEAR(i.margin, 0.030364);
	NEAR(i.low, 0.369636);
	NEAR(i.high, 0.430364);
	/* All weighing the same, the weight does not matter. */
	NEAR(share(400, 1000, 1003009).margin, 0.030364);
	/* 31 of 100: 1.959964 × √(0.31 × 0.69 / 100) = 0.0906466 */
	NEAR(share(31, 100, 1).margin, 0.090647);
}

static void test_wilson(void **state)
{
	(void)state;
	/* 10 of 100 (Brown, Cai, DasGupta's formula): middle (0.1 + 3.841459/200) / 1.03841459 =
	 * 0.1147973, half 1.959964 / 1.03841459 × √(0.09/100 + 3.841459/40000) = 0.0595682 */
	struct interval i = share(10, 100, 1);
	NEAR(i.share, 0.1);
	NEAR(i.margin, 0.059568);
	NEAR(i.low, 0.055229);
	NEAR(i.high, 0.174366);
	/* Nothing seen is not nothing there: 0 of 100 reaches to z²/(n + z²) = 0.0369935. */
	i = share(0, 100, 1);
	NEAR(i.low, 0);
	NEAR(i.high, 0.036994);
	/* 1 of 1 */
	i = share(1, 1, 1);
	assert_true(i.low > 0.2 && i.low < 0.21);
	NEAR(i.high, 1);
	/* 30 hits are still Wilson's: the normal margin would be 0.0898168. */
	NEAR(share(30, 100, 1).margin, 0.088450);
	/* So are 30 misses: what nearly always was seen is no surer than what seldom was. */
	NEAR(share(71, 100, 1).margin, share(29, 100, 1).margin);
	i = share(90, 100, 1);
	NEAR(i.margin, 0.059568);
	NEAR(i.low, 1 - 0.174366);
	NEAR(i.high, 1 - 0.055229);
	i = share(100, 100, 1);
	NEAR(i.low, 1 - 0.036994);
	NEAR(i.high, 1);
	assert_true(i.margin > 0.01);
}

static void test_nothing(void **state)
{
	(void)state;
	struct interval i = confidence_interval(0, 0, 0, 0);
	NEAR(i.share, 0);
	NEAR(i.low, 0);
	NEAR(i.high, 1);
	i = confidence_interval(30, 0, 40, 0); /* accounted, never sampled: known, but for chance */
	NEAR(i.share, 0.75);
	NEAR(i.margin, 0.5);
	NEAR(confidence_effective(0, 0), 0);
}

static void test_weighted(void **state)
{
	(void)state;
	/* Weights 1, 1, 1, 1 and 4: (8)² / (4 + 16) = 3.2 samples' worth. */
	NEAR(confidence_effective(8, 20), 3.2);
	/* Ten equal ones are ten. */
	NEAR(confidence_effective(70, 490), 10);
}

static void test_flags(void **state)
{
	(void)state;
	assert_int_equal(confidence_flags(4.99), ROW_UNRANKED | ROW_DIM);
	assert_int_equal(confidence_flags(5), ROW_LOW | ROW_DIM);
	assert_int_equal(confidence_flags(29), ROW_LOW | ROW_DIM);
	assert_int_equal(confidence_flags(30), ROW_DIM);
	assert_int_equal(confidence_flags(99), ROW_DIM);
	assert_int_equal(confidence_flags(100), 0); /* 1/√100 = 10 % */
}

static void test_ties(void **state)
{
	(void)state;
	struct interval a = share(400, 1000, 1), b = share(360, 1000, 1), c = share(300, 1000, 1);
	assert_true(confidence_tied(&a, &b));  /* 0.370 … 0.430 and 0.330 … 0.390 */
	assert_false(confidence_tied(&a, &c)); /* … and 0.272 … 0.328 */
}

/* Of 2,000 made-up samplings at least 93 % must hold the truth, at few hits and at many. */
static void test_coverage(void **state)
{
	(void)state;
	const struct {
		double p;
		int n;
	} cases[] = {{0.01, 1000}, {0.03, 300}, {0.1, 200}, {0.5, 100}, {0.2, 2000}};
	srand48(7);
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		int held = 0;
		for (int trial = 0; trial < 2000; trial++) {
			uint64_t k = 0;
			for (int i = 0; i < cases[c].n; i++)
				k += drand48() < cases[c].p;
			struct interval i = share(k, (uint64_t)cases[c].n, 997);
			held += i.low <= cases[c].p && cases[c].p <= i.high;
		}
		assert_true(held >= 1860);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal),   cmocka_unit_test(test_wilson),
		cmocka_unit_test(test_nothing),  cmocka_unit_test(test_weighted),
		cmocka_unit_test(test_flags),    cmocka_unit_test(test_ties),
		cmocka_unit_test(test_coverage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
