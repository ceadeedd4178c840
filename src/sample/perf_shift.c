/*
 * perf_shift: from one way of opening events to another while samples keep coming.
 *
 * New fleets are opened beside the old ones. Once they are complete, an instant a few periods ahead
 * is chosen: what the old ones saw before it counts, and what the new ones saw from it on. So there
 * is no gap and nothing counts twice. Where descriptors do not suffice for both, the old fleet is
 * closed first. A clock's period cannot be changed in place: the kernel's ioctl does not reach
 * inherited events and leaves their records' period as it was. Source thread.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sample/perf_impl.h"

#define CLOSE_STEP 512 /* descriptors closed in one go */
#define LEAD_MOST  (100 * MS)

void perf_text(struct perf_source *ps)
{
	const char *how = "one event per CPU, filtered by process";
	char text[sizeof ps->status.arrangement], *kept;

	if (ps->sampling->tenants)
		how = ps->everything ? "a group per CPU" : "a group per CPU, filtered by process";
	else if (ps->everything)
		how = "one event per CPU";
	else if (!ps->sampling->cpu_wide && ps->sampling->capped)
		how = "the busiest threads";
	else if (!ps->sampling->cpu_wide)
		how = "one event per thread and CPU";
	snprintf(text, sizeof text, "perf %.40s%s, %s", ps->events[0].name,
		 ps->nevents > 1 ? " …" : "", how);
	for (size_t i = 0; i < ps->texts.len; i++)
		if (strcmp(ps->texts.data[i], text) == 0) {
			atomic_store_explicit(&ps->status.arrangement_now, ps->texts.data[i],
					      memory_order_release);
			return;
		}
	kept = strdup(text);
	if (!kept || vec_push(&ps->texts, kept)) {
		free(kept);
		return;
	}
	atomic_store_explicit(&ps->status.arrangement_now, kept, memory_order_release);
}

static int open_next_cpus(struct perf_source *ps)
{
	int rc = ps->next_side ? fleet_open_cpus(ps->next_side, -1) : 0;

	return rc ? rc : fleet_open_cpus(ps->next, ps->cgroup_fd);
}

static void want_members(struct perf_source *ps, struct fleet *f)
{
	for (size_t i = 0; f && !f->cpu_wide && i < ps->roster.members.len; i++)
		fleet_want(f, ps->roster.members.data[i].tid, 0);
}

static void drop_next(struct perf_source *ps)
{
	fleet_free(ps->next);
	fleet_free(ps->next_side);
	ps->next = ps->next_side = NULL;
	ps->shift = SHIFT_NONE;
}

/* Both sets of descriptors do not fit: the old one goes first, a short gap is accepted, and said.
 */
static void close_first(struct perf_source *ps)
{
	ps->closed_ns = clock_mono_ns();
	perf_counts_take(ps, ps->closed_ns);
	ps->sampling->until_ns = ps->closed_ns;
	ps->next->from_ns = 0;
	fleet_close_some(ps->sampling, UINT32_MAX);
}

static void make_room(struct perf_source *ps)
{
	uint64_t need = (uint64_t)fleet_seat_fds(&ps->next->plan, &ps->rings) *
			(ps->next->cpu_wide ? 1 : ps->roster.members.len);

	if (ps->ids.fds + need > ps->ids.fds_max)
		close_first(ps);
}

static void say_gap(struct perf_source *ps)
{
	double ms = (double)(clock_mono_ns() - ps->closed_ns) / MS;
	char text[256];

	if (!ps->closed_ns)
		return;
	ps->closed_ns = 0;
	snprintf(text, sizeof text,
		 "there are file descriptors for one set of events only (%u): the old events were "
		 "closed first, and nothing was sampled for %.1f ms; type: ulimit -n 65536",
		 ps->ids.fds_max, ms);
	ps->sink->ops->say(ps->sink->ctx, text);
	perf_loss(ps, LOSS_GAP, (uint64_t)ms + 1);
}

/* Whole CPUs are opened at once. Some limits show only then. */
static int open_next(struct perf_source *ps, bool cpu_wide)
{
	int rc;

	make_room(ps);
	if (!cpu_wide)
		return 0;
	rc = open_next_cpus(ps);
	if ((rc != -EMFILE && rc != -ENFILE) || ps->closed_ns)
		return rc;
	close_first(ps);
	rc = open_next_cpus(ps);
	if (rc && ps->sampling->cpu_wide && !fleet_open_cpus(ps->sampling, ps->cgroup_fd)) {
		ps->sampling->until_ns = UINT64_MAX; /* what was there is there again */
		say_gap(ps);
	}
	return rc;
}

void perf_shift(struct perf_source *ps, bool cpu_wide)
{
	bool side_too = cpu_wide != ps->sampling->cpu_wide;
	bool folded = !ps->side && !cpu_wide;
	struct plan sampling, side;

	ps->shift_cpu_wide = cpu_wide;
	if (ps->shift) {
		ps->shift_again = true;
		return;
	}
	if (perf_plans(ps, cpu_wide, folded, &sampling, &side))
		return;
	ps->next = fleet_new(&sampling, &ps->rings, &ps->ids, cpu_wide, false);
	if (side_too && !folded)
		ps->next_side = fleet_new(&side, &ps->rings, &ps->ids, cpu_wide, true);
	if (!ps->next || (side_too && !folded && !ps->next_side)) {
		drop_next(ps);
		return;
	}
	ps->next->from_ns = UINT64_MAX;
	if (ps->next_side)
		ps->next_side->from_ns = UINT64_MAX;
	if (open_next(ps, cpu_wide)) {
		drop_next(ps);
		ps->allowed.cpu_wide = false;
		return;
	}
	want_members(ps, ps->next);
	want_members(ps, ps->next_side);
	ps->shift = SHIFT_BUILDING;
}

/* Everything is open: choose the instant. A clock's first tick comes after a whole period. */
static void meet(struct perf_source *ps, uint64_t now)
{
	const struct plan *plan = &ps->next->plan;
	const struct plan_event *e = plan->e;

	while (e + 1 < plan->e + plan->n && !e->attr.sample_period) /* the first that is sampled */
		e++;
	uint64_t lead = e->attr.freq ? LEAD_MOST : e->attr.sample_period / 8 * 9;

	ps->shift_ns = now + (lead < LEAD_MOST ? lead : LEAD_MOST);
	if (ps->next->from_ns == UINT64_MAX) {
		ps->next->from_ns = ps->shift_ns;
		ps->sampling->until_ns = ps->shift_ns;
	}
	if (ps->next_side) {
		ps->next_side->from_ns = ps->shift_ns;
		if (ps->side)
			ps->side->until_ns = ps->shift_ns;
	}
	say_gap(ps);
	ps->shift = SHIFT_MEETING;
}

static void leave(struct perf_source *ps, struct fleet *f)
{
	if (f && vec_push(&ps->leaving, f))
		fleet_free(f); /* no memory: what is still in the rings is lost */
}

static void take_over(struct perf_source *ps)
{
	perf_counts_take(ps, clock_mono_ns());
	leave(ps, ps->sampling);
	ps->sampling = ps->next;
	perf_counts_begin(ps);
	if (ps->next_side) {
		leave(ps, ps->side);
		ps->side = ps->next_side;
	}
	ps->next = ps->next_side = NULL;
	ps->shift = SHIFT_NONE;
	perf_text(ps);
	if (ps->shift_again) {
		ps->shift_again = false;
		perf_shift(ps, ps->shift_cpu_wide);
	}
}

/* Close what is past its window bit by bit, then forget it. */
static void close_leaving(struct perf_source *ps, uint64_t drained_ns)
{
	for (size_t i = 0; i < ps->leaving.len;) {
		struct fleet *f = ps->leaving.data[i];

		/* Its last records are read once the rings are drained beyond its end. */
		if (!fleet_close_some(f, CLOSE_STEP) || drained_ns < f->until_ns + 100 * MS) {
			i++;
			continue;
		}
		fleet_free(f);
		ps->leaving.data[i] = ps->leaving.data[--ps->leaving.len];
	}
}

void perf_shift_step(struct perf_source *ps, uint64_t now, uint64_t drained_ns)
{
	if (ps->shift == SHIFT_BUILDING && !ps->next->todo.len &&
	    (!ps->next_side || !ps->next_side->todo.len))
		meet(ps, now);
	if (ps->shift == SHIFT_MEETING && drained_ns >= ps->shift_ns)
		take_over(ps);
	close_leaving(ps, drained_ns);
}
