/*
 * show_callers: who calls the focused function, and what it calls.
 *
 * Engine thread. Callers come first, the heaviest nearest to the function, then the function
 * itself, then its callees by falling weight. Its calls of itself stand outermost: all that
 * recurses flows over them, which is no part of the split between the others.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/build.h"

static bool shown(struct build *b, const struct fold_row *r)
{
	return (r->total.samples || r->total.weight) && fid_matches(b, r->fid);
}

static uint32_t list(struct build *b, const struct fold_rows *rows, fid_t focus,
		     struct candidate *c, bool reverse)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < rows->len; i++) {
		const struct fold_row *r = &rows->data[i];
		if (!shown(b, r))
			continue;
		c[n] = (struct candidate){.index = i,
					  .key = (double)r->total.weight,
					  .second = (double)r->self.weight};
		if (r->fid == focus)
			c[n].key = -1;
		n++;
	}
	candidates_sort(c, n, reverse);
	return n;
}

/* @rows: where @r lies, NULL: it is the focus. */
static void fill(struct build *b, enum row_kind kind, const struct fold_rows *rows,
		 const struct fold_row *r)
{
	struct row *row = build_row(b);
	fid_row(b, row, kind, r->fid);
	if (rows && r->fid == b->e->edges.focus.fid)
		row->note = "recursion";
	if (r->told_weight && r->told_weight == r->total.weight) {
		row->flags |= ROW_UNCERTAIN;
		row->note = "tail call";
	}
	build_shares(b, row, &r->self, &r->total);
	/* Over an edge what counts is all that flows. */
	row->flags &= ~(uint32_t)(ROW_UNRANKED | ROW_LOW | ROW_DIM);
	if (!isinf(b->whole_n))
		row->flags |= confidence_flags(
			confidence_effective(r->total.weight, r->total.weight_sq));
	size_t i = rows ? (size_t)(r - rows->data) * rows->nvalues : 0;
	metrics_fill(b, row, rows ? rows->self_values + i : b->e->edges.focus_self,
		     rows ? rows->total_values + i : b->e->edges.focus_total);
}

void show_callers(struct build *b)
{
	struct fold_edges *e = &b->e->edges;
	fid_t focus = fid_settle(b, b->q->focus.a);

	if (!b->q->focus.kind) {
		snprintf(b->a->note, sizeof b->a->note, "no function is selected");
		return;
	}
	if (fold_edges(e, &b->e->flat, b->t, b->q->flags, focus)) {
		b->failed = true;
		return;
	}
	struct candidate *up = malloc((e->callers.len + 1) * sizeof *up);
	struct candidate *down = malloc((e->callees.len + 1) * sizeof *down);
	if (!up || !down) {
		b->failed = true;
		goto out;
	}
	uint32_t nup = list(b, &e->callers, focus, up, true);
	uint32_t ndown = list(b, &e->callees, focus, down, false);
	if (!build_reserve(b, nup + 1 + ndown))
		goto out;
	/* Where the cap cuts, the lightest callers go first. */
	bool all = nup + 1 + ndown <= b->max_rows;
	uint32_t most = all ? nup : b->max_rows / 2, skip = nup > most ? nup - most : 0;
	if (skip)
		build_rest(b, build_text(b, "… %u more callers", skip));
	for (uint32_t i = skip; i < nup; i++)
		fill(b, ROW_CALLER, &e->callers, &e->callers.data[up[i].index]);
	b->a->focus_row = b->nrows;
	fill(b, ROW_SELF, NULL, &e->focus);
	uint32_t i = 0;
	for (; i < ndown && b->nrows < b->max_rows; i++)
		fill(b, ROW_CALLEE, &e->callees, &e->callees.data[down[i].index]);
	if (i < ndown)
		build_rest(b, build_text(b, "… %u more callees", ndown - i));
	if (!e->focus.total.samples)
		snprintf(b->a->note, sizeof b->a->note, "no samples of it in this window");
out:
	free(up);
	free(down);
}
