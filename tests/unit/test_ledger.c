/* ledger, unsampled, usage, snap: what the kernel accounts beside what was sampled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <stdlib.h>

#include "profile/snap.h"
#include "profile/usage.h"
#include "profile_bed.h"

#define S  1000000000ull
#define MS 1000000ull

static struct profile_bed b;
static task_id process, thread;
static uint16_t event;

static void up(enum account_scope scope)
{
	pbed_up(&b);
	b.p.scope = scope;
	event = 0;
	process = tables_task(b.t, 7, 0, 1, 0);
	thread = tables_task(b.t, 7, 7, 1, 0);
}

static void samples(unsigned n)
{
	frame_id frames[] = {pbed_frame(&b, "f"), pbed_frame(&b, "main")};
	struct sample s = {.weight = MS,
			   .hits = 1,
			   .event = event,
			   .task = thread,
			   .process = process,
			   .nframes = 2};
	for (unsigned i = 0; i < n; i++) {
		s.time_ns = b.now_ns + i * (S / 1000);
		profile_add(&b.p, &s, NULL, frames);
	}
}

/* A second in which @n samples of 1 ms come, then a reading. */
static void second(unsigned n, uint64_t cpu_ns, uint64_t user_ns)
{
	uint64_t end = b.now_ns + S;
	samples(n);
	b.now_ns = end;
	struct account a = {.time_ns = end,
			    .task = process,
			    .process = true,
			    .cpu_ns = cpu_ns,
			    .user_ns = user_ns,
			    .system_ns = cpu_ns - user_ns,
			    .state = 'R'};
	profile_account(&b.p, &a);
	a.task = thread;
	a.process = false;
	profile_account(&b.p, &a);
}

static uint64_t unsampled(uint64_t window_ns, double *ret_noise)
{
	struct unsampled *found;
	struct window w = profile_window(&b.p, window_ns, 0, b.p.newest_ns);
	uint32_t n = unsampled_find(&b.p, b.t, &w, event, &found);
	uint64_t weight = n ? found[0].weight : 0;
	if (n)
		assert_int_equal(found[0].process, process);
	if (n && ret_noise)
		*ret_noise = found[0].noise;
	free(found);
	return weight;
}

/* The kernel says 900 ms a second, samples say 600: a third is missing. */
static void test_missing(void **state)
{
	(void)state;
	up(SCOPE_ALL);
	uint64_t cpu = 500 * S; /* used before we came: not ours to explain */
	second(600, cpu, 0);
	for (int i = 1; i <= 30; i++)
		second(600, cpu + (uint64_t)i * 900 * MS, 0);
	double noise = 0;
	assert_int_equal(unsampled(0, &noise), 30 * 300 * MS);
	assert_true(fabs(noise - 2 * sqrt(31 * 600.0) * MS) < MS);
	/* Sampled and unsampled together are the account. */
	struct window w = profile_window(&b.p, 0, 0, b.p.newest_ns);
	struct snapshot *s = snap_new(
		&b.p, b.t, &w, &(struct event_desc){.unit = EVENT_NS, .sampled = true}, 1, 0);
	assert_non_null(s);
	uint64_t sum = 0, rest = 0;
	for (uint32_t i = 0; i < s->ncells; i++) {
		sum += s->cells[i].weight;
		if (s->nodes[s->cells[i].node].frame == FRAME_UNSAMPLED)
			rest += s->cells[i].weight;
	}
	assert_int_equal(rest, 9 * S);
	assert_int_equal(sum, 600 * MS + 30 * 900 * MS);
	assert_int_equal(s->events[0].weight, sum);
	assert_int_equal(s->events[0].samples, 31 * 600);
	snapshot_unref(s);
	/* Windows too, whatever the cadence of readings does to their edges. */
	uint64_t ten = unsampled(10 * S, NULL);
	assert_true(ten >= 9 * 300 * MS && ten <= 11 * 300 * MS);
	pbed_down(&b);
}

static void test_noise_is_not_shown(void **state)
{
	(void)state;
	up(SCOPE_ALL);
	for (int i = 0; i <= 20; i++) /* 1 % more than sampled: within two standard errors */
		second(500, 500 * MS * (uint64_t)i + (uint64_t)i * 5 * MS, 0);
	assert_int_equal(unsampled(0, NULL), 0);
	pbed_down(&b);
	up(SCOPE_ALL);
	for (int i = 0; i <= 5; i++) /* 3 %: chance may do that, but a sum of all tells it */
		second(500, 500 * MS * (uint64_t)i + (uint64_t)i * 15 * MS, 0);
	assert_int_equal(unsampled(0, NULL), 5 * 15 * MS);
	assert_int_equal(unsampled(3 * S, NULL), 0);
	pbed_down(&b);
}

static void test_more_sampled_than_accounted(void **state)
{
	(void)state;
	up(SCOPE_ALL);
	for (int i = 0; i <= 20; i++)
		second(900, 500 * MS * (uint64_t)i, 0);
	assert_int_equal(unsampled(0, NULL), 0);
	pbed_down(&b);
}

/* What another clock left out is not this one's, though both are in the window. */
static void test_two_clocks(void **state)
{
	(void)state;
	up(SCOPE_ALL);
	b.p.events_on_cpu = 1 | 1 << 3;
	uint64_t cpu = 0;
	second(600, cpu, 0);
	for (int i = 0; i < 8; i++)
		second(600, cpu += 900 * MS, 0);
	assert_int_equal(unsampled(10 * S, NULL), 8 * 300 * MS);
	/* Half a second of each: what is missing is shared as the samples are. */
	samples(300);
	event = b.p.clock = 3;
	second(300, cpu += 900 * MS, 0);
	assert_int_equal(unsampled(10 * S, NULL), 150 * MS);
	second(600, cpu += 900 * MS, 0);
	assert_int_equal(unsampled(10 * S, NULL), 450 * MS);
	second(0, cpu += 50 * MS, 0); /* nothing was sampled: the clock in use left it out */
	assert_int_equal(unsampled(10 * S, NULL), 500 * MS);
	event = 0;
	assert_int_equal(unsampled(0, NULL), 8 * 300 * MS + 150 * MS);
	second(10, cpu, 0); /* the first again, and its samples exceed the account */
	assert_int_equal(unsampled(0, NULL), 8 * 300 * MS + 140 * MS);
	pbed_down(&b);
}

static void test_whole_life(void **state)
{
	(void)state;
	up(SCOPE_ALL);
	pbed_add(&b, thread, "main", 1, MS);
	struct account a = {.time_ns = b.now_ns + S,
			    .task = process,
			    .process = true,
			    .whole_life = true,
			    .born_ns = b.now_ns,
			    .cpu_ns = 800 * MS};
	profile_account(&b.p, &a);
	assert_int_equal(unsampled(0, NULL), 800 * MS); /* not one sample hit it */
	pbed_down(&b);
}

static void test_scopes(void **state)
{
	(void)state;
	up(SCOPE_USER); /* only user time is sampled: only that is compared */
	for (int i = 0; i <= 20; i++)
		second(400, 900 * MS * (uint64_t)i, 400 * MS * (uint64_t)i);
	assert_int_equal(unsampled(0, NULL), 0);
	pbed_down(&b);
	up(SCOPE_NONE);
	for (int i = 0; i <= 20; i++)
		second(400, 900 * MS * (uint64_t)i, 0);
	assert_int_equal(unsampled(0, NULL), 0);
	pbed_down(&b);
}

static void test_usage(void **state)
{
	(void)state;
	const uint64_t lengths[] = {0, S, 10 * S, 60 * S};
	up(SCOPE_ALL);
	for (int i = 0; i <= 100; i++)
		second(500, 750 * MS * (uint64_t)i, 500 * MS * (uint64_t)i);
	b.p.newest_ns += 400 * MS; /* time since the last reading is not idle time */
	for (int i = 0; i < 4; i++) {
		struct usages u = {0};
		struct usage_shares s;
		struct window w = profile_window(&b.p, lengths[i], 0, b.p.newest_ns);
		assert_int_equal(usages_gather(&u, &b.p, &w), 0);
		assert_true(usage_shares(&u, &b.p, &w, thread, &s));
		assert_true(fabs(s.cpu - 0.75) < 0.01);
		assert_true(fabs(s.user - 0.5) < 0.01);
		assert_true(fabs(s.system - 0.25) < 0.01);
		assert_false(usage_shares(&u, &b.p, &w, thread + 1, &s));
		usages_fini(&u);
	}
	pbed_down(&b);
}

/* A thread that worked for a second and then slept. */
static void test_usage_idle(void **state)
{
	(void)state;
	up(SCOPE_ALL);
	second(0, 0, 0);
	second(1000, S, S);
	for (int i = 0; i < 30; i++)
		second(0, S, S);
	struct usages u = {0};
	struct usage_shares s;
	struct window w = profile_window(&b.p, 10 * S, 0, b.p.newest_ns);
	usages_gather(&u, &b.p, &w);
	assert_true(usage_shares(&u, &b.p, &w, thread, &s));
	assert_true(s.cpu == 0);
	usages_fini(&u);
	w = profile_window(&b.p, 60 * S, 0, b.p.newest_ns);
	u = (struct usages){0};
	usages_gather(&u, &b.p, &w);
	assert_true(usage_shares(&u, &b.p, &w, thread, &s));
	assert_true(s.cpu > 0.02 && s.cpu < 0.05); /* of half a minute */
	usages_fini(&u);
	pbed_down(&b);
}

static void test_backwards(void **state)
{
	(void)state;
	struct ledger l = {0};
	struct cells c = {0};
	struct account a = {.time_ns = 5 * S, .task = 3, .cpu_ns = 100};
	ledger_read(&l, &a, SCOPE_ALL, 0, &c);
	a.time_ns = 4 * S; /* told twice, out of order */
	a.cpu_ns = 50;
	ledger_read(&l, &a, SCOPE_ALL, 0, &c);
	a.time_ns = 6 * S; /* another clock: starts anew */
	ledger_read(&l, &a, SCOPE_ALL, 0, &c);
	assert_int_equal(c.len, 0);
	a.time_ns = 7 * S;
	a.cpu_ns = 60;
	ledger_read(&l, &a, SCOPE_ALL, 0, &c);
	assert_true(c.len > 0);
	assert_int_equal(c.data[0].weight, 10);
	a.task = UINT32_MAX; /* no such place */
	ledger_read(&l, &a, SCOPE_ALL, 0, &c);
	assert_false(ledger_get(&l, UINT32_MAX)->seen);
	cells_fini(&c);
	ledger_fini(&l);
}

/* At an exec a thread takes the number of its process's first: what it had run is not that one's.
 */
static void test_leap(void **state)
{
	(void)state;
	struct ledger l = {0};
	struct cells c = {0};
	struct account a = {.task = 3, .time_ns = S, .cpu_ns = S / 2, .state = 'S'};
	ledger_read(&l, &a, SCOPE_ALL, 0, &c);
	a.time_ns += S / 5;
	a.cpu_ns += 9 * S;
	ledger_read(&l, &a, SCOPE_ALL, 0, &c);
	assert_int_equal(c.len, 0);
	a.time_ns += S / 5;
	a.cpu_ns += S / 10;
	ledger_read(&l, &a, SCOPE_ALL, 0, &c);
	uint64_t cpu = 0;
	for (uint32_t i = 0; i < c.len; i++)
		if (c.data[i].event == ACCOUNT_CPU)
			cpu += c.data[i].weight;
	assert_int_equal(cpu, S / 10);
	/* of a process many threads ran */
	struct account p = {.task = 4, .process = true, .time_ns = S, .state = 'S'};
	ledger_read(&l, &p, SCOPE_ALL, 0, &c);
	p.time_ns += S / 5;
	p.cpu_ns += 9 * S;
	ledger_read(&l, &p, SCOPE_ALL, 0, &c);
	assert_true(ledger_get(&l, 4)->cpu > 44);
	cells_fini(&c);
	ledger_fini(&l);
}

/* Time without a CPU is told where each of two readings knew of it. */
static void test_ready(void **state)
{
	(void)state;
	struct usages u = {0};
	struct usage_shares s;
	up(SCOPE_NONE);
	struct account a = {.task = thread, .detailed = true, .ready_ns = 70 * S, .runs = 500};
	for (uint64_t i = 0; i <= 4; i++) {
		a.time_ns = b.now_ns += S;
		a.cpu_ns += 200 * MS;
		a.ready_ns += 500 * MS;
		a.runs += 30;
		profile_account(&b.p, &a);
	}
	struct window w = profile_window(&b.p, 0, 0, b.p.newest_ns);
	usages_gather(&u, &b.p, &w);
	assert_true(usage_shares(&u, &b.p, &w, thread, &s));
	assert_true(fabs(s.cpu - 0.2) < 0.001);
	assert_true(fabs(s.ready - 0.5) < 0.001);
	assert_int_equal(usages_find(&u, thread)->runs, 4 * 30);
	usages_fini(&u);
	a.detailed = false;
	a.time_ns += S;
	a.cpu_ns += 200 * MS;
	profile_account(&b.p, &a);
	memset(&u, 0, sizeof u);
	usages_gather(&u, &b.p, &w);
	assert_true(usage_shares(&u, &b.p, &w, thread, &s));
	assert_true(s.ready < 0);
	usages_fini(&u);
	pbed_down(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_noise_is_not_shown),
		cmocka_unit_test(test_more_sampled_than_accounted),
		cmocka_unit_test(test_two_clocks),
		cmocka_unit_test(test_whole_life),
		cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_usage_idle),
		cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_leap),
		cmocka_unit_test(test_ready),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
