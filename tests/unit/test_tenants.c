/* tenants: two CPUs with tasks that follow each other: what each task's events counted is its own,
 * whatever others, the idle task and strangers counted between; pauses of a group and lost records
 * take from nobody and give to nobody. */
#include "sample/tenants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { CYCLES, INSTRUCTIONS, MARK, SWITCHES, EVENTS };

#define MS 1000000ULL

static const uint16_t events[] = {CYCLES, INSTRUCTIONS, MARK};
static const uint16_t outside[] = {SWITCHES};

/* A made-up CPU: its counters go on while the group is on the hardware. */
struct made_cpu {
	struct tenants *t;
	uint32_t cpu;
	uint64_t now, running, values[3];
};

static void run(struct made_cpu *c, uint64_t ns, uint64_t cycles, uint64_t instructions)
{
	c->now += ns;
	c->running += ns;
	c->values[0] += cycles;
	c->values[1] += instructions;
}

/* Time goes by while the group is off the hardware. */
static void pause_for(struct made_cpu *c, uint64_t ns)
{
	c->now += ns;
}

static struct tenant_reading reading(const struct made_cpu *c, pid_t tid, bool watched)
{
	return (struct tenant_reading){
		.time_ns = c->now,
		.cpu = c->cpu,
		.leader = CYCLES,
		.tid = tid,
		.watched = watched,
		.enabled_ns = c->now,
		.running_ns = c->running,
		.n = 3,
		.events = events,
		.values = c->values,
	};
}

static float sample(struct made_cpu *c, pid_t tid, uint64_t counts[3])
{
	const struct tenant_reading r = reading(c, tid, true);

	tenants_read(c->t, &r);
	return tenants_take(c->t, &r, counts);
}

/* @tid leaves: @seen by the group, as long as it is on the hardware. */
static bool leave(struct made_cpu *c, pid_t tid, bool watched, bool seen)
{
	struct tenant_reading r = reading(c, tid, watched);
	bool whole = true;

	r.leaves = true;
	if (seen) {
		c->values[2]++;
		whole = tenants_read(c->t, &r);
	}
	r.leader = SWITCHES;
	r.n = 1;
	r.events = outside;
	tenants_switch(c->t, &r);
	return whole;
}

static void each_has_its_own(void **state)
{
	struct made_cpu c = {.t = tenants_new(2, EVENTS)};
	uint64_t counts[3];

	(void)state;
	run(&c, MS, 1000, 500); /* 7 */
	assert_true(leave(&c, 7, true, true));
	run(&c, MS, 4000, 100); /* 8 */
	assert_true(sample(&c, 8, counts) == 1);
	assert_int_equal(counts[0], 4000);
	assert_int_equal(counts[1], 100);
	run(&c, MS, 10, 1); /* 8 goes on */
	leave(&c, 8, true, true);
	run(&c, MS, 1000000, 9); /* idle */
	leave(&c, 0, false, true);
	run(&c, MS, 77777, 77); /* somebody else */
	leave(&c, 9, false, true);
	run(&c, MS, 300, 150); /* 7 again, with what it has from before */
	assert_true(sample(&c, 7, counts) == 1);
	assert_int_equal(counts[0], 1300);
	assert_int_equal(counts[1], 650);
	leave(&c, 7, true, true);
	run(&c, MS, 5, 2);
	sample(&c, 8, counts);
	assert_int_equal(counts[0], 15);
	assert_int_equal(counts[1], 3);
	assert_int_equal(tenants_dropped(c.t), 0);
	tenants_free(c.t);
}

/* A task on two CPUs in turn has one sum. */
static void it_may_move(void **state)
{
	struct made_cpu a = {.t = tenants_new(2, EVENTS)}, b = {.t = a.t, .cpu = 1};
	uint64_t counts[3];

	(void)state;
	run(&a, MS, 100, 10);
	leave(&a, 5, true, true);
	run(&b, 2 * MS, 900, 9); /* idle there meanwhile */
	leave(&b, 0, false, true);
	run(&b, MS, 200, 20);
	assert_true(sample(&b, 5, counts) == 1);
	assert_int_equal(counts[0], 300);
	assert_int_equal(counts[1], 30);
	sample(&b, 5, counts); /* taken once */
	assert_int_equal(counts[0], 0);
	tenants_free(a.t);
}

/* Off the hardware for half of the time: a pause within a task's time, in which switches are not
 * seen by the group, is told from one in which others came and went. */
static void pauses_are_scaled(void **state)
{
	struct made_cpu c = {.t = tenants_new(1, EVENTS)};
	uint64_t counts[3], sum = 0;
	float share = 0;

	(void)state;
	run(&c, MS, 0, 0);
	leave(&c, 1, false, true);
	for (int i = 0; i < 1000; i++) { /* 7 runs 4 ms at 1 per us, seen half of it; then 8 */
		run(&c, MS, 1000, 0);
		pause_for(&c, 2 * MS);
		run(&c, MS, 1000, 0);
		if (i & 1)
			share = sample(&c, 7, counts); /* nobody left meanwhile */
		sum += i & 1 ? counts[0] : 0;
		assert_true(leave(&c, 7, true, true));
		run(&c, MS, 50000, 0);
		leave(&c, 8, true, true);
	}
	assert_true(sum > 1000 * 3900 && sum < 1000 * 4100); /* 4 ms at 1 per us */
	assert_true(share > 0.49F && share < 0.51F);
	assert_int_equal(tenants_dropped(c.t), 0);
	tenants_free(c.t);
}

static void strangers_in_a_pause_are_not_counted(void **state)
{
	struct made_cpu c = {.t = tenants_new(1, EVENTS)};
	uint64_t counts[3], sum = 0;

	(void)state;
	leave(&c, 1, false, true);
	for (int i = 0; i < 1000; i++) {
		run(&c, MS, 1000, 0); /* 7 */
		leave(&c, 7, true, true);
		run(&c, MS, 900000, 0); /* 8, until the group goes */
		pause_for(&c, MS);
		leave(&c, 8, true, false); /* not seen */
		pause_for(&c, MS);         /* 7 */
		run(&c, MS, 1000, 0);
		float share = sample(&c, 7, counts);
		assert_true(share > 0);
		sum += counts[0];
		run(&c, MS, 1000, 0);
		assert_true(leave(&c, 7, true, true)); /* both readings are its own */
		run(&c, MS, 900000, 0);
		leave(&c, 8, true, true);
	}
	assert_int_equal(tenants_dropped(c.t), 1000);
	/* 7 ran 4 ms a round: 4,000 counts in all, and none of 8's many. */
	assert_true(sum > 3900000 && sum < 4100000);
	tenants_free(c.t);
}

/* Seconds in which somebody else held the counters are not made up; turns after them are scaled. */
static void long_gaps_are_not_scaled_over(void **state)
{
	struct made_cpu c = {.t = tenants_new(1, EVENTS)};
	uint64_t counts[3], sum = 0;

	(void)state;
	run(&c, MS, 0, 0);
	leave(&c, 1, false, true);
	for (int i = 0; i < 5000; i++) {
		if (i == 1000)
			pause_for(&c, 5000 * MS);
		run(&c, MS, 1000, 0);
		if (i > 3000) /* from then on it has the counters for a third of the time */
			pause_for(&c, 2 * MS);
		float share = sample(&c, 7, counts);

		assert_true(share > 0.3F);
		sum += counts[0];
	}
	assert_true(sum > 8900000 && sum < 9100000); /* 3,000 and 3 x 2,000 turns of a thousand */
	tenants_free(c.t);
}

/*
 * Minutes alone on the hardware, then turns: what is counted from then on is scaled from then on,
 * and no sample is given what belongs to the minutes before it.
 */
static void old_times_do_not_weigh(void **state)
{
	struct made_cpu c = {.t = tenants_new(1, EVENTS)};
	uint64_t counts[3], sum = 0, most = 0;
	float share = 0;

	(void)state;
	for (int i = 0; i < 600000; i++) { /* ten minutes at 1 per us */
		run(&c, MS, 1000, 0);
		share = sample(&c, 7, counts);
		assert_true(share == 1 && counts[0] == 1000);
	}
	for (int i = 0; i < 20000; i++) { /* half of the time for 40 s */
		run(&c, MS, 1000, 0);
		pause_for(&c, MS);
		share = sample(&c, 7, counts);
		sum += i < 10000 ? counts[0] : 0;
		most = counts[0] > most ? counts[0] : most;
	}
	assert_in_range(sum, 19000000, 21000000); /* 20 s */
	assert_in_range(most, 1, 100000);         /* a twentieth of a second at once */
	assert_true(share > 0.45F && share < 0.55F);
	tenants_free(c.t);
}

/* Of two functions in turn, one counts nothing: turns of the counters do not mix them. */
static void phases_stay_apart(void **state)
{
	struct made_cpu c = {.t = tenants_new(1, EVENTS)};
	uint64_t counts[3], sum[2] = {0};

	(void)state;
	for (int i = 0; i < 48000; i++) {
		bool busy = i / 3 & 1;

		if (i / 4 % 4 == 0)
			run(&c, MS, 1000, busy ? 100 : 0);
		else
			pause_for(&c, MS);
		sample(&c, 7, counts);
		sum[busy] += counts[1];
	}
	assert_int_equal(sum[0], 0);
	assert_in_range(sum[1], 2350000, 2450000); /* 24 s at 100 a millisecond */
	tenants_free(c.t);
}

/* After a loss nothing is known until the next reading. */
static void losses_are_dropped(void **state)
{
	struct made_cpu c = {.t = tenants_new(1, EVENTS)};
	uint64_t counts[3];

	(void)state;
	run(&c, MS, 100, 0);
	sample(&c, 7, counts);
	run(&c, MS, 100, 0);
	tenants_lost(c.t, 0);
	run(&c, MS, 5000, 0);                      /* who knows who ran */
	assert_true(sample(&c, 7, counts) < 0.5F); /* its own rate is scaled over what is missing */
	assert_in_range(counts[0], 150, 250);
	assert_int_equal(tenants_dropped(c.t), 1);
	run(&c, MS, 100, 0);
	sample(&c, 7, counts);
	assert_in_range(counts[0], 90, 110);
	tenants_free(c.t);
}

/* A number that is used again owes nothing and has nothing. */
static void numbers_are_used_again(void **state)
{
	struct made_cpu c = {.t = tenants_new(1, EVENTS)};
	uint64_t counts[3];

	(void)state;
	for (pid_t tid = 1; tid < 1000; tid++) {
		run(&c, MS, 1000, 500);
		leave(&c, tid, true, true);
		if (tid > 1)
			tenants_forget(c.t, tid);
	}
	run(&c, MS, 3, 2);
	sample(&c, 500, counts);
	assert_int_equal(counts[0], 3);
	leave(&c, 500, true, true);
	sample(&c, 1, counts);
	assert_int_equal(counts[0], 1000);
	/* Nobody has such numbers: the idle task, tasks that ended. */
	run(&c, MS, 3, 2);
	assert_true(sample(&c, 0, counts) == 0);
	assert_true(sample(&c, -1, counts) == 0);
	assert_int_equal(counts[0], 0);
	tenants_free(c.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_own),
		cmocka_unit_test(it_may_move),
		cmocka_unit_test(pauses_are_scaled),
		cmocka_unit_test(strangers_in_a_pause_are_not_counted),
		cmocka_unit_test(long_gaps_are_not_scaled_over),
		cmocka_unit_test(old_times_do_not_weigh),
		cmocka_unit_test(phases_stay_apart),
		cmocka_unit_test(losses_are_dropped),
		cmocka_unit_test(numbers_are_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
