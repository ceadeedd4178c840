/*
 * A limit of sampling rates that falls while threads come and go: what is opened then is sampled at
 * the new limit instead of not at all. A made-up kernel has the lower limit.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "event/perf_open.h"
#include "event/spec.h"
#include "proc/permit.h"
#include "sample/fleet.h"
#include "sample/merger.h"

static struct {
	uint64_t most, taken; /* the limit; the frequency of the last event that was opened */
	int refused;
} kernel;

static int open_below(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		      unsigned long flags)
{
	struct perf_event_attr a = *attr;

	if (a.freq && a.sample_freq > kernel.most) {
		kernel.refused++;
		return -EINVAL;
	}
	if (a.freq)
		kernel.taken = a.sample_freq;
	a.freq = 0;
	a.sample_period = 1000000000;
	a.exclude_kernel = 1;
	return (int)syscall(SYS_perf_event_open, &a, pid, cpu, group, flags);
}

/* Twice this thread, at @rate_hz; the fleet's answer to the first. */
static int open_twice(uint32_t rate_hz, uint32_t *ret_lowered_hz)
{
	const struct plan_setup setup = {.rate_hz = rate_hz, .kernel_allowed = true};
	struct merger *merger = merger_new(&plan_common);
	struct ringset rings;
	struct event_spec spec;
	struct fleet_ids ids;
	struct plan plan = {0};
	struct fleet *f;
	struct err err;
	int rc;

	assert_int_equal(event_spec_parse("page-faults", &spec, &err), 0);
	assert_int_equal(ringset_open(&rings, (const int[]){0}, 1, 1 << 16, 1 << 14, merger, &err),
			 0);
	fleet_ids_init(&ids, 64);
	assert_int_equal(plan_add_group(&plan, &spec, 1, 0, 0, &setup), 0);
	assert_int_equal(plan.e[0].attr.freq, 1);
	f = fleet_new(&plan, &rings, &ids, false, false);
	rc = fleet_open_thread(f, gettid());
	if (!rc) {
		fleet_close_thread(f, gettid());
		assert_int_equal(fleet_open_thread(f, gettid()), 0);
	}
	*ret_lowered_hz = f->lowered_hz;
	fleet_free(f);
	fleet_ids_fini(&ids);
	merger_free(merger);
	ringset_close(&rings);
	return rc;
}

static void test_lowered(void **state)
{
	int most = permit_sysctl("kernel/perf_event_max_sample_rate", 0);
	struct perf_allowed allowed;
	uint32_t lowered;

	(void)state;
	perf_allowed_read(&allowed);
	if (!allowed.self || most < 1) {
		print_message("skipped: no perf events here\n");
		skip();
	}
	kernel.most = (uint64_t)most;
	perf_open_set(open_below);
	assert_int_equal(open_twice((uint32_t)most, &lowered), 0);
	assert_int_equal(lowered, 0);
	assert_int_equal(kernel.refused, 0);

	assert_int_equal(open_twice((uint32_t)most * 2, &lowered), 0);
	assert_int_equal(lowered, most);
	assert_int_equal(kernel.taken, most);
	assert_int_equal(kernel.refused, 1); /* the second time it is known */

	/* Refused for another reason: it stays refused. */
	kernel.most = (uint64_t)most / 2;
	assert_int_equal(open_twice((uint32_t)most, &lowered), -EINVAL);
	assert_int_equal(lowered, 0);
	perf_open_set(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lowered)};

	return cmocka_run_group_tests_name("lowered", tests, NULL, NULL);
}
