/* stitch: what is remembered, for how long, within which cap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "unwind/stitch.h"

#define DEPTH 20

/* A stack whose frames from @own outward are those of every stack with the same @base. */
static void make(uint32_t base, uint32_t own, uint32_t leaf, frame_id *frames, uint32_t *points)
{
	for (uint32_t k = 0; k < DEPTH; k++) {
		frames[k] = k < own ? leaf * 100 + k : base * 100 + k;
		points[k] = stitch_point(frames[k], 0x1000 + k * 32);
	}
}

static void learn(struct stitch *s, task_id task, uint32_t base, uint32_t own, uint32_t leaf)
{
	frame_id frames[DEPTH];
	uint32_t points[DEPTH];
	make(base, own, leaf, frames, points);
	stitch_learn(s, task, frames, points, DEPTH);
}

static uint32_t ask(struct stitch *s, task_id task, frame_id frame, uint32_t at, frame_id *ret)
{
	uint32_t points[DEPTH];
	uint32_t n = stitch_callers(s, task, stitch_point(frame, 0x1000 + at * 32), ret, points,
				    DEPTH);
	for (uint32_t k = 0; k < n; k++)
		assert_int_equal(points[k], stitch_point(ret[k], 0x1000 + (at + 1 + k) * 32));
	return n;
}

static void callers_come_back(void **state)
{
	struct stitch *s = stitch_new(1 << 20);
	frame_id out[DEPTH];
	(void)state;
	assert_int_equal(ask(s, 7, 105, 5, out), 0);
	learn(s, 7, 1, 3, 2);
	assert_int_equal(ask(s, 7, 105, 5, out), DEPTH - 6);
	for (uint32_t k = 0; k < DEPTH - 6; k++)
		assert_int_equal(out[k], 106 + k);
	assert_int_equal(ask(s, 7, 105, 6, out), 0);  /* another CFA */
	assert_int_equal(ask(s, 8, 105, 5, out), 0);  /* another thread */
	assert_int_equal(ask(s, 7, 119, 19, out), 0); /* the root has no callers */
	assert_int_equal(ask(s, 7, 118, 18, out), 1);
	uint32_t points[2];
	assert_int_equal(stitch_callers(s, 7, stitch_point(105, 0x1000 + 5 * 32), out, points, 2),
			 2);
	stitch_free(s);
}

static void the_newest_wins_and_old_ones_go(void **state)
{
	struct stitch *s = stitch_new(1 << 20);
	frame_id frames[DEPTH], out[DEPTH];
	uint32_t points[DEPTH];
	(void)state;
	make(1, 3, 2, frames, points);
	stitch_learn(s, 7, frames, points, DEPTH);
	frames[10] = 4242; /* the same frame 5, another caller at 10 */
	points[10] = stitch_point(4242, 0x1000 + 10 * 32);
	stitch_learn(s, 7, frames, points, DEPTH);
	points[0] = 0;
	uint32_t n = stitch_callers(s, 7, points[5], out, points, DEPTH);
	assert_int_equal(n, DEPTH - 6);
	assert_int_equal(out[4], 4242);
	for (uint32_t k = 0; k < STITCH_STACKS - 1; k++)
		learn(s, 7, 5, 15, 10 + k);
	assert_int_equal(ask(s, 7, 105, 5, out), DEPTH - 6); /* the 64th last */
	learn(s, 7, 5, 15, 999);
	assert_int_equal(ask(s, 7, 105, 5, out), 0);
	assert_int_equal(ask(s, 7, 99914, 14, out), 5);
	stitch_free(s);
}

static void the_same_stack_again_costs_nothing(void **state)
{
	struct stitch *s = stitch_new(1 << 20);
	frame_id out[DEPTH];
	(void)state;
	learn(s, 7, 1, 3, 2);
	for (int k = 0; k < 1000; k++)
		learn(s, 7, 5, 3, 6);
	assert_int_equal(ask(s, 7, 105, 5, out), DEPTH - 6);
	stitch_free(s);
}

/* 2,000 threads with full rings would be 130 MB. */
static void threads_share_a_cap(void **state)
{
	struct stitch *s = stitch_new(4 << 20);
	frame_id out[DEPTH];
	(void)state;
	for (uint32_t round = 0; round < 70; round++) {
		for (task_id t = 1; t <= 2000; t++)
			learn(s, t, t, 15, round + 3000);
		assert_true(stitch_bytes(s) < (5 << 20));
	}
	assert_int_equal(ask(s, 2000, 200016, 16, out), DEPTH - 17); /* the last used is there */
	assert_int_equal(ask(s, 1, 116, 16, out), 0);                /* the first is not */
	for (task_id t = 1; t <= 2000; t++)
		stitch_forget(s, t);
	assert_int_equal(ask(s, 2000, 200016, 16, out), 0);
	learn(s, 3, 1, 3, 2);
	assert_int_equal(ask(s, 3, 105, 5, out), DEPTH - 6);
	stitch_free(s);
}

/* Random use beside a plain model: whatever comes back was learned, whole, by that thread. */
static void never_anything_else(void **state)
{
	struct stitch *s = stitch_new(200 << 10);
	frame_id out[DEPTH];
	unsigned seed = 1, found = 0;
	(void)state;
	for (int k = 0; k < 100000; k++) {
		task_id task = 1 + (task_id)(rand_r(&seed) % 50);
		uint32_t base = (uint32_t)(rand_r(&seed) % 30 + 1),
			 at = (uint32_t)(rand_r(&seed) % DEPTH);
		switch (rand_r(&seed) % 20) {
		case 0: stitch_forget(s, task); break;
		case 1:
		case 2:
		case 3:
		case 4: {
			uint32_t n = ask(s, task, base * 100 + task * 10000 + at, at, out);
			found += n > 0;
			for (uint32_t f = 0; f < n; f++)
				assert_int_equal(out[f], base * 100 + task * 10000 + at + 1 + f);
			break;
		}
		default: learn(s, task, base + task * 100, 0, 0); break;
		}
		assert_true(stitch_bytes(s) < 400 << 10);
	}
	assert_true(found > 1000);
	stitch_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_come_back),
		cmocka_unit_test(the_newest_wins_and_old_ones_go),
		cmocka_unit_test(the_same_stack_again_costs_nothing),
		cmocka_unit_test(threads_share_a_cap),
		cmocka_unit_test(never_anything_else),
	};
	return cmocka_run_group_tests_name("stitch", tests, NULL, NULL);
}
