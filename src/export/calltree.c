/*
 * calltree: folds in one walk over the preorder, children found by hash.
 *
 * Any one thread.
 */
#include "export/calltree.h"

#include <stdlib.h>
#include <string.h>

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

int calltree_init(struct calltree *t, const struct snapshot *s, const struct namelist *n)
{
	struct map64 index;

	memset(t, 0, sizeof *t);
	map64_init(&index);
	t->of = calloc(s->nnodes + 1, sizeof *t->of);
	int rc = t->of ? fold_all(t, &index, s, n) : -ENOMEM;
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
