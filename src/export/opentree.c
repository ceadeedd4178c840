/*
 * opentree: opens nodes by walking the subtrees of their members in the snapshot's preorder.
 *
 * Any one thread. Members of one node lie in subtrees apart from each other, in rising order; so
 * children are met in the order in which a walk over the whole would meet them. What is too small
 * is dropped as soon as all of it has been summed, and its memory used again.
 */
#include "export/opentree.h"

#include <stdlib.h>
#include <string.h>

static void add(struct rollup_count *to, const struct rollup_count *c)
{
	to->samples += c->samples;
	to->weight += c->weight;
	to->weight_sq += c->weight_sq;
}

static uint32_t last_line(const struct opentree *t, uint32_t node)
{
	return t->n->frames.data[namelist_frame_of(t->n, node)].n - 1;
}

/* The child of @parent in @func; those of the opening at hand begin at @first. 0: no memory. */
static uint32_t child_of(struct opentree *t, uint32_t parent, uint32_t first, uint32_t func)
{
	if (t->at[func] >= first)
		return t->at[func];
	uint32_t child = (uint32_t)t->nodes.len;
	if (vec_push(&t->nodes, ((struct opentree_node){.parent = parent, .func = func})))
		return 0;
	t->at[func] = child;
	return child;
}

static int add_member(struct opentree *t, uint32_t parent, uint32_t first, uint32_t node,
		      uint32_t line)
{
	const struct namelist_frame *f = &t->n->frames.data[namelist_frame_of(t->n, node)];
	uint32_t child = child_of(t, parent, first, t->n->lines.data[f->first + line].func);
	uint32_t member = (uint32_t)t->members.len;
	if (!child || vec_push(&t->members, ((struct opentree_member){.node = node, .line = line})))
		return -ENOMEM;
	struct opentree_node *to = &t->nodes.data[child];
	if (to->last)
		t->members.data[to->last].next = member;
	else
		to->first = member;
	to->last = member;
	bool none = node == SNAPSHOT_ROOT;
	add(&to->total, none ? &t->r->stackless : &t->r->node_total[node]);
	if (!line)
		add(&to->self, none ? &t->r->stackless : &t->r->node_self[node]);
	return 0;
}

/* The snapshot's nodes from @from up to @end that are no others' callees. */
static int add_callees(struct opentree *t, uint32_t parent, uint32_t first, uint32_t from,
		       uint32_t end)
{
	int rc = 0;
	for (uint32_t i = from; i < end && !rc; i = t->end[i])
		rc = add_member(t, parent, first, i, last_line(t, i));
	return rc;
}

static int add_roots(struct opentree *t, uint32_t first)
{
	const struct snapshot *s = t->s;
	int rc = add_callees(t, 0, first, 0, s->nnodes);
	if (!rc && s->ncells && s->cells[s->ncells - 1].node == SNAPSHOT_ROOT) /* they are last */
		rc = add_member(t, 0, first, SNAPSHOT_ROOT, last_line(t, SNAPSHOT_ROOT));
	return rc;
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct opentree_node *nodes = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct rollup_count *x = &nodes[i].total, *y = &nodes[k].total;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return i < k ? -1 : i > k;
}

double opentree_percent(const struct opentree *t, const struct rollup_count *c)
{
	uint64_t all = t->r->all.weight;
	return all ? 100.0 * (double)c->weight / (double)all : 0;
}

/* Of those made from @first on, with members from @member on, go all that are too small. */
static void drop_small(struct opentree *t, uint32_t node, uint32_t first, uint32_t member)
{
	struct opentree_node *nodes = t->nodes.data;
	struct opentree_member *members = t->members.data;
	uint32_t kept = first, m = member;
	for (uint32_t i = first; i < t->nodes.len; i++) {
		bool small = opentree_percent(t, &nodes[i].total) < t->least;
		t->at[nodes[i].func] = small ? 0 : kept;
		nodes[node].small += small;
		if (!small)
			nodes[kept++] = nodes[i];
	}
	for (uint32_t i = first; i < kept; i++)
		nodes[i].first = nodes[i].last = 0;
	/* What is small had none but these: each member finds by its function what it is of now. */
	for (uint32_t i = member; i < t->members.len; i++) {
		struct opentree_member x = members[i];
		const struct namelist_frame *f =
			&t->n->frames.data[namelist_frame_of(t->n, x.node)];
		uint32_t of = t->at[t->n->lines.data[f->first + x.line].func];
		if (!of)
			continue;
		x.next = 0;
		if (nodes[of].last)
			members[nodes[of].last].next = m;
		else
			nodes[of].first = m;
		nodes[of].last = m;
		members[m++] = x;
	}
	t->nodes.len = kept;
	t->members.len = m;
}

static int link_children(struct opentree *t, uint32_t node, uint32_t first)
{
	size_t n = t->nodes.len - first;
	if (!n)
		return 0;
	if (vec_reserve(&t->order, n))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		t->order.data[i] = first + i;
	qsort_r(t->order.data, n, sizeof *t->order.data, compare, t->nodes.data);
	uint32_t *link = &t->nodes.data[node].children;
	for (size_t i = 0; i < n; i++) {
		*link = t->order.data[i];
		link = &t->nodes.data[t->order.data[i]].next;
	}
	return 0;
}

int opentree_open(struct opentree *t, uint32_t node)
{
	if (t->nodes.data[node].opened)
		return 0;
	t->nodes.data[node].opened = true;
	uint32_t first = (uint32_t)t->nodes.len, member = (uint32_t)t->members.len;
	int rc = node ? 0 : add_roots(t, first);
	for (uint32_t i = t->nodes.data[node].first; i && !rc; i = t->members.data[i].next) {
		struct opentree_member m = t->members.data[i];
		if (m.line)
			rc = add_member(t, node, first, m.node, m.line - 1);
		else if (m.node != SNAPSHOT_ROOT)
			rc = add_callees(t, node, first, m.node + 1, t->end[m.node]);
	}
	if (rc)
		return rc;
	drop_small(t, node, first, member);
	return link_children(t, node, first);
}

int opentree_init(struct opentree *t, const struct snapshot *s, const struct namelist *n,
		  const struct rollup *r, double least)
{
	*t = (struct opentree){.s = s, .n = n, .r = r, .least = least};
	t->end = malloc((s->nnodes + 1) * sizeof *t->end);
	t->at = calloc(n->funcs.len + 1, sizeof *t->at);
	if (!t->end || !t->at || vec_push(&t->nodes, (struct opentree_node){0}) ||
	    vec_push(&t->members, (struct opentree_member){0})) {
		opentree_fini(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->nnodes; i++)
		t->end[i] = i + 1;
	for (uint32_t i = s->nnodes; i-- > 0;) {
		uint32_t up = s->nodes[i].parent;
		if (up != SNAPSHOT_ROOT && t->end[up] < t->end[i])
			t->end[up] = t->end[i];
	}
	return 0;
}

void opentree_fini(struct opentree *t)
{
	vec_fini(&t->nodes);
	vec_fini(&t->members);
	vec_fini(&t->order);
	free(t->end);
	free(t->at);
	*t = (struct opentree){0};
}
