/*
 * timer_tick: the sampler's loop: whose turn it is, within what time.
 *
 * Each tick visits threads until its budget is spent; the next tick goes on where this one ended.
 * A visit costs one read of schedstat when the thread did not run. Ticks come at random distances
 * around the interval, so that no program runs in step with them: of a few per cent, or of anything
 * where looks would change what they see (at_random). On the wall clock each visit tells what the
 * thread does from now on: that it did so until the next visit is told then. Sampler thread.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mailbox.h"
#include "proc/tasks.h"
#include "sample/timer_impl.h"

#define BUDGET_SHARE      0.30  /* of an interval, for everything a tick does */
#define BUDGET_COLD_SHARE 0.025 /* … for visiting idle threads */
#define COLD_LEAST        2
#define JITTER            0.06 /* full width */
#define RANDOM_LEAST      0.1  /* of an interval, between two ticks at random */
#define CROWDED           0.1  /* waiting for a CPU, of the time on one */
#define ACCOUNT_EVERY_NS  (200 * MS)
#define ACCOUNT_BUDGET_NS (2 * MS)
#define REFUSED_AGAIN_NS  (1000 * MS)
#define FEW_THREADS       16
#define REPEAT_EVERY_NS   (10 * MS) /* with more threads than these few */
#define LEAVE_NS          (20 * MS)
#define PRIORITY          (-10)
#define SLICE_NS          100000

/* It did not run since it was last seen: wall time goes on for the same stack. */
static void visit_idle(struct timer_source *ts, struct timer_thread *t, uint64_t now)
{
	timer_cool(ts, t);
	if (ts->threads.len <= FEW_THREADS || now - t->sampled_ns >= REPEAT_EVERY_NS)
		timer_repeat(ts, t, now);
}

static void visit_blocked(struct timer_source *ts, struct timer_thread *t,
			  const struct timer_look *look, const struct timer_ran *ran, uint64_t now)
{
	if (ts->wall) {
		timer_repeat(ts, t, now);
		if (!timer_take_blocked(ts, t, look, ran))
			return;
	}
	t->looked = *ran;
}

static void visit(struct timer_source *ts, struct timer_thread *t, uint64_t now)
{
	struct timer_look look;
	struct timer_ran ran;

	if (t->pending || t->gone || t->ended ||
	    (t->refused_ns && now - t->refused_ns < REFUSED_AGAIN_NS))
		return;
	if (timer_ran(ts, t, &ran)) {
		t->gone = true;
		return;
	}
	if (ran.ns == t->looked.ns && ran.times == t->looked.times) {
		visit_idle(ts, t, now);
		return;
	}
	timer_heat(ts, t);
	timer_look(ts, t, &look);
	switch (look.state) {
	case TIMER_RUNNING: timer_stop(ts, t); break;
	case TIMER_BLOCKED: visit_blocked(ts, t, &look, &ran, now); break;
	case TIMER_GONE: t->gone = true; break;
	case TIMER_HIDDEN: timer_refused(ts, t, EPERM); break;
	}
}

/* So many stops fit the budget; one always does. */
static uint32_t stops_allowed(const struct timer_source *ts, uint64_t budget)
{
	uint64_t n = ts->stop_cost_ns ? budget / ts->stop_cost_ns : 4;

	return n > 64 ? 64 : n < 1 ? 1 : (uint32_t)n;
}

static void tick(struct timer_source *ts)
{
	uint64_t start = clock_mono_ns(), now = start;
	uint64_t budget = (uint64_t)((double)ts->interval_ns * BUDGET_SHARE);
	uint64_t cold = (uint64_t)((double)ts->interval_ns * BUDGET_COLD_SHARE);
	uint32_t most = ts->pending + stops_allowed(ts, budget);

	for (size_t n = ts->hot.len; n && now < start + budget && ts->pending < most; n--) {
		if (ts->hot_next >= ts->hot.len)
			ts->hot_next = 0;
		if (!ts->hot.len)
			break;
		visit(ts, ts->hot.data[ts->hot_next++], now);
		now = clock_mono_ns();
	}
	start = now;
	for (size_t n = 0; n < ts->threads.len && ts->pending < most; n++) {
		struct timer_thread *t;

		if (n >= COLD_LEAST && now >= start + cold)
			break;
		if (ts->cold_next >= ts->threads.len)
			ts->cold_next = 0;
		t = ts->threads.data[ts->cold_next++];
		if (t->hot_at == SIZE_MAX) {
			visit(ts, t, now);
			now = clock_mono_ns();
		}
	}
}

/*
 * On the wall clock, and where threads have to wait for CPUs, a look wakes and delays threads, and
 * what they always do soon after it would be missed by looks at even distances: there nothing tells
 * when the next tick comes (as in a Poisson process, but for a least distance).
 */
static bool at_random(const struct timer_source *ts)
{
	return ts->wall || ts->crowded;
}

/* Of an interval, 1 on average. */
static double distance(const struct timer_source *ts, double random)
{
	if (!at_random(ts))
		return 1 + (random - 0.5) * JITTER;
	return RANDOM_LEAST - (1 - RANDOM_LEAST) * log1p(-random);
}

/* Did the target's threads wait for CPUs lately? What is longer ago counts half each time. */
static void look_for_crowd(struct timer_source *ts)
{
	ts->crowded = (double)ts->lately_ready_ns > CROWDED * (double)ts->lately_ran_ns;
	ts->lately_ready_ns /= 2;
	ts->lately_ran_ns /= 2;
}

/* The next deadline; what was missed is counted. */
static void next_deadline(struct timer_source *ts)
{
	uint64_t now = clock_mono_ns(), missed;
	double random;

	ts->seed = ts->seed * 6364136223846793005u + 1442695040888963407u;
	random = (double)(ts->seed >> 11) / (double)(1ull << 53);
	ts->deadline_ns += (uint64_t)((double)ts->interval_ns * distance(ts, random));
	if (now <= ts->deadline_ns)
		return;
	/* Random distances may be shorter than a tick takes. */
	missed = (now - ts->deadline_ns) / ts->interval_ns + !at_random(ts);
	if (missed)
		timer_loss(ts, LOSS_MISSED, missed);
	ts->deadline_ns = now;
}

static void take_commands(struct timer_source *ts)
{
	struct source_command c;

	mailbox_drain_fd(ts->commands);
	while (mailbox_take(ts->commands, &c)) {
		if (c.kind == SOURCE_SET_RATE)
			timer_set_rate(ts, c.rate_hz);
		else if (c.kind == SOURCE_SET_STACK)
			for (size_t i = 0; i < ts->threads.len; i++)
				ts->threads.data[i]->stack_bytes = c.stack_bytes;
	}
}

static void sleep_until(struct timer_source *ts, uint64_t until_ns)
{
	struct pollfd p[2] = {{.fd = ts->wake_fd, .events = POLLIN},
			      {.fd = mailbox_fd(ts->commands), .events = POLLIN}};
	int n;

	do { /* what broke a wait for a stop goes on breaking this one */
		uint64_t now = clock_mono_ns(), left = now < until_ns ? until_ns - now : 0;
		struct timespec wait = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};

		n = ppoll(p, 2, &wait, NULL);
	} while (n < 0 && errno == EINTR);
	if (n > 0 && p[1].revents)
		take_commands(ts);
}

static bool stopping(const struct timer_source *ts)
{
	return atomic_load_explicit(&ts->stopping, memory_order_relaxed);
}

/* What is due beside the samples. False: the target is gone. */
static bool keep_house(struct timer_source *ts)
{
	uint64_t now = clock_mono_ns();

	if (now >= ts->scan_ns) {
		timer_scan(ts);
		if (!tasks_alive(ts->tasks))
			return false;
	}
	if (now >= ts->account_ns) {
		timer_deliver(ts);
		tasks_account(ts->tasks, ts->sink, ACCOUNT_BUDGET_NS);
		timer_modes_account(ts);
		look_for_crowd(ts);
		ts->account_ns = now + ACCOUNT_EVERY_NS;
	}
	if (now >= ts->second_ns + 1000 * MS)
		timer_second(ts, now);
	return true;
}

static void leave(struct timer_source *ts)
{
	uint64_t until = clock_mono_ns() + LEAVE_NS;

	/* Let go of who was asked to stop; this thread's end does it for those that did not yet. */
	timer_breaker_arm(ts, until);
	timer_await(ts, until);
	tasks_account(ts->tasks, ts->sink, LEAVE_NS);
	timer_second(ts, clock_mono_ns());
}

/*
 * A thread that we stopped waits for us. So ask for short slices, which Linux 6.12 schedules
 * sooner, and for a better priority where that is allowed.
 */
static void be_prompt(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = {
		.size = sizeof attr, .nice = PRIORITY, .runtime = SLICE_NS}; /* sched_setattr(2) */

	prctl(PR_SET_TIMERSLACK, 1000);
	if (syscall(SYS_sched_setattr, 0, &attr, 0) == 0)
		return;
	attr.nice = 0; /* unprivileged: the slice alone */
	if (syscall(SYS_sched_setattr, 0, &attr, 0) != 0)
		errno = 0; /* an old kernel: as before */
}

int timer_loop(struct timer_source *ts, struct err *err)
{
	pid_t first = ts->target->npids   ? ts->target->pids[0]
		      : ts->target->ntids ? ts->target->tids[0]
					  : 0;
	bool alive = true;

	be_prompt();
	ts->deadline_ns = clock_mono_ns();
	ts->seed = hash_mix(ts->deadline_ns ^ (uint64_t)getpid());
	while (!stopping(ts)) {
		alive = keep_house(ts);
		if (!alive)
			break;
		tick(ts);
		tasks_touch(ts->tasks);
		next_deadline(ts);
		if (ts->pending)
			timer_breaker_arm(ts, ts->deadline_ns);
		timer_await(ts, ts->deadline_ns);
		sleep_until(ts, ts->deadline_ns);
	}
	leave(ts);
	if (alive)
		return 0;
	atomic_store_explicit(&ts->status.finished, true, memory_order_relaxed);
	if (!atomic_load_explicit(&ts->status.samples, memory_order_relaxed))
		return err_set(err, ESRCH, "process %d ended before it was seen to run", first);
	return 0;
}
