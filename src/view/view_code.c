/*
 * view_code: the views whose rows are functions or modules: Functions, Callers, Call tree, Modules.
 * Only tables and the few cells that are theirs alone. Any thread.
 */
#include "cell.h"

#include <stdio.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
#define CODE_FLAGS \
	(QUERY_FILTERS | QUERY_FOLD_INLINE | QUERY_WHOLE_NAMES | QUERY_ADDRESSES | QUERY_TAIL_CALLS)
#define NAME_WIDTH 30

static const struct column functions_columns[] = {
	COLUMN_SELF_BAR,
	COLUMN_SELF_MARGIN,
	COLUMN_TOTAL_PLAIN,
	COLUMN_SAMPLES_PLAIN,
	{COLUMN_TOTAL_SAMPLES, "IN STACK", 8, 8, 10, 10, 0, cell_total_samples,
	 "samples behind TOTAL%"},
	COLUMN_METRICS,
	COLUMN_METRICS_TOTAL,
	COLUMN_RAW_ADDRESS,
	COLUMN_MODULE_NAME,
	COLUMN_TAG,
	{COLUMN_NAME, "FUNCTION", 20, NAME_WIDTH, 255, 255, COLUMN_LEFT, cell_name,
	 "function; \xe2\x97\x82 f: inlined into f"},
};

const struct view view_functions = {
	VIEW_FUNCTIONS, functions_columns, COUNT(functions_columns), CODE_FLAGS, true, true};

/* The part of the focused function's total that comes or goes over this edge. */
static void cell_of_it(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	if (row->key.kind != ROW_CALLER && row->key.kind != ROW_CALLEE)
		return;
	cell->bar = env->whole > 0 ? row->total / env->whole : -1;
	cell_span(cell, cell_number_look(row),
		  number_percent(cell->number[0], env->whole > 0 ? row->total / env->whole : -1));
}

static void cell_edge_name(const struct row *row, const struct view_env *env,
			   struct view_cell *cell)
{
	struct view_env narrower = *env;

	narrower.width -= row->key.kind == ROW_CALLEE ? 5 : 2;
	cell_span(cell, LOOK_MARK,
		  row->key.kind == ROW_CALLER   ? "\xe2\x86\x93 "    /* ↓ calls it */
		  : row->key.kind == ROW_CALLEE ? "   \xe2\x86\x92 " /* → it calls */
		  : row->key.kind == ROW_SELF   ? "\xe2\x96\xb6 "    /* ▶ */
						: "");
	cell_name(row, &narrower, cell);
	if (row->key.kind == ROW_SELF)
		for (int i = 1; i < cell->nspans; i++)
			if (cell->spans[i].look == LOOK_NORMAL)
				cell->spans[i].look = LOOK_STRONG;
}

static const struct column callers_columns[] = {
	{COLUMN_TOTAL, "OF IT%", 5, 6, 6, 250, COLUMN_HAS_BAR, cell_of_it,
	 "part of the function's total that this caller brings or this callee takes"},
	{COLUMN_DEFAULT, "TOTAL%", 6, 6, 6, 200, COLUMN_UNSORTED, cell_total,
	 "share of all samples that flows over this edge"},
	{COLUMN_MARGIN, "\xc2\xb1", 5, 5, 5, 60, COLUMN_UNSORTED, cell_total_margin,
	 "half of its 95 % interval"},
	{COLUMN_SELF, "SELF%", 5, 5, 5, 110, 0, cell_self, "the part that ends there"},
	{COLUMN_TOTAL_SAMPLES, "SAMPLES", 7, 8, 10, 50, 0, cell_total_samples,
	 "samples behind TOTAL%"},
	COLUMN_METRICS_TOTAL,
	COLUMN_RAW_ADDRESS,
	COLUMN_MODULE_NAME,
	COLUMN_TAG,
	{COLUMN_NAME, "CALLERS \xe2\x86\x93   CALLEES \xe2\x86\x92", 20, NAME_WIDTH, 255, 255,
	 COLUMN_LEFT, cell_edge_name,
	 "\xe2\x86\x93 calls the function, \xe2\x86\x92 is called by it"},
};

const struct view view_callers = {
	VIEW_CALLERS, callers_columns, COUNT(callers_columns), CODE_FLAGS, true, false};

static const struct column tree_columns[] = {
	{COLUMN_TOTAL, "TOTAL%", 5, 6, 6, 250, COLUMN_HAS_BAR, cell_total,
	 "share of samples whose stack runs through here"},
	{COLUMN_MARGIN, "\xc2\xb1", 5, 5, 5, 40, COLUMN_UNSORTED, cell_total_margin,
	 "half of its 95 % interval"},
	{COLUMN_SELF, "SELF%", 5, 5, 5, 200, 0, cell_self, "share of samples that end here"},
	{COLUMN_TOTAL_SAMPLES, "SAMPLES", 7, 8, 10, 50, 0, cell_total_samples,
	 "samples behind TOTAL%"},
	COLUMN_METRICS_TOTAL,
	COLUMN_RAW_ADDRESS,
	{COLUMN_MODULE, "MODULE", 10, 14, 28, 45, COLUMN_LEFT, cell_module, "file it lives in"},
	COLUMN_TAG,
	{COLUMN_NAME, "CALL PATH", 20, 36, 255, 255, COLUMN_LEFT, cell_tree,
	 "\xe2\x96\xb8 has more below, \xe2\x96\xbe is open"},
};

const struct view view_tree = {
	VIEW_TREE, tree_columns, COUNT(tree_columns), CODE_FLAGS | QUERY_BOTTOM_UP, true, true};

static void cell_path(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	cell_span(cell, LOOK_DIM, row->full);
}

static const struct column modules_columns[] = {
	COLUMN_SELF_BAR,
	COLUMN_SELF_MARGIN,
	COLUMN_TOTAL_PLAIN,
	COLUMN_SAMPLES_PLAIN,
	COLUMN_METRICS,
	COLUMN_METRICS_TOTAL,
	COLUMN_TAG,
	{COLUMN_NAME, "MODULE", 20, 24, 255, 255, COLUMN_LEFT, cell_name,
	 "program file, or kernel"},
	{COLUMN_MODULE, "PATH", 20, 40, 120, 30, COLUMN_LEFT | COLUMN_UNSORTED, cell_path,
	 "whole path as the target sees it"},
};

const struct view view_modules = {VIEW_MODULES,
				  modules_columns,
				  COUNT(modules_columns),
				  QUERY_FILTERS | QUERY_FOLD_INLINE,
				  true,
				  true};
