/*
 * usage: sums the account cells of a window and turns them into shares of time.
 *
 * Engine thread.
 */
#include "profile/usage.h"

#include <math.h>

#define STALE_NS 3000000000ull /* older readings say nothing of a short window */

void usages_fini(struct usages *u)
{
	vec_fini(u);
	map64_fini(&u->by_task);
}

static struct usage *usage_of(struct usages *u, task_id task)
{
	uint32_t i;
	if (map64_get(&u->by_task, task, &i))
		return &u->data[i];
	if (map64_put(&u->by_task, task, (uint32_t)u->len) ||
	    vec_push(u, (struct usage){.task = task}))
		return NULL;
	return &u->data[u->len - 1];
}

int usages_gather(struct usages *u, const struct profile *p, const struct window *w)
{
	struct profile_walk walk = profile_walk(p, w);
	while (profile_next(&walk)) {
		const struct cell *c = walk.cell;
		if (c->flags != CELL_ACCOUNT || c->event >= ACCOUNT_UNSAMPLED)
			continue;
		struct usage *x = usage_of(u, c->task);
		if (!x)
			return -ENOMEM;
		switch ((enum account_kind)c->event) {
		case ACCOUNT_CPU: x->cpu_ns += c->weight; break;
		case ACCOUNT_USER: x->user_ns += c->weight; break;
		case ACCOUNT_SYSTEM: x->system_ns += c->weight; break;
		case ACCOUNT_READY: x->ready_ns += c->weight; break;
		case ACCOUNT_RUNS: x->runs += c->weight; break;
		case ACCOUNT_SPAN: x->span_ns += c->weight; break;
		case ACCOUNT_UNSAMPLED: break;
		}
	}
	return 0;
}

const struct usage *usages_find(const struct usages *u, task_id task)
{
	uint32_t i;
	return map64_get(&u->by_task, task, &i) ? &u->data[i] : NULL;
}

bool usage_shares(const struct usages *u, const struct profile *p, const struct window *w,
		  task_id task, struct usage_shares *ret_shares)
{
	const struct ledger_entry *e = ledger_get(&p->ledger, task);
	const struct usage *x = usages_find(u, task);
	if (!e->seen || e->cpu < 0)
		return false;
	if (!x) { /* nothing changed in the window, or it holds no reading */
		bool fresh = e->time_ns + STALE_NS > w->from_ns;
		bool tells = fresh && w->covered_ns < STALE_NS;
		*ret_shares = tells ? (struct usage_shares){e->cpu, e->user, e->system, e->ready}
				    : (struct usage_shares){.ready = e->detailed ? 0 : -1};
		return true;
	}
	/* Time since the last reading is not accounted yet, unless the task is gone. */
	uint64_t end = p->newest_ns < w->until_ns ? p->newest_ns : w->until_ns;
	double lag = end > e->time_ns ? (double)(end - e->time_ns) : 0;
	if (lag > STALE_NS)
		lag = 0;
	double time = fmax((double)x->span_ns, (double)w->covered_ns - lag);
	if (time <= 0)
		return false;
	*ret_shares = (struct usage_shares){(double)x->cpu_ns / time, (double)x->user_ns / time,
					    (double)x->system_ns / time,
					    e->detailed ? (double)x->ready_ns / time : -1};
	return true;
}

double usage_waiting(const struct window *w, uint64_t blocked_ns, const struct usage_shares *s)
{
	double waiting = w->covered_ns ? (double)blocked_ns / (double)w->covered_ns : -1;

	/* Looks cannot tell who was woken but has no CPU yet; the kernel can. */
	return waiting > 0 && s && s->ready >= 0 ? fmax(0, fmin(waiting, 1 - s->cpu - s->ready))
						 : waiting;
}
