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

static const char *const row_titles[ANALYSIS_KINDS] = {"spans", "functions", "edges"};
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
	return build_text(b, "%s %llx-%llx%s%s%s%s", tables_text(b->t, r->third),
			  (unsigned long long)r->first, (unsigned long long)r->last,
			  *from ? "  " : "", from, *to ? " \xe2\x86\x92 " : "", to);
}

/* Rows in the order asked for; the analysis' own where none was. */
static uint32_t sort_rows(struct build *b, const struct analysis *a, struct candidate *c)
{
	uint32_t sort = b->q->sort, n = 0;
	uint32_t column = sort >= COLUMN_CELL && sort < COLUMN_CELL + a->ncolumns
				  ? sort - COLUMN_CELL
				  : UINT32_MAX;
	for (uint32_t i = 0; i < a->nrows; i++) {
		const char *name = tables_text(b->t, a->rows[i].name);
		if (!build_matches(b, name))
			continue;
		double v = column != UINT32_MAX ? a->cells[(size_t)i * a->ncolumns + column]
						: -(double)i;
		c[n++] = (struct candidate){.index = i,
					    .key = isnan(v) ? -INFINITY : v,
					    .second = -(double)i,
					    .text = sort == COLUMN_NAME ? name : NULL};
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
	row->key = (struct row_key){.kind = row_kinds[a->view - VIEW_DURATION],
				    .a = r->name,
				    .b = hash_pair(r->first, r->last) ^ r->second};
	row->name = row->full = tables_text(b->t, r->name);
	row->module = tables_text(b->t, r->second);
	row->note = a->view == VIEW_EDGE ? edge_note(b, r) : "";
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
	struct candidate *c = malloc((a->nrows + 1) * sizeof *c);
	if (!c) {
		b->failed = true;
		goto out;
	}
	uint32_t n = sort_rows(b, a, c);
	b->a->columns = a->columns;
	b->a->ncells = a->ncolumns;
	if (!build_reserve(b, n))
		goto out;
	for (uint32_t i = 0; i < n && b->nrows < b->max_rows; i++)
		fill(b, a, c[i].index);
	struct row *rest = n > b->max_rows ? build_row(b) : NULL;
	if (rest) {
		rest->key.kind = ROW_REST;
		rest->name = rest->full = build_text(b, "\xe2\x80\xa6 %u more", n - b->max_rows);
	}
	build_copy(b->a->title, sizeof b->a->title,
		   build_text(b, "%u %s%s%s", a->nrows, row_titles[a->view - VIEW_DURATION],
			      a->note[0] ? "; " : "", a->note));
out:
	free(c);
	analysis_unref(a);
}
