/*
 * cell: fills table cells from rows: shares, margins, metrics, names, sparks. What few samples
 * stand behind is dimmed, what is unknown is a dash, never a zero. Any thread, no state.
 */
#include "cell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "shorten.h"

#define TREE_STEP 2

void cell_span(struct view_cell *cell, enum look look, const char *text)
{
	if (cell->nspans < CELL_SPANS && *text)
		cell->spans[cell->nspans++] = (struct span){text, look};
}

static bool is_code(const struct row *row)
{
	return row->key.kind != ROW_HEADING && row->key.kind != ROW_TEXT;
}

enum look cell_number_look(const struct row *row)
{
	return row->flags & (ROW_DIM | ROW_UNRANKED | ROW_GONE) ? LOOK_DIM : LOOK_NORMAL;
}

enum look cell_name_look(const struct row *row)
{
	static const struct {
		uint32_t flag;
		enum look look;
	} looks[] = {
		{ROW_WARN, LOOK_WARN},
		{ROW_GOOD, LOOK_GOOD},
		{ROW_TRUNCATED, LOOK_SPECIAL},
		{ROW_DIM | ROW_UNRANKED | ROW_GONE | ROW_UNRESOLVED, LOOK_DIM},
		{ROW_KERNEL, LOOK_KERNEL},
		{ROW_INLINED, LOOK_INLINE},
	};

	if (row->key.kind == ROW_HEADING)
		return LOOK_STRONG;
	if (row->key.kind == ROW_REST)
		return LOOK_NOTE;
	for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
		if (row->flags & looks[i].flag)
			return looks[i].look;
	return LOOK_NORMAL;
}

/* A share: blank where no sample is, a dot where it would round to nothing. */
static void share(struct view_cell *cell, const struct row *row, double value, uint64_t samples)
{
	if (!is_code(row) ||
	    (value <= 0 && !samples && row->key.kind >= ROW_LINE && row->key.kind <= ROW_INLINE))
		return;
	cell_span(cell, cell_number_look(row), number_percent(cell->number[0], value));
}

void cell_self(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	share(cell, row, row->self, row->self_samples);
	if (is_code(row) && row->self > 0 && env->scale > 0)
		cell->bar = fmin(row->self / env->scale, 1);
}

void cell_total(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	share(cell, row, row->total, row->total_samples);
	if (is_code(row) && row->total > 0 && env->scale > 0)
		cell->bar = fmin(row->total / env->scale, 1);
}

static void margin(const struct row *row, double value, struct view_cell *cell)
{
	const char *sign = row->flags & ROW_UNRANKED ? "\xc2\xb7" /* · */
			   : row->flags & ROW_LOW    ? "?"
			   : row->flags & ROW_TIED   ? "\xe2\x89\x88" /* ≈ */
						     : "";

	if (!is_code(row) || row->key.kind == ROW_REST)
		return;
	cell_span(cell, LOOK_DIM, sign);
	snprintf(cell->number[0], NUMBER_TEXT, "%4.1f", fmin(value * 100, 99.9));
	if (value > 0)
		cell_span(cell, LOOK_DIM, cell->number[0]);
	else
		cell_span(cell, LOOK_DIM, "    ");
}

void cell_self_margin(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	margin(row, row->self_margin, cell);
}

void cell_total_margin(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	margin(row, row->total_margin, cell);
}

static void count(struct view_cell *cell, const struct row *row, uint64_t v, int width)
{
	if (!is_code(row) || (!v && (row->key.kind == ROW_REST ||
				     (row->key.kind >= ROW_LINE && row->key.kind <= ROW_INLINE))))
		return;
	number_grouped(cell->number[0], v);
	if ((int)strlen(cell->number[0]) > width)
		number_short(cell->number[0], (double)v);
	cell_span(cell, cell_number_look(row), cell->number[0]);
}

void cell_samples(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	count(cell, row, row->self_samples, env->width);
}

void cell_total_samples(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	count(cell, row, row->total_samples, env->width);
}

void cell_note(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	cell_span(cell, LOOK_NOTE, row->note);
}

/* @used: cells of the column that are taken already. */
static void name_and_note(const struct row *row, const struct view_env *env, int used,
			  struct view_cell *cell)
{
	const char *name = row->name;

	if (!env->shift && is_code(row) && row->key.kind != ROW_SPAN)
		name = shorten(name, env->width - used, cell->name, sizeof cell->name);
	cell->scrolls = cell->nspans;
	cell_span(cell, cell_name_look(row), name);
	if (row->flags & ROW_UNCERTAIN)
		cell_span(cell, LOOK_NOTE, " ?");
	if (*row->note) {
		cell_span(cell, LOOK_NOTE, "  ");
		cell_span(cell, LOOK_NOTE, row->note);
	}
}

void cell_name(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	name_and_note(row, env, 0, cell);
}

/* Deep rows keep to the left half of the column: then the depth stands there as a number. */
void cell_tree(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	int limit = env->width < 400 ? env->width / 2 & ~1 : 200;
	int indent = row->depth * TREE_STEP, used = 0;

	if (indent > limit) {
		used = snprintf(cell->number[0], NUMBER_TEXT, "%u ", row->depth);
		indent = limit > used ? limit : used;
	}
	memset(cell->text, ' ', (size_t)(indent - used));
	memcpy(cell->text + indent - used, cell->number[0], (size_t)used);
	cell->text[indent] = '\0';
	cell_span(cell, LOOK_NOTE, cell->text);
	cell_span(cell, LOOK_MARK,
		  row->flags & ROW_EXPANDED     ? "\xe2\x96\xbe " /* ▾ */
		  : row->flags & ROW_EXPANDABLE ? "\xe2\x96\xb8 " /* ▸ */
						: "  ");
	name_and_note(row, env, indent + TREE_STEP, cell);
}

void cell_module(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	cell_span(cell, row->flags & (ROW_DIM | ROW_UNRANKED) ? LOOK_DIM : LOOK_MODULE,
		  row->module);
}

void cell_tag(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	if (row->flags & ROW_TRUNCATED || !is_code(row) || row->key.kind == ROW_REST ||
	    row_is_group(&row->key))
		return;
	cell_span(cell, row->flags & ROW_KERNEL ? LOOK_KERNEL : LOOK_DIM,
		  row->flags & ROW_KERNEL ? "[k]" : "[.]");
}

void cell_address(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	if (!row->addr)
		return;
	snprintf(cell->number[0], NUMBER_TEXT, "%llx", (unsigned long long)row->addr);
	cell_span(cell, LOOK_LINE, cell->number[0]);
}

static void metric(const struct row *row, const struct metric_value *m, int decimals,
		   struct view_cell *cell)
{
	static const enum look grades[] = {LOOK_NORMAL, LOOK_GOOD, LOOK_FAIR, LOOK_BAD};

	if (m->state == VALUE_OK || m->state == VALUE_SCALED) {
		bool dim = row->flags & (ROW_DIM | ROW_UNRANKED);

		number_fixed(cell->number[0], m->v, decimals);
		cell_span(cell, dim ? LOOK_DIM : grades[m->grade & 3], cell->number[0]);
	} else {
		cell_span(cell, LOOK_DIM, m->state == VALUE_NONE ? NUMBER_DASH : "n/a");
	}
}

void cell_metric(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	const struct answer_metric *m = &env->answer->metrics[env->index];

	if (env->index < row->nmetrics && !m->total_only)
		metric(row, &row->self_metric[env->index], m->decimals, cell);
}

void cell_metric_total(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	if (env->index < row->nmetrics)
		metric(row, &row->total_metric[env->index],
		       env->answer->metrics[env->index].decimals, cell);
}

void cell_cell(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	const struct snapshot_column *c = &env->answer->columns[env->index];

	if (!row->cells || (row->key.kind == ROW_HEADING && isnan(row->cells[env->index])))
		return;
	if (!strcmp(c->unit, "ns"))
		number_ns(cell->number[0], row->cells[env->index]);
	else
		number_fixed(cell->number[0], row->cells[env->index],
			     row->key.kind == ROW_METRIC && !*c->unit ? 2 : c->decimals);
	cell_span(cell, isnan(row->cells[env->index]) ? LOOK_DIM : cell_number_look(row),
		  cell->number[0]);
}

void cell_spark(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	cell->spark = row->spark;
	cell->nspark = row->nspark < 16 ? row->nspark : 16;
}
