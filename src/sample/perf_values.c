/*
 * perf_values: differences between readings of a group, thread by thread.
 *
 * A value belongs to (thread, event id), and the id is one CPU's: a thread that moves has a reading
 * on each. Events that took turns on the hardware are scaled by enabled over running. Source
 * thread.
 */
#include "sample/perf_impl.h"

#define RUNNING_ALL \
	0.95f /* what a thread ran on other CPUs since their last samples is not seen \
	       */

static struct sample_value value_of(struct fleet *f, const struct opened *o, uint64_t id, pid_t tid,
				    uint64_t value, float running)
{
	struct sample_value v = {
		.event = f->plan.e[o->event].index,
		.count = fleet_growth(f, FLEET_COUNT, id, tid, value),
		.running = running,
		.state = VALUE_OK,
	};

	if (running <= 0) {
		v.state = VALUE_NOT_RUNNING;
		v.count = 0;
	} else if (running < RUNNING_ALL) {
		v.state = VALUE_SCALED;
		v.count = (uint64_t)((double)v.count / (double)running);
	}
	return v;
}

/* Share of a thread's time on CPUs in which its group was on the hardware. */
static float running_share(struct fleet *f, const struct plan_event *e,
			   const struct record_sample *s, uint64_t leader)
{
	pid_t tid = s->who.tid;
	uint64_t ran = fleet_growth(f, FLEET_RUNNING, leader, tid, s->read.running_ns), all;
	float share;

	if (e->software)
		return 1;
	all = fleet_total(f, FLEET_RUNNING, FLEET_ALL_CPUS(e->leader), tid, ran);
	share = s->read.enabled_ns ? (float)((double)all / (double)s->read.enabled_ns) : 0;
	return share > 1 ? 1 : share;
}

uint32_t perf_values(struct perf_source *ps, struct fleet *f, const struct record_sample *s,
		     struct sample_value *ret, uint32_t max)
{
	uint64_t leader = record_read_at(&s->read, 0).id;
	const struct opened *first = fleet_ids_find(&ps->ids, leader);
	uint32_t n = 0;
	float running;

	if (!first || first->fleet != f)
		return 0;
	running = running_share(f, &f->plan.e[first->event], s, leader);
	for (uint64_t i = 0; i < s->read.nvalues && n < max; i++) {
		struct record_read_value v = record_read_at(&s->read, i);
		const struct opened *o = fleet_ids_find(&ps->ids, v.id);

		if (o && o->fleet == f)
			ret[n++] = value_of(f, o, v.id, s->who.tid, v.value, running);
	}
	return n;
}
