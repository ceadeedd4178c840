/*
 * timerbed: a timer sampler on a child of the test, and a sink that counts what it is told.
 *
 * Included by the tests of the timer sampler only, after cmocka.h.
 */
#ifndef ALTPTTOP_TESTS_TIMERBED_H
#define ALTPTTOP_TESTS_TIMERBED_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/procfs.h"
#include "source.h"
#include "tables.h"

/* What the children and the test share. */
struct board {
	atomic_ulong turns, failures, signals;
	atomic_int ready, quit;
	atomic_ulong awake_ns, asleep_ns;
};

static struct board *board;

struct seen {
	uint64_t samples, weight, blocked, blocked_weight, repeated, stacks, whole, forks, exits,
		execs;
	uint64_t chains, bare, last_ns, disorder;
	uint64_t loss[LOSS_KINDS];
	uint64_t in_range; /* samples whose ip lies in [lo, hi) */
	uint64_t lo, hi;
	int events, says;
	char say[256];
	struct event_desc desc;
	struct raw_account account;
	pid_t only_tid;
	uint64_t tid_weight, tid_blocked;
};

static void in_order(struct seen *s, uint64_t time_ns)
{
	if (time_ns < s->last_ns)
		s->disorder++;
	s->last_ns = time_ns;
}

static void on_event(void *ctx, uint16_t index, const struct event_desc *desc)
{
	struct seen *s = ctx;

	assert_int_equal(index, 0);
	s->events++;
	s->desc = *desc;
}

static void on_sample(void *ctx, const struct raw_sample *r)
{
	struct seen *s = ctx;

	in_order(s, r->time_ns);
	__atomic_fetch_add(&s->samples, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->weight, r->weight, __ATOMIC_RELAXED);
	s->blocked += r->flags & SAMPLE_BLOCKED ? 1 : 0;
	s->blocked_weight += r->flags & SAMPLE_BLOCKED ? r->weight : 0;
	s->repeated += r->flags & SAMPLE_REPEATED ? 1 : 0;
	s->stacks += r->regs && r->stack_bytes;
	s->whole += r->regs && r->stack_bytes && r->stack_bytes < r->stack_asked;
	s->chains += r->nuser > 0;
	s->bare += r->ip && !r->regs && !r->nuser;
	s->in_range += r->ip >= s->lo && r->ip < s->hi;
	if (r->tid == s->only_tid) {
		s->tid_weight += r->weight;
		s->tid_blocked += r->flags & SAMPLE_BLOCKED ? r->weight : 0;
	}
}

static void on_mmap(void *ctx, const struct raw_mmap *m)
{
	in_order(ctx, m->time_ns);
}

static void on_fork(void *ctx, const struct raw_task *t)
{
	struct seen *s = ctx;

	in_order(s, t->time_ns);
	s->forks++;
}

static void on_comm(void *ctx, const struct raw_task *t)
{
	struct seen *s = ctx;

	in_order(s, t->time_ns);
	s->execs += t->exec;
}

static void on_exit_task(void *ctx, const struct raw_task *t)
{
	struct seen *s = ctx;

	in_order(s, t->time_ns);
	s->exits++;
}

static void on_loss(void *ctx, enum loss_kind kind, uint64_t count)
{
	((struct seen *)ctx)->loss[kind] += count;
}

static void on_account(void *ctx, const struct raw_account *a)
{
	struct seen *s = ctx;

	in_order(s, a->time_ns);
	if (!a->tid)
		s->account = *a;
}

static void on_say(void *ctx, const char *sentence)
{
	struct seen *s = ctx;

	s->says++;
	snprintf(s->say, sizeof s->say, "%s", sentence);
}

static const struct sink_ops sink_ops = {
	.event = on_event,
	.sample = on_sample,
	.mmap = on_mmap,
	.fork = on_fork,
	.comm = on_comm,
	.exit = on_exit_task,
	.loss = on_loss,
	.account = on_account,
	.say = on_say,
};

/* A sampler on a child. */
struct run {
	pid_t pid;
	struct target target;
	struct source_config config;
	struct sink sink;
	struct tables *tables;
	struct source *source;
	struct seen seen;
	pthread_t thread;
	struct err err;
	int result;
};

static pid_t spawn(void (*body)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		body();
		_exit(0);
	}
	return pid;
}

static void *run_main(void *arg)
{
	struct run *r = arg;

	r->result = source_timer.run(r->source, &r->err);
	return NULL;
}

static void begin(struct run *r, void (*body)(void), uint32_t hz)
{
	memset(board, 0, sizeof *board);
	r->pid = spawn(body);
	r->seen.only_tid = r->pid;
	r->target = (struct target){.pids = &r->pid, .npids = 1};
	r->config.rate_hz = hz;
	r->sink = (struct sink){&sink_ops, &r->seen};
	r->tables = tables_new();
	while (!board->ready)
		usleep(1000);
	assert_int_equal(source_timer.probe(&r->target, &r->config, &r->err), 0);
	assert_int_equal(
		source_timer.open(&r->target, &r->config, &r->sink, r->tables, &r->source, &r->err),
		0);
	assert_int_equal(r->seen.events, 1);
	pthread_create(&r->thread, NULL, run_main, r);
}

/* Until @n samples came: a busy machine takes its time. */
static void collect(struct run *r, uint64_t n)
{
	for (int i = 0; i < 3000 && __atomic_load_n(&r->seen.samples, __ATOMIC_RELAXED) < n; i++)
		usleep(10000);
}

static void settle(struct run *r)
{
	source_timer.stop(r->source);
	pthread_join(r->thread, NULL);
	assert_int_equal(r->seen.disorder, 0);
}

static int tracer_of(pid_t pid)
{
	char text[32];

	assert_int_equal(proc_status_field(pid, 0, "TracerPid", text, sizeof text), 0);
	return atoi(text);
}

static void finish(struct run *r)
{
	const struct source_status *st = source_timer.status(r->source);

	print_message(
		"%lu samples, %lu stops, median pause %.1f us, max %.1f us, torn %lu, missed %lu, "
		"eintr %lu, restarted %lu, own CPU %.1f ms\n",
		(unsigned long)r->seen.samples, (unsigned long)st->stops,
		(double)st->stop_median_ns / 1e3, (double)st->stop_max_ns / 1e3,
		(unsigned long)r->seen.loss[LOSS_TORN], (unsigned long)r->seen.loss[LOSS_MISSED],
		(unsigned long)r->seen.loss[LOSS_EINTR],
		(unsigned long)r->seen.loss[LOSS_RESTARTED], (double)st->cpu_ns / 1e6);
	source_timer.close(r->source);
	tables_free(r->tables);
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, __WALL);
}

#endif
