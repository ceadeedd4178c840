/*
 * view_cells: views whose numbers the answer describes itself (events, top-down, the three trace
 * analyses), verdicts, and plain text. Any thread, no state.
 */
#include "cell.h"

#include <math.h>
#include <stdio.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

#define COLUMN_CELLS(keep) \
	{ \
		COLUMN_CELL, "", 7, 8, 14, keep, COLUMN_EACH_CELL, cell_cell, "as its title says" \
	}
/* The name without its remark, which has a column of its own. */
static void cell_event(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	cell->scrolls = 0;
	cell_span(cell, row->key.kind == ROW_METRIC ? LOOK_STRONG : cell_name_look(row), row->name);
}

#define COLUMN_HISTORY(keep) \
	{ \
		COLUMN_SPARK, "HISTORY", 8, 16, 16, keep, \
			COLUMN_LEFT | COLUMN_UNSORTED | COLUMN_SPARKS, cell_spark, \
			"per second, newest right" \
	}

static const struct column events_columns[] = {
	{COLUMN_NAME, "EVENT", 20, 24, 24, 255, COLUMN_LEFT, cell_event,
	 "event, or derived metric"},
	COLUMN_CELLS(200),
	COLUMN_HISTORY(198),
	{COLUMN_DEFAULT, "", 8, 20, 100, 40, COLUMN_LEFT | COLUMN_UNSORTED | COLUMN_GROWS,
	 cell_note, "why a value is not there"},
};
const struct view view_events = {VIEW_EVENTS, events_columns, COUNT(events_columns),
				 0,           false,          true};

/* A part by its threshold's colour, a function by what it adds to the part. */
static void cell_slots(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	static const enum look looks[] = {LOOK_NORMAL, LOOK_GOOD, LOOK_FAIR, LOOK_BAD};
	const struct metric_value *m = &row->self_metric[0];
	bool dim = row->flags & (ROW_DIM | ROW_UNRANKED);

	if (row->key.kind != ROW_METRIC) {
		cell_total(row, env, cell);
		return;
	}
	if (!row->nmetrics || m->state > VALUE_SCALED) {
		cell_span(cell, LOOK_DIM, m->state == VALUE_NONE ? NUMBER_DASH : "n/a");
		return;
	}
	number_fixed(cell->number[0], m->v, 1);
	cell_span(cell, dim ? LOOK_DIM : looks[m->grade & 3], cell->number[0]);
	cell->bar = fmin(row->total, 1);
}

static const struct column topdown_columns[] = {
	{COLUMN_TOTAL, "SLOTS%", 6, 6, 6, 250, COLUMN_HAS_BAR | COLUMN_UNSORTED, cell_slots,
	 "share of all the pipeline's slots, coloured by its threshold"},
	{COLUMN_CELL, "", 6, 6, 6, 100, COLUMN_EACH_CELL | COLUMN_UNSORTED, cell_cell,
	 "OF IT: a function's share of the part it stands under; OWN: how much of its own slots go "
	 "there"},
	{COLUMN_NAME, "WHERE THE SLOTS GO", 20, 36, 255, 255, COLUMN_LEFT | COLUMN_UNSORTED,
	 cell_tree, "part, and under it the functions that cause it"},
};
const struct view view_topdown = {VIEW_TOPDOWN,
				  topdown_columns,
				  COUNT(topdown_columns),
				  QUERY_FILTERS | QUERY_FOLD_INLINE | QUERY_WHOLE_NAMES,
				  false,
				  true};

static void cell_kind(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	cell_span(cell, LOOK_STRONG, row->module);
}

static void cell_where(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	cell_span(cell,
		  row->key.kind == ROW_VERDICT && row->go.kind ? LOOK_LINK : cell_name_look(row),
		  row->name);
}

static void cell_gain(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	if (env->answer->ncells < 1 || !row->cells || isnan(row->cells[0]))
		return;
	double gain = row->cells[0];
	if (gain > 999) /* nearly all there is, or all: no bound that tells anything */
		snprintf(cell->number[0], NUMBER_TEXT, ">999\xc3\x97");
	else
		snprintf(cell->number[0], NUMBER_TEXT, "%.*f\xc3\x97", gain < 100 ? 2 : 0, gain);
	cell_span(cell, cell_number_look(row), cell->number[0]);
}

static const struct column verdicts_columns[] = {
	{COLUMN_TOTAL, "SHARE%", 5, 6, 6, 250, COLUMN_HAS_BAR, cell_total, "share of the time"},
	{COLUMN_MODULE, "KIND", 14, 18, 24, 240, COLUMN_LEFT, cell_kind, "what kind of slowness"},
	{COLUMN_NAME, "WHERE", 10, 22, 44, 255, COLUMN_LEFT, cell_where, "function or path"},
	{COLUMN_CELL, "AT MOST", 7, 7, 7, 90, 0, cell_gain,
	 "how much faster all could be if it cost nothing"},
	{COLUMN_DEFAULT, "EVIDENCE", 10, 10, 255, 200, COLUMN_LEFT | COLUMN_UNSORTED | COLUMN_GROWS,
	 cell_note, "the numbers behind it"},
};
const struct view view_verdicts = {
	VIEW_VERDICTS, verdicts_columns, COUNT(verdicts_columns), 0, false, true};

static const struct column analysis_columns[] = {
	COLUMN_CELLS(200),
	{COLUMN_NAME, "NAME", 20, 28, 255, 255, COLUMN_LEFT, cell_name, "span, function or edge"},
};
const struct view view_duration = {
	VIEW_DURATION, analysis_columns, COUNT(analysis_columns), 0, false, true};
const struct view view_cache = {VIEW_CACHE, analysis_columns, COUNT(analysis_columns), 0, false,
				true};
static void cell_symbol(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	cell_span(cell, row->go.kind ? LOOK_LINK : cell_name_look(row), row->name);
}

static const struct column edge_columns[] = {
	COLUMN_CELLS(200),
	{COLUMN_NAME, "SYMBOL", 14, 20, 60, 255, COLUMN_LEFT, cell_symbol, "whose code it runs"},
	{COLUMN_MODULE, "LEFT BY", 7, 12, 12, 199, COLUMN_LEFT, cell_module,
	 "how the run ended: fall-through, branch, call, ret"},
	{COLUMN_ADDRESS, "FIRST IP", 12, 16, 16, 100, 0, cell_address, "where it begins"},
	{COLUMN_LINE, "LINES", 14, 20, 255, 199, COLUMN_LEFT | COLUMN_GROWS, cell_note,
	 "source of both ends (with --maps)"},
};
const struct view view_edge = {VIEW_EDGE, edge_columns, COUNT(edge_columns), 0, false, true};

static const struct column text_columns[] = {
	{COLUMN_NAME, "", 20, 30, 255, 255, COLUMN_LEFT | COLUMN_UNSORTED, cell_name, ""},
};
const struct view view_output = {VIEW_OUTPUT, text_columns, COUNT(text_columns), 0, false, false};
const struct view view_doctor = {VIEW_DOCTOR, text_columns, COUNT(text_columns), 0, false, false};
