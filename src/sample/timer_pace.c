/*
 * timer_pace: how long the target was held, what that costs it, and the rate.
 *
 * Once a second the status is brought up to date and, with -F auto, the next rate chosen by the
 * rules that the perf sampler uses too. Sampler thread.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "sample/pace.h"
#include "sample/timer_impl.h"

#define LONG_NS 100000
#define WAKE_NS 20000

void timer_loss(struct timer_source *ts, enum loss_kind kind, uint64_t count)
{
	if (kind == LOSS_MISSED)
		ts->losses += count;
	ts->sink->ops->loss(ts->sink->ctx, kind, count);
}

/* How long this thread has waited for a CPU, ever; 0 unknown. */
static uint64_t own_wait(const struct timer_source *ts)
{
	char text[96], *end;
	ssize_t n = ts->own_fd >= 0 ? pread(ts->own_fd, text, sizeof text - 1, 0) : -1;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	strtoull(text, &end, 10);
	return strtoull(end, NULL, 10);
}

void timer_slept(struct timer_source *ts, bool before)
{
	if (before)
		ts->own_wait_ns = own_wait(ts);
	else
		ts->woke_ns = clock_mono_ns();
}

/*
 * From being asked to going on, when that was short. When it was long, the thread mostly waited for
 * a CPU before it could stop, which holds nobody: then what counts is how long we waited for a CPU
 * ourselves, plus the time since we woke, plus what it takes to wake.
 */
static uint64_t held(const struct timer_source *ts, uint64_t asked_ns)
{
	uint64_t now = clock_mono_ns(), most = now - asked_ns, since;

	if (most < LONG_NS || !ts->own_wait_ns || ts->woke_ns < asked_ns)
		return most;
	since = now - ts->woke_ns + own_wait(ts) - ts->own_wait_ns + WAKE_NS;
	return since < most ? since : most;
}

void timer_paused(struct timer_source *ts, uint64_t asked_ns)
{
	struct timer_pauses *p = &ts->pauses;
	uint64_t ns = held(ts, asked_ns), bucket = ns / TIMER_PAUSE_NS;

	p->count[bucket < TIMER_PAUSES ? bucket : TIMER_PAUSES]++;
	p->stops++;
	p->sum_ns += ns;
	if (ns > p->max_ns)
		p->max_ns = ns;
}

static uint64_t median(const struct timer_pauses *p)
{
	uint64_t seen = 0;

	for (size_t i = 0; i <= TIMER_PAUSES; i++) {
		seen += p->count[i];
		if (seen * 2 > p->stops)
			return i * TIMER_PAUSE_NS + TIMER_PAUSE_NS / 2;
	}
	return 0;
}

void timer_set_rate(struct timer_source *ts, uint32_t hz)
{
	if (hz < 1)
		hz = 1;
	if (hz > PACE_MOST_HZ)
		hz = PACE_MOST_HZ;
	ts->interval_ns = 1000000000u / hz;
	atomic_store_explicit(&ts->status.asked_hz, hz, memory_order_relaxed);
}

static void control_rate(struct timer_source *ts, uint64_t elapsed_ns, uint64_t cpu_ns,
			 uint64_t samples)
{
	struct pace_seen seen = {
		.busy = (double)cpu_ns / (double)elapsed_ns,
		.idle = idleshare_look(&ts->idle),
		.samples = samples,
		.lost = ts->losses != ts->second_losses,
	};
	uint32_t hz = atomic_load_explicit(&ts->status.asked_hz, memory_order_relaxed);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	timer_set_rate(ts, pace_rate(hz, 0, cpus > 0 ? (uint32_t)cpus : 1, &seen));
}

void timer_second(struct timer_source *ts, uint64_t now_ns)
{
	struct source_status *st = &ts->status;
	uint64_t samples = atomic_load_explicit(&st->samples, memory_order_relaxed);
	uint64_t cpu = clock_thread_cpu_ns(), elapsed = now_ns - ts->second_ns;
	uint64_t paused = ts->pauses.sum_ns - ts->second_paused;
	uint64_t ran = ts->weight_ns - ts->second_weight;

	if (ts->second_ns && elapsed) {
		uint64_t used = cpu - ts->second_cpu_ns, taken = samples - ts->second_samples;

		if (taken)
			ts->stop_cost_ns = used / taken;
		if (ran + paused)
			atomic_store_explicit(&st->cost_ppm, paused * 1000000u / (ran + paused),
					      memory_order_relaxed);
		if (ts->config->rate_auto)
			control_rate(ts, elapsed, used, taken);
	}
	atomic_store_explicit(&st->cpu_ns, cpu, memory_order_relaxed);
	atomic_store_explicit(&st->stops, ts->pauses.stops, memory_order_relaxed);
	atomic_store_explicit(&st->stop_median_ns, median(&ts->pauses), memory_order_relaxed);
	atomic_store_explicit(&st->stop_max_ns, ts->pauses.max_ns, memory_order_relaxed);
	ts->second_ns = now_ns;
	ts->second_cpu_ns = cpu;
	ts->second_samples = samples;
	ts->second_paused = ts->pauses.sum_ns;
	ts->second_losses = ts->losses;
	ts->second_weight = ts->weight_ns;
}
