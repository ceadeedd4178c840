/*
 * timer_stop: stops a running thread for a moment, copies what it is doing, lets it go.
 *
 * A thread is seized for each sample and detached while it is stopped for it, so between samples
 * nothing of the target is traced: its signals, execs and ends are its own, a debugger may attach,
 * and a profiler that is killed leaves nothing behind. Only threads that run are stopped. Several
 * are asked at once and taken as they come; one that waits for a CPU stops when it gets one.
 *
 * One trap: ptrace waits while a process execs, and an exec waits until every other thread of it is
 * reaped, by us if we seized it. So while seizing, a timer's signal handler reaps what it finds.
 * And one that execs while we trace it goes on as the process's first thread, still traced.
 * Sampler thread.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/gate.h"
#include "proc/procfs.h"
#include "proc/scope.h"
#include "proc/target_check.h"
#include "sample/timer_impl.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define BREAK_SIGNAL   (SIGRTMIN + 5)
#define BREAK_AGAIN_NS MS
#define EARLY_MOST     64
#define WAIT_FLAGS     (__WALL | __WNOTHREAD)

/* What the handler reaped, to be handled by the code that it interrupted. */
static _Thread_local struct {
	volatile sig_atomic_t seizing, n;
	pid_t pid[EARLY_MOST];
	int status[EARLY_MOST];
} early;

static void on_break(int sig)
{
	int saved = errno;

	(void)sig;
	while (early.seizing && early.n < EARLY_MOST) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG | WAIT_FLAGS);

		if (pid <= 0)
			break;
		early.pid[early.n] = pid;
		early.status[early.n] = status;
		early.n++;
	}
	errno = saved;
}

int timer_breaker_new(struct timer_source *ts)
{
	struct sigaction sa = {.sa_handler = on_break};
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = BREAK_SIGNAL};
	sigset_t all;

	sigemptyset(&sa.sa_mask);
	if (sigaction(BREAK_SIGNAL, &sa, NULL) != 0)
		return -errno;
	sigfillset(&all);
	sigdelset(&all, BREAK_SIGNAL);
	pthread_sigmask(SIG_SETMASK, &all, NULL); /* other signals are other threads' */
	ev.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &ev, &ts->breaker) != 0)
		return -errno;
	ts->has_breaker = true;
	return 0;
}

void timer_breaker_arm(struct timer_source *ts, uint64_t at_ns)
{
	uint64_t now_ns = clock_mono_ns(), left_ns = at_ns > now_ns ? at_ns - now_ns : 1;
	struct itimerspec when = {
		.it_value = {(time_t)(left_ns / 1000000000u), (long)(left_ns % 1000000000u)},
		.it_interval = {.tv_nsec = BREAK_AGAIN_NS}, /* the first may come just too early */
	};

	timer_settime(ts->breaker, 0, &when, NULL);
}

void timer_breaker_free(struct timer_source *ts)
{
	if (ts->has_breaker)
		timer_delete(ts->breaker);
	ts->has_breaker = false;
}

/* Who traces this thread, 0: nobody. */
static pid_t tracer_of(const struct timer_thread *t)
{
	char text[32];

	return proc_status_field(t->pid, t->tid, "TracerPid", text, sizeof text) ? 0 : atoi(text);
}

/* Tracing this thread was refused. Tell the person once, and try again in a while. */
void timer_refused(struct timer_source *ts, struct timer_thread *t, int no)
{
	char label[64], sentence[256];
	pid_t tracer;

	if (!t->refused_ns)
		atomic_fetch_add_explicit(&ts->status.unwatched, 1, memory_order_relaxed);
	t->refused_ns = clock_mono_ns();
	if (ts->said_refused)
		return;
	ts->said_refused = true;
	tracer = tracer_of(t);
	if (tracer > 0)
		snprintf(sentence, sizeof sentence,
			 "thread %d is traced by %s: it is not sampled while it runs", t->tid,
			 proc_label(tracer, label, sizeof label));
	else if (scope_wanted(ts->target))
		snprintf(sentence, sizeof sentence,
			 "thread %d cannot be traced (%s): neither it nor any other that may not "
			 "be is sampled",
			 t->tid, strerror(no));
	else
		snprintf(sentence, sizeof sentence,
			 "thread %d cannot be traced (%s): it is not sampled "
			 "while it runs",
			 t->tid, strerror(no));
	ts->sink->ops->say(ts->sink->ctx, sentence);
}

static void admitted(struct timer_source *ts, struct timer_thread *t)
{
	if (t->refused_ns)
		atomic_fetch_sub_explicit(&ts->status.unwatched, 1, memory_order_relaxed);
	t->refused_ns = 0;
}

void timer_stop(struct timer_source *ts, struct timer_thread *t)
{
	long rc;
	int no;

	if (!ts->pending)
		gate_enter();
	else if (gate_closed())
		return;
	early.seizing = ts->pending > 0;
	rc = ptrace(PTRACE_SEIZE, t->tid, 0, 0);
	no = errno;
	early.seizing = 0;
	if (rc != 0 && no == EPERM && tracer_of(t) == gettid())
		rc = 0; /* seized under the number that it had before its exec */
	if (rc != 0) {
		if (!ts->pending)
			gate_leave();
		if (no == ESRCH)
			t->gone = true;
		else
			timer_refused(ts, t, no);
		return;
	}
	admitted(ts, t);
	/* If this fails it has ended, which is reported like a stop. */
	ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	t->asked_ns = clock_mono_ns();
	t->pending = true;
	ts->pending++;
}

void timer_not_pending(struct timer_source *ts, struct timer_thread *t)
{
	if (!t || !t->pending)
		return;
	t->pending = false;
	if (!--ts->pending)
		gate_leave();
}

/* Let go of a stopped thread, with the signal whose delivery it stopped for. */
static bool let_go(pid_t tid, int status)
{
	/* PTRACE_EVENT_STOP is a stop that we asked for or a stopped job, not a delivery. */
	int sig = status >> 16 ? 0 : WSTOPSIG(status);

	return ptrace(PTRACE_DETACH, tid, 0, sig) == 0 || errno != ESRCH;
}

static void sample_stopped(struct timer_source *ts, struct timer_thread *t, int status)
{
	struct timer_capture *c;
	enum timer_restart restart = RESTART_NONE;
	struct timer_regs regs;
	struct timer_ran ran = {0};
	bool ok, freed;

	/* Who had to wait for a CPU before it stopped, waited at the very place. */
	timer_repeat(ts, t, t->asked_ns);
	c = timer_capture(ts);
	c->s.time_ns = clock_mono_ns();
	ok = timer_regs_read(t->tid, &regs) == 0 && timer_ran(ts, t, &ran) == 0;
	if (ok) {
		timer_regs_convert(&regs, &c->regs);
		c->mode = timer_regs_in_call(t->tid, &regs) ? MODE_CALL : MODE_USER;
		timer_read_stack(ts, t, c);
		if (status >> 16 == PTRACE_EVENT_STOP)
			restart = timer_restart_call(t->pid, t->tid, &regs);
	}
	freed = let_go(t->tid, status);
	timer_paused(ts, t->asked_ns ? t->asked_ns : c->s.time_ns);
	if (restart)
		timer_loss(ts, restart == RESTART_DONE ? LOSS_RESTARTED : LOSS_EINTR, 1);
	if (ok) {
		timer_finish(ts, t, c, &ran);
		t->looked = ran;
	}
	if (freed) /* else it was killed: its end is still to be reaped */
		timer_not_pending(ts, t);
	t->asked_ns = 0;
}

static void handle(struct timer_source *ts, pid_t tid, int status)
{
	struct timer_thread *t = timer_find(ts, tid);

	if (!WIFSTOPPED(status)) {
		if (t)
			t->gone = true;
		timer_not_pending(ts, t);
	} else if (t) {
		sample_stopped(ts, t, status);
	} else {
		let_go(tid, status);
	}
}

static bool take_early(pid_t *ret_pid, int *ret_status)
{
	if (!early.n)
		return false;
	early.n--;
	*ret_pid = early.pid[early.n];
	*ret_status = early.status[early.n];
	return true;
}

/* Nothing is traced any more, whatever we thought: an exec gave a thread another number. */
static void forget_pending(struct timer_source *ts)
{
	for (size_t i = 0; i < ts->threads.len; i++)
		timer_not_pending(ts, ts->threads.data[i]);
}

void timer_await(struct timer_source *ts, uint64_t until_ns)
{
	int status;
	pid_t pid;

	while (ts->pending || early.n) {
		if (!take_early(&pid, &status)) {
			bool late = clock_mono_ns() >= until_ns;

			if (!late)
				timer_slept(ts, true);
			pid = waitpid(-1, &status, WAIT_FLAGS | (late ? WNOHANG : 0));
			if (!late)
				timer_slept(ts, false);
			if (pid < 0 && errno == ECHILD)
				forget_pending(ts);
			if (pid == 0 && late)
				break;
		}
		if (pid > 0)
			handle(ts, pid, status);
	}
	timer_deliver(ts);
}
