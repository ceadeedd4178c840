/*
 * foldline: folds one function's samples by line, inlined callee and address.
 *
 * Engine thread. One walk; recursion is counted once per line and per address, as for functions.
 */
#include "profile/foldline.h"

#include <errno.h>

#include "profile/fold.h"

struct coding {
	struct code_fold *c;
	const struct flat *f;
	const struct tables *t;
	fid_t focus;
};

void code_fold_fini(struct code_fold *c)
{
	struct line_folds *all[] = {&c->lines, &c->inlines, &c->addrs};
	for (int i = 0; i < 3; i++) {
		vec_fini(all[i]);
		map64_fini(&all[i]->index);
	}
}

uint64_t line_key(str_id file, uint32_t line, fid_t callee)
{
	return hash_pair((uint64_t)file << 32 | line, callee);
}

const struct line_fold *line_folds_find(const struct line_folds *l, uint64_t key)
{
	uint32_t i;
	return map64_get(&l->index, key, &i) ? &l->data[i] : NULL;
}

static struct line_fold *line_at(struct line_folds *l, uint64_t key, const struct line_fold *fresh)
{
	uint32_t i;
	if (map64_get(&l->index, key, &i))
		return &l->data[i];
	if (map64_put(&l->index, key, (uint32_t)l->len) || vec_push(l, *fresh))
		return NULL;
	return &l->data[l->len - 1];
}

static void add(struct coding *g, struct line_folds *l, uint64_t key, const struct line_fold *fresh,
		const struct flat_node *n)
{
	struct line_fold *row = line_at(l, key, fresh);
	if (!row) {
		g->c->failed = true;
		return;
	}
	const struct flat *f = g->f;
	size_t at = (size_t)(n - f->nodes) * f->nvalues;
	bool outermost = !row->active++;
	if (outermost)
		sums_add(&row->total, &n->total);
	sums_add(&row->self, &n->self);
	for (uint32_t i = 0; i < f->nvalues; i++) {
		row->self_values[i] += f->self_values[at + i];
		row->total_values[i] += outermost ? f->total_values[at + i] : 0;
	}
	if (fresh->addr < row->addr)
		row->addr = fresh->addr;
	if (n->total.weight > row->callee_weight) {
		row->callee_weight = n->total.weight;
		row->callee_file = fresh->callee_file;
		row->callee_line = fresh->callee_line;
	}
}

/* The instruction that was executing: a return address belongs to the call before it. */
static uint64_t code_address(const struct frame *frame)
{
	return frame->addr - (frame->flags & FRAME_RETURN && frame->addr ? 1 : 0);
}

struct keys {
	uint64_t line, inlined, addr;
	bool has_inlined;
	struct line_fold fresh;
};

static struct keys keys_of(const struct coding *g, const struct visit *v)
{
	const struct flat_node *n = &g->f->nodes[v->node];
	const struct frame *frame = tables_frame_get(g->t, n->frame);
	struct keys k = {.addr = code_address(frame)};
	k.fresh = (struct line_fold){.addr = k.addr};
	if (v->line) {
		k.fresh.file = v->line->file;
		k.fresh.line = v->line->line;
	}
	k.line = line_key(k.fresh.file, k.fresh.line, 0);
	if (v->k > 0) {
		const struct loc_line *callee = &v->line[-1];
		k.has_inlined = true;
		k.fresh.callee_file = callee->file;
		k.fresh.callee_line = callee->line;
		k.inlined = line_key(k.fresh.file, k.fresh.line, callee->func);
	}
	return k;
}

static void code_enter(void *ctx, struct visit *path, uint32_t depth)
{
	struct coding *g = ctx;
	const struct visit *v = &path[depth - 1];
	if (v->fid != g->focus)
		return;
	const struct flat_node *n = &g->f->nodes[v->node];
	struct code_fold *c = g->c;
	struct keys k = keys_of(g, v);

	if (!c->active++)
		sums_add(&c->total, &n->total);
	if (v->k == 0)
		sums_add(&c->self, &n->self);
	sums_add(&c->code, &n->self);
	c->module = tables_frame_get(g->t, n->frame)->module;
	add(g, &c->lines, k.line, &k.fresh, n);
	add(g, &c->addrs, k.addr, &k.fresh, n);
	if (k.has_inlined) {
		k.fresh.callee = v->line[-1].func;
		add(g, &c->inlines, k.inlined, &k.fresh, n);
	}
}

static void leave(struct line_folds *l, uint64_t key)
{
	uint32_t i;
	if (map64_get(&l->index, key, &i) && l->data[i].active)
		l->data[i].active--;
}

static void code_leave(void *ctx, struct visit *path, uint32_t depth)
{
	struct coding *g = ctx;
	const struct visit *v = &path[depth - 1];
	if (v->fid != g->focus)
		return;
	struct keys k = keys_of(g, v);
	g->c->active--;
	leave(&g->c->lines, k.line);
	leave(&g->c->addrs, k.addr);
	if (k.has_inlined)
		leave(&g->c->inlines, k.inlined);
}

int fold_code(struct code_fold *c, const struct flat *f, const struct tables *t, uint32_t flags,
	      fid_t focus)
{
	struct coding g = {.c = c, .f = f, .t = t, .focus = focus};
	int result = fold_walk(f, t, flags & ~(uint32_t)QUERY_ADDRESSES,
			       &(struct visitor){code_enter, code_leave, &g});
	return c->failed ? -ENOMEM : result;
}
