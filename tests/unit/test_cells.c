/* cells and cellcode: counters by key, and that packing them loses nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/cellcode.h"

static void count_some(bool by_node)
{
	struct cells c = {.by_node = by_node};
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < 1000; i++) {
			struct cell x = {.node = i % 500,
					 .task = i / 500,
					 .event = (uint16_t)(i & 1),
					 .samples = 1,
					 .weight = i,
					 .weight_sq = (double)i * i};
			assert_int_equal(cells_add(&c, &x), 0);
		}
	assert_int_equal(c.len, 1000);
	struct cell key = {.node = 37, .task = 1, .event = 1};
	const struct cell *found = cells_find(&c, &key);
	assert_non_null(found);
	assert_int_equal(found->samples, 3);
	assert_int_equal(found->weight, 3 * 537);
	key.flags = CELL_BLOCKED;
	assert_null(cells_find(&c, &key));
	cells_clear(&c);
	assert_int_equal(c.len, 0);
	key.flags = 0;
	assert_null(cells_find(&c, &key));
	/* What is new to the nodes that it knows; numbers that are no nodes. */
	for (uint32_t i = 0; i < 3000; i++) {
		struct cell x = {.node = i % 3 ? i / 6 : UINT32_MAX - i % 2, .samples = 1};
		assert_int_equal(cells_add(&c, &x), 0);
	}
	uint64_t samples = 0;
	for (uint32_t i = 0; i < c.len; i++) {
		samples += c.data[i].samples;
		assert_ptr_equal(cells_find(&c, &c.data[i]), &c.data[i]);
	}
	assert_int_equal(c.len, 502);
	assert_int_equal(samples, 3000);
	assert_true(cells_bytes(&c) >= c.len * (sizeof *c.data + sizeof *c.slots));
	cells_fini(&c);
}

/* Innermost frames without a node are told apart; room that is made before changes nothing. */
static void test_leaves(void **state)
{
	(void)state;
	for (uint32_t expected = 0; expected < 10000; expected += 5000) {
		struct cells c = {0};
		cells_expect(&c, expected);
		uint32_t cap = c.cap;
		assert_true(cap >= expected);
		for (uint32_t i = 0; i < 12000; i++) {
			struct cell keys[CELLS_AHEAD];
			for (uint32_t k = 0; k < CELLS_AHEAD; k++)
				keys[k] = (struct cell){.node = (i + k) % 5,
							.leaf = (i + k) % 4000,
							.task = (i + k) % 3,
							.samples = 1};
			cells_foresee_keys(&c, keys, 1 + i % CELLS_AHEAD);
			assert_int_equal(cells_add(&c, &keys[0]), 0);
			assert_true(c.len > 5000 || c.cap == cap || !expected);
		}
		assert_int_equal(c.len, 12000); /* of the remainders by 5, 4000 and 3 */
		for (uint32_t i = 0; i < c.len; i++) {
			assert_int_equal(c.data[i].samples, 1);
			assert_ptr_equal(cells_find(&c, &c.data[i]), &c.data[i]);
		}
		struct cell key = {.node = 1, .leaf = 4000};
		assert_null(cells_find(&c, &key));
		cells_fini(&c);
	}
}

static void test_counting(void **state)
{
	(void)state;
	count_some(false);
	count_some(true);
}

static bool same(const struct cell *a, const struct cell *b)
{
	return !cell_compare(a, b) && a->samples == b->samples && a->weight == b->weight &&
	       fabs(a->weight_sq - b->weight_sq) <= 1e-9 * fabs(b->weight_sq);
}

static void test_packing(void **state)
{
	(void)state;
	struct cell cells[] = {
		/* one sample: its square is known */
		{.node = 5, .task = 1, .samples = 1, .weight = 1000, .weight_sq = 1e6},
		/* equal weights */
		{.node = 5, .task = 2, .samples = 4, .weight = 4000, .weight_sq = 4e6},
		/* unequal weights: 1 and 3 */
		{.node = 5, .task = 2, .event = 1, .samples = 2, .weight = 4, .weight_sq = 10},
		/* a counter read along */
		{.node = 5, .task = 2, .event = 2, .flags = CELL_VALUE, .weight = 123456789},
		{.node = 6,
		 .task = 1,
		 .flags = CELL_BLOCKED,
		 .samples = 1,
		 .weight = 7,
		 .weight_sq = 49},
		{.node = 1u << 30,
		 .task = 1u << 31,
		 .event = 63,
		 .samples = 1ull << 40,
		 .weight = 1ull << 62,
		 .weight_sq = 1e300},
		/* an account may be negative */
		{.node = UINT32_MAX,
		 .task = 9,
		 .event = 4,
		 .flags = CELL_ACCOUNT,
		 .weight = (uint64_t)-1234567},
	};
	enum { N = sizeof cells / sizeof *cells };
	uint8_t out[N * CELLCODE_MAX];
	size_t bytes = cellcode_pack(cells, N, out);
	assert_true(bytes <= sizeof out);
	struct cellcode_reader r = cellcode_reader(out, bytes);
	for (int i = 0; i < N; i++) {
		assert_true(cellcode_next(&r));
		assert_true(same(&r.cell, &cells[i]));
	}
	assert_false(cellcode_next(&r));

	/* Cut anywhere it ends early and never reads on. */
	for (size_t cut = 0; cut < bytes; cut++) {
		uint8_t *part = malloc(cut + 1);
		memcpy(part, out, cut);
		r = cellcode_reader(part, cut);
		int n = 0;
		while (cellcode_next(&r))
			n++;
		assert_true(n < N);
		free(part);
	}
}

static void test_packing_is_small(void **state)
{
	(void)state;
	enum { N = 1000 };
	struct cell *cells = calloc(N, sizeof *cells);
	uint8_t *out = malloc(N * CELLCODE_MAX);
	for (uint32_t i = 0; i < N; i++)
		cells[i] = (struct cell){.node = 100 + i * 37,
					 .task = 40 + i % 8,
					 .samples = 1,
					 .weight = 1003009,
					 .weight_sq = 1003009.0 * 1003009};
	assert_true(cellcode_pack(cells, N, out) < N * 8);
	free(cells);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counting),
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_packing),
		cmocka_unit_test(test_packing_is_small),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
