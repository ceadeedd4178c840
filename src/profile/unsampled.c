/*
 * unsampled: CPU time that the kernel accounts to a process and that no sample covered.
 *
 * Engine thread. The ledger keeps the signed difference between account and samples from reading to
 * reading; here it is summed over a window and shown when it exceeds what chance explains: two
 * standard errors of the samples' own sum, √Σw². Over all of the profile, where sums are what is
 * reported, 2 % of the account are enough, so that sampled and unsampled time together never fall
 * short by more.
 */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"
#include "profile/snap.h"

struct balance {
	task_id process;
	int64_t missing, sampled;
	double square;
};

#define SHARE_SHOWN 0.02

struct balances {
	VEC(struct balance)
	struct map64 by_pid;
};

static struct balance *balance_of(struct balances *b, pid_t pid)
{
	uint32_t i;
	if (map64_get(&b->by_pid, (uint32_t)pid, &i))
		return &b->data[i];
	if (map64_put(&b->by_pid, (uint32_t)pid, (uint32_t)b->len) ||
	    vec_push(b, (struct balance){0}))
		return NULL;
	return &b->data[b->len - 1];
}

static void gather(struct balances *b, const struct profile *p, const struct tables *t,
		   const struct window *w, uint16_t event)
{
	struct profile_walk walk = profile_walk(p, w);
	task_id last_task = 0;
	struct balance *last = NULL;
	size_t last_len = 0;

	while (profile_next(&walk)) {
		const struct cell *c = walk.cell;
		bool account = c->flags == CELL_ACCOUNT && c->event == ACCOUNT_UNSAMPLED + event;
		if (!account && (c->event != event || c->flags & ~CELL_GUEST))
			continue;
		/* Cells of one thread often follow each other. */
		if (!last || c->task != last_task || last_len != b->len) {
			last = balance_of(b, tables_task_get(t, c->task)->pid);
			last_task = c->task;
			last_len = b->len;
			if (!last)
				return;
		}
		if (account) {
			last->missing += (int64_t)c->weight;
			last->process = c->task;
		} else {
			last->square += c->weight_sq;
			last->sampled += (int64_t)c->weight;
		}
	}
}

uint32_t unsampled_find(const struct profile *p, const struct tables *t, const struct window *w,
			uint16_t event, struct unsampled **ret)
{
	struct balances b = {0};
	uint32_t n = 0;
	struct unsampled *found = NULL;

	*ret = NULL;
	if (event >= EVENT_MAX || !(p->events_on_cpu >> event & 1))
		return 0;
	map64_init(&b.by_pid);
	gather(&b, p, t, w, event);
	if (b.len)
		found = malloc(b.len * sizeof *found);
	for (size_t i = 0; found && i < b.len; i++) {
		const struct balance *x = &b.data[i];
		double noise = 2 * sqrt(x->square), least = noise;
		if (w->all)
			least = fmin(noise, SHARE_SHOWN * (double)(x->missing + x->sampled));
		if (x->process && x->missing > 0 && (double)x->missing > least)
			found[n++] = (struct unsampled){.process = x->process,
							.weight = (uint64_t)x->missing,
							.noise = noise};
	}
	vec_fini(&b);
	map64_fini(&b.by_pid);
	if (!n) {
		free(found);
		found = NULL;
	}
	*ret = found;
	return n;
}
