/*
 * freeze: snapshots for whoever waits for one.
 *
 * Engine thread, or the caller's once that has ended.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "engine/core.h"
#include "engine/coverage.h"
#include "engine/named.h"
#include "profile/snap.h"
#include "profile/usage.h"

#define CATCH_UP_NS 1000000000ull

static void describe(const struct engine *e, struct snapshot *s)
{
	struct utsname u;
	named_text(e, e->setup.title ? e->setup.title : "altpttop", true, s->title,
		   sizeof s->title);
	if (!e->setup.live) /* a recording's machine is not ours */
		snprintf(s->host, sizeof s->host, "%s",
			 tables_text(e->tables, atomic_load(&e->shared.origin)));
	else if (!uname(&u))
		snprintf(s->host, sizeof s->host, "%.20s %.40s %.40s %.20s", u.sysname, u.nodename,
			 u.release, u.machine);
	const struct source_status *status = e->source ? e->ops->status(e->source) : NULL;
	if (status) {
		snprintf(s->sampler, sizeof s->sampler, "%s", source_arrangement(status));
		s->rate_hz = atomic_load_explicit(&status->asked_hz, memory_order_relaxed);
		s->sample_cost_ns = atomic_load_explicit(&status->sample_cost_ns,
							 memory_order_relaxed);
		s->read_cost_ns = atomic_load_explicit(&status->read_cost_ns, memory_order_relaxed);
		s->cost_ppm = atomic_load_explicit(&status->cost_ppm, memory_order_relaxed);
	}
	if (!s->rate_hz)
		s->rate_hz = e->setup.rate_hz;
	s->tail_calls = e->ask && e->ask->query.flags & QUERY_TAIL_CALLS;
	s->main_module = (module_id)atomic_load(&e->shared.main_module);
}

/* Whoever has a part must not take it for the whole. */
static void tell_part(const struct engine *e, struct snapshot *s)
{
	double read = engine_progress(e);

	if (!s->recorded)
		return;
	s->partial = read >= 0 || e->result == -ECANCELED;
	s->part = read > 0 ? read : 0;
}

/* What counted nothing because it never ran, or does not count here, is not 0. */
static void tell_states(const struct engine *e, struct snapshot *s)
{
	for (uint32_t i = 0; i < s->nevents && i < EVENT_MAX; i++) {
		const struct count_state *c = &e->counts[i];
		bool read = e->profile.events_read >> i & 1;
		double astray = coverage_astray(c, &s->events[i].desc);

		if (!isnan(astray))
			snap_tell_astray(s, i, astray);

		if (s->events[i].desc.hidden)
			snap_tell_state(s, i, VALUE_HIDDEN);
		else if (c->seen && value_unknown(c->state))
			snap_tell_state(s, i, c->state);
		else if (read && !s->events[i].weight && value_unknown(e->profile.value_state[i]))
			snap_tell_state(s, i, e->profile.value_state[i]);
	}
}

/* CPU time that the kernel accounts to what is watched; UINT64_MAX: it was not read in time. */
static uint64_t accounted(const struct engine *e, const struct window *w)
{
	struct usages u = {0};
	uint32_t n = tables_task_count(e->tables);
	uint64_t sum = 0;
	bool any = false;

	if (e->setup.partial || usages_gather(&u, &e->profile, w))
		n = 0;
	for (task_id task = 1; task <= n; task++) {
		const struct ledger_entry *l = ledger_get(&e->profile.ledger, task);
		const struct usage *x = usages_find(&u, task);

		if (tables_task_get(e->tables, task)->tid || l->cpu < 0 || l->time_ns < w->from_ns)
			continue;
		sum += x ? x->cpu_ns : 0;
		any = true;
	}
	usages_fini(&u);
	return any ? sum : UINT64_MAX;
}

/* What was not sampled, or of a recording what is not shown. */
static uint32_t hidden(const struct engine *e)
{
	uint32_t hide = (e->no_kernel ? QUERY_NO_KERNEL : 0) | (e->no_user ? QUERY_NO_USER : 0);

	return e->setup.live || !e->ask ? hide : hide & e->ask->query.flags;
}

const struct snapshot *engine_freeze(struct engine *e, uint64_t window_ns, uint64_t until_ns)
{
	const struct profile *p = &e->profile;
	struct window w = engine_window(e, window_ns, until_ns);
	uint32_t n = shared_event_count(&e->shared);
	uint32_t hide = hidden(e);
	struct snapshot *s = snap_new(p, e->tables, &w, e->shared.events, n, hide);
	if (!s)
		return NULL;
	s->no_kernel = hide & QUERY_NO_KERNEL;
	s->no_user = hide & QUERY_NO_USER;
	s->start_ns = w.from_ns ? w.from_ns : p->begin_ns;
	s->end_ns = s->start_ns + w.covered_ns;
	if (e->setup.live && !p->begin_ns) { /* nothing at all came */
		uint64_t now = clock_mono_ns();
		s->start_ns = e->start_ns;
		s->end_ns = now > s->start_ns ? now : s->start_ns;
	}
	/* A target that was idle at first was watched all the same. */
	if (e->setup.live && w.all && !p->mark_ns && e->start_ns && e->start_ns < s->start_ns)
		s->start_ns = e->start_ns;
	if (e->setup.live) {
		uint64_t mono = clock_mono_ns();
		s->wall_start_ns = clock_real_ns() - (mono > s->start_ns ? mono - s->start_ns : 0);
	}
	if (!e->setup.live)
		s->wall_start_ns = atomic_load(&e->shared.wall_start_ns);
	s->recorded = !e->setup.live;
	tell_part(e, s);
	s->cpu_ns = accounted(e, &w);
	describe(e, s);
	tell_states(e, s);
	return s;
}

/* A snapshot holds whatever was delivered before it was asked for. */
static void catch_up(struct engine *e)
{
	uint64_t until = clock_mono_ns() + CATCH_UP_NS;
	bool ends = !e->setup.live && atomic_load(&e->shared.finished); /* then all there is */
	while (engine_drain(e, CATCH_UP_NS) && (ends || clock_mono_ns() < until) &&
	       !atomic_load(&e->stopping))
		;
}

void engine_serve_waits(struct engine *e)
{
	struct snap_wait *w;
	while (mailbox_take(e->waits, &w)) {
		catch_up(e);
		triggers_flush(e); /* who waits for a snapshot is about to leave */
		const struct snapshot *s = engine_freeze(e, w->window_ns, w->until_ns);
		pthread_mutex_lock(&w->lock);
		w->snapshot = s;
		w->answered = true;
		pthread_cond_signal(&w->done);
		pthread_mutex_unlock(&w->lock);
		snap_wait_unref(w);
	}
}
