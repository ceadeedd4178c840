/*
 * perf_values: differences between readings of a group, thread by thread.
 *
 * A value belongs to (thread, event id), and the id is one CPU's: a thread that moves has a reading
 * on each. Where the counters are a CPU's, tenants.c tells whose they are. Events that took turns
 * on the hardware are scaled by enabled over running of the thread's last seconds. Source thread.
 */
#include "sample/perf_impl.h"

#define RUNNING_ALL \
	0.95f /* what a thread ran on other CPUs since their last samples is not seen \
	       */

/* @count: scaled already. */
static struct sample_value value_of(const struct plan_event *e, uint64_t count, float running,
				    float all)
{
	struct sample_value v = {
		.event = e->index,
		.count = count,
		.running = running,
		.state = VALUE_OK,
	};

	if (running <= 0) {
		v.state = VALUE_NOT_RUNNING;
		v.count = 0;
	} else if (running < all) {
		v.state = VALUE_SCALED;
	}
	return v;
}

/*
 * Share of a thread's last seconds on CPUs in which its group was on the hardware, or could have
 * been. *ret_old: half of what is known of the group is to be forgotten (TENANTS_MEMORY_NS).
 */
static float running_share(struct fleet *f, const struct plan_event *e,
			   const struct record_sample *s, uint64_t leader, bool *ret_old)
{
	uint64_t key = FLEET_ALL_CPUS(e->leader), ran, all, time, seen;
	pid_t tid = s->who.tid;
	float share;

	*ret_old = false;
	ran = fleet_growth(f, FLEET_RUNNING, leader, tid, s->read.running_ns);
	if (e->software)
		return 1;
	all = fleet_total(f, FLEET_RUNNING, key, tid, ran);
	/* CPUs' events were opened one after another: the latest is told by the oldest. */
	seen = fleet_total(f, FLEET_ENABLED, key, tid, 0);
	time = s->read.enabled_ns > seen ? s->read.enabled_ns - seen : 0;
	fleet_total(f, FLEET_ENABLED, key, tid, time);
	time = fleet_total(f, FLEET_TIME, key, tid, tenants_shared(time, ran));
	share = time ? (float)((double)all / (double)time) : 0;
	*ret_old = time > TENANTS_MEMORY_NS;
	if (*ret_old) {
		fleet_put(f, FLEET_RUNNING, key, tid, all / 2);
		fleet_put(f, FLEET_TIME, key, tid, time / 2);
	}
	return share > 1 ? 1 : share;
}

/* What of an event's counts is to be handed on now. @old: half of what is known is forgotten. */
static uint64_t due(struct fleet *f, uint16_t event, pid_t tid, uint64_t grown, float running,
		    bool old)
{
	const uint64_t all_id = FLEET_ALL_CPUS(event), given_id = FLEET_GIVEN(event);
	uint64_t all = fleet_total(f, FLEET_COUNT, all_id, tid, grown);
	uint64_t given = fleet_total(f, FLEET_COUNT, given_id, tid, 0), more;
	double scale = running < RUNNING_ALL ? (double)running : 1;

	if (running <= 0)
		return 0;
	more = tenants_due(all, given, grown, scale);
	given += more;
	if (old) {
		given = tenants_kept(all, given, scale);
		fleet_put(f, FLEET_COUNT, all_id, tid, all / 2);
	}
	fleet_put(f, FLEET_COUNT, given_id, tid, given);
	return more;
}

/* Is it an event that has a column? A clock of several strands is counted by the first. */
static bool shown(const struct plan *plan, uint16_t i)
{
	return plan->e[i].index != PLAN_SWITCH && (!i || plan->e[i - 1].index != plan->e[i].index);
}

static uint32_t thread_values(struct perf_source *ps, struct fleet *f,
			      const struct record_sample *s, struct sample_value ret[PLAN_MAX])
{
	uint64_t leader = record_read_at(&s->read, 0).id;
	const struct opened *first = fleet_ids_find(&ps->ids, leader);
	const struct plan_event *e;
	uint32_t n = 0;
	float running;
	bool old;

	if (!first || first->fleet != f)
		return 0;
	e = &f->plan.e[first->event];
	running = running_share(f, e, s, leader, &old);
	for (uint64_t i = 0; i < s->read.nvalues && n < PLAN_MAX; i++) {
		struct record_read_value v = record_read_at(&s->read, i);
		const struct opened *o = fleet_ids_find(&ps->ids, v.id);
		uint64_t count;

		if (!o || o->fleet != f)
			continue;
		count = fleet_growth(f, FLEET_COUNT, v.id, s->who.tid, v.value);
		if (!e->software)
			count = due(f, o->event, s->who.tid, count, running, old);
		ret[n++] = value_of(&f->plan.e[o->event], count, running, RUNNING_ALL);
	}
	return n;
}

/* A reading of a CPU's group in the terms of its plan. */
struct cpu_reading {
	struct tenant_reading r;
	uint16_t events[PLAN_MAX];
	uint64_t values[PLAN_MAX];
};

static void reading_of(struct perf_source *ps, struct fleet *f, const struct opened *opened,
		       const struct record_sample *s, bool watched, struct cpu_reading *ret)
{
	const struct plan_event *leader = &f->plan.e[f->plan.e[opened->event].leader];
	struct tenant_reading *r = &ret->r;

	*r = (struct tenant_reading){
		.time_ns = s->who.time,
		.watched = watched,
		.cpu = opened->cpu,
		.leader = f->plan.e[opened->event].leader,
		.tid = s->who.tid,
		.leaves = f->plan.e[opened->event].index == PLAN_SWITCH,
		.software = leader->software,
		.enabled_ns = s->read.enabled_ns,
		.running_ns = s->read.running_ns,
		.events = ret->events,
		.values = ret->values,
	};
	for (uint64_t i = 0; i < s->read.nvalues && r->n < PLAN_MAX; i++) {
		struct record_read_value v = record_read_at(&s->read, i);
		const struct opened *o = fleet_ids_find(&ps->ids, v.id);

		if (!o || o->fleet != f || o->cpu != opened->cpu)
			continue;
		ret->events[r->n] = o->event;
		ret->values[r->n++] = v.value;
	}
}

static uint32_t tenant_values(struct fleet *f, const struct tenant_reading *r,
			      struct sample_value ret[PLAN_MAX])
{
	uint64_t counts[PLAN_MAX];
	float running = tenants_take(f->tenants, r, counts);
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		if (shown(&f->plan, r->events[i]))
			ret[n++] = value_of(&f->plan.e[r->events[i]], counts[i], running,
					    TENANTS_ALL);
	return n;
}

uint32_t perf_values(struct perf_source *ps, struct fleet *f, const struct opened *opened,
		     const struct record_sample *s, bool watched, struct sample_value ret[PLAN_MAX])
{
	const struct plan_event *e = &f->plan.e[opened->event];
	struct cpu_reading reading;

	if (!(e->layout.sample_type & FIELD_READ))
		return 0;
	if (!f->tenants)
		return thread_values(ps, f, s, ret);
	reading_of(ps, f, opened, s, watched, &reading);
	if (!(e->layout.read_format & READ_GROUP)) {
		tenants_switch(f->tenants, &reading.r);
		return 0;
	}
	tenants_read(f->tenants, &reading.r);
	return watched && !reading.r.leaves ? tenant_values(f, &reading.r, ret) : 0;
}

void perf_values_lost(struct perf_source *ps, uint32_t cpu)
{
	for (unsigned i = 0; i < PERF_FLEETS; i++) {
		struct fleet *f = *perf_fleets(ps, i);

		if (f && f->tenants)
			tenants_lost(f->tenants, cpu);
	}
}
