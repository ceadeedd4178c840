/*
 * test_screens: every screen by a script of keys, compared with text files, at sizes from a
 * telephone to a wall. UPDATE_GOLDEN=1 writes the files.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "script.h"

enum { MANY = 1, METRICS = 2, ASCII = 4, FINISHED = 8, OUTPUT = 16, COLOURS = 32 };

static const struct scene {
	const char *name, *keys;
	int w, h;
	unsigned flags;
	enum view_kind first;
} scenes[] = {
	{"functions-80x24", "", 80, 24, COLOURS, 0},
	{"functions-200x50", "", 200, 50, METRICS | MANY, 0},
	{"functions-40x10", "", 40, 10, 0, 0},
	{"functions-ascii-80x24", "", 80, 24, ASCII | METRICS, 0},
	{"functions-metrics-80x24", "Down Down", 80, 24, METRICS | COLOURS, 0},
	{"functions-metrics-100x30", "v", 100, 30, METRICS, 0},
	{"functions-finished-80x24", "", 80, 24, FINISHED, 0},
	{"functions-filter-80x24", "\\ \"kernel Enter", 80, 24, 0, 0},
	{"functions-search-80x24", "/ \"rec Enter n", 80, 24, COLOURS, 0},
	{"functions-sorted-80x24", "> > I", 80, 24, 0, 0},
	{"functions-frozen-80x24", "z Z K w", 80, 24, COLOURS, 0},
	{"sort-menu-80x24", "F6 Down", 80, 24, COLOURS, 0},
	{"events-menu-80x24", "e", 80, 24, 0, 0},
	{"save-prompt-80x24", "s", 80, 24, COLOURS, 0},
	{"tree-80x24", "2", 80, 24, COLOURS, 0},
	{"tree-100x30", "2", 100, 30, METRICS, 0},
	{"tree-200x50", "2 *", 200, 50, METRICS, 0},
	{"tree-40x10", "2", 40, 10, 0, 0},
	{"tree-deep-80x24", "2 G", 80, 24, MANY, 0},
	{"tree-closed-80x24", "2 Down Down -", 80, 24, 0, 0},
	{"path-80x24", "Enter", 80, 24, COLOURS, 0},
	{"path-source-80x24", "Down Down Enter Down Enter", 80, 24, 0, 0},
	{"callers-80x24", "c", 80, 24, COLOURS, 0},
	{"callers-200x50", "c", 200, 50, METRICS, 0},
	{"threads-80x24", "3", 80, 24, COLOURS, 0},
	{"threads-200x50", "3", 200, 50, METRICS, 0},
	{"threads-40x10", "3", 40, 10, 0, 0},
	{"threads-grouped-80x24", "3 t", 80, 24, 0, 0},
	{"thread-zoom-80x24", "3 Down Enter", 80, 24, 0, 0},
	{"modules-80x24", "4", 80, 24, 0, 0},
	{"modules-200x50", "4", 200, 50, METRICS, 0},
	{"module-functions-80x24", "4 Down Enter", 80, 24, 0, 0},
	{"source-80x24", "a", 80, 24, COLOURS | METRICS, 0},
	{"source-asm-80x24", "a + o", 80, 24, COLOURS | METRICS, 0},
	{"source-asm-200x50", "a o Down Down Down Down", 200, 50, METRICS, 0},
	{"source-40x10", "a", 40, 10, 0, 0},
	{"events-80x24", "5 Down Down Down Down", 80, 24, METRICS, 0},
	{"events-200x50", "5", 200, 50, METRICS, 0},
	{"verdicts-80x24", "6", 80, 24, COLOURS, 0},
	{"verdicts-200x50", "6", 200, 50, 0, 0},
	{"topdown-80x24", "7 Down Down", 80, 24, METRICS | COLOURS, 0},
	{"topdown-200x50", "7", 200, 50, METRICS, 0},
	{"topdown-40x10", "7", 40, 10, METRICS, 0},
	{"output-80x24", "9", 80, 24, OUTPUT, 0},
	{"doctor-80x24", "8", 80, 24, OUTPUT, 0},
	{"duration-80x24", "", 80, 24, 0, VIEW_DURATION},
	{"duration-200x50", "", 200, 50, 0, VIEW_DURATION},
	{"edge-40x10", "", 40, 10, 0, VIEW_EDGE},
	{"help-80x24", "?", 80, 24, COLOURS, 0},
	{"help-tree-200x50", "2 ?", 200, 50, 0, 0},
	{"help-40x10", "?", 40, 10, 0, 0},
	{"name-80x24", "G y", 80, 24, 0, 0},
	{"small-20x5", "", 20, 5, 0, 0},
};

static const struct ui_choice sets[] = {
	{"clock", "CPU time, always there", NULL},
	{"ipc", "cycles and instructions", NULL},
	{"memory", "cache and TLB misses", "no hardware PMU here (ENOENT)"},
};

static void run_scene(void **state)
{
	const struct scene *scene = *state;
	struct script s;

	script_init(&s);
	s.fake.many = scene->flags & MANY;
	s.fake.metrics = scene->flags & METRICS;
	s.fake.finished = scene->flags & FINISHED;
	s.config.ascii = scene->flags & ASCII;
	s.config.has_output = scene->flags & OUTPUT;
	s.config.first = scene->first;
	s.config.event_sets = sets;
	s.config.nevent_sets = sizeof sets / sizeof *sets;
	script_start(&s, scene->w, scene->h);
	script_keys(&s, scene->keys);
	script_golden(&s, scene->name, scene->flags & COLOURS);
	script_end(&s);
}

int main(void)
{
	struct CMUnitTest tests[sizeof scenes / sizeof *scenes];

	setlocale(LC_CTYPE, "C.UTF-8");
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		tests[i] = (struct CMUnitTest){.name = scenes[i].name,
					       .test_func = run_scene,
					       .initial_state = (void *)&scenes[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
