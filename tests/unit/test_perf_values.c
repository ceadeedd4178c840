/*
 * perf_values: what a thread's own counters grew by between its samples, where the group takes
 * turns on the hardware with others. Readings are made as Linux writes them.
 */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sample/perf_impl.h"

#define TID 77
#define IDS 2 /* of the two events */

/* One CPU, one thread, one group of two events: time goes by in milliseconds. */
struct lab {
	struct perf_source ps;
	struct fleet fleet;
	uint64_t enabled_ns, running_ns, values[2];
	struct sample_value got[PLAN_MAX];
	uint32_t n;
};

static struct lab *lab_new(void)
{
	static const struct event_spec specs[2] = {
		{.name = "cycles", .type = PERF_TYPE_HARDWARE},
		{.name = "cache-misses", .type = PERF_TYPE_HARDWARE, .config = 3},
	};
	const struct plan_setup setup = {.rate_hz = 1000, .inherit = true};
	struct lab *lab = calloc(1, sizeof *lab);

	assert_int_equal(plan_add_group(&lab->fleet.plan, specs, 2, 0, 0, &setup), 0);
	lab->fleet.ids = &lab->ps.ids;
	fleet_ids_init(&lab->ps.ids, 100);
	for (uint16_t i = 0; i < 2; i++) {
		const struct opened o = {.fleet = &lab->fleet, .event = i};

		assert_int_equal(vec_push(&lab->ps.ids.opened, o), 0);
		assert_int_equal(map64_put(&lab->ps.ids.by_id, IDS + i, i), 0);
	}
	return lab;
}

static void lab_free(struct lab *lab)
{
	fleet_ids_fini(&lab->ps.ids);
	map64_fini(&lab->fleet.last_low);
	map64_fini(&lab->fleet.last_high);
	free(lab);
}

static void pass(struct lab *lab, bool counting, uint64_t cycles, uint64_t misses)
{
	lab->enabled_ns += MS;
	if (!counting)
		return;
	lab->running_ns += MS;
	lab->values[0] += cycles;
	lab->values[1] += misses;
}

static void sample(struct lab *lab)
{
	const uint64_t words[] = {lab->values[0], IDS, lab->values[1], IDS + 1};
	const struct record_sample s = {
		.who = {.pid = TID, .tid = TID},
		.read = {.format = lab->fleet.plan.e[0].attr.read_format,
			 .enabled_ns = lab->enabled_ns,
			 .running_ns = lab->running_ns,
			 .nvalues = 2,
			 .values = words},
	};

	lab->n = perf_values(&lab->ps, &lab->fleet, &lab->ps.ids.opened.data[0], &s, true,
			     lab->got);
	assert_int_equal(lab->n, 2);
}

/* Ten minutes alone, then turns: scaled from then on, and nothing of the past in one sample. */
static void old_times_do_not_weigh(void **state)
{
	struct lab *lab = lab_new();
	uint64_t sum = 0, most = 0;

	(void)state;
	for (int i = 0; i < 600000; i++) {
		pass(lab, true, 1000, 7);
		sample(lab);
		assert_int_equal(lab->got[0].count, 1000);
		assert_int_equal(lab->got[0].state, VALUE_OK);
	}
	for (int i = 0; i < 20000; i++) {
		pass(lab, i / 4 & 1, 1000, 7);
		sample(lab);
		sum += lab->got[0].count;
		most = lab->got[0].count > most ? lab->got[0].count : most;
	}
	assert_in_range(sum, 19000000, 21000000);
	assert_in_range(most, 1, 100000);
	assert_int_equal(lab->got[0].state, VALUE_SCALED);
	assert_true(lab->got[0].running > 0.45F && lab->got[0].running < 0.55F);
	lab_free(lab);
}

/* Of two functions in turn, one counts nothing: turns of the counters do not mix them. */
static void phases_stay_apart(void **state)
{
	struct lab *lab = lab_new();
	uint64_t sum[2] = {0};

	(void)state;
	for (int i = 0; i < 48000; i++) {
		bool busy = i / 3 & 1;

		pass(lab, i / 4 % 4 == 0, 1000, busy ? 100 : 0);
		sample(lab);
		sum[busy] += lab->got[1].count;
	}
	assert_int_equal(sum[0], 0);
	assert_in_range(sum[1], 2350000, 2450000); /* 24 s at 100 a millisecond */
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_times_do_not_weigh),
		cmocka_unit_test(phases_stay_apart),
	};

	return cmocka_run_group_tests_name("perf_values", tests, NULL, NULL);
}
