/*
 * timer: the sampler for where perf events are refused, and for wall time.
 *
 * A worker looks at each thread at randomised distances of time: one that runs is stopped for some
 * ten microseconds (timer_stop.c), one that waits is read without being touched (timer_look.c). The
 * worker is a thread of its own inside run(), because only its end lets go for certain of a thread
 * that was asked to stop and did not yet.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/altstack.h"
#include "base/clock.h"
#include "base/mailbox.h"
#include "proc/permit.h"
#include "proc/procfs.h"
#include "proc/scope.h"
#include "proc/target_check.h"
#include "proc/tasks.h"
#include "sample/timer_impl.h"

#define COMMANDS      16
#define SPARE_FDS     256 /* left to the rest of the program */
#define KEPT_FDS_MOST 8192

static struct timer_source *of(struct source *source)
{
	return (struct timer_source *)(void *)source;
}

/* Time is all that it can count. */
static int check_events(const struct source_config *config, struct err *err)
{
	static const char *const known[] = {"cpu-clock", "task-clock", "wall", "clock"};

	for (uint32_t i = 0; i <= config->nevents; i++) {
		const char *name = i < config->nevents ? config->events[i] : config->event_set;
		bool ok = !name;

		for (size_t k = 0; name && k < sizeof known / sizeof *known; k++)
			ok = ok || strcmp(name, known[k]) == 0;
		if (!ok)
			return err_set(
				err, ENOTSUP,
				"the timer sampler counts time only: %s needs --sampler perf",
				name);
	}
	return 0;
}

static int check_options(const struct target *target, const struct source_config *config,
			 struct err *err)
{
	if (config->no_user)
		return err_set(err, ENOTSUP,
			       "the timer sampler sees user code only, and -U hides it: "
			       "kernel code needs --sampler perf");
	if (config->call_graph == CALL_GRAPH_LBR)
		return err_set(err, ENOTSUP, "--call-graph lbr needs --sampler perf");
	if (target->cpus)
		return err_set(err, ENOTSUP,
			       "it watches processes, not CPUs: -C needs --sampler perf");
	return check_events(config, err);
}

static int timer_probe(const struct target *target, const struct source_config *config,
		       struct err *err)
{
	int rc = check_options(target, config, err);

	if (!rc)
		rc = target_check(target, err);
	if (!rc && scope_wanted(target))
		rc = target_check_trace_any(target, err);
	for (uint32_t i = 0; !rc && i < target->npids; i++)
		rc = target_check_trace(target->pids[i], err);
	for (uint32_t i = 0; !rc && i < target->ntids; i++)
		rc = target_check_trace(target->tids[i], err);
	return rc;
}

static void announce(struct timer_source *ts)
{
	struct event_desc desc = {
		.unit = EVENT_NS,
		.sampled = true,
		.cpu_time = !ts->wall,
		.states = ts->wall,
		.freq_hz = ts->config->rate_hz,
	};

	snprintf(desc.name, sizeof desc.name, "%s", ts->wall ? "wall" : "cpu-clock");
	ts->sink->ops->event(ts->sink->ctx, 0, &desc);
}

static void detect(struct timer_source *ts)
{
	uint64_t files = permit_raise_nofile();
	char text[96];

	ts->no_schedstat = procfs_read(getpid(), getpid(), "schedstat", text, sizeof text) <= 0 ||
			   strncmp(text, "0 0 0", 5) == 0;
	if (files > SPARE_FDS * 2)
		ts->kept_fds_most = files - SPARE_FDS < KEPT_FDS_MOST
					    ? (uint32_t)(files - SPARE_FDS)
					    : KEPT_FDS_MOST;
}

static int allocate(struct timer_source *ts, struct err *err)
{
	ts->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ts->commands = mailbox_new(sizeof(struct source_command), COMMANDS);
	for (size_t i = 0; i < TIMER_CAPTURES; i++) {
		ts->captures[i].stack = malloc(TIMER_STACK_MOST);
		if (!ts->captures[i].stack)
			return err_set(err, ENOMEM, "no memory for the timer sampler");
	}
	if (ts->wake_fd < 0 || !ts->commands)
		return err_set(err, ts->wake_fd < 0 ? errno : ENOMEM,
			       "the timer sampler cannot be set up: %s", strerror(errno));
	return 0;
}

static void timer_close(struct source *source)
{
	struct timer_source *ts = of(source);

	if (!ts)
		return;
	timer_threads_free(ts);
	tasks_free(ts->tasks);
	mailbox_free(ts->commands);
	if (ts->wake_fd >= 0)
		close(ts->wake_fd);
	for (size_t i = 0; i < TIMER_CAPTURES; i++)
		free(ts->captures[i].stack);
	free(ts);
}

static int timer_open(const struct target *target, const struct source_config *config,
		      const struct sink *sink, struct tables *tables, struct source **ret_source,
		      struct err *err)
{
	struct timer_source *ts = calloc(1, sizeof *ts);
	int rc;

	(void)tables;
	if (!ts)
		return err_set(err, ENOMEM, "no memory for the timer sampler");
	timer_modes_begin(&ts->modes, 0, 0);
	ts->target = target;
	ts->config = config;
	ts->sink = sink;
	ts->wall = config->wall;
	ts->wake_fd = ts->own_fd = -1;
	map64_init(&ts->by_tid);
	rc = allocate(ts, err);
	if (!rc) {
		detect(ts);
		ts->tasks = tasks_new(target, true, err);
		rc = ts->tasks ? 0 : err && err->no ? -err->no : -ESRCH;
		if (!rc)
			tasks_sole_witness(ts->tasks);
	}
	if (rc) {
		timer_close((struct source *)(void *)ts);
		return rc;
	}
	snprintf(ts->status.arrangement, sizeof ts->status.arrangement, "timer %s",
		 ts->wall ? "wall clock" : "cpu-clock");
	ts->status.stack_bytes = config->stack_bytes ? config->stack_bytes : TIMER_STACK_START;
	timer_set_rate(ts, config->period      ? (uint32_t)(1000000000u / config->period)
			   : config->rate_auto ? 100
					       : config->rate_hz);
	announce(ts);
	*ret_source = (struct source *)(void *)ts;
	return 0;
}

static void *worker(void *arg)
{
	struct timer_source *ts = arg;
	int rc = timer_breaker_new(ts);

	altstack_use();
	ts->own_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ts->result = rc ? err_set(ts->err, -rc, "the timer sampler cannot get a timer: %s",
				  strerror(-rc))
			: timer_loop(ts, ts->err);
	timer_breaker_free(ts);
	if (ts->own_fd >= 0)
		close(ts->own_fd);
	return NULL;
}

static int timer_run(struct source *source, struct err *err)
{
	struct timer_source *ts = of(source);
	pthread_t thread;
	int no;

	ts->err = err;
	no = pthread_create(&thread, NULL, worker, ts);
	if (no)
		return err_set(err, no, "the timer sampler cannot start its thread: %s",
			       strerror(no));
	pthread_setname_np(thread, "timer");
	pthread_join(thread, NULL);
	return ts->result;
}

static void timer_ask_stop(struct source *source)
{
	struct timer_source *ts = of(source);
	uint64_t one = 1;
	int saved = errno;

	atomic_store_explicit(&ts->stopping, true, memory_order_relaxed);
	if (write(ts->wake_fd, &one, sizeof one) != sizeof one)
		errno = 0; /* full: it is readable already */
	errno = saved;
}

static int timer_command(struct source *source, const struct source_command *command)
{
	struct timer_source *ts = of(source);

	if (command->kind != SOURCE_SET_RATE && command->kind != SOURCE_SET_STACK)
		return -ENOTSUP;
	if (command->kind == SOURCE_SET_STACK &&
	    (!command->stack_bytes || command->stack_bytes > TIMER_STACK_MOST))
		return -EINVAL;
	return mailbox_post(ts->commands, command) ? 0 : -EAGAIN;
}

static const struct source_status *timer_status(const struct source *source)
{
	return &((const struct timer_source *)(const void *)source)->status;
}

const struct source_ops source_timer = {
	.name = "timer",
	.probe = timer_probe,
	.open = timer_open,
	.run = timer_run,
	.stop = timer_ask_stop,
	.command = timer_command,
	.close = timer_close,
	.status = timer_status,
};
