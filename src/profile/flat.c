/*
 * flat: from cells to a preorder array of summed nodes.
 *
 * Engine thread. Leaves are gathered first, then their ancestors are marked, so that the cost
 * follows what the window touched, save one pass over an array of four bytes a trie node. Links
 * between the touched nodes are made in falling order of id, which lists children in rising order.
 */
#include "profile/flat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/cells.h"

#define TAILS_WANTED_MAX 8192u /* asked for at once */

#define INNER 0x80000000u /* place of a touched node without samples of its own */

struct flat_leaf {
	node_id node;
	struct sums sums;
};

/* A touched node, numbered by rising id, with its links. */
struct flat_touched {
	node_id node;
	uint32_t leaf;        /* index + 1 in leaves, or INNER */
	uint32_t first, next; /* child, sibling; FLAT_NONE */
	uint32_t out;         /* index in preorder, of it or of its visible ancestor */
};

void flat_fini(struct flat *f)
{
	free(f->nodes);
	free(f->self_values);
	free(f->total_values);
	free(f->leaves);
	free(f->place);
	free(f->touched);
	free(f->leaf_values);
	vec_fini(&f->tails_wanted);
	*f = (struct flat){0};
}

bool fold_takes(const struct fold_query *q, const struct cell *c)
{
	if (c->flags & (CELL_ACCOUNT | CELL_RUNNING | CELL_VALUE) || c->event != q->event)
		return false;
	if (c->flags & CELL_BLOCKED && q->flags & QUERY_NO_WAITING)
		return false;
	if (fold_hides(q, c))
		return false;
	if (q->task && c->task != q->task)
		return false;
	return !q->task_mask || (c->task < q->ntasks && q->task_mask[c->task]);
}

bool fold_takes_value(const struct fold_query *q, const struct cell *c, uint32_t *ret_i)
{
	if (c->flags & ~(CELL_VALUE | CELL_GUEST) || fold_hides(q, c) ||
	    (q->task && c->task != q->task) ||
	    (q->task_mask && !(c->task < q->ntasks && q->task_mask[c->task])))
		return false;
	for (uint32_t i = 0; i < q->nvalues; i++) {
		bool by_weight = q->by_weight >> i & 1;
		if (q->values[i] == c->event && by_weight == !(c->flags & CELL_VALUE)) {
			*ret_i = i;
			return true;
		}
	}
	return false;
}

static int grow(void *array, size_t item, uint32_t cap)
{
	void *bigger = realloc(*(void **)array, item * cap);
	if (!bigger)
		return -ENOMEM;
	*(void **)array = bigger;
	return 0;
}

static int grow_leaves(struct flat *f)
{
	if (f->nleaves < f->leaves_cap)
		return 0;
	uint32_t cap = f->leaves_cap ? f->leaves_cap * 2 : 1024;
	if (grow(&f->leaves, sizeof *f->leaves, cap))
		return -ENOMEM;
	f->leaves_cap = cap;
	return 0;
}

static int grow_values(double **values, size_t *cap, size_t need)
{
	if (need <= *cap)
		return 0;
	double *bigger = realloc(*values, need * 2 * sizeof **values);
	if (!bigger)
		return -ENOMEM;
	*values = bigger;
	*cap = need * 2;
	return 0;
}

static bool is_kernel(const struct tables *t, frame_id frame)
{
	return tables_frame_get(t, frame)->flags & FRAME_KERNEL;
}

bool fold_hides_mode(const struct tables *t, const struct profile *p, node_id node, uint32_t flags)
{
	if (!(flags & (QUERY_NO_KERNEL | QUERY_NO_USER)))
		return false;
	bool kernel = is_kernel(t, trie_at(&p->trie, node)->frame);
	return flags & (kernel ? QUERY_NO_KERNEL : QUERY_NO_USER);
}

static struct flat_leaf *leaf_of(struct flat *f, node_id node)
{
	if (f->place[node])
		return &f->leaves[f->place[node] - 1];
	uint32_t n = f->nvalues;
	if (grow_leaves(f) ||
	    (n && grow_values(&f->leaf_values, &f->leaf_values_cap, (size_t)(f->nleaves + 1) * n)))
		return NULL;
	if (n)
		memset(f->leaf_values + (size_t)f->nleaves * n, 0, n * sizeof(double));
	f->leaves[f->nleaves] = (struct flat_leaf){.node = node};
	f->place[node] = ++f->nleaves;
	return &f->leaves[f->nleaves - 1];
}

struct running {
	uint64_t readings[FLAT_VALUES_MAX], ppm[FLAT_VALUES_MAX];
};

static void count_running(const struct fold_query *q, const struct cell *c, struct running *r)
{
	for (uint32_t i = 0; i < q->nvalues; i++) {
		if (q->values[i] != c->event)
			continue;
		r->readings[i] += c->samples;
		r->ppm[i] += c->weight;
	}
}

static int gather(struct flat *f, const struct profile *p, const struct tables *t,
		  const struct fold_query *q)
{
	uint32_t count = p->trie.count, i = 0;
	struct running running = {0};
	struct profile_walk w = profile_walk(p, &q->window);

	while (profile_next(&w)) {
		const struct cell *c = w.cell;
		if (c->flags == CELL_RUNNING && f->nvalues)
			count_running(q, c, &running);
		if (c->node >= count)
			continue;
		bool sample = fold_takes(q, c);
		bool value = f->nvalues && fold_takes_value(q, c, &i);
		if (!(sample || value) || fold_hides_mode(t, p, c->node, q->flags))
			continue;
		struct flat_leaf *leaf = leaf_of(f, c->node);
		if (!leaf)
			return -ENOMEM;
		if (sample)
			sums_add(&leaf->sums, &(struct sums){c->samples, c->weight, c->weight_sq});
		if (value)
			f->leaf_values[(size_t)(leaf - f->leaves) * f->nvalues + i] +=
				(double)(int64_t)c->weight;
	}
	for (i = 0; i < f->nvalues; i++)
		f->running[i] = running.readings[i]
					? (double)running.ppm[i] / 1e6 / (double)running.readings[i]
					: 1;
	return 0;
}

/* Mark the ancestors of every leaf; a leaf whose counts came to nothing is none. */
static uint32_t mark(struct flat *f, const struct trie *trie)
{
	uint32_t touched = 0;
	for (uint32_t i = 0; i < f->nleaves; i++) {
		const struct sums *s = &f->leaves[i].sums;
		bool values = false;
		for (uint32_t v = 0; v < f->nvalues && !values; v++)
			values = f->leaf_values[(size_t)i * f->nvalues + v] != 0;
		if (!s->samples && !s->weight && !values)
			f->place[f->leaves[i].node] = 0;
	}
	for (uint32_t i = 0; i < f->nleaves; i++) {
		node_id node = f->leaves[i].node;
		if (!f->place[node] || f->place[node] == INNER)
			continue;
		touched++;
		node = trie_at(trie, node)->parent;
		for (; node != NODE_ROOT && !f->place[node]; node = trie_at(trie, node)->parent) {
			f->place[node] = INNER;
			touched++;
		}
	}
	return touched;
}

/* Number the touched nodes by rising id and link them. Returns the first outermost one. */
static uint32_t link_children(struct flat *f, const struct trie *trie, uint32_t touched)
{
	uint32_t pos = 0, root = FLAT_NONE;
	for (node_id id = 1; pos < touched; id++) {
		if (!f->place[id])
			continue;
		f->touched[pos] = (struct flat_touched){
			.node = id, .leaf = f->place[id], .first = FLAT_NONE};
		f->place[id] = ++pos;
	}
	while (pos-- > 0) {
		node_id parent = trie_at(trie, f->touched[pos].node)->parent;
		uint32_t *head = parent == NODE_ROOT ? &root
						     : &f->touched[f->place[parent] - 1].first;
		f->touched[pos].next = *head;
		*head = pos;
	}
	return root;
}

static bool spliced_out(const struct tables *t, frame_id frame, uint32_t leaf, uint32_t flags)
{
	uint32_t frame_flags = tables_frame_get(t, frame)->flags;
	if (leaf != INNER)
		return false;
	if (flags & QUERY_NO_USER && !(frame_flags & FRAME_KERNEL))
		return true;
	return frame_flags & FRAME_TAILCALL && !(flags & QUERY_TAIL_CALLS);
}

/* What is missing above node @x, NULL: nothing, or not known. */
static const struct tail_calls *missing_above(const struct tables *t, const struct trie *trie,
					      node_id node, uint32_t flags)
{
	const struct trie_node *n = trie_at(trie, node);
	if (!(flags & QUERY_TAIL_CALLS) || flags & QUERY_NO_USER || n->parent == NODE_ROOT)
		return NULL;
	return tables_tail_get(t, trie_at(trie, n->parent)->frame, n->frame);
}

static void want_tail(struct flat *f, const struct tables *t, const struct trie *trie, node_id node)
{
	const struct trie_node *n = trie_at(trie, node);
	if (n->parent == NODE_ROOT || f->tails_wanted.len >= TAILS_WANTED_MAX)
		return;
	struct frame_pair pair = {trie_at(trie, n->parent)->frame, n->frame};
	if (tables_tail_possible(t, pair.caller, pair.callee))
		(void)vec_push(&f->tails_wanted, pair);
}

/* How many frames are to be put in; asks for what is not known. */
static uint32_t count_missing(struct flat *f, const struct tables *t, const struct trie *trie,
			      uint32_t flags, uint32_t touched)
{
	uint32_t n = 0;
	f->tails_wanted.len = 0;
	if (!(flags & QUERY_TAIL_CALLS))
		return 0;
	for (uint32_t i = 0; i < touched; i++) {
		const struct tail_calls *c = missing_above(t, trie, f->touched[i].node, flags);
		if (c)
			n += c->n;
		else
			want_tail(f, t, trie, f->touched[i].node);
	}
	return n;
}

/* Position of the parent, FLAT_NONE for an outermost node. */
static uint32_t parent_of(const struct flat *f, const struct trie_node *n)
{
	return n->parent == NODE_ROOT ? FLAT_NONE : f->place[n->parent] - 1;
}

static void write_node(struct flat *f, uint32_t i, const struct flat_touched *x, frame_id frame,
		       uint32_t parent)
{
	uint32_t nv = f->nvalues;
	f->nodes[i] = (struct flat_node){.node = x->node, .frame = frame, .parent = parent};
	if (x->leaf != INNER)
		f->nodes[i].self = f->leaves[x->leaf - 1].sums;
	if (!nv)
		return;
	double *values = f->self_values + (size_t)i * nv;
	if (x->leaf != INNER)
		memcpy(values, f->leaf_values + (size_t)(x->leaf - 1) * nv, nv * sizeof *values);
	else
		memset(values, 0, nv * sizeof *values);
}

/* Nodes for frames that are missing above @x, a chain below @parent; the innermost of them. */
static uint32_t put_in(struct flat *f, const struct tail_calls *c, const struct flat_touched *x,
		       uint32_t parent, uint32_t *n)
{
	struct flat_touched inner = {.node = x->node, .leaf = INNER};
	for (uint32_t i = 0; i < c->n; i++) {
		write_node(f, *n, &inner, c->frames[i], parent);
		parent = (*n)++;
	}
	return parent;
}

/* Depth first through the links, writing f->nodes in preorder. @room: nodes that may be put in. */
static void write_preorder(struct flat *f, const struct trie *trie, const struct tables *t,
			   uint32_t flags, uint32_t root, uint32_t room)
{
	uint32_t at = root, n = 0;
	while (at != FLAT_NONE) {
		struct flat_touched *x = &f->touched[at];
		const struct trie_node *node = trie_at(trie, x->node);
		uint32_t up = parent_of(f, node);
		uint32_t parent = up == FLAT_NONE ? FLAT_NONE : f->touched[up].out;
		x->out = parent;
		const struct tail_calls *c = room ? missing_above(t, trie, x->node, flags) : NULL;
		if (c && c->n <= room) { /* more may be known by now than was counted */
			parent = put_in(f, c, x, parent, &n);
			room -= c->n;
		}
		if (!spliced_out(t, node->frame, x->leaf, flags)) {
			write_node(f, n, x, node->frame, parent);
			x->out = n++;
		}
		if (x->first != FLAT_NONE) {
			at = x->first;
			continue;
		}
		while (at != FLAT_NONE && f->touched[at].next == FLAT_NONE)
			at = parent_of(f, trie_at(trie, f->touched[at].node));
		if (at != FLAT_NONE)
			at = f->touched[at].next;
	}
	f->n = n;
}

static void sum_up(struct flat *f, const struct tables *t)
{
	uint32_t nv = f->nvalues;
	if (nv && f->n)
		memcpy(f->total_values, f->self_values, (size_t)f->n * nv * sizeof(double));
	for (uint32_t i = f->n; i-- > 0;) {
		struct flat_node *node = &f->nodes[i];
		sums_add(&node->total, &node->self);
		if (node->end <= i)
			node->end = i + 1;
		if (node->self.weight && is_kernel(t, node->frame))
			f->kernel_weight += node->self.weight;
		const double *values = nv ? f->total_values + (size_t)i * nv : NULL;
		double *up_values = f->all_values;
		if (node->parent == FLAT_NONE) {
			sums_add(&f->all, &node->total);
		} else {
			struct flat_node *up = &f->nodes[node->parent];
			sums_add(&up->total, &node->total);
			if (up->end < node->end)
				up->end = node->end;
			up_values = nv ? f->total_values + (size_t)node->parent * nv : NULL;
		}
		for (uint32_t v = 0; v < nv; v++)
			up_values[v] += values[v];
	}
}

static int reserve_touched(struct flat *f, uint32_t touched)
{
	uint32_t cap = touched + touched / 4 + 64;
	if (touched > f->touched_cap) {
		if (grow(&f->touched, sizeof *f->touched, cap))
			return -ENOMEM;
		f->touched_cap = cap;
	}
	return 0;
}

static int reserve_nodes(struct flat *f, uint32_t nodes)
{
	uint32_t cap = nodes + nodes / 4 + 64;
	if (nodes > f->cap) {
		if (grow(&f->nodes, sizeof *f->nodes, cap))
			return -ENOMEM;
		f->cap = cap;
	}
	if (!f->nvalues)
		return 0;
	size_t had = f->values_cap, need = (size_t)nodes * f->nvalues;
	if (grow_values(&f->self_values, &had, need) ||
	    grow_values(&f->total_values, &f->values_cap, need))
		return -ENOMEM;
	return 0;
}

static int reserve_place(struct flat *f, uint32_t count)
{
	if (count > f->place_cap) {
		uint32_t cap = count + count / 4;
		free(f->place);
		f->place_cap = 0;
		f->place = malloc(cap * sizeof *f->place);
		if (!f->place)
			return -ENOMEM;
		f->place_cap = cap;
	}
	memset(f->place, 0, count * sizeof *f->place);
	return 0;
}

int flat_build(struct flat *f, const struct profile *p, const struct tables *t,
	       const struct fold_query *q)
{
	profile_settle(p);
	f->n = f->nleaves = 0;
	f->query = *q;
	/* Of which part of the code their innermost frame was is not known. */
	bool hides = q->flags & (QUERY_NO_KERNEL | QUERY_NO_USER);
	f->through = !hides && profile_has_through(p, &q->window) ? through_cells(&p->through)
								  : NULL;
	f->all = (struct sums){0};
	f->kernel_weight = 0;
	f->nvalues = q->nvalues <= FLAT_VALUES_MAX ? q->nvalues : FLAT_VALUES_MAX;
	memset(f->all_values, 0, sizeof f->all_values);
	if (reserve_place(f, p->trie.count) || gather(f, p, t, q))
		return -ENOMEM;
	uint32_t touched = mark(f, &p->trie);
	if (reserve_touched(f, touched))
		return -ENOMEM;
	uint32_t root = link_children(f, &p->trie, touched);
	uint32_t missing = count_missing(f, t, &p->trie, q->flags, touched);
	if (reserve_nodes(f, touched + missing))
		return -ENOMEM;
	write_preorder(f, &p->trie, t, q->flags, root, missing);
	sum_up(f, t);
	return 0;
}
