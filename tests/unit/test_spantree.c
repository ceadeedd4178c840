/* spantree: cells by the tenth of a second, also where one thread's spans come after another's. */
#include "trace/spantree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define STEPS    40u
#define SPANS    3u /* a step */
#define SPAN_NS  (SPANTREE_STEP_NS / 4)
#define FIRST_NS (7 * SPANTREE_STEP_NS)

static uint64_t weights[2][STEPS], before_ns;
static unsigned cells;

static int hear(void *ctx, const struct span_cell *c)
{
	const struct spantree *t = ctx;
	uint64_t step = c->time_ns / SPANTREE_STEP_NS - FIRST_NS / SPANTREE_STEP_NS;
	assert_in_range(step, 0, STEPS - 1);
	assert_true(c->time_ns >= before_ns);
	before_ns = c->time_ns;
	weights[t->nodes.data[c->node].thread][step] += c->weight;
	cells++;
	return 0;
}

static void add_thread(struct spantree *t, uint32_t thread)
{
	uint32_t node;
	assert_int_equal(spantree_child(t, 0, thread, 5, &node), 0);
	for (uint64_t step = 0; step < STEPS; step++)
		for (uint64_t i = 1; i <= SPANS; i++)
			assert_int_equal(
				spantree_add(t, node,
					     FIRST_NS + step * SPANTREE_STEP_NS + i * SPAN_NS,
					     step + 1),
				0);
}

static void test_thread_after_thread(void **state)
{
	(void)state;
	struct spantree t;
	assert_int_equal(spantree_init(&t), 0);
	add_thread(&t, 0);
	add_thread(&t, 1);
	assert_int_equal(spantree_flush(&t, hear, &t), 0);
	for (unsigned step = 0; step < STEPS; step++) {
		assert_int_equal(weights[0][step], SPANS * (step + 1));
		assert_int_equal(weights[1][step], SPANS * (step + 1));
	}
	assert_int_equal(cells, 2 * STEPS);
	spantree_fini(&t);
}

/* Up to the last moment that there is. */
static void test_end_of_time(void **state)
{
	(void)state;
	struct spantree t;
	uint32_t node;
	assert_int_equal(spantree_init(&t), 0);
	assert_int_equal(spantree_child(&t, 0, 0, 5, &node), 0);
	assert_int_equal(spantree_add(&t, node, 0, 1), 0);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(spantree_add(&t, node, UINT64_MAX - 2 + i, 1), 0);
	assert_int_equal(extsort_count(t.cells), 1);
	assert_int_equal(t.nodes.data[node].hits, 3);
	spantree_fini(&t);
}

static struct {
	uint64_t cells, weight, before_ns;
} sum;

static int add_up(void *ctx, const struct span_cell *c)
{
	(void)ctx;
	assert_true(c->time_ns >= sum.before_ns);
	sum.before_ns = c->time_ns;
	sum.weight += c->weight;
	sum.cells++;
	return 0;
}

/* More cells than stay in memory: all of them, in order, and then it is empty. */
static void test_many_cells(void **state)
{
	(void)state;
	enum { MANY = 700000 };
	struct spantree t;
	assert_int_equal(spantree_init(&t), 0);
	for (uint32_t thread = 0; thread < 2; thread++) {
		uint32_t node;
		assert_int_equal(spantree_child(&t, 0, thread, 5, &node), 0);
		for (uint64_t i = 0; i < MANY; i++)
			assert_int_equal(spantree_add(&t, node, i * SPANTREE_STEP_NS + thread, i),
					 0);
	}
	assert_true(extsort_spilled(t.cells));
	assert_false(spantree_is_full(&t));
	for (int i = 0; i < 2; i++) {
		sum.cells = sum.weight = sum.before_ns = 0;
		assert_int_equal(spantree_flush(&t, add_up, NULL), 0);
		assert_int_equal(sum.cells, i ? 0 : 2 * MANY);
		assert_int_equal(sum.weight, i ? 0 : (uint64_t)MANY * (MANY - 1));
	}
	spantree_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_after_thread),
		cmocka_unit_test(test_end_of_time),
		cmocka_unit_test(test_many_cells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
