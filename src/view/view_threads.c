/*
 * view_threads: threads and groups of threads: what they use, what they wait on, where they are.
 * Any thread, no state.
 */
#include "cell.h"

#include <stdio.h>
#include <string.h>

#include "shorten.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static void number(struct view_cell *cell, const struct row *row, long v)
{
	snprintf(cell->number[0], NUMBER_TEXT, "%ld", v);
	cell_span(cell, row->flags & ROW_GONE ? LOOK_DIM : LOOK_LINE, cell->number[0]);
}

static void cell_pid(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	if (row->pid)
		number(cell, row, row->pid);
}

static void cell_tid(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	if (row->tid && row->key.kind == ROW_THREAD)
		number(cell, row, row->tid);
}

static bool is_rest(const struct row *row)
{
	return row->key.kind == ROW_REST || row->key.kind == ROW_HEADING ||
	       row->key.kind == ROW_TEXT;
}

/* A share of wall time; nobody may know it. */
static void time_share(const struct row *row, double v, enum look look, struct view_cell *cell)
{
	if (is_rest(row))
		return;
	if (v >= 0)
		cell_span(cell, look, number_percent(cell->number[0], v));
	else
		cell_span(cell, LOOK_DIM, "n/a");
}

static void cell_cpu(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	time_share(row, row->cpu, cell_number_look(row), cell);
	cell->bar = row->cpu > 0 ? row->cpu < 1 ? row->cpu : 1 : -1;
}

static void part(const struct row *row, double v, struct view_cell *cell)
{
	time_share(row, v, v > 0 ? cell_number_look(row) : LOOK_DIM, cell);
}

static void cell_user(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	part(row, row->user, cell);
}

static void cell_system(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	part(row, row->system, cell);
}

static void cell_ready(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	part(row, row->ready, cell);
}

static void cell_blocked(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	(void)env;
	part(row, row->blocked, cell);
}

/* A state in words; one that sleeps in a futex waits for a lock or a condition. */
static void cell_state(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	static const struct {
		char state;
		enum look look;
		const char *text;
	} states[] = {
		{'R', LOOK_GOOD, "running"},   {'S', LOOK_DIM, "sleeping"},
		{'D', LOOK_WARN, "disk wait"}, {'T', LOOK_WARN, "stopped"},
		{'t', LOOK_WARN, "traced"},    {'Z', LOOK_DIM, "zombie"},
		{'X', LOOK_DIM, "ended"},      {'P', LOOK_DIM, "parked"},
		{'I', LOOK_DIM, "idle"},
	};

	(void)env;
	if (row->flags & ROW_GONE) {
		cell_span(cell, LOOK_DIM, "ended");
		return;
	}
	if (row->state == 'S' && !strncmp(row->note, "futex", 5)) {
		cell_span(cell, LOOK_FAIR, "futex");
		return;
	}
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (states[i].state == row->state)
			cell_span(cell, states[i].look, states[i].text);
}

static void cell_thread_name(const struct row *row, const struct view_env *env,
			     struct view_cell *cell)
{
	(void)env;
	cell_span(cell, LOOK_MARK,
		  row->flags & ROW_EXPANDED     ? "\xe2\x96\xbe "
		  : row->flags & ROW_EXPANDABLE ? "\xe2\x96\xb8 "
		  : row->depth                  ? "  "
						: "");
	cell_span(cell, row_is_group(&row->key) ? LOOK_STRONG : cell_name_look(row), row->name);
	if (row_is_group(&row->key) && row->children) {
		snprintf(cell->number[0], NUMBER_TEXT, "  %u", row->children);
		cell_span(cell, LOOK_NOTE, cell->number[0]);
	}
}

static void cell_top(const struct row *row, const struct view_env *env, struct view_cell *cell)
{
	const char *name = row->module;

	if (!env->shift)
		name = shorten(name, env->width, cell->name, sizeof cell->name);
	cell->scrolls = 0;
	cell_span(cell, row->flags & (ROW_GONE | ROW_DIM) ? LOOK_DIM : LOOK_NORMAL, name);
}

static const struct column threads_columns[] = {
	{COLUMN_PID, "PID", 7, 7, 7, 70, COLUMN_PROCESSES, cell_pid, "process"},
	{COLUMN_TID, "TID", 7, 7, 7, 130, 0, cell_tid, "thread"},
	{COLUMN_NAME, "NAME", 12, 17, 17, 255, COLUMN_LEFT, cell_thread_name,
	 "name it gave itself, or of its group"},
	{COLUMN_CPU, "CPU%", 5, 6, 6, 250, COLUMN_HAS_BAR, cell_cpu,
	 "CPU time over wall time, as the kernel accounts it"},
	{COLUMN_SPARK, "HISTORY", 8, 8, 16, 60, COLUMN_LEFT | COLUMN_UNSORTED | COLUMN_SPARKS,
	 cell_spark, "CPU use over the last seconds, newest right"},
	{COLUMN_USER, "USER%", 5, 5, 5, 90, 0, cell_user, "of it in user mode"},
	{COLUMN_SYSTEM, "SYS%", 5, 5, 5, 85, 0, cell_system, "of it in the kernel"},
	{COLUMN_READY, "READY%", 6, 6, 6, 142, COLUMN_BLOCKS, cell_ready,
	 "wall time ready to run but without a CPU, as the kernel accounts it"},
	{COLUMN_BLOCKED, "WAIT%", 5, 5, 5, 144, COLUMN_BLOCKS, cell_blocked,
	 "wall time spent waiting, by the samples; with CPU% and READY% it is all of the time"},
	{COLUMN_STATE, "STATE", 9, 9, 9, 120, COLUMN_LEFT, cell_state, "what it does now"},
	{COLUMN_WAITS, "WAITS ON", 8, 10, 20, 80, COLUMN_LEFT, cell_note,
	 "system call or kernel function it sleeps in"},
	COLUMN_METRICS,
	{COLUMN_TOP, "TOP FUNCTION", 13, 16, 255, 150, COLUMN_LEFT | COLUMN_GROWS, cell_top,
	 "where most of its own samples are"},
};

const struct view view_threads = {VIEW_THREADS,
				  threads_columns,
				  COUNT(threads_columns),
				  QUERY_GROUP_THREADS | QUERY_GROUP_PROCESSES | QUERY_FILTERS |
					  QUERY_FOLD_INLINE,
				  false,
				  true};
