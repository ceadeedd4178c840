/*
 * foldtask: one pass over the cells of a window, by thread.
 *
 * Engine thread. It reads cells and not the flat trie, which has no threads.
 */
#include "profile/foldtask.h"

#include <string.h>

#define SECOND_NS 1000000000ull

void task_folds_fini(struct task_folds *r)
{
	vec_fini(r);
	vec_fini(&r->tops);
	map64_fini(&r->by_task);
	map64_fini(&r->by_top);
}

struct task_fold *task_folds_at(struct task_folds *r, task_id task)
{
	uint32_t i;
	if (map64_get(&r->by_task, task, &i))
		return &r->data[i];
	if (map64_put(&r->by_task, task, (uint32_t)r->len) ||
	    vec_push(r, (struct task_fold){.task = task}))
		return NULL;
	return &r->data[r->len - 1];
}

/* Which function is on top most: weights by (thread, function), the greatest kept. */
static int count_top(struct task_folds *r, struct task_fold *row, fid_t fid, uint64_t weight)
{
	uint64_t key = (uint64_t)row->task << 32 | fid;
	uint32_t i;
	if (!map64_get(&r->by_top, key, &i)) {
		i = (uint32_t)r->tops.len;
		if (map64_put(&r->by_top, key, i) || vec_push(&r->tops, 0))
			return -ENOMEM;
	}
	uint64_t sum = r->tops.data[i] += weight;
	if (sum >= row->top_weight && (int64_t)sum > 0) {
		row->top = fid;
		row->top_weight = sum;
	}
	return 0;
}

int task_folds_group_tops(struct task_folds *ret, const struct task_folds *r,
			  const uint32_t *group_of, uint32_t n)
{
	const struct map64 *m = &r->by_top;
	for (size_t i = 0; i < m->capacity; i++) {
		uint32_t task = (uint32_t)(m->keys[i] >> 32);
		if (!m->used[i] || task >= n || group_of[task] == UINT32_MAX)
			continue;
		struct task_fold *row = task_folds_at(ret, group_of[task]);
		if (!row || count_top(ret, row, (fid_t)m->keys[i], r->tops.data[m->values[i]]))
			return -ENOMEM;
	}
	return 0;
}

static int count_sample(struct task_folds *r, const struct tables *t, const struct fold_query *q,
			const struct cell *c, frame_id frame)
{
	bool kernel = tables_frame_get(t, frame)->flags & FRAME_KERNEL;
	bool blocked = c->flags & CELL_BLOCKED;
	if (q->flags & (kernel ? QUERY_NO_KERNEL : QUERY_NO_USER))
		return 0;
	struct task_fold *row = task_folds_at(r, c->task);
	if (!row)
		return -ENOMEM;
	if (blocked)
		row->blocked_weight += c->weight;
	else
		row->running_weight += c->weight;
	if (kernel && !blocked)
		row->kernel_weight += c->weight;
	if (blocked && q->flags & QUERY_NO_WAITING)
		return 0;
	sums_add(&row->sums, &(struct sums){c->samples, c->weight, c->weight_sq});
	struct chain chain;
	chain_get(&chain, t, frame, q->flags);
	return count_top(r, row, chain.lines[0].func, c->weight);
}

static int count_value(struct task_folds *r, const struct fold_query *q, const struct cell *c)
{
	uint32_t i;
	if (!fold_takes_value(q, c, &i))
		return 0;
	struct task_fold *row = task_folds_at(r, c->task);
	if (!row)
		return -ENOMEM;
	row->values[i] += (double)(int64_t)c->weight;
	return 0;
}

static void fill_sparks(struct task_folds *r, const struct profile *p, uint64_t end_ns)
{
	uint64_t span = TASK_SPARK * SECOND_NS;
	struct window w = {.from_ns = end_ns > span ? end_ns - span : 0, .until_ns = end_ns};
	struct profile_walk walk = profile_walk(p, &w);
	while (profile_next(&walk)) {
		const struct cell *c = walk.cell;
		uint64_t ago = end_ns > walk.time_ns ? (end_ns - walk.time_ns) / SECOND_NS : 0;
		uint32_t i;
		if (c->flags & ~CELL_GUEST || c->event >= EVENT_MAX ||
		    !(p->events_on_cpu >> c->event & 1) || ago >= TASK_SPARK ||
		    !map64_get(&r->by_task, c->task, &i))
			continue;
		r->data[i].spark_ns[TASK_SPARK - 1 - ago] += c->weight;
	}
}

int fold_tasks(struct task_folds *r, const struct profile *p, const struct tables *t,
	       const struct fold_query *q, uint64_t end_ns)
{
	struct fold_query all = *q;
	all.task = 0;
	all.flags &= ~(uint32_t)QUERY_NO_WAITING; /* they have a column */
	struct profile_walk w = profile_walk(p, &q->window);
	int failed = 0;

	while (!failed && profile_next(&w)) {
		const struct cell *c = w.cell;
		if (c->node >= p->trie.count)
			continue;
		if (fold_takes(&all, c))
			failed = count_sample(r, t, q, c, trie_at(&p->trie, c->node)->frame);
		if (q->nvalues && !failed)
			failed = count_value(r, &all, c);
	}
	if (!failed)
		fill_sparks(r, p, end_ns);
	return failed;
}
