/*
 * fake_cells: the made-up events, top-down levels, verdicts, spans and text. One thread.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fake_rows.h"

static void cells_of(struct arena *arena, struct answer *a, struct row *r, int n,
		     const double *values)
{
	double *cells = arena_alloc(arena, sizeof *cells * (size_t)n);

	memcpy(cells, values, sizeof *cells * (size_t)n);
	r->cells = cells;
	a->ncells = (uint32_t)n;
}

void fake_events_of(struct fake *f, struct arena *arena, struct answer *a, struct row *rows)
{
	static const struct snapshot_column columns[] = {{"PER S", "", 0},
							 {"COUNT", "", 0},
							 {"OVER", "s", 1},
							 {"SAMPLES", "", 0},
							 {"RUNNING", "%", 1}};
	static const struct {
		enum row_kind kind;
		const char *name, *note, *hint;
		double v[5];
	} events[] = {
		{ROW_HEADING,
		 "now: cycles …",
		 "",
		 "Enter shows the columns of this set",
		 {NAN, NAN, 83, NAN, NAN}},
		{ROW_EVENT, "cycles", "", "CPU cycles in user mode", {2.9e9, 241e9, 83, 8123, 100}},
		{ROW_EVENT, "instructions", "", "", {1.2e9, 101e9, 83, NAN, 100}},
		{ROW_EVENT,
		 "L1-dcache-load-misses",
		 "scaled: it shared its counter with others",
		 "",
		 {48e6, 3.9e9, 83, NAN, 62}},
		{ROW_EVENT,
		 "stalled-cycles-frontend",
		 "n/a: this CPU or kernel has no such event",
		 "n/a: this CPU or kernel has no such event",
		 {NAN, NAN, NAN, NAN, NAN}},
		{ROW_METRIC,
		 "IPC",
		 "",
		 "Instructions per cycle: below 0.5 the CPU mostly waits",
		 {0.42, NAN, 10, NAN, 100}},
		{ROW_HEADING,
		 "before: cpu-clock",
		 "",
		 "Enter shows what this set counted, in all columns; it is not mixed with other sets",
		 {NAN, NAN, 21, NAN, NAN}},
		{ROW_EVENT, "cpu-clock", "", "", {1.9e9, 40e9, 21, 39880, 100}},
	};

	a->columns = columns;
	for (uint32_t i = 0; i < sizeof events / sizeof *events; i++) {
		struct row *r = fake_add(arena, rows, &a->nrows);

		r->key = (struct row_key){events[i].kind, i + 1, i < 6};
		r->flags = i == 0 ? ROW_CURRENT : 0;
		r->name = r->full = events[i].name;
		r->note = events[i].note;
		r->hint = events[i].hint;
		cells_of(arena, a, r, 5, events[i].v);
		if (events[i].kind == ROW_HEADING)
			continue;
		r->nspark = isnan(events[i].v[1]) ? 0 : 16;
		for (int k = 0; k < 16; k++)
			r->spark[k] = (float)(0.5 + 0.5 * sin(k * 0.5 + fake_wobble(f, i, 1)));
	}
}

void fake_topdown_of(struct fake *f, struct arena *arena, struct answer *a, struct row *rows)
{
	static const struct snapshot_column columns[] = {{"OF IT", "%", 1}, {"OWN", "%", 1}};
	static const struct {
		int depth;
		double total, of_it, own;
		uint8_t state, grade;
		const char *name, *note, *hint;
	} levels[] = {
		{0, 0.21, NAN, NAN, VALUE_OK, 2, "retiring", "", "Slots that did useful work."},
		{0, 0.04, NAN, NAN, VALUE_OK, 1, "bad speculation", "",
		 "Slots lost to wrong guesses. Choose the set branch."},
		{0, 0, NAN, NAN, VALUE_NOTHING, 0, "front-end bound",
		 "n/a: counted nothing at all (stalled-cycles-frontend)",
		 "Slots that waited for instructions. Choose the set frontend."},
		{0, 0.63, NAN, NAN, VALUE_OK, 3, "back-end bound", "",
		 "Slots that waited for data or units. Choose the sets backend and memory."},
		{1, 0.51, NAN, NAN, VALUE_SCALED, 3, "memory bound",
		 "scaled: its events were counted 33 % of the time",
		 "Slots that waited for data. Choose the set memory."},
		{2, 0.31, 60.8, 82.4, 0, 0, "row_search_mvcc", "", ""},
		{2, 0.13, 25.5, 71.0, 0, 0, "btr_cur_search_to_nth_level", "", ""},
		{2, 0.02, 3.9, 55.0, 0, 0, "buf_page_hash_get", "", ""},
		{1, 0.12, NAN, NAN, VALUE_SCALED, 2, "core bound",
		 "scaled: its events were counted 33 % of the time",
		 "Slots that waited for execution units. Shorten chains of dependent operations."},
		{1, 0.44, 69.8, 88.0, 0, 0, "row_search_mvcc", "", ""},
	};

	a->columns = columns;
	snprintf(a->title, sizeof a->title,
		 "topdown: back-end bound 63.0 %%, mostly memory bound. Choose the set memory.");
	for (uint32_t i = 0; i < sizeof levels / sizeof *levels; i++) {
		struct row *r = fake_add(arena, rows, &a->nrows);
		bool function = !isnan(levels[i].own);

		r->key = (struct row_key){function ? ROW_FUNCTION : ROW_METRIC, i + 1, 0};
		r->name = r->full = levels[i].name;
		r->note = levels[i].note;
		r->hint = levels[i].hint;
		r->depth = (uint16_t)levels[i].depth;
		if (!function)
			r->flags |= ROW_EXPANDABLE | (i == 3 || i == 4 ? ROW_EXPANDED : 0);
		if (i == 7)
			r->flags |= ROW_DIM | ROW_LOW;
		fake_share(f, r, 0, levels[i].total, i);
		cells_of(arena, a, r, 2, (double[]){levels[i].of_it, levels[i].own});
		if (function)
			continue;
		r->nmetrics = 1;
		r->self_metric[0] = (struct metric_value){.v = r->total * 100,
							  .state = levels[i].state,
							  .grade = levels[i].grade,
							  .running = 1};
	}
}

void fake_verdicts_of(struct fake *f, struct arena *arena, struct answer *a, struct row *rows)
{
	static const struct snapshot_column columns[] = {{"AT MOST", "", 2}};
	static const struct {
		double share, gain;
		const char *kind, *where, *evidence, *hint;
	} verdicts[] = {
		{0.23, 1.30, "memory bound", "row_search_mvcc:4412",
		 "IPC 0.31, L1D miss 12 % of loads, 38k samples",
		 "e memory shows the misses; a opens the source"},
		{0.15, 1.17, "called too often", "memmove \xe2\x97\x82 row_sel_store_mysql",
		 "2.1 M calls/s, 68 ns each, sd/avg 0.2", "c shows who calls"},
		{0.08, 1.09, "lock wait", "buf_page_hash_get",
		 "off-CPU 8 % of wall in futex, 3 threads", ""},
	};

	a->columns = columns;
	for (uint32_t n = 0; n < (f->many ? 40 : 3); n++) {
		struct row *r = fake_add(arena, rows, &a->nrows);
		uint32_t i = n % 3;

		r->key = (struct row_key){ROW_VERDICT, n + 1, 0};
		r->go = (struct row_key){ROW_FUNCTION, i + 1, 0};
		r->name = r->full = verdicts[i].where;
		r->module = verdicts[i].kind;
		r->note = verdicts[i].evidence;
		r->hint = verdicts[i].hint;
		fake_share(f, r, 0, verdicts[i].share, n);
		cells_of(arena, a, r, 1, &verdicts[i].gain);
	}
	snprintf(a->title, sizeof a->title,
		 "12 functions cover 80 %% of the time; stacks 14 deep; 2 recurse%s",
		 f->many ? "; most callers row_search_mvcc (9), most callees main (12)" : "");
}

void fake_analysis_of(struct fake *f, struct arena *arena, struct answer *a, struct row *rows)
{
	static const struct snapshot_column columns[] = {
		{"SCORE", "", 2}, {"COUNT", "", 0},   {"TOTAL", "ns", 0}, {"AVG", "ns", 0},
		{"MAX", "ns", 0}, {"MAX/AVG", "", 1}, {"SD/AVG", "", 2},  {"P50", "ns", 0},
		{"P95", "ns", 0}, {"P99", "ns", 0}};

	a->columns = columns;
	for (uint32_t i = 0; i < 12; i++) {
		struct row *r = fake_add(arena, rows, &a->nrows);
		double avg = 812.0 * (i + 1) * (i + 1), v[] = {0.95 / (i + 1), 120000.0 / (i + 1),
							       avg * 12000,    avg,
							       avg * 40,       40,
							       0.2 * i,        avg,
							       avg * 3,        avg * 9};

		r->key = (struct row_key){ROW_SPAN, i + 1, 0};
		r->name = r->full = arena_printf(arena, "RenderFrame::Layout(%u)", i);
		cells_of(arena, a, r, 10, v);
	}
	(void)f;
}

void fake_text_of(struct fake *f, struct arena *arena, struct answer *a, struct row *rows)
{
	static const char *const doctor[] = {
		"perf events      yes, user space only    perf_event_paranoid is 2: kernel frames are hidden",
		"                                         to see them: sysctl kernel.perf_event_paranoid=1",
		"hardware PMU     no (ENOENT)             this is a virtual machine without one: IPC shows n/a",
		"ring memory      516 KiB per CPU         enough for 997 Hz with 16 KiB stacks",
		"ptrace           yes",
	};
	bool output = f->query.view == VIEW_OUTPUT;

	for (uint32_t i = 0; i < (output ? 40 + f->served : 5); i++) {
		struct row *r = fake_add(arena, rows, &a->nrows);

		r->key = (struct row_key){ROW_TEXT, i + 1, 0};
		r->name = r->full = output ? arena_printf(arena, "line %u of the command's output",
							  i)
					   : doctor[i];
		if (!output && i == 2)
			r->flags = ROW_WARN;
		if (!output && i == 4)
			r->flags = ROW_GOOD;
	}
}
