/*
 * pathtree: lazily opened trees of call paths.
 *
 * Engine thread. Opening a node lists the places one step further (callees or callers), sorts them
 * by function and makes one child of each run.
 */
#include "profile/pathtree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/fold.h"

/* A place one step further, with the function it is in. */
struct step {
	fid_t fid;
	struct tree_place place;
};
struct steps {
	VEC(struct step)
};

static bool bottom_up(const struct pathtree *c)
{
	return c->flags & QUERY_BOTTOM_UP;
}

static void push_step(struct pathtree *c, struct steps *s, uint32_t node, uint32_t k,
		      uint32_t origin)
{
	struct chain chain;
	chain_get(&chain, c->tables, c->flat->nodes[node].frame, c->flags);
	if (k >= chain.n) /* resolved anew since: its outermost will do */
		k = chain.n - 1;
	struct step step = {.fid = chain.lines[k].func, .place = {node, k, origin}};
	if (vec_push(s, step))
		c->failed = true;
}

static uint32_t chain_length(const struct pathtree *c, uint32_t node)
{
	struct chain chain;
	chain_get(&chain, c->tables, c->flat->nodes[node].frame, c->flags);
	return chain.n;
}

static void push_outermost(struct pathtree *c, struct steps *s, uint32_t node)
{
	push_step(c, s, node, chain_length(c, node) - 1, 0);
}

static void push_callees(struct pathtree *c, struct steps *s, const struct tree_place *p)
{
	const struct flat *f = c->flat;
	if (p->k > 0) {
		push_step(c, s, p->node, p->k - 1, 0);
		return;
	}
	for (uint32_t i = p->node + 1; i < f->nodes[p->node].end; i = f->nodes[i].end)
		push_outermost(c, s, i);
}

bool pathtree_caller(const struct pathtree *c, uint32_t node, uint32_t k, uint32_t *ret_node,
		     uint32_t *ret_k)
{
	if (k + 1 < chain_length(c, node)) {
		*ret_node = node;
		*ret_k = k + 1;
		return true;
	}
	uint32_t parent = c->flat->nodes[node].parent;
	if (parent == FLAT_NONE)
		return false;
	*ret_node = parent;
	*ret_k = 0;
	return true;
}

static void push_caller(struct pathtree *c, struct steps *s, const struct tree_place *p)
{
	uint32_t node, k;
	if (pathtree_caller(c, p->node, p->k, &node, &k))
		push_step(c, s, node, k, p->origin);
}

static int compare_steps(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	if (x->fid != y->fid)
		return x->fid < y->fid ? -1 : 1;
	return x->place.node < y->place.node ? -1 : x->place.node > y->place.node;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct tree_node *x = a, *y = b;
	if (x->total.weight != y->total.weight)
		return x->total.weight > y->total.weight ? -1 : 1;
	return x->fid < y->fid ? -1 : x->fid > y->fid;
}

static void add_place(struct pathtree *c, struct tree_node *n, const struct tree_place *p,
		      uint64_t *heaviest)
{
	const struct flat_node *at = &c->flat->nodes[p->node];
	const struct sums *total = &at->total;
	if (bottom_up(c)) {
		total = &c->origins.data[p->origin].total;
		sums_add(&n->self, &c->origins.data[p->origin].self);
	} else if (p->k == 0) {
		sums_add(&n->self, &at->self);
	}
	sums_add(&n->total, total);
	if (total->weight >= *heaviest) {
		*heaviest = total->weight;
		n->node = p->node;
		n->k = p->k;
		n->inlined = p->k + 1 < chain_length(c, p->node);
	}
	if (vec_push(&c->places, *p))
		c->failed = true;
	else
		n->nplaces++;
}

/* One child a run of steps in the same function. */
static void make_children(struct pathtree *c, uint32_t parent, struct steps *s)
{
	uint32_t first = (uint32_t)c->nodes.len;
	uint64_t hash = c->nodes.data[parent].hash;

	if (s->len)
		qsort(s->data, s->len, sizeof *s->data, compare_steps);
	for (size_t i = 0; i < s->len && !c->failed;) {
		struct tree_node n = {.fid = s->data[i].fid,
				      .hash = hash_pair(hash, s->data[i].fid),
				      .places = (uint32_t)c->places.len};
		uint64_t heaviest = 0;
		for (; i < s->len && s->data[i].fid == n.fid; i++)
			add_place(c, &n, &s->data[i].place, &heaviest);
		if (vec_push(&c->nodes, n))
			c->failed = true;
	}
	struct tree_node *p = &c->nodes.data[parent];
	p->children = first;
	p->nchildren = (uint32_t)c->nodes.len - first;
	if (p->nchildren)
		qsort(c->nodes.data + first, p->nchildren, sizeof *c->nodes.data, compare_nodes);
}

void pathtree_open(struct pathtree *c, uint32_t node)
{
	struct steps s = {0};
	if (c->nodes.data[node].opened)
		return;
	c->nodes.data[node].opened = true;
	uint32_t first = c->nodes.data[node].places;
	if (node == PATHTREE_ROOT && !bottom_up(c)) {
		for (uint32_t i = 0; i < c->flat->n; i = c->flat->nodes[i].end)
			push_outermost(c, &s, i);
	} else if (node == PATHTREE_ROOT) {
		for (uint32_t i = 0; i < c->nodes.data[node].nplaces; i++) {
			const struct tree_place *p = &c->places.data[first + i];
			const struct sums *total = &c->origins.data[p->origin].total;
			if (total->samples || total->weight) /* recursion took all of it */
				push_step(c, &s, p->node, p->k, p->origin);
		}
	} else {
		for (uint32_t i = 0; i < c->nodes.data[node].nplaces; i++) {
			struct tree_place p = c->places.data[first + i];
			if (bottom_up(c))
				push_caller(c, &s, &p);
			else
				push_callees(c, &s, &p);
		}
	}
	make_children(c, node, &s);
	vec_fini(&s);
}

static void push_origin(struct pathtree *c, uint32_t node, uint32_t k, const struct sums *total,
			const struct sums *self)
{
	struct tree_place p = {node, k, (uint32_t)c->origins.len};
	struct tree_origin o = {.self = *self, .total = *total};
	uint32_t nv = c->flat->nvalues;
	if (vec_push(&c->origins, o) || vec_push(&c->places, p) ||
	    (nv && vec_reserve(&c->origin_values, c->origin_values.len + nv))) {
		c->failed = true;
		return;
	}
	/* Where the whole subtree counts, its values do; else what ends here. */
	const double *from = total == &c->flat->nodes[node].self ? c->flat->self_values
								 : c->flat->total_values;
	for (uint32_t i = 0; i < nv; i++)
		c->origin_values.data[c->origin_values.len++] = from[(size_t)node * nv + i];
}

struct seeking {
	struct pathtree *c;
	fid_t focus;
	struct {
		VEC(uint32_t)
	} open; /* origins on the path */
};

/* What a deeper occurrence takes, its caller's no longer has: each sample starts once. */
static void seek_enter(void *ctx, struct visit *path, uint32_t depth)
{
	struct seeking *s = ctx;
	struct pathtree *c = s->c;
	const struct visit *v = &path[depth - 1];
	static const struct sums none;
	if (v->fid != s->focus)
		return;
	const struct flat_node *n = &c->flat->nodes[v->node];
	if (s->open.len) {
		uint32_t above = s->open.data[s->open.len - 1], nv = c->flat->nvalues;
		struct sums *up = &c->origins.data[above].total;
		for (uint32_t i = 0; i < nv; i++)
			c->origin_values.data[(size_t)above * nv + i] -=
				c->flat->total_values[(size_t)v->node * nv + i];
		up->samples -= n->total.samples;
		up->weight -= n->total.weight;
		up->weight_sq -= n->total.weight_sq;
	}
	if (vec_push(&s->open, (uint32_t)c->origins.len))
		c->failed = true;
	push_origin(c, v->node, v->k, &n->total, v->k == 0 ? &n->self : &none);
}

static void seek_leave(void *ctx, struct visit *path, uint32_t depth)
{
	struct seeking *s = ctx;
	if (path[depth - 1].fid == s->focus && s->open.len)
		s->open.len--;
}

static void find_origins(struct pathtree *c, fid_t focus)
{
	if (!focus) {
		for (uint32_t i = 0; i < c->flat->n; i++) {
			const struct flat_node *n = &c->flat->nodes[i];
			if (n->self.samples || n->self.weight)
				push_origin(c, i, 0, &n->self, &n->self);
		}
		return;
	}
	struct seeking s = {.c = c, .focus = focus};
	if (fold_walk(c->flat, c->tables, c->flags, &(struct visitor){seek_enter, seek_leave, &s}))
		c->failed = true;
	vec_fini(&s.open);
}

int pathtree_init(struct pathtree *c, const struct flat *f, const struct tables *t, uint32_t flags,
		  fid_t focus)
{
	*c = (struct pathtree){.flat = f, .tables = t, .flags = flags};
	struct tree_node root = {.total = f->all, .node = FLAT_NONE};
	if (vec_push(&c->nodes, root))
		return -ENOMEM;
	if (!bottom_up(c))
		return 0;
	find_origins(c, focus);
	struct tree_node *r = &c->nodes.data[PATHTREE_ROOT];
	r->nplaces = (uint32_t)c->places.len;
	r->total = (struct sums){0};
	for (size_t i = 0; i < c->origins.len; i++)
		sums_add(&r->total, &c->origins.data[i].total);
	return c->failed ? -ENOMEM : 0;
}

void pathtree_values(const struct pathtree *c, uint32_t node, double *ret_self, double *ret_total)
{
	const struct flat *f = c->flat;
	const struct tree_node *n = &c->nodes.data[node];
	uint32_t nv = f->nvalues;
	memset(ret_self, 0, nv * sizeof *ret_self);
	memset(ret_total, 0, nv * sizeof *ret_total);
	for (uint32_t p = 0; p < n->nplaces; p++) {
		const struct tree_place *at = &c->places.data[n->places + p];
		const double *total = bottom_up(c) ? c->origin_values.data + (size_t)at->origin * nv
						   : f->total_values + (size_t)at->node * nv;
		/* Bottom-up a row's self is what ends in the function that all began with. */
		uint32_t from = bottom_up(c) ? c->places.data[at->origin].node : at->node;
		bool ends = bottom_up(c) ? c->places.data[at->origin].k == 0 : at->k == 0;
		for (uint32_t i = 0; i < nv; i++) {
			ret_total[i] += total[i];
			if (ends)
				ret_self[i] += f->self_values[(size_t)from * nv + i];
		}
	}
}

void pathtree_fini(struct pathtree *c)
{
	vec_fini(&c->nodes);
	vec_fini(&c->places);
	vec_fini(&c->origins);
	vec_fini(&c->origin_values);
}
