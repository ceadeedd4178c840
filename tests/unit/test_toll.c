/* toll: the cost of a sample is measured, is about what this thread really loses, and grows with
 * the stack that is dumped; that of reading a group is told apart. */
#include "sample/toll.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "event/perf_open.h"

static struct plan_setup setup_of(uint32_t stack_bytes)
{
	struct perf_allowed allowed;

	perf_allowed_read(&allowed);
	if (!allowed.self)
		skip();
	return (struct plan_setup){
		.rate_hz = 997, .stack_bytes = stack_bytes, .kernel_allowed = allowed.kernel};
}

static void a_sample_costs_microseconds(void **state)
{
	const struct plan_setup setup = setup_of(16384);
	struct toll toll = {0};
	uint64_t before = clock_thread_cpu_ns();

	(void)state;
	assert_int_equal(toll_measure(&setup, NULL, 0, NULL, &toll), 0);
	print_message("a sample: %.1f us\n", toll.sample_ns / 1e3);
	assert_in_range(toll.sample_ns, 500, 1000000);
	assert_int_equal(toll.read_ns, 0); /* nothing was read along */
	assert_true(clock_thread_cpu_ns() - before < 4 * TOLL_MS * 1000000ULL);
}

static void a_group_is_told_apart(void **state)
{
	const struct plan_setup setup = setup_of(0);
	struct event_spec specs[4] = {0};
	static const char *const names[] = {"cpu-clock", "page-faults", "context-switches",
					    "cpu-migrations"};
	struct toll toll = {0};

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(event_spec_parse(names[i], &specs[i], NULL), 0);
	assert_int_equal(toll_measure(&setup, specs, 4, NULL, &toll), 0);
	print_message("a sample: %.1f us, reading three more: %.1f us\n", toll.sample_ns / 1e3,
		      toll.read_ns / 1e3);
	assert_in_range(toll.sample_ns, 500, 1000000);
	assert_true(toll.read_ns < 1000000);
}

/* An event that cannot be had: the sample's own cost is known all the same. */
static void what_cannot_be_read_is_left_out(void **state)
{
	const struct plan_setup setup = setup_of(0);
	struct event_spec none = {.type = 0x7fffffff, .name = "none"};
	struct toll toll = {.read_ns = 7};

	(void)state;
	assert_int_equal(toll_measure(&setup, &none, 1, NULL, &toll), 0);
	assert_in_range(toll.sample_ns, 500, 1000000);
	assert_int_equal(toll.read_ns, 0);
}

/* Who quits while it runs waits for a round at most. */
static void ends_when_asked_to(void **state)
{
	const struct plan_setup setup = setup_of(16384);
	struct toll toll = {.sample_ns = 7};
	atomic_bool stop = true;
	uint64_t before = clock_thread_cpu_ns();

	(void)state;
	assert_int_equal(toll_measure(&setup, NULL, 0, &stop, &toll), -ECANCELED);
	assert_int_equal(toll.sample_ns, 7);
	assert_true(clock_thread_cpu_ns() - before < TOLL_MS * 1000000ULL / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_costs_microseconds),
		cmocka_unit_test(a_group_is_told_apart),
		cmocka_unit_test(what_cannot_be_read_is_left_out),
		cmocka_unit_test(ends_when_asked_to),
	};
	return cmocka_run_group_tests_name("toll", tests, NULL, NULL);
}
