/* spans: over which time each event set was collected: sets that alternate, samples that come late,
 * more spans than there is room for. */
#include "engine/spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/core.h"

static struct engine *engine(void)
{
	static struct engine e;

	memset(&e, 0, sizeof e);
	return &e;
}

static void alternating(void **state)
{
	struct engine *e = engine();

	(void)state;
	assert_int_equal(set_covered_ns(e, 0, 0, UINT64_MAX), 0);
	assert_int_equal(set_end_ns(e, 0), 0);
	for (uint64_t t = 100; t <= 200; t += 10)
		spans_add(&e->spans, 0, t);
	for (uint64_t t = 210; t <= 300; t += 10)
		spans_add(&e->spans, 1, t);
	for (uint64_t t = 310; t <= 350; t += 10)
		spans_add(&e->spans, 0, t);
	e->newest_set = 0;
	assert_int_equal(e->spans.n, 3);
	assert_int_equal(set_covered_ns(e, 0, 0, UINT64_MAX), 100 + 40);
	assert_int_equal(set_covered_ns(e, 1, 0, UINT64_MAX), 90);
	assert_int_equal(set_covered_ns(e, 1, 250, 260), 10);
	assert_int_equal(set_covered_ns(e, 0, 205, 305), 0);
	assert_int_equal(set_covered_ns(e, 0, 190, 320), 10 + 10);
	assert_int_equal(set_end_ns(e, 1), 300);
	assert_int_equal(set_end_ns(e, 0), 350);
	assert_int_equal(set_in_view(e, UINT16_MAX), 0);
	assert_int_equal(set_in_view(e, 1), 1);
}

/* The queue is in order of time, but for what several rings hold at a switch. */
static void late_samples_belong_to_their_set(void **state)
{
	struct engine *e = engine();

	(void)state;
	spans_add(&e->spans, 0, 100);
	spans_add(&e->spans, 1, 200);
	spans_add(&e->spans, 0, 199);
	spans_add(&e->spans, 1, 210);
	assert_int_equal(e->spans.n, 2);
	assert_int_equal(set_end_ns(e, 0), 199);
	assert_int_equal(set_covered_ns(e, 1, 0, UINT64_MAX), 10);
}

static void the_oldest_give_way(void **state)
{
	struct engine *e = engine();
	uint64_t t = 0;

	(void)state;
	for (int i = 0; i < 3 * SPANS_MAX; i++, t += 10) {
		spans_add(&e->spans, (uint16_t)(i & 1), t);
		spans_add(&e->spans, (uint16_t)(i & 1), t + 9);
	}
	assert_int_equal(e->spans.n, SPANS_MAX);
	for (uint32_t i = 1; i < e->spans.n; i++) {
		assert_true(e->spans.s[i].from_ns >= e->spans.s[i - 1].until_ns);
		assert_int_not_equal(e->spans.s[i].set, e->spans.s[i - 1].set);
	}
	assert_int_equal(set_end_ns(e, 1), t - 1);
	assert_int_equal(set_covered_ns(e, 1, 0, UINT64_MAX), 9 * SPANS_MAX / 2);
	/* What was before the oldest that is left was others' time, too. */
	e->setup.live = true;
	e->start_ns = 1;
	e->newest_set = 2;
	assert_int_equal(set_covered_ns(e, 0, 0, UINT64_MAX) + set_covered_ns(e, 1, 0, UINT64_MAX),
			 9 * SPANS_MAX);
}

static void names(void **state)
{
	struct engine *e = engine();
	struct event_desc d = {.name = "cycles", .set = 1, .set_name = "ipc", .sampled = true};

	(void)state;
	e->setup.event_set = "clock";
	assert_string_equal(set_name(e, 0), "clock");
	assert_string_equal(set_name(e, 1), "");
	shared_announce(&e->shared, 3, &d);
	assert_string_equal(set_name(e, 1), "ipc");
	assert_string_equal(set_name(e, 2), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alternating),
		cmocka_unit_test(late_samples_belong_to_their_set),
		cmocka_unit_test(the_oldest_give_way),
		cmocka_unit_test(names),
	};
	return cmocka_run_group_tests_name("spans", tests, NULL, NULL);
}
