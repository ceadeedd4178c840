/*
 * spantree: nodes in one array, found through a table of their numbers; each holds its open cell.
 * Cells that are closed are sorted as they come.
 */
#include "trace/spantree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define NODES_MOST  (256u << 10)
#define CELL_BYTES  (32u << 20) /* of cells in memory */
#define SLOTS_LEAST 1024
#define WEIGHT_MOST (1ull << 62) /* of a cell: what is more stands in one of its own */

static int push_first(struct spantree *t)
{
	struct span_node none = {.row = SPANTREE_NO_ROW};
	t->nodes.len = 0;
	return vec_push(&t->nodes, none);
}

/* The words say it all. */
static int compare(const void *pa, const void *pb)
{
	(void)pa, (void)pb;
	return 0;
}

static int new_cells(struct spantree *t)
{
	extsort_free(t->cells);
	t->cells = extsort_new_words(sizeof(struct span_cell), CELL_BYTES, compare, 2);
	return t->cells ? 0 : -ENOMEM;
}

int spantree_init(struct spantree *t)
{
	*t = (struct spantree){.nodes_most = NODES_MOST, .mask = SLOTS_LEAST - 1};
	t->slots = calloc(SLOTS_LEAST, sizeof *t->slots);
	return t->slots && !push_first(t) && !new_cells(t) ? 0 : -ENOMEM;
}

void spantree_fini(struct spantree *t)
{
	vec_fini(&t->nodes);
	extsort_free(t->cells);
	t->cells = NULL;
	vec_fini(&t->outermost);
	free(t->slots);
	t->slots = NULL;
}

void spantree_clear(struct spantree *t)
{
	t->nodes.len = 1;
	t->outermost.len = 0;
	memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof *t->slots);
	t->nodes_most = NODES_MOST;
}

void spantree_settle(struct spantree *t)
{
	t->nodes_most = 2 * t->nodes.len + NODES_MOST;
}

bool spantree_is_full(const struct spantree *t)
{
	return t->nodes.len >= t->nodes_most;
}

static uint64_t hash_of(uint32_t parent, uint32_t thread, str_id name)
{
	return hash_mix((uint64_t)(parent ? parent : ~thread) << 32 | name);
}

static int grow_slots(struct spantree *t)
{
	uint32_t mask = 2 * t->mask + 1;
	uint32_t *slots = calloc((size_t)mask + 1, sizeof *slots);
	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 1; i < t->nodes.len; i++) {
		const struct span_node *n = &t->nodes.data[i];
		uint64_t at = hash_of(n->parent, n->thread, n->name);
		while (slots[at & mask])
			at++;
		slots[at & mask] = i;
	}
	free(t->slots);
	t->slots = slots;
	t->mask = mask;
	return 0;
}

static bool recurs(const struct spantree *t, const struct span_node *n)
{
	uint32_t up = n->parent;
	for (unsigned i = 1; up && i < SPANTREE_PATH_MAX; i++, up = t->nodes.data[up].parent)
		if (t->nodes.data[up].name == n->name)
			return true;
	return false;
}

static bool is(const struct span_node *n, uint32_t parent, uint32_t thread, str_id name)
{
	return n->name == name && n->parent == parent && n->thread == thread;
}

static int look_up(struct spantree *t, uint32_t parent, uint32_t thread, str_id name,
		   uint32_t *ret_node)
{
	uint64_t at = hash_of(parent, thread, name);
	for (uint32_t i; (i = t->slots[at & t->mask]); at++) {
		if (is(&t->nodes.data[i], parent, thread, name)) {
			*ret_node = i;
			return 0;
		}
	}
	struct span_node n = {.parent = parent,
			      .name = name,
			      .thread = thread,
			      .depth = parent ? t->nodes.data[parent].depth + 1 : 0,
			      .row = SPANTREE_NO_ROW};
	n.recurs = recurs(t, &n);
	uint32_t index = (uint32_t)t->nodes.len;
	if (index > t->mask / 2) {
		int rc = grow_slots(t);
		if (rc)
			return rc;
		for (at = hash_of(parent, thread, name); t->slots[at & t->mask];)
			at++;
	}
	int rc = vec_push(&t->nodes, n);
	if (!rc)
		t->slots[at & t->mask] = *ret_node = index;
	return rc;
}

/* Programs repeat themselves: most often it is what followed the same sibling the last time. */
int spantree_child(struct spantree *t, uint32_t parent, uint32_t thread, str_id name,
		   uint32_t *ret_node)
{
	int rc = 0;
	while (t->outermost.len <= thread && !rc)
		rc = vec_push(&t->outermost, 0);
	if (rc)
		return rc;
	uint32_t last = parent ? t->nodes.data[parent].child : t->outermost.data[thread];
	uint32_t node = last ? t->nodes.data[last].next : 0;
	if (!node || !is(&t->nodes.data[node], parent, thread, name)) {
		rc = look_up(t, parent, thread, name, &node);
		if (rc)
			return rc;
		if (last)
			t->nodes.data[last].next = node;
	}
	*(parent ? &t->nodes.data[parent].child : &t->outermost.data[thread]) = node;
	__builtin_prefetch(&t->nodes.data[t->nodes.data[node].next], 1);
	*ret_node = node;
	return 0;
}

static int end_cell(struct spantree *t, uint32_t node)
{
	struct span_node *n = &t->nodes.data[node];
	struct span_cell c = {n->time_ns, node, n->weight, n->hits};
	n->hits = n->weight = 0;
	return extsort_add(t->cells, &c);
}

int spantree_add(struct spantree *t, uint32_t node, uint64_t time_ns, uint64_t weight)
{
	struct span_node *n = &t->nodes.data[node];
	if (time_ns - t->step_ns >= SPANTREE_STEP_NS) /* behind it, or before */
		t->step_ns = time_ns - time_ns % SPANTREE_STEP_NS;
	if (n->hits && (n->step_ns != t->step_ns || weight > WEIGHT_MOST - n->weight)) {
		int rc = end_cell(t, node);
		if (rc)
			return rc;
	}
	n->step_ns = t->step_ns;
	n->time_ns = time_ns;
	n->hits++;
	n->weight += weight;
	return n->weight > WEIGHT_MOST ? end_cell(t, node) : 0;
}

int spantree_flush(struct spantree *t, int (*cell)(void *ctx, const struct span_cell *c), void *ctx)
{
	const struct span_cell *c;
	int rc = 0;
	for (uint32_t i = 1; i < t->nodes.len && !rc; i++)
		rc = t->nodes.data[i].hits ? end_cell(t, i) : 0;
	rc = rc ? rc : extsort_finish(t->cells);
	while (!rc && (c = extsort_next(t->cells)))
		rc = cell(ctx, c);
	rc = rc ? rc : extsort_error(t->cells);
	return rc ? rc : new_cells(t);
}
