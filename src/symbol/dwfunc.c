/*
 * dwfunc: the index of one unit: its functions by address, and each one's inlined code.
 *
 * The first walk over a unit notes only entries with code; abbreviations tell which, so the rest is
 * skipped, mostly by one addition. A function's own entries are walked when an address in it is
 * asked for. Depth, ranges and steps are bounded. Inside guards.
 */
#include <dwarf.h>

#include "dw.h"

#define DEPTH_MAX 512      /* nesting of entries that is followed */
#define FUNCS_MAX 8000000u /* ranges of functions in one unit */
#define NODES_MAX 1000000u /* inlined calls in one function */
#define SPANS_MAX 4000000u /* ranges of those */
#define CHAIN_MAX 16       /* references followed from one entry */

/* ---- the cache ---- */

static void unlink_index(struct dw_cache *cache, struct dw_index *i)
{
	*(i->newer ? &i->newer->older : &cache->newest) = i->older;
	*(i->older ? &i->older->newer : &cache->oldest) = i->newer;
	i->newer = i->older = NULL;
}

static void link_newest(struct dw_cache *cache, struct dw_index *i)
{
	i->newer = NULL;
	i->older = cache->newest;
	*(cache->newest ? &cache->newest->newer : &cache->oldest) = i;
	cache->newest = i;
}

static void tree_free(struct dw_tree *t)
{
	vec_fini(&t->nodes);
	vec_fini(&t->spans);
	free(t);
}

void dw_index_drop(struct dw_index *i)
{
	struct dw_cache *cache = i->unit->file->cache;

	unlink_index(cache, i);
	cache->bytes -= i->bytes;
	i->unit->index = NULL;
	vec_fini(&i->funcs);
	free(i->reach);
	vec_fini(&i->by_origin);
	for (size_t t = 0; t < i->trees.len; t++)
		tree_free(i->trees.data[t]);
	vec_fini(&i->trees);
	map64_fini(&i->tree_of);
	dw_lines_fini(&i->lines);
	dw_lines_fini(&i->decl_lines);
	free(i);
}

static void account(struct dw_index *i)
{
	struct dw_cache *cache = i->unit->file->cache;
	size_t bytes = sizeof *i + i->funcs.cap * (sizeof *i->funcs.data + sizeof *i->reach) +
		       i->by_origin.cap * sizeof *i->by_origin.data + dw_lines_bytes(&i->lines) +
		       dw_lines_bytes(&i->decl_lines) + i->tree_of.capacity * 13;

	for (size_t t = 0; t < i->trees.len; t++)
		bytes += sizeof(struct dw_tree) +
			 i->trees.data[t]->nodes.cap * sizeof(struct dw_node) +
			 i->trees.data[t]->spans.cap * sizeof(struct dw_inline);
	cache->bytes += bytes - i->bytes;
	i->bytes = bytes;
	while (cache->bytes > cache->cap && cache->oldest != i)
		dw_index_drop(cache->oldest);
}

/* ---- functions ---- */

struct func_to {
	struct dw_index *i;
	struct dw_func f;
};

static bool add_func(void *ctx, uint64_t low, uint64_t high)
{
	struct func_to *to = ctx;

	to->f.low = low;
	to->f.high = high;
	return to->i->funcs.len < FUNCS_MAX && !vec_push(&to->i->funcs, to->f);
}

static int func_order(const void *a, const void *b)
{
	const struct dw_func *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high) /* the wider first: the inner one is found first, backwards */
		return x->high > y->high ? -1 : 1;
	return (x->die > y->die) - (x->die < y->die);
}

static int origin_order(const void *a, const void *b, void *ctx)
{
	const struct dw_index *i = ctx;
	uint32_t x = i->funcs.data[*(const uint32_t *)a].origin;
	uint32_t y = i->funcs.data[*(const uint32_t *)b].origin;

	return (x > y) - (x < y);
}

static uint32_t own_origin(const struct dw_unit *u, const struct dw_die *d)
{
	const struct dw_val *v = &d->v[DW_S_ORIGIN];

	switch (v->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata: return v->u < u->end - u->offset ? (uint32_t)v->u : 0;
	default: return 0;
	}
}

static int walk_unit(struct dw_index *i, const struct dw_unit *u)
{
	struct dw_cur c = dw_unit_cur(u, u->die);
	struct dw_die d;

	while (c.p < c.end && dw_die_start(u, &c, &d)) {
		struct func_to to = {.i = i, .f.die = d.offset};

		if (!d.abbrev)
			continue;
		if (d.abbrev->tag != DW_TAG_subprogram || !d.abbrev->has_pc) {
			dw_die_skip(u, &c, &d);
			continue;
		}
		if (!dw_die_attrs(u, &c, &d))
			break;
		to.f.origin = own_origin(u, &d);
		if (!dw_ranges(u, &d, add_func, &to))
			++*u->file->damage;
	}
	return c.bad ? -EBADMSG : 0;
}

static int sort_funcs(struct dw_index *i)
{
	uint64_t reach = 0;

	if (!i->funcs.len)
		return 0;
	qsort(i->funcs.data, i->funcs.len, sizeof *i->funcs.data, func_order);
	i->reach = malloc(i->funcs.len * sizeof *i->reach);
	if (!i->reach)
		return -ENOMEM;
	for (size_t n = 0; n < i->funcs.len; n++) {
		if (i->funcs.data[n].high > reach)
			reach = i->funcs.data[n].high;
		i->reach[n] = reach;
		if (i->funcs.data[n].origin && vec_push(&i->by_origin, (uint32_t)n))
			return -ENOMEM;
	}
	if (i->by_origin.len)
		qsort_r(i->by_origin.data, i->by_origin.len, sizeof *i->by_origin.data,
			origin_order, i);
	return 0;
}

static void build(struct dw_index *i)
{
	struct dw_unit *u = i->unit;
	const struct dw_unit *addresses = u->skeleton ? u->skeleton : u;

	if (walk_unit(i, u))
		++*u->file->damage;
	if (sort_funcs(i))
		i->funcs.len = i->by_origin.len = 0;
	if (dw_lines_read(addresses, &i->lines, true) == -EBADMSG)
		++*u->file->damage;
	i->built = true;
	dw_touched(u->file, u->end - u->offset);
}

struct dw_index *dw_index_get(struct dw_unit *u)
{
	struct dw_cache *cache = u->file->cache;
	struct dw_index *i = u->index;

	if (i && i->built) {
		unlink_index(cache, i);
		link_newest(cache, i);
		return i;
	}
	if (i) /* a guard ended the work half way */
		dw_index_drop(i);
	if (u->refused || dw_root(u) || !(i = calloc(1, sizeof *i)))
		return NULL;
	map64_init(&i->tree_of);
	i->unit = u;
	u->index = i;
	link_newest(cache, i);
	build(i);
	account(i);
	return i;
}

const struct dw_func *dw_index_func(const struct dw_index *i, uint64_t addr)
{
	size_t lo = 0, hi = i->funcs.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (i->funcs.data[mid].low <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (unsigned steps = 0; lo && i->reach[lo - 1] > addr && steps < 100000; lo--, steps++)
		if (i->funcs.data[lo - 1].high > addr)
			return &i->funcs.data[lo - 1];
	return NULL;
}

/* ---- inlined code ---- */

struct span_to {
	struct dw_tree *t;
	struct dw_inline s;
};

static bool add_span(void *ctx, uint64_t low, uint64_t high)
{
	struct span_to *to = ctx;

	to->s.low = low;
	to->s.high = high;
	return to->t->spans.len < SPANS_MAX && !vec_push(&to->t->spans, to->s);
}

static int add_node(struct dw_tree *t, const struct dw_unit *u, const struct dw_die *d,
		    uint32_t parent, uint16_t depth)
{
	const struct dw_val *v = d->v;
	struct span_to to = {t, {.parent = parent, .node = (uint32_t)t->nodes.len, .depth = depth}};
	struct dw_node node = {.die = d->offset, .parent = parent};

	node.call_line = (uint32_t)v[DW_S_CALL_LINE].u;
	node.call_file = (uint32_t)v[DW_S_CALL_FILE].u;
	node.call_column = v[DW_S_CALL_COLUMN].u > UINT16_MAX ? UINT16_MAX
							      : (uint16_t)v[DW_S_CALL_COLUMN].u;
	if (t->nodes.len >= NODES_MAX || vec_push(&t->nodes, node))
		return -ENOMEM;
	if (!dw_ranges(u, d, add_span, &to))
		++*u->file->damage;
	if (depth >= t->depths)
		t->depths = depth + 1u;
	return 0;
}

/* Where we are in the nesting of entries: which inlined call holds what follows. */
struct level {
	uint32_t node;
	uint16_t depth; /* of inlined calls */
	bool off;       /* inside a nested function: its code is its own */
};

static int walk_func(struct dw_tree *t, const struct dw_unit *u)
{
	struct dw_cur c = dw_unit_cur(u, t->die);
	struct level stack[DEPTH_MAX];
	unsigned top = 0;
	struct dw_die d;

	if (!dw_die_start(u, &c, &d) || !d.abbrev || !dw_die_skip(u, &c, &d))
		return -EBADMSG;
	if (!d.abbrev->children)
		return 0;
	stack[0] = (struct level){UINT32_MAX, 0, false};
	while (dw_die_start(u, &c, &d)) {
		struct level in = stack[top];

		if (!d.abbrev) {
			if (!top)
				return 0;
			top--;
			continue;
		}
		if (d.abbrev->tag == DW_TAG_inlined_subroutine && !in.off) {
			if (!dw_die_attrs(u, &c, &d) || add_node(t, u, &d, in.node, in.depth))
				break;
			in.node = (uint32_t)t->nodes.len - 1;
			in.depth++;
		} else {
			if (!dw_die_skip(u, &c, &d))
				break;
			in.off |= d.abbrev->tag == DW_TAG_subprogram;
		}
		if (d.abbrev->children && ++top == DEPTH_MAX)
			break;
		if (d.abbrev->children)
			stack[top] = in;
		if (c.p >= c.end)
			return 0;
	}
	return -EBADMSG;
}

static int inline_order(const void *a, const void *b)
{
	const struct dw_inline *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* By depth, which are few, then within each: what a compiler lists is nearly in order. */
static int sort_spans(struct dw_tree *t)
{
	size_t *at = calloc(t->depths + 1u, sizeof *at), n = t->spans.len;
	struct dw_inline *by_depth = malloc(n * sizeof *by_depth), *s = t->spans.data;

	if (!at || !by_depth) {
		free(at);
		free(by_depth);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		at[s[i].depth + 1]++;
	for (uint32_t d = 1; d <= t->depths; d++)
		at[d] += at[d - 1];
	for (size_t i = 0; i < n; i++)
		by_depth[at[s[i].depth]++] = s[i];
	/* Now at[d] is where depth d ends. */
	for (size_t d = 0, from = 0; d < t->depths; from = at[d++])
		for (size_t i = from + 1; i < at[d]; i++)
			if (inline_order(&by_depth[i - 1], &by_depth[i]) > 0) {
				qsort(by_depth + from, at[d] - from, sizeof *by_depth,
				      inline_order);
				break;
			}
	memcpy(s, by_depth, n * sizeof *s);
	free(by_depth);
	free(at);
	return 0;
}

struct dw_tree *dw_index_tree(struct dw_index *i, const struct dw_func *f)
{
	struct dw_tree *t;
	uint32_t at;

	if (map64_get(&i->tree_of, f->die, &at) && i->trees.data[at]->built)
		return i->trees.data[at];
	t = calloc(1, sizeof *t);
	if (!t || vec_push(&i->trees, t)) {
		free(t);
		return NULL;
	}
	t->die = f->die;
	if (walk_func(t, i->unit))
		++*i->unit->file->damage;
	if (t->spans.len && sort_spans(t))
		t->spans.len = 0;
	t->built = true;
	(void)map64_put(&i->tree_of, f->die, (uint32_t)i->trees.len - 1);
	account(i);
	return t;
}

/* First span that lies behind (@depth, @addr). */
static size_t span_upper(const struct dw_tree *t, uint16_t depth, uint64_t addr)
{
	size_t lo = 0, hi = t->spans.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct dw_inline *s = &t->spans.data[mid];

		if (s->depth < depth || (s->depth == depth && s->low <= addr))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t dw_tree_find(const struct dw_tree *t, uint64_t addr)
{
	for (uint32_t depth = t->depths; depth--;) {
		size_t at = span_upper(t, (uint16_t)depth, addr);

		/* Spans of one depth are disjoint; a few steps back forgive a careless compiler. */
		for (unsigned steps = 0; at && steps < 4; at--, steps++) {
			const struct dw_inline *s = &t->spans.data[at - 1];

			if (s->depth != depth)
				break;
			if (addr < s->high)
				return s->node;
		}
	}
	return UINT32_MAX;
}

/* ---- names ---- */

void dw_names(struct dw_unit *u, uint64_t die, struct dw_names *ret_names)
{
	const struct dw_file *file = u->file;

	memset(ret_names, 0, sizeof *ret_names);
	/* Abstract instances, specifications: each adds what is still missing. A cycle ends. */
	for (int i = 0; u && i < CHAIN_MAX; i++) {
		struct dw_cur c = dw_unit_cur(u, die);
		const struct dw_val *next;
		struct dw_die d;

		if (!dw_die_read(u, &c, &d))
			return;
		ret_names->last_unit = u;
		ret_names->last = die;
		if (!ret_names->name)
			ret_names->name = dw_val_text(u, &d.v[DW_S_NAME]);
		if (!ret_names->linkage)
			ret_names->linkage = dw_val_text(u, &d.v[DW_S_LINKAGE]);
		if (!ret_names->decl_line && d.v[DW_S_DECL_LINE].form) {
			ret_names->decl_line = (uint32_t)d.v[DW_S_DECL_LINE].u;
			ret_names->decl_file = d.v[DW_S_DECL_FILE].u;
			ret_names->decl_unit = d.v[DW_S_DECL_FILE].form ? u : NULL;
		} else if (ret_names->decl_line && !ret_names->decl_unit &&
			   d.v[DW_S_DECL_FILE].form) {
			ret_names->decl_file = d.v[DW_S_DECL_FILE].u;
			ret_names->decl_unit = u;
		}
		ret_names->external |= d.v[DW_S_EXTERNAL].u != 0;
		next = d.v[DW_S_ORIGIN].form ? &d.v[DW_S_ORIGIN] : &d.v[DW_S_SPEC];
		if (!next->form)
			return;
		u = dw_val_ref(u, next, &die);
		if (u && !ret_names->abstract && next == &d.v[DW_S_ORIGIN] && u->file == file)
			ret_names->abstract = die;
	}
}
