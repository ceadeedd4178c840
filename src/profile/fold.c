/*
 * fold: the walk over function instances, and what is summed on it.
 *
 * Engine thread. One walk enters and leaves every (flat node, inlined function) like a call, so
 * that "once however often it recurs" is a counter a row: only the outermost instance adds to
 * total.
 */
#include "profile/fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct walk {
	VEC(struct visit)
};

static int enter_frame(struct walk *w, const struct flat *f, const struct tables *t, uint32_t node,
		       uint32_t flags, const struct visitor *v)
{
	struct chain c;
	chain_get(&c, t, f->nodes[node].frame, flags);
	for (uint32_t k = c.n; k-- > 0;) {
		/* A made-up line lives in the chain only: nobody may look at it later. */
		struct visit visit = {.node = node,
				      .fid = c.lines[k].func,
				      .k = k,
				      .n = c.n,
				      .line = c.lines == &c.own ? NULL : &c.lines[k]};
		if (vec_push(w, visit))
			return -ENOMEM;
		v->enter(v->ctx, w->data, (uint32_t)w->len);
	}
	return 0;
}

/* Leave everything that is not on the path to @parent. */
static void leave_to(struct walk *w, uint32_t parent, const struct visitor *v)
{
	while (w->len && (parent == FLAT_NONE || w->data[w->len - 1].node != parent)) {
		if (v->leave)
			v->leave(v->ctx, w->data, (uint32_t)w->len);
		w->len--;
	}
}

int fold_walk(const struct flat *f, const struct tables *t, uint32_t flags, const struct visitor *v)
{
	struct walk w = {0};
	int result = 0;
	for (uint32_t i = 0; i < f->n && !result; i++) {
		leave_to(&w, f->nodes[i].parent, v);
		result = enter_frame(&w, f, t, i, flags, v);
	}
	leave_to(&w, FLAT_NONE, v);
	vec_fini(&w);
	return result;
}

void fold_rows_fini(struct fold_rows *r)
{
	free(r->data);
	free(r->by_func);
	free(r->self_values);
	free(r->total_values);
	map64_fini(&r->by_frame);
	*r = (struct fold_rows){0};
}

int fold_rows_reset(struct fold_rows *r, const struct tables *t, uint32_t nvalues)
{
	uint32_t funcs = tables_func_count(t) + 1;
	if (funcs > r->by_func_cap) {
		uint32_t cap = funcs + funcs / 2;
		free(r->by_func);
		r->by_func_cap = 0;
		r->by_func = malloc(cap * sizeof *r->by_func);
		if (!r->by_func)
			return -ENOMEM;
		r->by_func_cap = cap;
	}
	memset(r->by_func, 0, r->by_func_cap * sizeof *r->by_func);
	map64_clear(&r->by_frame);
	if (nvalues != r->nvalues) {
		free(r->data);
		r->data = NULL;
		r->cap = 0;
		r->nvalues = nvalues;
	}
	r->len = 0;
	return 0;
}

static int grow_rows(struct fold_rows *r)
{
	uint32_t cap = r->cap ? r->cap * 2 : 256;
	struct fold_row *data = realloc(r->data, cap * sizeof *data);
	if (!data)
		return -ENOMEM;
	r->data = data;
	if (r->nvalues) {
		size_t bytes = (size_t)cap * r->nvalues * sizeof(double);
		double *self = realloc(r->self_values, bytes);
		if (self)
			r->self_values = self;
		double *total = realloc(r->total_values, bytes);
		if (total)
			r->total_values = total;
		if (!self || !total)
			return -ENOMEM;
	}
	r->cap = cap;
	return 0;
}

struct fold_row *fold_rows_find(const struct fold_rows *r, fid_t fid)
{
	uint32_t i;
	if (fid < r->by_func_cap)
		return r->by_func[fid] ? &r->data[r->by_func[fid] - 1] : NULL;
	return map64_get(&r->by_frame, fid, &i) ? &r->data[i] : NULL;
}

struct fold_row *fold_rows_at(struct fold_rows *r, fid_t fid)
{
	struct fold_row *row = fold_rows_find(r, fid);
	if (row)
		return row;
	if (r->len == r->cap && grow_rows(r))
		return NULL;
	if (fid < r->by_func_cap)
		r->by_func[fid] = r->len + 1;
	else if (map64_put(&r->by_frame, fid, r->len))
		return NULL;
	row = &r->data[r->len];
	*row = (struct fold_row){.fid = fid, .node = FLAT_NONE};
	if (r->nvalues) {
		size_t bytes = r->nvalues * sizeof(double);
		memset(r->self_values + (size_t)r->len * r->nvalues, 0, bytes);
		memset(r->total_values + (size_t)r->len * r->nvalues, 0, bytes);
	}
	r->len++;
	return row;
}

static void add_values(double *to, const double *from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] += from[i];
}

struct folding {
	const struct flat *f;
	const struct tables *t;
	struct fold_rows *r;
	bool told; /* frames of tail calls may be among them */
	bool failed;
};

/* Add one instance at flat node @node to @row: total if it is the outermost, self if innermost. */
static void row_enter(struct folding *g, struct fold_row *row, uint32_t node, bool innermost)
{
	const struct flat_node *n = &g->f->nodes[node];
	size_t i = (size_t)(row - g->r->data) * g->r->nvalues;
	size_t from = (size_t)node * g->f->nvalues;

	if (!row->active++) {
		sums_add(&row->total, &n->total);
		add_values(g->r->total_values + i, g->f->total_values + from, g->r->nvalues);
	}
	if (!innermost)
		return;
	if (row->node == FLAT_NONE || n->self.weight > g->f->nodes[row->node].self.weight)
		row->node = node;
	sums_add(&row->self, &n->self);
	add_values(g->r->self_values + i, g->f->self_values + from, g->r->nvalues);
}

static void note_inlining(struct fold_row *row, const struct flat_node *n, func_id outer)
{
	row->inlined_weight += n->total.weight;
	if (row->outer == outer) {
		row->outer_weight += n->total.weight;
	} else if (n->total.weight > row->outer_weight) {
		row->outer = outer;
		row->outer_weight = n->total.weight;
	}
}

/* Does only DWARF tell of the frame at @told? Before row_enter of @node. */
static void note_told(struct folding *g, struct fold_row *row, uint32_t told, uint32_t node)
{
	if (g->told && !row->active &&
	    tables_frame_get(g->t, g->f->nodes[told].frame)->flags & FRAME_TAILCALL)
		row->told_weight += g->f->nodes[node].total.weight;
}

static void function_enter(void *ctx, struct visit *path, uint32_t depth)
{
	struct folding *g = ctx;
	struct visit *v = &path[depth - 1];
	struct fold_row *row = fold_rows_at(g->r, v->fid);
	if (!row) {
		g->failed = true;
		v->slot = UINT32_MAX;
		return;
	}
	v->slot = (uint32_t)(row - g->r->data);
	if (v->k + 1 < v->n && !row->active)
		note_inlining(row, &g->f->nodes[v->node], v->line[v->n - 1 - v->k].func);
	note_told(g, row, v->node, v->node);
	row_enter(g, row, v->node, v->k == 0);
}

static void function_leave(void *ctx, struct visit *path, uint32_t depth)
{
	struct folding *g = ctx;
	uint32_t slot = path[depth - 1].slot;
	if (slot != UINT32_MAX)
		g->r->data[slot].active--;
}

static int fold_with(struct folding *g, const struct tables *t, uint32_t flags,
		     const struct visitor *v)
{
	if (fold_rows_reset(g->r, t, g->f->nvalues) || fold_walk(g->f, t, flags, v) || g->failed)
		return -ENOMEM;
	return 0;
}

static int add_through(struct folding *g, const struct cell *c, fid_t fid)
{
	const struct fold_query *q = &g->f->query;
	struct fold_row *row = fold_rows_at(g->r, fid);
	uint32_t value;
	if (!row)
		return -ENOMEM;
	if (fold_takes(q, c))
		sums_add(&row->total, &(struct sums){c->samples, c->weight, c->weight_sq});
	if (g->r->nvalues && fold_takes_value(q, c, &value))
		g->r->total_values[(size_t)(row - g->r->data) * g->r->nvalues + value] +=
			(double)(int64_t)c->weight;
	return 0;
}

/* What shortened paths went through counts in total, of functions or of modules. */
static int fold_through(struct folding *g, bool modules, uint32_t flags)
{
	const struct cells *cells = g->f->through;
	int rc = 0;
	for (uint32_t i = 0; cells && i < cells->len && !rc; i++) {
		const struct cell *c = &cells->data[i];
		uint32_t value;
		if (!(c->node & THROUGH_MODULE) == modules ||
		    !(fold_takes(&g->f->query, c) || fold_takes_value(&g->f->query, c, &value)))
			continue;
		if (modules) {
			rc = add_through(g, c, c->node & ~THROUGH_MODULE);
			continue;
		}
		struct chain chain;
		chain_get(&chain, g->t, c->node, flags);
		for (uint32_t k = 0; k < chain.n && !rc; k++)
			rc = add_through(g, c, chain.lines[k].func);
	}
	return rc;
}

int fold_functions(struct fold_rows *r, const struct flat *f, const struct tables *t,
		   uint32_t flags)
{
	struct folding g = {.f = f, .t = t, .r = r, .told = flags & QUERY_TAIL_CALLS};
	int rc = fold_with(&g, t, flags, &(struct visitor){function_enter, function_leave, &g});
	return rc ? rc : fold_through(&g, false, flags);
}

static void module_enter(void *ctx, struct visit *path, uint32_t depth)
{
	struct folding *g = ctx;
	struct visit *v = &path[depth - 1];
	v->slot = UINT32_MAX;
	const struct frame *frame = tables_frame_get(g->t, g->f->nodes[v->node].frame);
	struct fold_row *row = fold_rows_at(g->r, frame->module);
	if (!row) {
		g->failed = true;
		return;
	}
	v->slot = (uint32_t)(row - g->r->data);
	row_enter(g, row, v->node, true);
}

int fold_modules(struct fold_rows *r, const struct flat *f, const struct tables *t)
{
	struct folding g = {.f = f, .t = t, .r = r};
	int rc = fold_with(&g, t, QUERY_FOLD_INLINE,
			   &(struct visitor){module_enter, function_leave, &g});
	return rc ? rc : fold_through(&g, true, 0);
}

struct edging {
	struct fold_edges *e;
	struct folding callers, callees;
	fid_t focus;
};

static void edge_enter(void *ctx, struct visit *path, uint32_t depth)
{
	struct edging *g = ctx;
	struct visit *v = &path[depth - 1];
	const struct flat *f = g->callers.f;

	if (v->fid == g->focus) {
		const struct flat_node *n = &f->nodes[v->node];
		size_t i = (size_t)v->node * f->nvalues;
		if (!g->e->focus.active++) {
			sums_add(&g->e->focus.total, &n->total);
			add_values(g->e->focus_total, f->total_values + i, f->nvalues);
		}
		if (v->k == 0) {
			sums_add(&g->e->focus.self, &n->self);
			add_values(g->e->focus_self, f->self_values + i, f->nvalues);
		}
	}
	if (depth < 2)
		return;
	fid_t caller = path[depth - 2].fid;
	if (v->fid == g->focus) {
		struct fold_row *row = fold_rows_at(g->callers.r, caller);
		if (row)
			note_told(&g->callers, row, path[depth - 2].node, v->node);
		if (row)
			row_enter(&g->callers, row, v->node, v->k == 0);
		g->callers.failed |= !row;
	}
	if (caller == g->focus) {
		struct fold_row *row = fold_rows_at(g->callees.r, v->fid);
		if (row)
			note_told(&g->callees, row, v->node, v->node);
		if (row)
			row_enter(&g->callees, row, v->node, v->k == 0);
		g->callees.failed |= !row;
	}
}

static void edge_leave(void *ctx, struct visit *path, uint32_t depth)
{
	struct edging *g = ctx;
	const struct visit *v = &path[depth - 1];
	if (v->fid == g->focus)
		g->e->focus.active--;
	if (depth < 2)
		return;
	fid_t caller = path[depth - 2].fid;
	struct fold_row *row;
	if (v->fid == g->focus && (row = fold_rows_find(g->callers.r, caller)) && row->active)
		row->active--;
	if (caller == g->focus && (row = fold_rows_find(g->callees.r, v->fid)) && row->active)
		row->active--;
}

void fold_edges_fini(struct fold_edges *e)
{
	fold_rows_fini(&e->callers);
	fold_rows_fini(&e->callees);
}

int fold_edges(struct fold_edges *e, const struct flat *f, const struct tables *t, uint32_t flags,
	       fid_t focus)
{
	bool told = flags & QUERY_TAIL_CALLS;
	struct edging g = {.e = e,
			   .callers = {.f = f, .t = t, .r = &e->callers, .told = told},
			   .callees = {.f = f, .t = t, .r = &e->callees, .told = told},
			   .focus = focus};
	e->focus = (struct fold_row){.fid = focus};
	memset(e->focus_self, 0, sizeof e->focus_self);
	memset(e->focus_total, 0, sizeof e->focus_total);
	if (fold_rows_reset(&e->callers, t, f->nvalues) ||
	    fold_rows_reset(&e->callees, t, f->nvalues))
		return -ENOMEM;
	int result = fold_walk(f, t, flags, &(struct visitor){edge_enter, edge_leave, &g});
	return g.callers.failed || g.callees.failed ? -ENOMEM : result;
}
