/*
 * perf_counts: readings of all counters of the target together, for the Events screen.
 *
 * Growth is added up event by event, so that a change of how events are opened, or the end of a
 * thread, takes nothing back. Counters that took turns on the hardware are scaled stretch by
 * stretch. Whole CPUs that are filtered by process count everybody, and thousands of descriptors
 * would take too long: then there are no readings, and the screen sums up the samples. Source
 * thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "event/set.h"
#include "sample/perf_impl.h"

#define FDS_MOST    4096
#define RUNNING_ALL 0.99       /* CPUs are read one after another: no closer */
#define STARVED_NS  (500 * MS) /* enabled so long without a counter: it is said */
#define NOTHING_NS  (30 * MS)  /* on the hardware so long and counted nothing: it does not count */

static bool countable(const struct perf_source *ps, const struct fleet *f)
{
	if (f->cpu_wide)
		return ps->everything;
	return (uint64_t)f->nseats * fleet_seat_fds(&f->plan, f->rings) <= FDS_MOST;
}

/* A clock of several strands is counted by the first. */
static bool counts(const struct plan *plan, uint32_t i)
{
	if (plan->e[i].index == PLAN_SIDE || plan->e[i].index == PLAN_SWITCH)
		return false;
	return !i || plan->e[i - 1].index != plan->e[i].index;
}

/* Counted by the kernel itself: it needs no counter, and 0 is 0. */
static bool is_software(const struct plan_event *e)
{
	return e->attr.type == PERF_TYPE_SOFTWARE || e->attr.type == PERF_TYPE_TRACEPOINT ||
	       e->attr.type == PERF_TYPE_BREAKPOINT;
}

static uint8_t state_of(const struct plan_event *e, const struct fleet_count *c)
{
	if (is_software(e))
		return VALUE_OK;
	if (c->enabled_ns && !c->running_ns)
		return VALUE_NOT_RUNNING;
	if (!c->value && c->running_ns > NOTHING_NS)
		return VALUE_NOTHING;
	if ((double)c->running_ns < RUNNING_ALL * (double)c->enabled_ns)
		return VALUE_SCALED;
	return VALUE_OK;
}

/* Others hold the counters: said once a set, with the set that comes nearest and does run. */
static void say_starved(struct perf_source *ps, const char *name)
{
	const struct event_set *offer, *wanted = NULL;
	struct event_set *sets = NULL;
	char text[320];
	size_t n = 0;

	if (ps->starved_said >> (ps->set & 63) & 1)
		return;
	ps->starved_said |= (uint64_t)1 << (ps->set & 63);
	if (event_sets_load(&sets, &n, NULL, NULL))
		n = 0;
	for (size_t i = 0; i < n; i++)
		if (strcmp(sets[i].name, ps->set_name) == 0)
			wanted = &sets[i];
	offer = event_set_running(sets, n, wanted);
	snprintf(text, sizeof text,
		 "%.90s never got a counter so far: others hold them (pinned events of perf, the "
		 "NMI watchdog), and its columns are n/a until they are free%s%s%s",
		 name, offer ? "; -E " : "", offer ? offer->name : "",
		 offer ? " runs, and comes nearest" : "");
	ps->sink->ops->say(ps->sink->ctx, text);
	free(sets);
}

static void tell(struct perf_source *ps, const struct plan_event *e, uint64_t now)
{
	const struct fleet_count *c = &ps->counted[e->index];
	struct raw_count r = {
		.time_ns = now,
		.event = e->index,
		.state = state_of(e, c),
		.value = c->value,
		.enabled_ns = is_software(e) ? c->running_ns : c->enabled_ns,
		.running_ns = c->running_ns,
	};

	ps->sink->ops->count(ps->sink->ctx, &r);
	if (r.state == VALUE_NOT_RUNNING && c->enabled_ns > STARVED_NS)
		say_starved(ps, e->spec.name);
}

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void add(struct fleet_count *sum, const struct fleet_count *now,
		const struct fleet_count *before, bool scale)
{
	uint64_t value = grown(now->value, before->value);
	uint64_t enabled = grown(now->enabled_ns, before->enabled_ns);
	uint64_t running = grown(now->running_ns, before->running_ns);

	if (scale && running && (double)running < RUNNING_ALL * (double)enabled)
		value = (uint64_t)((double)value * (double)enabled / (double)running);
	sum->value += value;
	sum->enabled_ns += enabled;
	sum->running_ns += running;
}

void perf_counts_begin(struct perf_source *ps)
{
	const struct fleet *f = ps->sampling;
	uint64_t now = clock_mono_ns();

	ps->uncounted = !countable(ps, f);
	if (ps->uncounted)
		return;
	if (ps->count_ns) /* the first fleet counts for us from when it was opened */
		fleet_counts(f, ps->shown);
	for (uint32_t i = 0; i < f->plan.n; i++)
		if (counts(&f->plan, i))
			tell(ps, &f->plan.e[i], now);
	ps->count_ns = now + S;
}

void perf_counts_take(struct perf_source *ps, uint64_t now)
{
	const struct fleet *f = ps->sampling;
	struct fleet_count sums[PLAN_MAX];

	if (!f || ps->uncounted || !countable(ps, f))
		return;
	fleet_counts(f, sums);
	for (uint32_t i = 0; i < f->plan.n; i++) {
		if (!counts(&f->plan, i))
			continue;
		add(&ps->counted[f->plan.e[i].index], &sums[i], &ps->shown[i],
		    !is_software(&f->plan.e[i]));
		tell(ps, &f->plan.e[i], now);
	}
	memcpy(ps->shown, sums, sizeof sums);
}

void perf_counts_tick(struct perf_source *ps, uint64_t now)
{
	if (now < ps->count_ns)
		return;
	ps->count_ns = now + S;
	perf_counts_take(ps, now);
}
