/*
 * perf_tasks: births, ends and other programs, as records and scans tell them, where a record was
 * lost or processes follow each other; and what the rate goes by. No events are open.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "proc/tasks.h"
#include "sample/perf_impl.h"
#include "sample/perf_setup.h"

struct lab {
	struct perf_source ps;
	struct fleet fleet;
	struct sink_ops ops;
	struct sink sink;
	unsigned births, names, ends;
	pid_t ended;
};

static void on_fork(void *ctx, const struct raw_task *t)
{
	struct lab *lab = ctx;

	(void)t;
	lab->births++;
}

static void on_comm(void *ctx, const struct raw_task *t)
{
	struct lab *lab = ctx;

	(void)t;
	lab->names++;
}

static void on_end(void *ctx, const struct raw_task *t)
{
	struct lab *lab = ctx;

	lab->ends++;
	lab->ended = t->pid;
}

static struct lab *lab_new(const struct target *target)
{
	struct lab *lab = calloc(1, sizeof *lab);
	struct perf_source *ps = &lab->ps;

	lab->ops = (struct sink_ops){.fork = on_fork, .comm = on_comm, .exit = on_end};
	lab->sink = (struct sink){.ops = &lab->ops, .ctx = lab};
	ps->sink = &lab->sink;
	ps->target = target;
	ps->self = getpid();
	ps->merger = merger_new(&plan_common);
	roster_init(&ps->roster);
	lab->fleet.rings = &ps->rings;
	lab->fleet.ids = &ps->ids;
	return lab;
}

static void lab_free(struct lab *lab)
{
	tasks_free(lab->ps.tasks);
	roster_fini(&lab->ps.roster);
	merger_free(lab->ps.merger);
	vec_fini(&lab->fleet.todo);
	vec_fini(&lab->fleet.seats);
	map64_fini(&lab->fleet.by_tid);
	free(lab);
}

static void fork_of(struct lab *lab, pid_t parent, pid_t pid, uint64_t time)
{
	const struct record_side r = {
		.task = {.pid = pid, .tid = pid, .ppid = parent, .ptid = parent}};

	perf_take_fork(&lab->ps, &r, time);
}

static void exec_of(struct lab *lab, pid_t pid, uint64_t time)
{
	const struct record_side r = {.comm = {.pid = pid, .tid = pid, .exec = true, .name = "x"}};

	perf_take_comm(&lab->ps, &r, time);
}

/* An address means nothing in a process that runs another program, nor in children it forks then.
 */
static void test_other_programs(void **state)
{
	const struct event_spec spec = {.name = "mem:f", .symbol = "f"};
	pid_t named = 100;
	const struct target target = {.pids = &named, .npids = 1};
	struct lab *lab = lab_new(&target);

	(void)state;
	assert_non_null(roster_add(&lab->ps.roster, 100, 100, 1));
	fork_of(lab, 100, 101, 10);
	assert_true(perf_places_counts(&lab->ps, &spec, 101));
	exec_of(lab, 101, 20);
	assert_false(perf_places_counts(&lab->ps, &spec, 101));
	fork_of(lab, 101, 102, 30);
	assert_false(perf_places_counts(&lab->ps, &spec, 102));
	fork_of(lab, 100, 103, 40);
	assert_true(perf_places_counts(&lab->ps, &spec, 103));
	assert_true(perf_places_counts(&lab->ps, &spec, 100));
	lab_free(lab);
}

/* The end and the birth of a thread's number were both lost: a scan finds another life of it. */
static void test_number_used_again(void **state)
{
	struct seat seat = {.users = 2};
	struct target target = {.npids = 1};
	struct lab *lab;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	target.pids = &pid;
	lab = lab_new(&target);
	lab->ps.tasks = tasks_new(&target, true, NULL);
	assert_non_null(lab->ps.tasks);
	lab->ps.sampling = &lab->fleet;
	assert_int_equal(vec_push(&lab->fleet.seats, seat), 0);
	assert_int_equal(map64_put(&lab->fleet.by_tid, (uint64_t)pid, 0), 0);
	roster_add(&lab->ps.roster, 4000000, pid, 1)->announced = true;
	assert_true(perf_scan(&lab->ps) >= 0);
	assert_int_equal(roster_find(&lab->ps.roster, pid)->pid, pid);
	assert_false(roster_watches(&lab->ps.roster, 4000000));
	assert_int_equal(lab->ends, 1);
	assert_int_equal(lab->ended, 4000000);
	assert_false(fleet_watches(&lab->fleet, pid)); /* what is open is not its */
	assert_int_equal(lab->fleet.todo.len, 1);
	assert_int_equal(lab->fleet.todo.data[0].tid, pid);
	lab_free(lab);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* What /proc/stat calls idle may go back by a tick: that is not all the time there ever was. */
static void test_idle_time_goes_back(void **state)
{
	const struct source_config config = {.rate_auto = true};
	const struct target target = {0};
	struct lab *lab = lab_new(&target);
	struct perf_source *ps = &lab->ps;

	(void)state;
	ps->config = &config;
	ps->ncpus = 1;
	ps->sampling = &lab->fleet;
	ps->setup.rate_hz = 100;
	ps->pace_ns = 1;
	ps->samples = 1000;
	ps->idle = (struct idleshare){.idle = UINT64_MAX / 2, .all = 1};
	perf_setup_pace(ps, 1 + S);
	assert_int_equal(ps->setup.rate_hz, 100);
	lab_free(lab);
}

/* A thread that a scan found and that execs before its events are open is to be watched by the
 * number that it has then. */
static void test_exec_before_events(void **state)
{
	pid_t named = 100;
	const struct target target = {.pids = &named, .npids = 1};
	struct lab *lab = lab_new(&target);
	bool wanted = false;

	(void)state;
	lab->ps.sampling = &lab->fleet;
	assert_non_null(roster_add(&lab->ps.roster, 100, 100, 1));
	assert_non_null(roster_add(&lab->ps.roster, 100, 101, 5));
	roster_remove(&lab->ps.roster, 100, 9); /* the first one's end was told */
	exec_of(lab, 100, 10);
	assert_non_null(roster_find(&lab->ps.roster, 100));
	assert_null(roster_find(&lab->ps.roster, 101));
	for (size_t i = 0; i < lab->fleet.todo.len; i++)
		wanted |= lab->fleet.todo.data[i].tid == 100;
	assert_true(wanted);
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_programs),
		cmocka_unit_test(test_number_used_again),
		cmocka_unit_test(test_idle_time_goes_back),
		cmocka_unit_test(test_exec_before_events),
	};

	return cmocka_run_group_tests_name("perf_tasks", tests, NULL, NULL);
}
