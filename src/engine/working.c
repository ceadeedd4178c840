/*
 * working: see working.h. It takes the ledger's readings, and no samples. Engine thread.
 */
#include "engine/working.h"

#include <math.h>
#include <stdlib.h>

#include "profile/usage.h"

#define WORK_SHARE 0.9  /* of the CPU time */
#define LIFE_SLACK 0.05 /* of the window: born so early, gone so late is all of it */

struct worker {
	task_id task;
	struct usage_shares shares;
	uint64_t cpu_ns, runs;
};

struct workers {
	VEC(struct worker)
	double all; /* CPU use of all, those too that came and went */
};

static bool lived_through(const struct build *b, const struct task *t)
{
	const struct profile *p = &b->e->profile;
	const struct window *w = &b->window;
	uint64_t slack = (uint64_t)((double)w->covered_ns * LIFE_SLACK);
	uint64_t from = w->from_ns > p->begin_ns ? w->from_ns : p->begin_ns;
	uint64_t until = p->newest_ns < w->until_ns ? p->newest_ns : w->until_ns;

	return t->born_ns <= from + slack && (!t->gone_ns || t->gone_ns + slack >= until);
}

static int busier(const void *pa, const void *pb)
{
	const struct worker *a = pa, *b = pb;

	return (a->shares.cpu < b->shares.cpu) - (a->shares.cpu > b->shares.cpu);
}

static bool gather(const struct build *b, const struct usages *u, struct workers *ws)
{
	uint32_t n = tables_task_count(b->t);
	double processes = 0;

	for (task_id id = 1; id <= n; id++) {
		const struct task *t = tables_task_get(b->t, id);
		const struct usage *x = usages_find(u, id);
		struct worker w = {.task = id};

		if (!x || !usage_shares(u, &b->e->profile, &b->window, id, &w.shares))
			continue;
		if (!t->tid) {
			processes += w.shares.cpu;
			continue;
		}
		ws->all += w.shares.cpu;
		w.cpu_ns = x->cpu_ns;
		w.runs = x->runs;
		if (lived_through(b, t) && vec_push(ws, w))
			return false;
	}
	if (!b->e->setup.partial && processes > ws->all)
		ws->all = processes; /* threads that ended are in there */
	if (ws->len)
		qsort(ws->data, ws->len, sizeof *ws->data, busier);
	return true;
}

static bool sum(const struct workers *ws, struct working *ret)
{
	double cpu = 0, waiting = 0;
	uint64_t cpu_ns = 0, runs = 0;
	uint32_t n = 0;

	while (n < ws->len && cpu < WORK_SHARE * ws->all) {
		const struct worker *w = &ws->data[n++];

		if (w->shares.ready < 0)
			return false;
		cpu += w->shares.cpu;
		waiting += fmax(0, 1 - w->shares.cpu - w->shares.ready);
		cpu_ns += w->cpu_ns;
		runs += w->runs;
	}
	if (!n || !cpu_ns || cpu < WORK_SHARE * ws->all)
		return false;
	*ret = (struct working){.threads = n,
				.busiest = ws->data[0].task,
				.waiting = waiting / n,
				.run_rate = (double)runs * 1e9 / (double)cpu_ns};
	return true;
}

bool working_find(const struct build *b, struct working *ret)
{
	struct usages u = {0};
	struct workers ws = {0};
	bool found = !usages_gather(&u, &b->e->profile, &b->window) && gather(b, &u, &ws) &&
		     sum(&ws, ret);

	usages_fini(&u);
	vec_fini(&ws);
	return found;
}

bool working_ready(const struct build *b, uint64_t *ret_cpu_ns, uint64_t *ret_ready_ns)
{
	struct usages u = {0};
	bool known = !usages_gather(&u, &b->e->profile, &b->window);

	*ret_cpu_ns = *ret_ready_ns = 0;
	for (size_t i = 0; i < u.len && known; i++) {
		const struct usage *x = &u.data[i];
		if (!tables_task_get(b->t, x->task)->tid)
			continue;
		known = !x->cpu_ns || ledger_get(&b->e->profile.ledger, x->task)->detailed;
		*ret_cpu_ns += x->cpu_ns;
		*ret_ready_ns += x->ready_ns;
	}
	usages_fini(&u);
	return known;
}
