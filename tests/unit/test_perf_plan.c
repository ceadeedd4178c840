/* perf: how groups are planned, and what is refused before anything is sampled. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "event/perf_open.h"
#include "perf_case.h"
#include "sample/plan.h"

static void need_perf(void)
{
	struct perf_allowed allowed;

	perf_allowed_read(&allowed);
	if (!allowed.self) {
		print_message("skip: perf_event_open is refused here\n");
		skip();
	}
}

static void rest(void)
{
}

static void test_refused_by_seccomp(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	o = perf_case(&(struct setting){.work = rest, .no_perf = true});
	assert_true(o->done);
	assert_int_equal(o->probe, -EPERM);
	assert_non_null(strstr(o->sentence, "EPERM"));
	assert_non_null(strstr(o->sentence, "seccomp"));
	assert_non_null(strstr(o->sentence, "--sampler timer"));
}

static void test_refused_targets(void **state)
{
	static const struct sink silent = {0}; /* refused before anything is delivered */
	struct source_config config = {.rate_hz = 997};
	pid_t pid = 1;
	struct target target = {.pids = &pid, .npids = 1};
	struct source *source;
	struct err err;

	(void)state;
	need_perf();
	pid = 4194304 - 7;
	assert_int_equal(source_perf.probe(&target, &config, &err), -ESRCH);
	assert_non_null(strstr(err.msg, "ESRCH"));
	config.wall = true;
	assert_int_equal(source_perf.probe(&target, &config, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "--sampler timer"));
	config.wall = false;
	config.rate_hz = 10001;
	pid = getpid();
	assert_int_equal(source_perf.open(&target, &config, &silent, NULL, &source, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "10000"));
}

/* Somebody else's process: run as nobody on a process of root's. */
static void test_refused_others(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	need_perf();
	if (geteuid()) {
		print_message("skip: not root, so nobody to become\n");
		skip();
	}
	pid = fork();
	if (!pid) {
		struct source_config config = {.rate_hz = 997};
		pid_t parent = getppid();
		struct target target = {.pids = &parent, .npids = 1};
		struct err err = {0};

		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(3);
		_exit(source_perf.probe(&target, &config, &err) == -EACCES &&
				      strstr(err.msg, "someone else")
			      ? 0
			      : 1);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

/* Any member of a group can be the one that is sampled; its leader then only counts. */
static void test_sampled_member(void **state)
{
	const struct plan_setup setup = {.rate_hz = 100, .inherit = true, .stack_bytes = 8192};
	const struct event_spec specs[] = {
		{.name = "page-faults", .type = PERF_TYPE_SOFTWARE, .config = 2},
		{.name = "r1", .type = PERF_TYPE_RAW, .config = 1, .period = 5003},
		{.name = "cpu-clock", .type = PERF_TYPE_SOFTWARE, .clock = true},
	};
	static struct plan p;

	(void)state;
	for (uint32_t pick = 0; pick < 3; pick++) {
		p = (struct plan){0};
		assert_int_equal(plan_add_group(&p, specs, 3, pick, 7, &setup), 0);
		assert_int_equal(p.n, 3);
		assert_false(p.e[0].software);
		for (uint32_t i = 0; i < 3; i++) {
			const struct perf_event_attr *a = &p.e[i].attr;

			assert_int_equal(p.e[i].leader, 0);
			assert_int_equal(p.e[i].index, 7 + i);
			assert_true(a->sample_type & PERF_SAMPLE_READ);
			assert_true(a->read_format & PERF_FORMAT_GROUP);
			assert_true((a->sample_period != 0) == (i == pick));
			assert_true(((a->sample_type & PERF_SAMPLE_STACK_USER) != 0) ==
				    (i == pick));
		}
		if (pick == 1) {
			assert_int_equal(p.e[1].attr.sample_period, 5003);
			assert_false(p.e[1].attr.freq);
		}
	}
}

/*
 * Mappings come with build ids where the kernel knows them, and are read so: a short one is else
 * taken for the number of a disk.
 */
static void test_build_ids_are_expected(void **state)
{
	const struct event_spec clock = {
		.name = "cpu-clock", .type = PERF_TYPE_SOFTWARE, .clock = true};
	const struct plan_setup setup = {.rate_hz = 100, .inherit = true};
	static struct plan side, folded;
	/* header, pid and tid, address, length, offset; size and build id; prot and flags, path;
	 * ids */
	uint64_t record[14] = {RECORD_MMAP2 | (uint64_t)MISC_MMAP_BUILD_ID << 32 |
				       (uint64_t)112 << 48,
			       7 | (uint64_t)7 << 32,
			       0x1000,
			       0x1000,
			       0,
			       8 | (uint64_t)0x11223344 << 32,
			       0x55667788,
			       0,
			       5 | (uint64_t)2 << 32,
			       'x'};
	struct record_side r;

	(void)state;
	need_perf();
	assert_int_equal(plan_add_side(&side, &setup), 0);
	assert_int_equal(plan_add(&folded, &clock, 0, &setup), 0);
	assert_int_equal(plan_fold_side(&folded, &setup), 0);
	if (!side.e[0].attr.build_id) {
		print_message("skip: this kernel tells no build ids (5.12)\n");
		skip();
	}
	for (int i = 0; i < 2; i++) {
		const struct plan_event *e = i ? &folded.e[0] : &side.e[0];

		assert_int_equal(record_side_parse(&e->layout, record, &r), 0);
		assert_int_equal(r.mmap.build_id_size, 8);
		assert_int_equal(r.mmap.inode, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sampled_member),
		cmocka_unit_test(test_build_ids_are_expected),
		cmocka_unit_test(test_refused_by_seccomp),
		cmocka_unit_test(test_refused_targets),
		cmocka_unit_test(test_refused_others),
	};

	return cmocka_run_group_tests_name("perf_plan", tests, NULL, NULL);
}
