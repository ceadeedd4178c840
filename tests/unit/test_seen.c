/* seen: stacks found by how the file writes them; what is seen once drives out nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "import/seen.h"
#include "sample.h"

static void test_second_time(void **state)
{
	(void)state;
	struct seen s = {0};
	static const uint8_t a[] = {1, 2, 3}, again[] = {1, 2, 3}, b[] = {1, 2, 4};
	frame_id frames[2] = {7, 8};
	bool learn;
	assert_null(seen_find(&s, a, sizeof a, &learn));
	struct seen_stack *e = seen_find(&s, again, sizeof again, &learn);
	assert_non_null(e);
	assert_true(learn);
	assert_true(seen_learn(&s, e, again, frames, 2));
	assert_true(e->fresh);
	frames[0] = 0; /* it has a copy */
	e = seen_find(&s, again, sizeof again, &learn);
	assert_false(learn);
	assert_int_equal(e->nframes, 2);
	assert_int_equal(e->frames[0], 7);
	assert_in_range(e->number, 1, STACKS_MAX - 1);
	assert_null(seen_find(&s, b, sizeof b, &learn));
	assert_null(seen_find(&s, a, 2, &learn));
	assert_null(seen_find(&s, a, 0, &learn));
	seen_fini(&s);
}

/* Looked for ahead or not, it is found by what stands there when it is looked for. */
static void test_foreseen(void **state)
{
	(void)state;
	struct seen s = {0};
	uint8_t key[] = {1, 2, 3};
	bool learn;
	seen_foresee(&s, key, sizeof key);
	assert_null(seen_find(&s, key, sizeof key, &learn));
	struct seen_stack *e = seen_find(&s, key, sizeof key, &learn);
	assert_true(e && learn);
	assert_true(seen_learn(&s, e, key, &(frame_id){7}, 1));
	seen_foresee(&s, key, sizeof key);
	assert_ptr_equal(seen_find(&s, key, sizeof key, &learn), e);
	assert_false(learn);
	key[0] = 9; /* what was foreseen was for one time */
	assert_null(seen_find(&s, key, sizeof key, &learn));
	seen_fini(&s);
}

static void test_depth(void **state)
{
	(void)state;
	struct seen s = {0};
	static const uint8_t key[] = {9};
	static const frame_id deep[SEEN_FRAMES_MAX + 1];
	bool learn;
	seen_find(&s, key, 1, &learn);
	struct seen_stack *e = seen_find(&s, key, 1, &learn);
	assert_false(seen_learn(&s, e, key, deep, SEEN_FRAMES_MAX + 1));
	assert_false(seen_learn(&s, e, key, deep, 0));
	e = seen_find(&s, key, 1, &learn);
	assert_true(learn);
	assert_true(seen_learn(&s, e, key, deep, SEEN_FRAMES_MAX));
	seen_fini(&s);
}

/* A million stacks that come once, among them a thousand that come all the time. */
static void test_scan(void **state)
{
	(void)state;
	enum { ONCE = 1000000, OFTEN = 1000, EVERY = 20 };
	struct seen s = {0};
	uint32_t *keys = malloc((ONCE + OFTEN) * sizeof *keys), hits = 0, asked = 0, wrong = 0;
	for (uint32_t i = 0; i < ONCE + OFTEN; i++)
		keys[i] = i;
	for (uint32_t i = 0; i < ONCE; i++) {
		bool learn;
		seen_find(&s, (const uint8_t *)&keys[OFTEN + i], sizeof *keys, &learn);
		if (i % EVERY)
			continue;
		uint32_t k = i / EVERY % OFTEN;
		struct seen_stack *e = seen_find(&s, (const uint8_t *)&keys[k], sizeof k, &learn);
		asked++;
		if (e && learn)
			seen_learn(&s, e, (const uint8_t *)&keys[k], &(frame_id){k + 1}, 1);
		else if (e)
			hits++, wrong += e->frames[0] != k + 1;
	}
	assert_int_equal(wrong, 0);
	assert_true(hits > asked / 4 * 3);
	free(keys);
	seen_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_second_time),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_foreseen),
		cmocka_unit_test(test_scan),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
