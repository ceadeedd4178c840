/*
 * tenants: see tenants.h. What the counters showed last is kept by CPU, what is owed to a task by
 * its number, in one array of words: per event what was counted, what of it at the last sample, and
 * what was handed on; per group how long it counted, how long it could have, and what of both was
 * known at the last sample; and the time on CPUs.
 */
#include "sample/tenants.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

#define OFF_NS  1000   /* enabled and running differ by so much: it was off the hardware */
#define SAME_NS 100000 /* two events tell of one switch so soon after each other */

/* A context switch as one event told of it. */
struct left {
	uint64_t time_ns;
	pid_t tid;
};

struct group {
	uint64_t enabled_ns, running_ns;
	pid_t tid;       /* who ran at the last reading and still did after it; 0: not known */
	bool lost;       /* what it showed last is not where the next stretch begins */
	bool after_loss; /* the last reading was such a beginning */
	struct left left;
};

struct cpu {
	uint64_t enabled_ns; /* of the event outside all groups, at the last switch */
	struct left left[2]; /* by the event outside all groups, the last one first */
	bool lost;
};

struct tenants {
	uint32_t ncpus, nevents;
	struct cpu *cpus;
	struct group *groups; /* CPUs × events: by the leader's place */
	uint64_t *last;       /* CPUs × events */
	bool *gaps;           /* by leader: it was off the hardware, or a stretch was dropped */
	struct map64 by_tid;  /* → number of its words */
	struct {
		VEC(uint64_t)
	} words;
	struct {
		VEC(uint32_t)
	} unused; /* numbers */
	uint64_t dropped;
};

struct tenants *tenants_new(uint32_t ncpus, uint32_t nevents)
{
	struct tenants *t = calloc(1, sizeof *t);
	size_t n = (size_t)ncpus * nevents;

	if (!t)
		return NULL;
	t->ncpus = ncpus;
	t->nevents = nevents;
	t->cpus = calloc(ncpus, sizeof *t->cpus);
	t->groups = calloc(n, sizeof *t->groups);
	t->last = calloc(n, sizeof *t->last);
	t->gaps = calloc(nevents, sizeof *t->gaps);
	if (t->cpus && t->groups && t->last && t->gaps)
		return t;
	tenants_free(t);
	return NULL;
}

void tenants_free(struct tenants *t)
{
	if (!t)
		return;
	map64_fini(&t->by_tid);
	vec_fini(&t->words);
	vec_fini(&t->unused);
	free(t->cpus);
	free(t->groups);
	free(t->last);
	free(t->gaps);
	free(t);
}

static size_t stride(const struct tenants *t)
{
	return 7 * (size_t)t->nevents + 1;
}

static uint64_t *counted(struct tenants *t, uint32_t task, uint16_t event)
{
	return &t->words.data[task * stride(t) + event];
}

static uint64_t *given(struct tenants *t, uint32_t task, uint16_t event)
{
	return &t->words.data[task * stride(t) + 5 * t->nevents + event];
}

/* Of what was counted, what was so at the last sample. */
static uint64_t *taken(struct tenants *t, uint32_t task, uint16_t event)
{
	return &t->words.data[task * stride(t) + 6 * t->nevents + event];
}

enum time { RAN, COULD, RAN_BEFORE, PASSED_BEFORE };

static uint64_t *time_of(struct tenants *t, uint32_t task, uint16_t leader, enum time what)
{
	return &t->words.data[task * stride(t) + (1 + what) * t->nevents + leader];
}

static uint64_t *on_cpus(struct tenants *t, uint32_t task)
{
	return &t->words.data[task * stride(t) + 7 * t->nevents];
}

/* The number of the task's words; false: no memory, so that its counts are dropped. */
static bool task_of(struct tenants *t, pid_t tid, uint32_t *ret)
{
	uint32_t task;

	if (map64_get(&t->by_tid, (uint64_t)tid, ret))
		return true;
	if (t->unused.len) {
		task = t->unused.data[--t->unused.len];
	} else {
		task = (uint32_t)(t->words.len / stride(t));
		if (vec_reserve(&t->words, t->words.len + stride(t)) ||
		    vec_reserve(&t->unused, task + 1))
			return false;
		t->words.len += stride(t);
	}
	memset(counted(t, task, 0), 0, stride(t) * sizeof(uint64_t));
	if (map64_put(&t->by_tid, (uint64_t)tid, task)) {
		t->unused.data[t->unused.len++] = task; /* room was reserved */
		return false;
	}
	*ret = task;
	return true;
}

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static bool same_switch(const struct left *a, const struct left *b)
{
	uint64_t apart = a->time_ns > b->time_ns ? a->time_ns - b->time_ns
						 : b->time_ns - a->time_ns;

	return a->tid == b->tid && apart < SAME_NS;
}

static struct left left_by(const struct tenant_reading *r)
{
	return (struct left){.time_ns = r->time_ns, .tid = r->tid};
}

/* Has nobody left the CPU since the switch that the group read last? */
static bool nobody_left(const struct group *g, const struct cpu *c, const struct tenant_reading *r)
{
	const struct left now = left_by(r), *last = &c->left[0];

	if (r->leaves && same_switch(last, &now)) /* told of already */
		last = &c->left[1];
	return !c->lost && last->time_ns && same_switch(last, &g->left);
}

/* Was it @r's task all the time since the group's last reading, as far as the group counted? */
static bool whole_stretch(const struct group *g, const struct cpu *c,
			  const struct tenant_reading *r)
{
	uint64_t enabled = grown(r->enabled_ns, g->enabled_ns);
	uint64_t running = grown(r->running_ns, g->running_ns);

	if (g->lost)
		return false;
	if (g->tid)
		return g->tid ==
		       r->tid; /* a pause between changes nothing: both ends are its own */
	return r->software || running + OFF_NS > enabled || nobody_left(g, c, r);
}

bool tenants_read(struct tenants *t, const struct tenant_reading *r)
{
	struct group *g = &t->groups[r->cpu * t->nevents + r->leader];
	bool whole = whole_stretch(g, &t->cpus[r->cpu], r);
	uint32_t task = 0;
	bool owed = whole && r->watched && r->tid > 0 && task_of(t, r->tid, &task);

	for (uint32_t i = 0; i < r->n; i++) {
		uint64_t *last = &t->last[r->cpu * t->nevents + r->events[i]];

		if (owed)
			*counted(t, task, r->events[i]) += grown(r->values[i], *last);
		*last = r->values[i];
	}
	if (owed)
		*time_of(t, task, r->leader, RAN) += grown(r->running_ns, g->running_ns);
	g->enabled_ns = r->enabled_ns;
	g->running_ns = r->running_ns;
	g->tid = r->leaves ? 0 : r->tid;
	g->after_loss = g->lost;
	g->lost = false;
	if (r->leaves)
		g->left = left_by(r);
	t->gaps[r->leader] |= !whole || r->running_ns + OFF_NS < r->enabled_ns;
	t->dropped += !whole;
	return whole;
}

void tenants_switch(struct tenants *t, const struct tenant_reading *r)
{
	struct cpu *c = &t->cpus[r->cpu];
	uint32_t task;

	if (!c->lost && r->watched && r->tid > 0 && task_of(t, r->tid, &task))
		*on_cpus(t, task) += grown(r->enabled_ns, c->enabled_ns);
	*c = (struct cpu){.enabled_ns = r->enabled_ns, .left = {left_by(r), c->left[0]}};
}

void tenants_lost(struct tenants *t, uint32_t cpu)
{
	t->cpus[cpu].lost = true;
	for (uint32_t i = 0; i < t->nevents; i++)
		t->groups[cpu * t->nevents + i].lost = true;
}

/* Share of the task's time, as far as its group could have counted, in which it did. */
static double share_of(struct tenants *t, uint32_t task, const struct tenant_reading *r)
{
	uint64_t part = *time_of(t, task, r->leader, RAN);
	uint64_t all = *on_cpus(t, task) + grown(r->enabled_ns, t->cpus[r->cpu].enabled_ns);
	uint64_t *could = time_of(t, task, r->leader, COULD);

	*could += tenants_shared(grown(all, *time_of(t, task, r->leader, PASSED_BEFORE)),
				 grown(part, *time_of(t, task, r->leader, RAN_BEFORE)));
	*time_of(t, task, r->leader, PASSED_BEFORE) = all;
	*time_of(t, task, r->leader, RAN_BEFORE) = part;
	if (!t->gaps[r->leader] || part > *could)
		return 1;
	return *could ? (double)part / (double)*could : 0;
}

/* Half of what is known of the group goes: what it was long ago says nothing of now. */
static void fade(struct tenants *t, uint32_t task, const struct tenant_reading *r, double share)
{
	*time_of(t, task, r->leader, RAN) /= 2;
	*time_of(t, task, r->leader, COULD) /= 2;
	*time_of(t, task, r->leader, RAN_BEFORE) = *time_of(t, task, r->leader, RAN);
	for (uint32_t i = 0; i < r->n; i++) {
		uint64_t *all = counted(t, task, r->events[i]);
		uint64_t *handed = given(t, task, r->events[i]);

		*handed = tenants_kept(*all, *handed, share);
		*all /= 2;
		*taken(t, task, r->events[i]) = *all;
	}
}

float tenants_take(struct tenants *t, const struct tenant_reading *r, uint64_t *counts)
{
	const struct group *g = &t->groups[r->cpu * t->nevents + r->leader];
	double share = 1, scale;
	uint32_t task;

	memset(counts, 0, r->n * sizeof *counts);
	if (r->tid <= 0 || !task_of(t, r->tid, &task))
		return 0;
	if (!r->software)
		share = share_of(t, task, r);
	if (share <= 0)
		return 0;
	scale = share < TENANTS_ALL ? share : 1;
	for (uint32_t i = 0; i < r->n; i++) {
		uint64_t all = *counted(t, task, r->events[i]);
		uint64_t *before = taken(t, task, r->events[i]);
		uint64_t *handed = given(t, task, r->events[i]);

		counts[i] = tenants_due(all, *handed, g->after_loss ? all : all - *before, scale);
		*handed += counts[i];
		*before = all;
	}
	if (*time_of(t, task, r->leader, COULD) > TENANTS_MEMORY_NS)
		fade(t, task, r, scale);
	return (float)share;
}

void tenants_forget(struct tenants *t, pid_t tid)
{
	uint32_t task;

	if (!map64_get(&t->by_tid, (uint64_t)tid, &task))
		return;
	map64_del(&t->by_tid, (uint64_t)tid);
	t->unused.data[t->unused.len++] = task; /* room was reserved */
}

uint64_t tenants_dropped(const struct tenants *t)
{
	return t->dropped;
}
