/*
 * show_analysis: the tables of the trace analyses (duration, cache, edge) as rows of cells.
 *
 * Engine thread. The table is immutable; what is shown of it is copied into the answer, sorted by
 * any column. The ends of an edge get their source lines here, when the resolver knows them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "engine/build.h"
#include "trace/filter.h"

static const char *const row_titles[ANALYSIS_KINDS] = {"spans", "functions, averages a call",
						       "edges"};
static const enum row_kind row_kinds[ANALYSIS_KINDS] = {ROW_SPAN, ROW_CALLS, ROW_EDGE};

/* "file.c:12" of a frame, "" as long as it is not known. */
static const char *place_text(struct build *b, frame_id frame)
{
	const struct loc *loc = frame ? tables_loc(b->t, frame) : NULL;
	if (frame && !loc)
		build_want(b, frame);
	if (!loc || !loc->lines[0].line)
		return "";
	const char *file = tables_text(b->t, loc->lines[0].file), *slash = strrchr(file, '/');
	return build_text(b, "%s:%u", slash ? slash + 1 : file, loc->lines[0].line);
}

static const char *edge_note(struct build *b, const struct analysis_row *r)
{
	const char *from = place_text(b, r->first_frame), *to = place_text(b, r->last_frame);
	const char *colon = strrchr(from, ':');
	if (colon && !strncmp(from, to, (size_t)(colon - from) + 1)) /* the file once */
		to += colon - from;
	return *from || *to ? build_text(b, "%s \xe2\x86\x92 %s", from, to) : "";
}

/* What the person typed to narrow the rows: numbers ("count>=10"), else a part of a name. */
struct narrowing {
	struct filter *filter; /* NULL: none */
	const char *part;      /* "" none */
	struct err err;        /* it makes no sense */
};

static void narrow(struct build *b, const struct analysis *a, struct narrowing *ret)
{
	struct filter_columns columns = {a->columns, a->ncolumns};
	const char *text = b->q->options;
	*ret = (struct narrowing){.part = ""};
	if (!strpbrk(text, "<>="))
		ret->part = text;
	else
		filter_parse(&columns, text, &ret->filter, &ret->err);
}

static bool kept(const struct build *b, const struct narrowing *n, const struct analysis *a,
		 uint32_t row)
{
	const char *name = tables_text(b->t, a->rows[row].name);
	return build_matches(b, name) && (!n->part[0] || strcasestr(name, n->part)) &&
	       filter_holds(n->filter, a->cells + (size_t)row * a->ncolumns);
}

/* Rows in the order asked for; the analysis' own where none was. */
static uint32_t sort_rows(struct build *b, const struct analysis *a, const struct narrowing *narrow,
			  struct candidate *c)
{
	uint32_t sort = b->q->sort, n = 0;
	bool edges = a->view == VIEW_EDGE;
	uint32_t column = sort >= COLUMN_CELL && sort < COLUMN_CELL + a->ncolumns
				  ? sort - COLUMN_CELL
				  : UINT32_MAX;
	for (uint32_t i = 0; i < a->nrows; i++) {
		const char *name = tables_text(b->t, a->rows[i].name);
		if (!kept(b, narrow, a, i))
			continue;
		double v = column != UINT32_MAX ? a->cells[(size_t)i * a->ncolumns + column]
						: -(double)i;
		const struct analysis_row *r = &a->rows[i];
		c[n] = (struct candidate){
			.index = i,
			.key = isnan(v) ? CANDIDATE_UNKNOWN : v,
			.second = -(double)i,
			.text = sort == COLUMN_NAME ? name
				: sort == COLUMN_MODULE
					? tables_text(b->t, edges ? r->third : r->second)
				: sort == COLUMN_LINE ? place_text(b, r->first_frame)
						      : NULL};
		if (sort == COLUMN_ADDRESS)
			candidate_address(&c[n], r->first);
		n++;
	}
	candidates_sort(c, n, b->q->flags & QUERY_REVERSE);
	return n;
}

static void fill(struct build *b, const struct analysis *a, uint32_t index)
{
	const struct analysis_row *r = &a->rows[index];
	struct row *row = build_row(b);
	double *cells = arena_alloc(&b->box->arena, a->ncolumns * sizeof *cells);
	if (!row || !cells)
		return;
	memcpy(cells, a->cells + (size_t)index * a->ncolumns, a->ncolumns * sizeof *cells);
	const struct loc *loc = r->first_frame ? tables_loc(b->t, r->first_frame) : NULL;
	if (loc && loc->n) { /* the edge is drawn beside the source of its function */
		row->go = (struct row_key){.kind = ROW_FUNCTION, .a = loc->lines[loc->n - 1].func};
		row->line = loc->lines[loc->n - 1].line;
	}
	row->key = (struct row_key){.kind = row_kinds[a->view - VIEW_DURATION],
				    .a = r->name,
				    .b = hash_pair(r->first, r->last) ^ r->second};
	row->name = row->full = tables_text(b->t, r->name);
	row->module = tables_text(b->t, r->second);
	if (a->view == VIEW_EDGE) {
		row->module = tables_text(b->t, r->third);
		row->note = edge_note(b, r);
		row->hint = build_text(b, "%s  %llx-%llx", row->name, (unsigned long long)r->first,
				       (unsigned long long)r->last);
	}
	row->addr = r->first;
	row->total = r->share;
	row->cells = cells;
}

void show_analysis(struct build *b)
{
	struct analysis *a = shared_analysis(&b->e->shared, b->q->view);
	if (!a) {
		bool reading = !atomic_load_explicit(&b->e->shared.finished, memory_order_relaxed);
		build_copy(b->a->note, sizeof b->a->note,
			   reading ? "reading \xe2\x80\xa6"
				   : "this recording holds nothing for this analysis");
		return;
	}
	struct narrowing narrowing;
	narrow(b, a, &narrowing);
	struct candidate *c = malloc((a->nrows + 1) * sizeof *c);
	if (!c) {
		b->failed = true;
		goto out;
	}
	uint32_t n = narrowing.err.msg[0] ? 0 : sort_rows(b, a, &narrowing, c);
	b->a->columns = a->columns;
	b->a->ncells = a->ncolumns;
	if (!build_reserve(b, n))
		goto out;
	for (uint32_t i = 0; i < n && b->nrows < b->max_rows; i++)
		fill(b, a, c[i].index);
	if (n > b->max_rows)
		build_rest(b, build_text(b, "\xe2\x80\xa6 %u more", n - b->max_rows));
	const char *shown = b->q->options[0] ? build_text(b, ", %u match %s", n, b->q->options)
					     : "";
	build_copy(b->a->title, sizeof b->a->title,
		   build_text(b, "%u %s%s%s%s", a->nrows, row_titles[a->view - VIEW_DURATION],
			      shown, a->note[0] ? "; " : "", a->note));
	if (narrowing.err.msg[0])
		build_copy(b->a->note, sizeof b->a->note, narrowing.err.msg);
	else if (!n && b->q->options[0])
		build_copy(b->a->note, sizeof b->a->note, "nothing matches the filter");
out:
	filter_free(narrowing.filter);
	free(c);
	analysis_unref(a);
}
