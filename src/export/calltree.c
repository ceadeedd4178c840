/*
 * calltree: folds in one walk over the preorder, children found by hash.
 *
 * Any one thread.
 */
#include "export/calltree.h"

#include <stdlib.h>
#include <string.h>

static void add(struct rollup_count *to, const struct rollup_count *c)
{
	to->samples += c->samples;
	to->weight += c->weight;
	to->weight_sq += c->weight_sq;
}

static int child_of(struct calltree *t, struct map64 *index, uint32_t parent, uint32_t func,
		    uint32_t *ret_node)
{
	uint64_t key = (uint64_t)parent << 32 | func;

	if (map64_get(index, key, ret_node))
		return 0;
	*ret_node = (uint32_t)t->nodes.len;
	if (vec_push(&t->nodes, ((struct calltree_node){.parent = parent, .func = func})))
		return -ENOMEM;
	return map64_put(index, key, *ret_node);
}

/* The folded node of a snapshot's node whose caller folded to @at. */
static int fold_frame(struct calltree *t, struct map64 *index, const struct namelist *n,
		      uint32_t frame, uint32_t *at)
{
	const struct namelist_frame *f = &n->frames.data[frame];
	int rc = 0;

	for (uint32_t i = f->n; i-- > 0 && !rc;)
		rc = child_of(t, index, *at, n->lines.data[f->first + i].func, at);
	return rc;
}

/* What is left of the whole when every node is counted had no stack. */
static int fold_stackless(struct calltree *t, struct map64 *index, const struct snapshot *s,
			  const struct namelist *n)
{
	uint32_t at = 0;
	int rc = 0;

	for (uint32_t i = 0; i < s->ncells && !at && !rc; i++)
		if (s->cells[i].node == SNAPSHOT_ROOT)
			rc = fold_frame(t, index, n, 0, &at);
	t->stackless = at;
	return rc;
}

static int fold_all(struct calltree *t, struct map64 *index, const struct snapshot *s,
		    const struct namelist *n)
{
	int rc = vec_push(&t->nodes, (struct calltree_node){0});

	for (uint32_t i = 0; i < s->nnodes && !rc; i++) {
		uint32_t at = s->nodes[i].parent == SNAPSHOT_ROOT ? 0 : t->of[s->nodes[i].parent];
		rc = fold_frame(t, index, n, n->node_frame[i], &at);
		t->of[i] = at;
	}
	return rc ? rc : fold_stackless(t, index, s, n);
}

static void sum_up(struct calltree *t, const struct snapshot *s, const struct rollup *r)
{
	struct rollup_count left = r->all;

	for (uint32_t i = 0; i < s->nnodes; i++) {
		add(&t->nodes.data[t->of[i]].self, &r->node_self[i]);
		left.samples -= r->node_self[i].samples;
		left.weight -= r->node_self[i].weight;
		left.weight_sq -= r->node_self[i].weight_sq;
	}
	if (t->stackless)
		add(&t->nodes.data[t->stackless].self, &left);
	for (uint32_t i = 0; i < t->nodes.len; i++)
		t->nodes.data[i].total = t->nodes.data[i].self;
	for (size_t i = t->nodes.len; i-- > 1;)
		add(&t->nodes.data[t->nodes.data[i].parent].total, &t->nodes.data[i].total);
}

struct place {
	uint32_t node, parent;
	uint64_t weight, samples;
};

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int link_children(struct calltree *t)
{
	size_t n = t->nodes.len;
	struct place *places = calloc(n, sizeof *places);

	if (!places)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		places[i] = (struct place){i, t->nodes.data[i].parent,
					   t->nodes.data[i].total.weight,
					   t->nodes.data[i].total.samples};
	qsort(places + 1, n - 1, sizeof *places, compare); /* the root has no place among them */
	for (size_t i = n; i-- > 1;) {
		struct calltree_node *node = &t->nodes.data[places[i].node];
		node->next = t->nodes.data[node->parent].children;
		t->nodes.data[node->parent].children = places[i].node;
	}
	free(places);
	return 0;
}

int calltree_init(struct calltree *t, const struct snapshot *s, const struct namelist *n,
		  const struct rollup *r)
{
	struct map64 index;

	memset(t, 0, sizeof *t);
	map64_init(&index);
	t->of = calloc(s->nnodes + 1, sizeof *t->of);
	int rc = t->of ? fold_all(t, &index, s, n) : -ENOMEM;
	if (!rc && r)
		sum_up(t, s, r);
	if (!rc)
		rc = link_children(t);
	map64_fini(&index);
	if (rc)
		calltree_fini(t);
	return rc;
}

void calltree_fini(struct calltree *t)
{
	vec_fini(&t->nodes);
	free(t->of);
	t->of = NULL;
}
