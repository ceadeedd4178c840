/* Samples in system calls: weighed by the kernel's account, without a nanosecond won or lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample/timer_impl.h"

#define INTERVAL MS

/* @calls of 100 samples of 1 ms are in calls; the return value is what those weigh. */
static uint64_t weigh_100(struct timer_source *ts, struct timer_thread *t, unsigned calls,
			  uint64_t *ret_user)
{
	uint64_t in_call = 0;

	*ret_user = 0;
	for (unsigned i = 0; i < 100; i++) {
		enum timer_mode mode = i * calls % 100 < calls ? MODE_CALL : MODE_USER;
		uint64_t ns = timer_modes_weigh(ts, t, mode, INTERVAL);

		if (mode == MODE_CALL)
			in_call += ns;
		else
			*ret_user += ns;
	}
	return in_call;
}

static void begin(struct timer_source *ts, struct timer_thread *t)
{
	*ts = (struct timer_source){.interval_ns = INTERVAL};
	*t = (struct timer_thread){0};
	timer_modes_begin(&ts->modes, 0, 0);
	timer_modes_begin(&t->modes, 0, 0);
}

static void unknown_account(void **state)
{
	struct timer_source ts;
	struct timer_thread t;
	uint64_t user, in_call;

	(void)state;
	begin(&ts, &t);
	in_call = weigh_100(&ts, &t, 20, &user);
	assert_int_equal(in_call, 20 * MS);
	assert_int_equal(user, 80 * MS);
}

static void too_many_calls(void **state)
{
	struct timer_source ts;
	struct timer_thread t;
	uint64_t user, in_call;

	(void)state;
	begin(&ts, &t);
	weigh_100(&ts, &t, 20, &user);
	timer_modes_learn(&t.modes, 4.0 * MS, 96.0 * MS); /* too short to tell */
	assert_true(t.modes.keep > 0.999);
	timer_modes_learn(&t.modes, 36.0 * MS, 864.0 * MS); /* 4 % of one second */
	assert_float_equal(t.modes.keep, 45.0 / 1010 / 0.2, 1e-6);
	in_call = weigh_100(&ts, &t, 20, &user);
	assert_in_range(in_call, 4 * MS, 5 * MS);
	assert_int_equal(in_call + user + t.lent_ns, 100 * MS);
	assert_true(t.lent_ns < MS);
}

/* A look at a thread in a call or not, then what it weighs by the next one. */
static uint64_t wall_weight(struct timer_source *ts, struct timer_thread *t, enum timer_mode mode,
			    uint64_t ns)
{
	struct timer_capture *c = timer_capture(ts);
	struct timer_ran ran = {0};

	c->mode = mode;
	timer_finish(ts, t, c, &ran);
	assert_int_equal(ts->ncaptures, 1);
	assert_int_equal(c->s.flags, SAMPLE_BEGINS);
	assert_int_equal(c->s.weight, 0);
	ts->ncaptures = 0;
	timer_repeat(ts, t, t->sampled_ns + ns);
	assert_int_equal(ts->ncaptures, 1);
	assert_int_equal(c->s.flags, SAMPLE_REPEATED);
	ts->ncaptures = 0;
	return c->s.weight;
}

/* Time in calls is waiting too, which no account of system time holds. */
static void keeps_wall_time(void **state)
{
	static const struct source_config config = {.call_graph = CALL_GRAPH_NONE};
	struct timer_source ts;
	struct timer_thread t;

	(void)state;
	begin(&ts, &t);
	ts.wall = true;
	ts.config = &config;
	for (int i = 0; i < 500; i++) {
		assert_int_equal(wall_weight(&ts, &t, MODE_CALL, 2 * MS), 2 * MS);
		assert_int_equal(wall_weight(&ts, &t, MODE_USER, MS), MS);
		timer_modes_learn(&t.modes, 0.01 * MS, 2.99 * MS);
	}
	assert_int_equal(t.lent_ns, 0);
}

/* 22 % of samples where the account says 20 %, of half a second: chance. */
static void within_chance(void **state)
{
	struct timer_source ts;
	struct timer_thread t;
	uint64_t user;

	(void)state;
	begin(&ts, &t);
	weigh_100(&ts, &t, 22, &user);
	timer_modes_learn(&t.modes, 100.0 * MS, 400.0 * MS);
	assert_true(t.modes.keep > 0.999);
	timer_modes_learn(&t.modes, 100.0 * MS, 0); /* fewer than the account: never more weight */
	assert_true(t.modes.keep > 0.999);
}

/* From now on it stays in the kernel: what it does there is not given to what it did before. */
static void another_phase(void **state)
{
	struct timer_source ts;
	struct timer_thread t;
	uint64_t user, in_call = 0;

	(void)state;
	begin(&ts, &t);
	weigh_100(&ts, &t, 20, &user);
	timer_modes_learn(&t.modes, 10.0 * MS, 990.0 * MS);
	for (int i = 0; i < 100; i++)
		in_call += timer_modes_weigh(&ts, &t, MODE_CALL, INTERVAL);
	assert_in_range(in_call, 91 * MS, 93 * MS);
	assert_int_equal(in_call + t.lent_ns, 100 * MS);
}

/* A thread too young to tell goes by what all of them did. */
static void young_thread(void **state)
{
	struct timer_source ts;
	struct timer_thread t, young = {0};
	uint64_t user;

	(void)state;
	begin(&ts, &t);
	weigh_100(&ts, &t, 20, &user);
	timer_modes_learn(&ts.modes, 40.0 * MS, 960.0 * MS);
	timer_modes_begin(&young.modes, 0, 0);
	assert_true(timer_modes_weigh(&ts, &young, MODE_CALL, INTERVAL) < INTERVAL / 3);
	assert_true(timer_modes_weigh(&ts, &young, MODE_USER, INTERVAL) > INTERVAL * 5 / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_account), cmocka_unit_test(too_many_calls),
		cmocka_unit_test(keeps_wall_time), cmocka_unit_test(within_chance),
		cmocka_unit_test(another_phase),   cmocka_unit_test(young_thread),
	};

	return cmocka_run_group_tests_name("timer_modes", tests, NULL, NULL);
}
