/* durations: spread and percentiles against sorting them all, in memory and through the disk. */
#include "trace/durations.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define ROWS 5
#define MOST 6000

static uint64_t values[ROWS][MOST];
static size_t counts[ROWS];
static struct spread found[ROWS];
static unsigned heard[ROWS];

static void hear(void *ctx, uint32_t row, const struct spread *s)
{
	(void)ctx;
	assert_in_range(row, 0, ROWS - 1);
	found[row] = *s;
	heard[row]++;
}

static int rising(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;
	return *a < *b ? -1 : *a > *b;
}

static uint64_t state = 88172645463325252ull;

static uint64_t randomly(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* Row 0 has none, 1 one, 2 all equal but one, 3 from the whole range, 4 near each other. */
static void make(struct durations *d)
{
	static const size_t most[ROWS] = {0, 1, 333, MOST, 4001};
	memset(counts, 0, sizeof counts);
	memset(heard, 0, sizeof heard);
	for (size_t i = 0; i < MOST; i++)
		for (uint32_t row = 0; row < ROWS; row++) {
			uint64_t v = row == 2   ? i == 7 ? 1ull << 62 : 5
				     : row == 3 ? randomly() >> (randomly() & 63)
						: 1000000 + randomly() % 1000;
			if (counts[row] == most[row])
				continue;
			values[row][counts[row]++] = v;
			assert_int_equal(durations_add(d, row, v), 0);
		}
}

static void check(uint32_t row)
{
	static const unsigned percents[] = {50, 95, 99};
	size_t n = counts[row];
	long double sum = 0, squares = 0, above = 0;
	qsort(values[row], n, sizeof(uint64_t), rising);
	for (size_t i = 0; i < n; i++)
		sum += values[row][i];
	for (size_t i = 0; i < n; i++) {
		long double delta = (long double)values[row][i] - sum / n;
		squares += delta * delta;
		above += delta > 0 ? delta : 0;
	}
	assert_int_equal(heard[row], n > 0);
	for (int i = 0; i < 3 && n; i++)
		assert_int_equal(found[row].at[i], values[row][(n * percents[i] + 99) / 100 - 1]);
	if (!n)
		return;
	assert_true(fabs(found[row].squares - (double)squares) <= 1e-9 * (double)squares);
	assert_true(fabs(found[row].above - (double)above) <= 1e-9 * (double)above);
}

static void test_against_sorting(void **ctx)
{
	(void)ctx;
	struct spread in_memory[ROWS];
	for (int spilled = 0; spilled < 2; spilled++) {
		struct durations *d = durations_new(spilled ? 4096 : 64 << 20);
		assert_non_null(d);
		state = 88172645463325252ull;
		assert_int_equal(durations_add(d, 3, 99), 0);
		durations_clear(d); /* as if nothing had been */
		make(d);
		assert_int_equal(durations_spread(d, hear, NULL), 0);
		for (uint32_t row = 0; row < ROWS; row++)
			check(row);
		if (!spilled)
			memcpy(in_memory, found, sizeof found);
		assert_memory_equal(in_memory, found, sizeof found); /* to the last digit */
		durations_free(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_sorting),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
