/*
 * view_source: source lines with their shares, inlined callees folded under their call sites, and
 * instructions. Any thread, no state.
 */
#include "cell.h"

#include <stdio.h>
#include <string.h>

#include "utf8.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
#define TAB_STOP     8
#define TAB_NARROW   4 /* where the column is narrower than NARROW */
#define NARROW       64

static void cell_place(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	if (row->key.kind == ROW_LINE && row->line)
		snprintf(cell->number[0], NUMBER_TEXT, "%u", row->line);
	else
		return;
	cell_span(cell, row->flags & ROW_CURRENT ? LOOK_STRONG : LOOK_LINE, cell->number[0]);
}

static void cell_taken(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	if (row->taken)
		cell_span(cell, LOOK_STRONG, number_short(cell->number[0], (double)row->taken));
}

/* Arcs of a trace's edges. */
static void cell_edges(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	if (row->edges)
		cell_span(cell, LOOK_MARK, row->edges);
}

/* Source text with its tabs set out; what does not fit the buffer is beyond any screen. */
static const char *untabbed(const char *text, char *buf, size_t size, int stop)
{
	size_t out = 0;
	int column = 0;
	const char *next = text;

	if (!strchr(text, '\t'))
		return text;
	while (*text && out + TAB_STOP + 4 < size) {
		if (*text == '\t') {
			int n = stop - column % stop;

			memset(buf + out, ' ', (size_t)n);
			out += (size_t)n;
			column += n;
			text++;
			continue;
		}
		next = text;
		column += utf8_width(utf8_next(&next));
		if (next == text)
			break;
		if (out + (size_t)(next - text) + TAB_STOP >= size)
			break;
		memcpy(buf + out, text, (size_t)(next - text));
		out += (size_t)(next - text);
		text = next;
	}
	buf[out] = '\0';
	return buf;
}

static void cell_code(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	bool hot = row->self > 0 && !(row->flags & (ROW_DIM | ROW_UNRANKED));

	if (row->key.kind == ROW_HEADING || row->key.kind == ROW_TEXT ||
	    row->key.kind == ROW_REST) {
		cell_name(row, env, cell);
		return;
	}
	cell_span(cell, LOOK_TRACK, "\xe2\x94\x82"); /* │ */
	cell_span(cell, LOOK_MARK,
		  row->flags & ROW_EXPANDED     ? "\xe2\x96\xbe"
		  : row->flags & ROW_EXPANDABLE ? "\xe2\x96\xb8"
						: " ");
	cell->scrolls = cell->nspans;
	switch (row->key.kind) {
	case ROW_INLINE:
		cell_span(cell, LOOK_DIM, "    inlined  ");
		cell_span(cell, LOOK_INLINE, row->name);
		break;
	case ROW_INSN:
		snprintf(cell->number[0], NUMBER_TEXT, "  %8llx  ", (unsigned long long)row->addr);
		cell_span(cell, LOOK_LINE, cell->number[0]);
		cell_span(cell, hot ? LOOK_ASM : LOOK_DIM, row->name);
		break;
	default:
		if (!*row->name && *row->hint) { /* which says why */
			cell_span(cell, LOOK_NOTE, " no source text");
			break;
		}
		cell_span(cell, hot ? LOOK_STRONG : LOOK_CODE,
			  untabbed(row->name, cell->text, sizeof cell->text,
				   env->width < NARROW ? TAB_NARROW : TAB_STOP));
	}
	if (*row->note) {
		cell_span(cell, LOOK_NOTE, "   ");
		cell_span(cell, row->go.kind ? LOOK_LINK : LOOK_NOTE, row->note);
	}
}

static const struct column source_columns[] = {
	COLUMN_SELF_BAR,
	{COLUMN_TOTAL, "TOTAL%", 6, 6, 6, 40, COLUMN_UNSORTED, cell_total,
	 "share of samples with this line anywhere in their stack"},
	{COLUMN_SAMPLES, "SAMPLES", 7, 7, 9, 30, COLUMN_UNSORTED, cell_samples,
	 "samples behind SELF%"},
	COLUMN_METRICS,
	{COLUMN_LINE, "LINE", 5, 5, 7, 240, COLUMN_UNSORTED, cell_place, "line number"},
	{COLUMN_TOTAL_SAMPLES, "TAKEN", 5, 5, 7, 244, COLUMN_UNSORTED | COLUMN_EDGES, cell_taken,
	 "how often runs of instructions that begin here were taken"},
	{COLUMN_DEFAULT, "EDGES", 7, 7, 7, 245, COLUMN_LEFT | COLUMN_UNSORTED | COLUMN_EDGES,
	 cell_edges,
	 "from where a run begins to where it ends \xe2\x96\xb8, \xe2\x97\x8f in one line"},
	{COLUMN_NAME, "SOURCE", 20, 46, 255, 255, COLUMN_LEFT | COLUMN_UNSORTED, cell_code,
	 "text; \xe2\x96\xb8 has inlined calls or instructions below"},
};

const struct view view_source = {VIEW_SOURCE,
				 source_columns,
				 COUNT(source_columns),
				 QUERY_FILTERS | QUERY_FOLD_INLINE | QUERY_ASSEMBLY |
					 QUERY_ADDRESSES,
				 false,
				 false};
