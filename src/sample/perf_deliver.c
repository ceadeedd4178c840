/*
 * perf_deliver: one record from the rings, in order of time, to the sink.
 *
 * Here is decided whether a record counts: its event must be known, its time must lie in the
 * fleet's window, its thread must be watched, and it must not be a duplicate. Source thread.
 */
#include <errno.h>
#include <string.h>

#include "codec/perf_raw.h"
#include "sample/perf_impl.h"

#if defined(__aarch64__)
#define ARCH_HERE ARCH_AARCH64
#elif defined(__x86_64__)
#define ARCH_HERE ARCH_X86_64
#else
#define ARCH_HERE ARCH_OTHER
#endif

void perf_loss(struct perf_source *ps, enum loss_kind kind, uint64_t count)
{
	if (kind == LOSS_RING || kind == LOSS_THROTTLED)
		ps->losses += count;
	ps->sink->ops->loss(ps->sink->ctx, kind, count);
}

/* Is this thread one that the target names? Whole CPUs see everybody. */
static bool watched(const struct perf_source *ps, const struct fleet *f, pid_t pid, pid_t tid)
{
	if (pid == ps->self || pid <= 0)
		return false;
	if (!f->cpu_wide || ps->everything)
		return true;
	if (ps->listed_only)
		return roster_find(&ps->roster, tid) != NULL;
	return roster_watches(&ps->roster, pid);
}

/* What became of the stack decides the size of later dumps. */
static void learn_cut(struct perf_source *ps, const struct raw_sample *raw, uint8_t cut)
{
	if (!raw->stack_asked)
		return;
	adapt_saw(&ps->seen, &ps->adapt, (uint32_t)raw->stack_bytes,
		  raw->stack_bytes < raw->stack_asked, cut == CUT_DUMP_END);
}

/*
 * With a group, what the sampled event itself counted since the thread's last sample is the weight:
 * the other values are counted over the same stretch, while a frequency's period is only what the
 * kernel aims at.
 */
static void weigh_by_count(struct raw_sample *raw)
{
	for (uint32_t i = 0; i < raw->nvalues; i++) {
		const struct sample_value *v = &raw->values[i];
		if (v->event == raw->event && v->state != VALUE_NOT_RUNNING && v->count)
			raw->weight = v->count;
	}
}

static void take_sample(struct perf_source *ps, const struct plan_event *e,
			const struct record_sample *s, uint64_t time,
			const struct sample_value *values, uint32_t nvalues)
{
	uint8_t cut = CUT_NONE;
	struct raw_sample raw;
	struct raw_room room;

	raw_from_sample(&e->layout, s, ARCH_HERE, &room, &raw);
	raw.time_ns = time;
	raw.event = e->index;
	raw.weight = (e->layout.sample_type & FIELD_PERIOD ? s->period : e->attr.sample_period) /
		     e->strands;
	raw.values = values;
	raw.nvalues = nvalues;
	raw.ret_cut = &cut;
	if (e->attr.type != PERF_TYPE_SOFTWARE)
		weigh_by_count(&raw);
	ps->samples++;
	ps->sink->ops->sample(ps->sink->ctx, &raw);
	learn_cut(ps, &raw, cut);
}

static void take_mmap(struct perf_source *ps, const struct record_side *r, uint64_t time)
{
	struct raw_mmap m;

	raw_from_mmap(r, &m);
	m.time_ns = time;
	ps->sink->ops->mmap(ps->sink->ctx, &m);
	perf_places_mapped(ps, m.pid, m.path);
}

/* CPU time of a thread that ended, on one CPU. */
static void take_read(struct perf_source *ps, const struct record_side *r)
{
	struct roster_process *p = roster_process(&ps->roster, r->read.pid);

	if (p && r->read.values.nvalues == 1)
		p->exits_ns += record_read_at(&r->read.values, 0).value;
}

static void take_side(struct perf_source *ps, const struct record_side *r, uint64_t time)
{
	switch (r->header.type) {
	case RECORD_MMAP:
	case RECORD_MMAP2: take_mmap(ps, r, time); break;
	case RECORD_COMM: perf_take_comm(ps, r, time); break;
	case RECORD_FORK: perf_take_fork(ps, r, time); break;
	case RECORD_EXIT: perf_take_exit(ps, r, time); break;
	case RECORD_READ: take_read(ps, r); break;
	case RECORD_KSYMBOL:
		ps->sink->ops->ksymbol(ps->sink->ctx, time, r->ksymbol.addr, r->ksymbol.len,
				       r->ksymbol.name, r->ksymbol.flags & 1);
		break;
	default: break; /* of no use here */
	}
}

/* Whom a record is about: a birth is its parent's, and comes with the child's ids. */
static bool side_watched(const struct perf_source *ps, const struct fleet *f,
			 const struct record_side *r)
{
	switch (r->header.type) {
	case RECORD_MMAP:
	case RECORD_MMAP2: return watched(ps, f, r->mmap.pid, r->mmap.tid);
	case RECORD_COMM: return watched(ps, f, r->comm.pid, r->comm.tid);
	case RECORD_FORK: return watched(ps, f, r->task.ppid, r->task.ptid);
	case RECORD_EXIT: return watched(ps, f, r->task.pid, r->task.tid);
	case RECORD_READ: return watched(ps, f, r->read.pid, r->read.tid);
	default: return true;
	}
}

/* Losses concern a ring or an event, not a thread. */
static bool take_loss(struct perf_source *ps, const struct record_side *r, uint32_t ring)
{
	switch (r->header.type) {
	case RECORD_LOST:
		if (ring < ps->rings.n)
			ps->side_lost = true;
		else
			perf_values_lost(ps, ring - ps->rings.n);
		perf_loss(ps, LOSS_RING, r->lost.count);
		return true;
	case RECORD_LOST_SAMPLES: perf_loss(ps, LOSS_RING, r->lost.count); return true;
	case RECORD_THROTTLE: perf_loss(ps, LOSS_THROTTLED, 1); return true;
	case RECORD_UNTHROTTLE: return true;
	default: return false;
	}
}

static void deliver_side(struct perf_source *ps, const struct opened *opened,
			 const struct ordered *o, uint64_t time)
{
	struct fleet *f = opened ? opened->fleet : NULL;
	const struct record_layout *layout = f ? &f->plan.e[opened->event].layout : &plan_common;
	struct record_side r;
	int rc = record_side_parse(layout, o->record, &r);

	if (rc == -ENOTSUP)
		return;
	if (rc) {
		perf_loss(ps, LOSS_BAD_RECORD, 1);
		return;
	}
	if (take_loss(ps, &r, o->ring) || !f)
		return;
	if (o->time < f->from_ns || o->time >= f->until_ns || !side_watched(ps, f, &r))
		return;
	if (r.header.type != RECORD_KSYMBOL &&
	    !fleet_accepts(f, opened, r.who.id, r.who.tid,
			   r.header.type != RECORD_EXIT && r.header.type != RECORD_READ))
		return;
	take_side(ps, &r, time);
}

/*
 * Before its window a fleet's counters run already: what they show then is where it begins. Those
 * of whole CPUs count everybody, whose readings tell where the next one begins.
 */
static void deliver_sample(struct perf_source *ps, const struct opened *opened,
			   const struct ordered *o, const struct record_ident *who, uint64_t time)
{
	struct sample_value values[PLAN_MAX];
	struct fleet *f = opened->fleet;
	const struct plan_event *e;
	struct record_sample s;
	uint32_t nvalues;
	bool ours;

	if (!f || o->time >= f->until_ns)
		return;
	ours = watched(ps, f, who->pid, who->tid) &&
	       perf_places_counts(ps, &f->plan.e[opened->event].spec, who->pid);
	if (!ours && !f->tenants)
		return;
	if (!fleet_accepts(f, opened, who->id, who->tid, true))
		return;
	e = &f->plan.e[opened->event];
	if (record_sample_parse(&e->layout, o->record, &s)) {
		perf_loss(ps, LOSS_BAD_RECORD, 1);
		return;
	}
	nvalues = perf_values(ps, f, opened, &s, ours, values);
	if (ours && o->time >= f->from_ns && e->index != PLAN_SWITCH)
		take_sample(ps, e, &s, time, values, nvalues);
}

void perf_deliver(struct perf_source *ps, const struct ordered *o)
{
	const struct record_header *h = o->record;
	const struct opened *opened;
	struct record_ident who;
	uint64_t time = o->late ? merger_now(ps->merger) : o->time;

	if (o->late)
		perf_loss(ps, LOSS_ORDER, 1);
	if (record_ident_parse(&plan_common, o->record, &who)) {
		perf_loss(ps, LOSS_BAD_RECORD, 1);
		return;
	}
	opened = fleet_ids_find(&ps->ids, who.id);
	if (h->type != RECORD_SAMPLE)
		deliver_side(ps, opened, o, time);
	else if (opened)
		deliver_sample(ps, opened, o, &who, time);
	else
		perf_loss(ps, LOSS_UNKNOWN_ID, 1);
}
