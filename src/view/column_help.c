/*
 * column_help: what a column tells, a line each; those of trace analyses by their titles. Any
 * thread, no state.
 */
#include <string.h>

#include "view.h"

static const struct {
	const char *title, *help;
} cells[] = {
	{"count", "how often"},
	{"avg", "average time, callees included"},
	{"max", "the longest"},
	{"min", "the shortest"},
	{"total", "all its time"},
	{"max_avg", "longest over average"},
	{"sd_avg", "standard deviation over average"},
	{"cachemiss", "time above average, in misses of 150 ns"},
	{"avg_child_nb", "children of a span"},
	{"avg_loop_size", "children over different names of children"},
	{"p50", "median"},
	{"p95", "95 of 100 are shorter"},
	{"p99", "99 of 100 are shorter"},
	{"score", "how much it stands out"},
	{"inst", "instructions a call, callees included"},
	{"self_inst", "its own instructions a call"},
	{"time", "time a call, callees included"},
	{"self_time", "its own time a call"},
	{"ipc", "instructions per cycle (--ghz)"},
	{"self_ipc", "of its own instructions"},
	{"depth", "average depth in the stack"},
	{"trace_time_pct", "share of the trace's time"},
	{"total_time", "all its time"},
	{"avg_time", "time a run"},
	{"avg_inst", "instructions a run"},
	{"PER S", "a second, in the last one; of a metric: its value"},
	{"COUNT", "since the set began"},
	{"SAMPLES", "in the window"},
	{"RUNNING", "share of that time on the hardware"},
	{"OVER", "the time that COUNT and SAMPLES are of; of a metric, that it was made over"},
	{"OF IT", "share of the part it stands under"},
	{"OWN", "how much of its own slots go there"},
};

const char *view_column_help(const struct view *view, const struct answer *answer, uint32_t id)
{
	uint32_t i = id - COLUMN_CELL;

	if (id >= COLUMN_CELL && answer && answer->columns && i < answer->ncells)
		for (size_t k = 0; k < sizeof cells / sizeof *cells; k++)
			if (!strcmp(cells[k].title, answer->columns[i].title))
				return cells[k].help;
	for (int k = 0; k < view->ncolumns; k++)
		if (view->columns[k].id == id)
			return view->columns[k].help;
	return "";
}
