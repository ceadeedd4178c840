/*
 * show_tree: call paths, top-down or bottom-up, with chains of single children on one row.
 *
 * Engine thread. Rows come depth first from what is open. A filter keeps the paths that pass
 * through a matching function.
 */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "engine/build.h"
#include "profile/pathtree.h"

#define CHAIN_SHOWN 4 /* of a folded chain; the middle of longer ones is left out on screen */
#define CHAIN_MAX   64
#define DEPTH_MAX   4000 /* of rows: bounds the recursion */

enum { MATCHES_BELOW = 1 << 0, MATCHES_ABOVE = 1 << 1 };

struct tree_show {
	struct build *b;
	struct pathtree tree;
	uint8_t *matches;   /* by flat node, NULL: no filter */
	bool full;          /* as many rows as allowed */
	struct strbuf text; /* of a chain in the making */
};

/* Does any function of the node's chain match? Answers are kept by function. */
static bool node_matches(struct build *b, uint8_t *memo, uint32_t memo_size, uint32_t node)
{
	struct chain c;
	chain_get(&c, b->t, b->e->flat.nodes[node].frame, b->q->flags);
	for (uint32_t k = 0; k < c.n; k++) {
		fid_t fid = c.lines[k].func;
		uint8_t known = fid < memo_size ? memo[fid] : 0;
		if (!known)
			known = fid_matches(b, fid) ? 2 : 1;
		if (fid < memo_size)
			memo[fid] = known;
		if (known == 2)
			return true;
	}
	return false;
}

static void find_matches(struct tree_show *s)
{
	struct build *b = s->b;
	const struct flat *f = &b->e->flat;
	uint32_t memo_size = tables_func_count(b->t) + 1;
	uint8_t *memo = calloc(memo_size, 1);

	if (!b->q->filter[0])
		goto out;
	s->matches = calloc(f->n + 1, 1);
	if (!s->matches || !memo) {
		b->failed = true;
		goto out;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t parent = f->nodes[i].parent;
		if (node_matches(b, memo, memo_size, i))
			s->matches[i] = MATCHES_BELOW | MATCHES_ABOVE;
		else if (parent != FLAT_NONE)
			s->matches[i] = s->matches[parent] & MATCHES_ABOVE;
	}
	for (uint32_t i = f->n; i-- > 0;)
		if (s->matches[i] & MATCHES_BELOW && f->nodes[i].parent != FLAT_NONE)
			s->matches[f->nodes[i].parent] |= MATCHES_BELOW;
out:
	free(memo);
}

/* Does a path through this tree node pass through a match? Either way up or down counts. */
static bool kept(const struct tree_show *s, const struct tree_node *n)
{
	if (!s->matches)
		return true;
	for (uint32_t i = 0; i < n->nplaces; i++)
		if (s->matches[s->tree.places.data[n->places + i].node])
			return true;
	return n->node == FLAT_NONE;
}

static struct row_key key_of(const struct tree_node *n)
{
	return (struct row_key){.kind = ROW_NODE, .a = n->fid, .b = n->hash};
}

/* The end of a chain in which each has one child that takes all of it. */
static uint32_t chain_end(struct tree_show *s, uint32_t node, uint32_t *path, uint32_t *ret_n)
{
	uint32_t n = 0;
	path[n++] = node;
	for (;;) {
		pathtree_open(&s->tree, node);
		const struct tree_node *x = &s->tree.nodes.data[node];
		if (x->fid == 0 || x->nchildren != 1 || n == CHAIN_MAX)
			break;
		const struct tree_node *child = &s->tree.nodes.data[x->children];
		bool ends_here = s->b->q->flags & QUERY_BOTTOM_UP
					 ? child->total.weight != x->total.weight
					 : x->self.samples || x->self.weight;
		if (ends_here)
			break;
		node = x->children;
		path[n++] = node;
	}
	*ret_n = n;
	return node;
}

/* Of its heaviest place. */
static uint32_t frame_flags_of(const struct tree_show *s, uint32_t node)
{
	uint32_t at = s->tree.nodes.data[node].node;
	return at == FLAT_NONE ? 0
			       : tables_frame_get(s->b->t, s->b->e->flat.nodes[at].frame)->flags;
}

static const char *chain_text(struct tree_show *s, const uint32_t *path, uint32_t n, bool whole)
{
	struct build *b = s->b;
	const char *arrow = b->q->flags & QUERY_BOTTOM_UP ? " ◂ " : " ▸ ";

	strbuf_reset(&s->text);
	for (uint32_t i = 0; i < n; i++) {
		struct fid_text x;
		if (i)
			strbuf_puts(&s->text, arrow);
		if (!whole && n > CHAIN_SHOWN && i == 2) {
			strbuf_puts(&s->text, "…");
			i = n - 2;
			continue;
		}
		fid_text(b, s->tree.nodes.data[path[i]].fid, &x);
		strbuf_puts(&s->text, whole ? x.full : x.name);
		if (i + 1 < n && frame_flags_of(s, path[i]) & (FRAME_GUESS | FRAME_TAILCALL))
			strbuf_puts(&s->text, " ?"); /* the last one's is the row's */
	}
	const char *text = arena_strdup(&b->box->arena, s->text.buf ? s->text.buf : "");
	b->failed |= !text || s->text.failed;
	return text ? text : "";
}

/*
 * Top-down, where the caller calls from: the line in the caller, or in the function itself when
 * outermost. Bottom-up, the line in the function itself: where it calls the row above.
 */
static void fill_call_site(struct tree_show *s, struct row *row, const struct tree_node *n)
{
	struct build *b = s->b;
	uint32_t node = n->node, k = n->k, up, up_k;
	if (!(b->q->flags & QUERY_BOTTOM_UP) && pathtree_caller(&s->tree, node, k, &up, &up_k)) {
		node = up;
		k = up_k;
	}
	struct chain c;
	chain_get(&c, b->t, b->e->flat.nodes[node].frame, b->q->flags);
	if (k < c.n) {
		row->file = tables_text(b->t, c.lines[k].file);
		row->line = c.lines[k].line;
	}
}

static void fill_node(struct tree_show *s, struct row *row, const uint32_t *path, uint32_t n)
{
	struct build *b = s->b;
	const struct tree_node *x = &s->tree.nodes.data[path[n - 1]];
	const struct tree_node *first = b->q->flags & QUERY_BOTTOM_UP ? &s->tree.nodes.data[path[0]]
								      : x;
	struct fid_text text;

	if (x->node == FLAT_NONE) {
		row->key = (struct row_key){.kind = ROW_NODE};
		row->name = row->full = b->q->task ? "[this thread]" : "[all threads]";
		struct sums all = b->e->flat.all;
		if (!(b->q->flags & QUERY_BOTTOM_UP))
			all.weight += b->unsampled_weight;
		build_shares(b, row, &x->self, &all);
		metrics_fill(b, row, NULL, b->e->flat.all_values);
		return;
	}
	fid_text(b, x->fid, &text);
	row->key = key_of(x);
	row->flags = text.flags;
	row->module = text.module;
	row->addr = text.addr;
	row->name = n > 1 ? chain_text(s, path, n, false) : text.name;
	row->full = n > 1 ? chain_text(s, path, n, true) : text.full;
	if (x->inlined)
		row->flags |= ROW_INLINED;
	if (b->e->flat.nodes[x->node].frame == FRAME_TRUNCATED)
		row->flags |= ROW_TRUNCATED;
	uint32_t frame_flags = frame_flags_of(s, path[n - 1]);
	if (frame_flags & (FRAME_GUESS | FRAME_TAILCALL))
		row->flags |= ROW_UNCERTAIN;
	if (x->inlined)
		row->note = "inlined";
	else if (frame_flags & FRAME_TAILCALL)
		row->note = "tail call";
	fill_call_site(s, row, first);
	if (b->q->flags & QUERY_BOTTOM_UP && n > 1) /* the nearest caller is what one goes to */
		row->go = (struct row_key){.kind = ROW_FUNCTION, .a = first->fid};
	build_shares(b, row, &x->self, &x->total);
	double self[FLAT_VALUES_MAX], total[FLAT_VALUES_MAX];
	pathtree_values(&s->tree, path[n - 1], self, total);
	metrics_fill(b, row, self, total);
}

/* A row of its own for CPU time that was not sampled, under the root. */
static void emit_unsampled(struct tree_show *s, uint16_t depth)
{
	struct build *b = s->b;
	if (!b->unsampled_weight || b->q->flags & QUERY_BOTTOM_UP ||
	    !build_matches(b, "[unsampled]"))
		return;
	s->full |= b->nrows >= b->max_rows; /* the last place is for what tells so */
	struct row *row = s->full ? NULL : build_row(b);
	if (!row)
		return;
	build_unsampled(b, row);
	row->key = (struct row_key){.kind = ROW_NODE, .a = row->key.a, .b = FRAME_UNSAMPLED};
	row->depth = depth;
}

static uint16_t kept_children(const struct tree_show *s, const struct tree_node *n)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < n->nchildren; i++)
		count += kept(s, &s->tree.nodes.data[n->children + i]);
	return count < UINT16_MAX ? (uint16_t)count : UINT16_MAX;
}

/*
 * Is a child open? Then its parent is: a chain whose end was opened splits when a new branch grows
 * out of its middle, and must not close by that.
 */
static bool child_listed(struct tree_show *s, uint32_t node)
{
	uint32_t path[CHAIN_MAX], n;
	uint32_t first = s->tree.nodes.data[node].children;
	uint32_t count = s->tree.nodes.data[node].nchildren;

	for (uint32_t i = 0; i < count && s->b->q->nexpanded; i++) {
		uint32_t end = chain_end(s, first + i, path, &n);
		struct row_key key = key_of(&s->tree.nodes.data[end]);

		if (build_expanded(s->b, &key))
			return true;
	}
	return false;
}

static void emit_node(struct tree_show *s, uint32_t node, uint16_t depth)
{
	struct build *b = s->b;
	uint32_t path[CHAIN_MAX], n;
	if (b->nrows >= b->max_rows || depth > DEPTH_MAX) {
		s->full = true;
		return;
	}
	if (depth == 0 && b->q->flags & QUERY_BOTTOM_UP) { /* the function itself stands alone */
		pathtree_open(&s->tree, node);
		path[0] = node;
		n = 1;
	} else {
		node = chain_end(s, node, path, &n);
	}
	struct row *row = build_row(b);
	if (!row)
		return;
	fill_node(s, row, path, n);
	row->depth = depth;
	row->children = kept_children(s, &s->tree.nodes.data[node]);
	if (!row->children)
		return;
	bool all = b->q->flags & QUERY_EXPAND_ALL;
	bool listed = build_expanded(b, &row->key) != NULL;
	bool open = all ? !listed : listed || child_listed(s, node);
	row->flags |= ROW_EXPANDABLE | (open ? ROW_EXPANDED : 0);
	if (!open)
		return;
	uint32_t first = s->tree.nodes.data[node].children;
	uint32_t count = s->tree.nodes.data[node].nchildren;
	for (uint32_t i = 0; i < count && !s->full; i++)
		if (kept(s, &s->tree.nodes.data[first + i]))
			emit_node(s, first + i, (uint16_t)(depth + 1));
	if (node == PATHTREE_ROOT)
		emit_unsampled(s, (uint16_t)(depth + 1));
}

static void emit_more(struct tree_show *s)
{
	if (s->full)
		build_rest(s->b, "… more: close some branches to see the rest");
}

void show_tree(struct build *b)
{
	struct tree_show s = {.b = b};
	strbuf_init(&s.text);
	bool up = b->q->flags & QUERY_BOTTOM_UP;
	fid_t focus = up && b->q->focus.kind && b->q->focus.kind != ROW_MODULE &&
				      !row_is_group(&b->q->focus)
			      ? fid_settle(b, b->q->focus.a)
			      : 0;

	if (pathtree_init(&s.tree, &b->e->flat, b->t, b->q->flags, focus))
		b->failed = true;
	find_matches(&s);
	if (!b->failed && build_reserve(b, ANSWER_ROWS_MAX) && b->e->flat.n) {
		pathtree_open(&s.tree, PATHTREE_ROOT);
		if (focus && s.tree.nodes.data[PATHTREE_ROOT].nchildren == 1)
			emit_node(&s, s.tree.nodes.data[PATHTREE_ROOT].children, 0);
		else if (!focus)
			emit_node(&s, PATHTREE_ROOT, 0);
		emit_more(&s);
	}
	b->failed |= s.tree.failed;
	free(s.matches);
	strbuf_fini(&s.text);
	pathtree_fini(&s.tree);
}
