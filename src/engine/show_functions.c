/*
 * show_functions: the Functions view, and Modules, which is the same with modules for rows.
 *
 * Engine thread.
 */
#include <stdlib.h>

#include "engine/build.h"
#include "engine/calls.h"

/* Derived columns of a row of the fold. */
static void fill_metrics(struct build *b, struct row *row, const struct fold_row *r)
{
	const struct fold_rows *rows = &b->e->rows;
	size_t i = (size_t)(r - rows->data) * rows->nvalues;
	metrics_fill(b, row, rows->self_values + i, rows->total_values + i);
}

/* What a row is sorted by; text columns ask for the name. */
static double number_key(const struct build *b, const struct fold_row *r)
{
	const struct fold_rows *rows = &b->e->rows;
	size_t i = (size_t)(r - rows->data) * rows->nvalues;
	if (b->q->sort >= COLUMN_METRIC && b->q->sort < COLUMN_CELL)
		return metrics_key(b, b->q->sort, rows->self_values + i, rows->total_values + i);
	switch (b->q->sort) {
	case COLUMN_TOTAL: return (double)r->total.weight;
	case COLUMN_SAMPLES: return (double)r->self.samples;
	case COLUMN_TOTAL_SAMPLES: return (double)r->total.samples;
	default: return (double)r->self.weight;
	}
}

/* The key of time that no sample covered, and of which no metric and no address is known. */
static double unsampled_key(const struct build *b)
{
	switch (b->q->sort) {
	case COLUMN_SAMPLES:
	case COLUMN_TOTAL_SAMPLES: return 0;
	default:
		return b->q->sort >= COLUMN_ADDRESS ? CANDIDATE_UNKNOWN
						    : (double)b->unsampled_weight;
	}
}

static bool by_text(const struct build *b)
{
	return b->q->sort == COLUMN_NAME || b->q->sort == COLUMN_MODULE;
}

/* Of a row of the fold, sorted by a number. */
static struct candidate candidate_of(const struct build *b, uint32_t index)
{
	const struct fold_row *r = &b->e->rows.data[index];

	return (struct candidate){
		.index = index, .key = number_key(b, r), .second = (double)r->total.weight};
}

static struct candidate unsampled_candidate(const struct build *b)
{
	return (struct candidate){.index = UINT32_MAX,
				  .key = unsampled_key(b),
				  .second = (double)b->unsampled_weight,
				  .text = by_text(b) ? "[unsampled]" : NULL};
}

static uint64_t address_of(struct build *b, fid_t fid)
{
	struct fid_text x;
	fid_text(b, fid, &x);
	return x.addr;
}

static const char *sort_text(struct build *b, fid_t fid)
{
	struct fid_text x;
	fid_text(b, fid, &x);
	return b->q->sort == COLUMN_MODULE ? x.module : x.name;
}

static void fill_function(struct build *b, struct row *row, const struct fold_row *r)
{
	fid_row(b, row, ROW_FUNCTION, r->fid);
	if (r->inlined_weight * 2 > r->total.weight) {
		struct fid_text outer;
		fid_text(b, r->outer, &outer);
		row->flags |= ROW_INLINED;
		row->note = build_text(b, "◂ %s", outer.name);
	}
	if (r->told_weight && r->told_weight == r->total.weight) {
		row->flags |= ROW_UNCERTAIN;
		row->note = "tail call";
	}
	build_shares(b, row, &r->self, &r->total);
	fill_metrics(b, row, r);
	row->hint = calls_text(b, r->fid, row->total, row->total_margin);
}

/* "… 1,204 more" with their share of self; their totals overlap. */
static void fill_rest(struct build *b, const struct candidate *c, uint32_t from, uint32_t n)
{
	struct row *row = build_rest(b, build_text(b, "… %u more", n - from));
	struct sums self = {0}, none = {0};
	if (!row)
		return;
	for (uint32_t i = from; i < n; i++)
		if (c[i].index != UINT32_MAX)
			sums_add(&self, &b->e->rows.data[c[i].index].self);
		else
			self.weight += b->unsampled_weight;
	build_shares(b, row, &self, &none);
	row->total = -1;
	row->flags = 0;
}

typedef void (*fill_fn)(struct build *b, struct row *row, const struct fold_row *r);

/* Sort @c, then make rows of the first. UINT32_MAX as index stands for [unsampled]. */
static void emit(struct build *b, struct candidate *c, uint32_t n, fill_fn fill)
{
	candidates_sort(c, n, b->q->flags & QUERY_REVERSE);
	if (!build_reserve(b, n))
		return;
	for (uint32_t i = 0; i < n && i < b->max_rows; i++) {
		struct row *row = build_row(b);
		if (c[i].index == UINT32_MAX)
			build_unsampled(b, row);
		else
			fill(b, row, &b->e->rows.data[c[i].index]);
	}
	if (!by_text(b) && !(b->q->flags & QUERY_REVERSE))
		rows_mark_ties(b->rows, b->nrows, b->q->sort == COLUMN_TOTAL);
	if (n > b->max_rows)
		fill_rest(b, c, b->max_rows, n);
}

static bool narrowed_out(const struct build *b, fid_t fid)
{
	if (b->q->focus.kind != ROW_MODULE)
		return false;
	module_id module = fid & FID_FRAME ? tables_frame_get(b->t, fid & ~FID_FRAME)->module
					   : tables_func_get(b->t, fid)->module;
	return module != b->q->focus.a;
}

void show_functions(struct build *b)
{
	struct fold_rows *rows = &b->e->rows;
	if (fold_functions(rows, &b->e->flat, b->t, b->q->flags)) {
		b->failed = true;
		return;
	}
	struct candidate *c = malloc((rows->len + 1) * sizeof *c);
	uint32_t n = 0;
	for (uint32_t i = 0; c && i < rows->len; i++) {
		const struct fold_row *r = &rows->data[i];
		if (narrowed_out(b, r->fid) || !fid_matches(b, r->fid))
			continue;
		c[n] = candidate_of(b, i);
		if (b->q->sort == COLUMN_ADDRESS)
			candidate_address(&c[n], address_of(b, r->fid));
		if (by_text(b))
			c[n].text = sort_text(b, r->fid);
		n++;
	}
	if (c && b->unsampled_weight && b->q->focus.kind != ROW_MODULE &&
	    build_matches(b, "[unsampled]"))
		c[n++] = unsampled_candidate(b);
	if (c)
		emit(b, c, n, fill_function);
	else
		b->failed = true;
	free(c);
}

static void fill_module(struct build *b, struct row *row, const struct fold_row *r)
{
	const struct module *m = tables_module_get(b->t, r->fid);
	row->key = (struct row_key){.kind = ROW_MODULE, .a = r->fid};
	row->name = module_text(b, r->fid);
	row->full = m->path ? tables_text(b->t, m->path) : row->name;
	if (m->kind == MODULE_KERNEL || m->kind == MODULE_KMODULE || m->kind == MODULE_BPF)
		row->flags |= ROW_KERNEL;
	if (m->deleted)
		row->note = "deleted";
	build_shares(b, row, &r->self, &r->total);
	fill_metrics(b, row, r);
}

void show_modules(struct build *b)
{
	struct fold_rows *rows = &b->e->rows;
	if (fold_modules(rows, &b->e->flat, b->t)) {
		b->failed = true;
		return;
	}
	struct candidate *c = malloc((rows->len + 1) * sizeof *c);
	uint32_t n = 0;
	for (uint32_t i = 0; c && i < rows->len; i++) {
		const struct fold_row *r = &rows->data[i];
		const char *name = module_text(b, r->fid);
		if (!build_matches(b, name))
			continue;
		c[n] = candidate_of(b, i);
		c[n++].text = by_text(b) ? name : NULL;
	}
	if (c && b->unsampled_weight && build_matches(b, "[unsampled]"))
		c[n++] = unsampled_candidate(b);
	if (c)
		emit(b, c, n, fill_module);
	else
		b->failed = true;
	free(c);
}
