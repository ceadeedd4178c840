/*
 * test_counting: what is hidden, counted and divided: the keys that filter, sets that were in use
 * before, the parts of the pipeline's slots.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "desk.h"

static void switches(void **state)
{
	(void)state;
	script_keys(&s, "K");
	assert_int_equal(s.fake.query.flags, QUERY_NO_KERNEL);
	script_keys(&s, "U"); /* hiding both would leave nothing */
	assert_int_equal(s.fake.query.flags, QUERY_NO_USER);
	script_keys(&s, "Up"); /* the footer's message goes */
	assert_true(screen_has("no user"));
	assert_true(screen_has("U show user"));
	script_keys(&s, "V Up");
	assert_int_equal(s.fake.query.flags, QUERY_NO_USER | QUERY_NO_GUEST);
	assert_true(screen_has("no guests") && screen_has("V only guests"));
	script_keys(&s, "V Up");
	assert_int_equal(s.fake.query.flags, QUERY_NO_USER | QUERY_NO_HOST);
	assert_true(screen_has("guests only") && screen_has("V show host"));
	script_keys(&s, "V");
	assert_int_equal(s.fake.query.flags, QUERY_NO_USER);
	script_keys(&s, "U H v");
	assert_int_equal(s.fake.query.flags, QUERY_FOLD_INLINE | QUERY_ADDRESSES);
	script_keys(&s, "T");
	assert_int_equal(s.fake.query.flags,
			 QUERY_FOLD_INLINE | QUERY_ADDRESSES | QUERY_TAIL_CALLS);
	assert_true(screen_has("with tail calls"));
	script_keys(&s, "T H v 8 K"); /* nothing on the doctor's screen */
	assert_int_equal(s.ui.flags, 0);
	assert_true(screen_has("that changes nothing"));
}

static void move_to(const char *name)
{
	script_keys(&s, "g");
	for (int i = 0; i < 40 && strcmp(cursor_name(), name); i++)
		script_keys(&s, "Down");
	assert_string_equal(cursor_name(), name);
}

/* Enter on a set that others followed shows all screens by it, until the one in use is chosen. */
static void older_sets(void **state)
{
	(void)state;
	assert_int_equal(s.fake.query.set, UINT16_MAX);
	script_keys(&s, "5");
	move_to("before: cpu-clock");
	script_keys(&s, "Enter Up");
	assert_int_equal(s.fake.query.set, 0);
	assert_true(screen_has("older set"));
	script_keys(&s, "1");
	assert_int_equal(s.fake.query.set, 0);
	script_keys(&s, "5");
	move_to("now: cycles …");
	script_keys(&s, "Enter Up");
	assert_int_equal(s.fake.query.set, UINT16_MAX);
	assert_false(screen_has("older set"));
	/* So does choosing events. */
	move_to("cpu-clock");
	script_keys(&s, "Enter");
	assert_int_equal(s.fake.query.set, 0);
	script_keys(&s, "e \"cycles Enter");
	assert_int_equal(commanded()->kind, COMMAND_EVENTS);
	assert_int_equal(s.fake.query.set, UINT16_MAX);
	move_to("IPC");
	script_keys(&s, "Enter"); /* a metric is of the set shown */
	assert_true(screen_has("nothing to go into"));
}

static void parts_of_slots(void **state)
{
	(void)state;
	script_keys(&s, "7");
	assert_int_equal(view(), VIEW_TOPDOWN);
	move_to("retiring");
	script_keys(&s, "Enter");
	assert_int_equal(view(), VIEW_TOPDOWN);
	assert_int_equal(s.fake.query.nexpanded, 1);
	move_to("row_search_mvcc");
	script_keys(&s, "c");
	assert_int_equal(view(), VIEW_CALLERS);
	script_keys(&s, "Esc Enter");
	assert_int_equal(view(), VIEW_SOURCE);
	assert_int_equal(s.fake.query.focus.kind, ROW_FUNCTION);
	assert_int_equal(s.fake.query.focus.b, 0);
	/* The reason stands whole below the table. */
	script_keys(&s, "Esc");
	move_to("front-end bound");
	assert_true(screen_has("(stalled-cycles-frontend)"));
}

/* What a recording counted is all there is: `e` asks which of it the columns show. */
static void recorded_events(void **state)
{
	static const char *const several[] = {"cycles:u", "page-faults", "LLC-load-misses", NULL},
				 *const one[] = {"cpu-clock", NULL};

	(void)state;
	s.config.whole = true;
	s.fake.events = several;
	script_keys(&s, "e");
	assert_true(screen_has("Show which event of the recording?"));
	assert_true(screen_has("cycles:u") && screen_has("LLC-load-misses"));
	assert_true(screen_has("shown now"));
	script_keys(&s, "Down Enter");
	assert_int_equal(s.fake.query.event, 10);
	assert_int_equal(s.fake.ncommands, 0); /* nothing is counted anew */
	assert_true(screen_has("all columns are of page-faults"));
	script_keys(&s, "2"); /* on every screen */
	assert_int_equal(s.fake.query.event, 10);
	script_keys(&s, "e \"LLC Enter");
	assert_int_equal(s.fake.query.event, 20);
	script_keys(&s, "e \"nosuch Enter Esc");
	assert_int_equal(s.fake.query.event, 20);
	s.fake.events = one;
	script_keys(&s, "e");
	assert_true(screen_has("this recording has one event: cpu-clock"));
	s.fake.events = NULL;
	script_keys(&s, "e");
	assert_true(screen_has("this recording has no sampled event"));
	s.config.whole = false;
}

/* -s EVENT: its columns from the start; live, until others are counted. */
static void sorted_by_event(void **state)
{
	static const char *const several[] = {"cycles:u", "page-faults", NULL};

	(void)state;
	script_end(&s);
	script_init(&s);
	s.config.event = "page-faults";
	s.fake.events = several;
	script_start(&s, 80, 24);
	script_keys(&s, "Down");
	assert_int_equal(s.fake.query.event, 10);
	script_keys(&s, "e \"cycles Enter");
	assert_int_equal(commanded()->kind, COMMAND_EVENTS);
	assert_int_equal(s.fake.query.event, UINT16_MAX);
	script_end(&s);

	script_init(&s);
	s.config.event = "cycles"; /* the :u was put there by what could be opened */
	s.fake.events = several;
	script_start(&s, 80, 24);
	script_keys(&s, "Down");
	assert_int_equal(s.fake.query.event, 0);
}

/* Enter on a span, of which a trace tells no source, is answered. */
static void span_without_source(void **state)
{
	(void)state;
	script_end(&s);
	script_init(&s);
	s.config.first = VIEW_DURATION;
	s.config.whole = true;
	script_start(&s, 80, 24);
	assert_int_equal(view(), VIEW_DURATION);
	script_keys(&s, "Enter");
	assert_int_equal(view(), VIEW_DURATION);
	assert_true(screen_has("a trace tells no source of it"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(recorded_events), T(sorted_by_event), T(span_without_source),
		T(switches),        T(older_sets),      T(parts_of_slots),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests_name("counting", tests, NULL, NULL);
}
