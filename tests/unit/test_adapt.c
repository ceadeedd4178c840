/* adapt, pace, plan's spreading of periods, lists of CPUs: the sampler's pure decisions. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sample/adapt.h"
#include "sample/pace.h"
#include "sample/perf_setup.h"
#include "sample/plan.h"
#include "sample/ringset.h"

/* Of 1,000 stacks @cut are cut and the rest @deep bytes deep. */
static uint32_t look(struct adapt *a, uint64_t cut, uint32_t deep)
{
	struct adapt_seen seen = {0};

	for (uint64_t i = 0; i < 1000; i++)
		adapt_saw(&seen, a, i < cut || deep > a->bytes ? a->bytes : deep,
			  i >= cut && deep < a->bytes, i < cut);
	return adapt_next(a, &seen);
}

#define DEEP 100000

static void test_begins_at_the_top(void **state)
{
	struct adapt a;

	(void)state;
	adapt_init(&a, 0, 0);
	assert_int_equal(a.bytes, 65528);
	for (int i = 0; i < 100; i++)
		assert_int_equal(look(&a, 15, DEEP), 65528); /* 1.5 % is not too many */
}

static void test_shallow_goes_down_at_once(void **state)
{
	struct adapt a;

	(void)state;
	adapt_init(&a, 0, 0);
	assert_int_equal(look(&a, 0, 7000), 65528);
	assert_int_equal(look(&a, 0, 7000), 8192); /* two looks agree */
	assert_int_equal(look(&a, 0, 3000), 8192);
	assert_int_equal(look(&a, 0, 7000), 8192);
	look(&a, 0, 3000);
	assert_int_equal(look(&a, 0, 3000), 4096);
	for (int i = 0; i < 30; i++)
		assert_int_equal(look(&a, 0, 3000), 4096);
	adapt_init(&a, 0, 0);
	look(&a, 0, 3000);
	assert_int_equal(look(&a, 0, 20000), 32768); /* the deeper of the two */
}

static void test_climbs_until_roots_show(void **state)
{
	struct adapt a;

	(void)state;
	adapt_init(&a, 8192, 0);
	assert_int_equal(look(&a, 900, DEEP), 16384);
	assert_int_equal(look(&a, 830, DEEP), 32768); /* hardly better, but the next may be */
	assert_int_equal(look(&a, 21, DEEP), 65528);
	assert_int_equal(look(&a, 10, DEEP), 65528);
}

static void test_bigger_did_not_help(void **state)
{
	struct adapt a;

	(void)state;
	adapt_init(&a, 16384, 0);
	look(&a, 300, DEEP);
	look(&a, 298, DEEP);
	assert_int_equal(look(&a, 295, DEEP), 16384);
	for (int i = 0; i < 59; i++)
		assert_int_equal(look(&a, 300, DEEP), 16384);
	assert_int_equal(look(&a, 300, DEEP), 32768); /* tried again after a minute */
	adapt_init(&a, 16384, 0);
	look(&a, 300, DEEP);
	look(&a, 200, DEEP);
	assert_int_equal(look(&a, 100, DEEP), 65528); /* bad, and far better than before */
}

/* Deep stacks that completing makes whole: a smaller size is tried, and left where it is too small.
 */
static void test_completing_makes_up(void **state)
{
	struct adapt a;

	(void)state;
	adapt_init(&a, 0, 0);
	for (int i = 0; i < 9; i++)
		assert_int_equal(look(&a, 4, DEEP), 65528);
	assert_int_equal(look(&a, 4, DEEP), 32768);
	for (int i = 0; i < 9; i++)
		assert_int_equal(look(&a, 5, DEEP), 32768);
	assert_int_equal(look(&a, 5, DEEP), 16384);
	assert_int_equal(look(&a, 40, DEEP), 32768); /* in vain */
	for (int i = 0; i < 60; i++)
		assert_int_equal(look(&a, 4, DEEP), 32768);
}

static void test_ring_limits(void **state)
{
	const struct adapt_seen few = {.stacks = 99, .cut = 99};
	struct adapt a;

	(void)state;
	adapt_init(&a, 65528, 20004);
	assert_int_equal(a.bytes, 20000);
	adapt_init(&a, 16384, 20000);
	assert_int_equal(look(&a, 900, DEEP), 20000);
	assert_int_equal(look(&a, 900, DEEP), 16384);
	adapt_init(&a, 8192, 0);
	assert_int_equal(adapt_next(&a, &few), 8192);
}

static void test_rate(void **state)
{
	struct pace_seen s = {.busy = 0.005, .idle = 0.9, .samples = 100};

	(void)state;
	assert_int_equal(pace_rate(100, 0, 4, &s), 150);
	assert_int_equal(pace_rate(9000, 0, 4, &s), 10000);
	assert_int_equal(pace_rate(9000, 4000, 4, &s), 4000);
	s.idle = 0.2; /* less than one CPU of four */
	assert_int_equal(pace_rate(100, 0, 4, &s), 100);
	s.idle = 0.9;
	s.samples = 2;
	assert_int_equal(pace_rate(100, 0, 4, &s), 100);
	s.busy = 0.03;
	assert_int_equal(pace_rate(100, 0, 4, &s), 100);
	s.busy = 0.08;
	assert_int_equal(pace_rate(1000, 0, 4, &s), 500);
	s.busy = 0.9;
	assert_int_equal(pace_rate(1000, 0, 4, &s), 250);
	assert_int_equal(pace_rate(12, 0, 4, &s), 10);
	s.busy = 0.03;
	s.lost = true;
	assert_int_equal(pace_rate(1000, 0, 4, &s), 500);
}

static void test_periods_differ(void **state)
{
	struct plan_event e = {.attr.sample_period = 1000000, .jitter = 0.04, .strands = 1};
	struct perf_event_attr attr;
	double sum = 0;
	uint64_t seen[64];

	(void)state;
	for (uint32_t i = 0; i < 64; i++) {
		plan_attr(&e, i, &attr);
		assert_in_range(attr.sample_period, 980000, 1020000);
		seen[i] = attr.sample_period;
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(seen[k], seen[i]);
		sum += (double)attr.sample_period;
	}
	assert_in_range((uint64_t)(sum / 64), 999000, 1001000);
	e.jitter = 0;
	plan_attr(&e, 5, &attr);
	assert_int_equal(attr.sample_period, 1000000);
}

static void test_cpu_lists(void **state)
{
	int *cpus;
	uint32_t n;

	(void)state;
	assert_int_equal(cpus_parse("0-2,8,2\n", &cpus, &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(cpus[3], 8);
	free(cpus);
	assert_int_equal(cpus_parse("7", &cpus, &n), 0);
	assert_int_equal(n, 1);
	free(cpus);
	static const char *const bad[] = {"",  ",",  "1,",      "3-1", "-1",
					  "a", "1-", "0-99999", "1;2", "99999999999999999999"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(cpus_parse(bad[i], &cpus, &n), -EINVAL);
	assert_int_equal(cpus_read(NULL, &cpus, &n, NULL), 0);
	assert_true(n >= 1);
	free(cpus);
	assert_int_equal(cpus_read("8000", &cpus, &n, NULL), -ENODEV);
	assert_int_equal(cpus_read("0,8000", &cpus, &n, NULL),
			 -ENODEV); /* not a part of the wish */
}

/* In a container without /sys no CPU is left out. */
static void test_cpus_without_sys(void **state)
{
	uint32_t all, n;
	int *cpus, status;
	pid_t pid;

	(void)state;
	assert_int_equal(cpus_read(NULL, &cpus, &all, NULL), 0);
	free(cpus);
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", "/sys", "tmpfs", 0, NULL))
			_exit(2);
		_exit(cpus_read(NULL, &cpus, &n, NULL) || n < all);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
		print_message("skip: nothing may be mounted\n");
		skip();
	}
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begins_at_the_top),
		cmocka_unit_test(test_shallow_goes_down_at_once),
		cmocka_unit_test(test_climbs_until_roots_show),
		cmocka_unit_test(test_bigger_did_not_help),
		cmocka_unit_test(test_completing_makes_up),
		cmocka_unit_test(test_ring_limits),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_periods_differ),
		cmocka_unit_test(test_cpu_lists),
		cmocka_unit_test(test_cpus_without_sys),
	};

	return cmocka_run_group_tests_name("adapt", tests, NULL, NULL);
}
