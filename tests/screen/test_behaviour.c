/*
 * test_behaviour: what keys and the mouse do, apart from how it looks: the cursor that stays, going
 * in and back, prompts, freezing, saving, remapping, terminals that shrink.
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

/* The person moves to a function; the table is sorted otherwise; the cursor is on the same one. */
static void cursor_stays_on_its_function(void **state)
{
	(void)state;
	script_keys(&s, "Down Down");
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
	assert_int_equal(page_now(&s.ui)->cursor, 2);
	script_keys(&s, ">");
	assert_int_equal(s.fake.query.sort, COLUMN_TOTAL);
	assert_int_equal(page_now(&s.ui)->cursor, 0);
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
	script_keys(&s, "I");
	assert_true(s.fake.query.flags & QUERY_REVERSE);
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
	script_keys(&s, "I <");
	assert_int_equal(s.fake.query.sort, COLUMN_SELF);
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
}

/* A row that is gone for a while is found again. */
static void cursor_outlives_its_row(void **state)
{
	(void)state;
	script_keys(&s, "Down Down \\ \"kernel Enter");
	assert_string_equal(cursor_name(), "do_syscall_64"); /* the nearest there is */
	script_keys(&s, "Esc");
	assert_string_equal(s.ui.filter, "");
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
}

static void cursor_follows_the_top_until_moved(void **state)
{
	(void)state;
	assert_string_equal(cursor_name(), "row_search_mvcc");
	script_keys(&s, ">");
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
	assert_int_equal(page_now(&s.ui)->cursor, 0);
}

static void moving_stops_at_the_ends(void **state)
{
	(void)state;
	script_keys(&s, "Up Up k PgUp g");
	assert_int_equal(page_now(&s.ui)->cursor, 0);
	script_keys(&s, "G Down PgDn j");
	assert_int_equal(page_now(&s.ui)->cursor, (int)page_now(&s.ui)->shown.len - 1);
	script_keys(&s, "Home");
	assert_int_equal(page_now(&s.ui)->cursor, 0);
}

/* function → call path → source line, and back to the same row each time. */
static void going_in_and_back(void **state)
{
	(void)state;
	script_keys(&s, "Down Down Enter");
	assert_int_equal(view(), VIEW_TREE);
	assert_true(s.fake.query.flags & QUERY_BOTTOM_UP);
	assert_int_equal(s.fake.query.focus.kind, ROW_FUNCTION);
	assert_int_equal(s.fake.query.focus.a, 3);
	script_keys(&s, "Down");
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
	script_keys(&s, "Enter");
	assert_int_equal(view(), VIEW_SOURCE);
	assert_int_equal(s.ui.depth, 3);
	script_keys(&s, "Esc");
	assert_int_equal(view(), VIEW_TREE);
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
	script_keys(&s, "Esc");
	assert_int_equal(view(), VIEW_FUNCTIONS);
	assert_int_equal(s.fake.query.focus.kind, ROW_NONE);
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
	script_keys(&s, "Esc"); /* nothing to go back to */
	assert_int_equal(view(), VIEW_FUNCTIONS);
}

static void going_in_for_ever_is_bounded(void **state)
{
	(void)state;
	script_keys(&s, "c");
	for (int i = 0; i < 100; i++)
		script_keys(&s, "Up Enter c Up Enter");
	assert_in_range(s.ui.depth, 2, PAGES_DEEP);
	for (int i = 0; i < 200; i++)
		script_keys(&s, "Esc");
	assert_int_equal(s.ui.depth, 1);
	assert_int_equal(view(), VIEW_FUNCTIONS);
}

static void callers_walk(void **state)
{
	(void)state;
	script_keys(&s, "c");
	assert_int_equal(view(), VIEW_CALLERS);
	assert_int_equal(page_cursor(page_now(&s.ui))->key.kind,
			 ROW_SELF); /* starts on the function */
	script_keys(&s, "g Enter");
	assert_int_equal(view(), VIEW_CALLERS);
	assert_int_equal(s.fake.query.focus.a, 3);
	script_keys(&s, "Enter");
	assert_int_equal(view(), VIEW_SOURCE);
	script_keys(&s, "b");
	assert_int_equal(view(), VIEW_TREE);
	assert_int_equal(s.fake.query.focus.a, 3);
}

static void tabs(void **state)
{
	(void)state;
	script_keys(&s, "4");
	assert_int_equal(view(), VIEW_MODULES);
	script_keys(&s, "Tab");
	assert_int_equal(view(), VIEW_EVENTS);
	script_keys(&s, "BackTab BackTab");
	assert_int_equal(view(), VIEW_THREADS);
	script_keys(&s, "9"); /* there are eight */
	assert_int_equal(view(), VIEW_THREADS);
	assert_true(screen_has("there are 8 tabs here"));
	script_keys(&s, "1 BackTab");
	assert_int_equal(view(), VIEW_DOCTOR);
	script_keys(&s, "Tab Down Down 2 1"); /* a tab keeps its cursor */
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
}

/* The hottest path opens by itself; what the person closes stays closed. */
static void tree_opens_and_closes(void **state)
{
	size_t all;

	(void)state;
	script_keys(&s, "2");
	all = page_now(&s.ui)->shown.len;
	assert_true(all > 8);
	script_keys(&s, "Down Down -");
	assert_true(page_now(&s.ui)->shown.len < all);
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
	script_refresh(&s);
	script_refresh(&s);
	assert_true(page_now(&s.ui)->shown.len < all);
	all = page_now(&s.ui)->shown.len;
	script_keys(&s, "Right"); /* opens again, a level */
	assert_true(page_now(&s.ui)->shown.len > all);
	script_keys(&s, "Right"); /* goes to the first child */
	assert_string_equal(cursor_name(), "row_search_mvcc");
	script_keys(&s, "Left Left"); /* closes, then goes to the parent */
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
	script_keys(&s, "*");
	assert_true(s.fake.query.flags & QUERY_EXPAND_ALL);
	assert_int_equal(s.fake.query.nexpanded, 0);
	script_keys(&s, "-"); /* with all open, the list holds what is closed */
	assert_int_equal(s.fake.query.nexpanded, 1);
	script_keys(&s, "*");
	assert_false(s.fake.query.flags & QUERY_EXPAND_ALL);
	assert_int_equal(page_now(&s.ui)->shown.len, 1);
}

static void searching(void **state)
{
	(void)state;
	script_keys(&s, "/ \"REC");
	assert_string_equal(cursor_name(), "rec_get_offsets_func"); /* while typing */
	script_keys(&s, "Enter n");
	assert_string_equal(cursor_name(), "rec_get_offsets_func"); /* the only one: round */
	script_keys(&s, "/ \"kernel Enter");
	assert_string_equal(cursor_name(), "copy_user_enhanced_fast_string");
	script_keys(&s, "n");
	assert_string_equal(cursor_name(), "do_syscall_64");
	script_keys(&s, "N N");
	assert_string_equal(cursor_name(), "do_syscall_64");
	script_keys(&s, "/ \"nosuch Enter");
	assert_true(screen_has("no row has \"nosuch\""));
	assert_string_equal(cursor_name(), "do_syscall_64");
	script_keys(&s, "/ Esc");
	assert_string_equal(s.ui.search, "");
}

static void filtering(void **state)
{
	(void)state;
	script_keys(&s, "\\ \"libc Enter");
	assert_string_equal(s.fake.query.filter, "libc");
	assert_int_equal(page_now(&s.ui)->shown.len, 1);
	assert_true(screen_has("\\libc"));
	assert_true(screen_has("Esc shows all again"));
	script_keys(&s, "c"); /* callers are not filtered */
	assert_string_equal(s.fake.query.filter, "");
	script_keys(&s, "Esc \\ ^U \"nosuch Enter");
	assert_true(screen_has("nothing matches the filter"));
	script_keys(&s, "Enter c a b y + -"); /* no row: nothing happens, nothing breaks */
	script_keys(&s, "Esc Esc Esc");
	assert_string_equal(s.fake.query.filter, "");
}

/* Answers go on arriving; the frozen screen shows none that it did not ask for. */
static void freezing(void **state)
{
	const struct answer *shown;

	(void)state;
	script_keys(&s, "Z");
	shown = page_now(&s.ui)->answer;
	s.fake.time_ns += 5000000000ULL;
	script_refresh(&s);
	assert_ptr_equal(page_now(&s.ui)->answer, shown);
	assert_true(screen_has("FROZEN"));
	script_keys(&s, ">"); /* another order of the same moment */
	assert_int_equal(s.fake.query.until_ns, 83000000000ULL);
	assert_true(page_now(&s.ui)->answer != shown);
	script_keys(&s, "2"); /* and another screen */
	assert_int_equal(s.fake.query.until_ns, 83000000000ULL);
	script_keys(&s, "Space");
	assert_int_equal(s.fake.query.until_ns, 0);
	assert_false(screen_has("FROZEN"));
	assert_true(screen_has("1:28"));
}

/* Before anything was there to be frozen: the first moment that is shown. */
static void freezing_at_once(void **state)
{
	(void)state;
	app_fini(&s.ui);
	s.fake.silent = true;
	script_start(&s, 80, 24);
	script_keys(&s, "Z");
	s.fake.silent = false;
	script_refresh(&s);
	s.fake.time_ns += 5000000000ULL;
	script_keys(&s, "2");
	assert_int_equal(s.fake.query.until_ns, 83000000000ULL);
}

static void windows_and_marks(void **state)
{
	static const uint64_t seconds[] = {60, 0, 1, 10};

	(void)state;
	assert_int_equal(s.fake.query.window_ns, 10000000000ULL);
	for (int i = 0; i < 4; i++) {
		script_keys(&s, "w");
		assert_int_equal(s.fake.query.window_ns, seconds[i] * 1000000000ULL);
	}
	script_keys(&s, "z");
	assert_int_equal(commanded()->kind, COMMAND_MARK);
	assert_true(screen_has("since mark"));
	script_keys(&s, "z");
	assert_int_equal(s.fake.ncommands, 2);
	assert_false(screen_has("since mark"));
}

static void saving(void **state)
{
	(void)state;
	script_keys(&s, "s");
	assert_true(screen_has("altpttop-mysqld.pb.gz")); /* proposed */
	script_keys(&s, "Enter");
	assert_int_equal(commanded()->kind, COMMAND_SAVE);
	assert_string_equal(commanded()->text, "altpttop-mysqld.pb.gz");
	assert_false(commanded()->replace);
	assert_true(screen_has("saved altpttop-mysqld.pb.gz"));
	script_keys(&s, "s ^U \"there.pb.gz Enter");
	assert_false(commanded()->replace);
	assert_true(screen_has("there.pb.gz exists. Replace it?"));
	script_keys(&s, "Enter"); /* anything but y is no */
	assert_int_equal(s.fake.ncommands, 2);
	script_keys(&s, "F2 Enter y");
	assert_true(commanded()->replace);
	assert_true(screen_has("saved there.pb.gz"));
	script_keys(&s, "s Esc");
	script_keys(&s, "s ^U Enter"); /* no name: nothing is saved */
	assert_int_equal(s.fake.ncommands, 4);
}

static void rates_and_intervals(void **state)
{
	(void)state;
	script_keys(&s, "F");
	assert_true(screen_has("(Hz): 997"));
	script_keys(&s, "^U \"4999 Enter");
	assert_int_equal(commanded()->kind, COMMAND_RATE);
	assert_int_equal(commanded()->number, 4999);
	assert_true(screen_has("the target will feel it"));
	script_keys(&s, "F ^U \"20000 Enter");
	assert_true(screen_has("from 1 to 10000 Hz"));
	script_keys(&s, "F ^U \"12x Enter F ^U Enter");
	assert_int_equal(s.fake.ncommands, 1);
	script_keys(&s, "d ^U \"0.1 Enter");
	assert_int_equal(commanded()->kind, COMMAND_INTERVAL);
	assert_int_equal(commanded()->number, 100);
	assert_int_equal(s.ui.interval_ms, 100);
	script_keys(&s, "d ^U \"0.05 Enter d ^U \"nan Enter");
	assert_int_equal(s.fake.ncommands, 2);
}

/* As long as the catalogue tells names. */
static const char long_event[] =
	"a_long_pmu_of_some_uncore_unit_0/an_event_that_is_described_by_its_whole_name_and_mask,"
	"umask=0x0123456789,long=1/";

static uint32_t find(void *ctx, const char *text, struct ui_choice *ret, uint32_t max)
{
	(void)ctx;
	if (max && !strcmp(text, "long")) {
		ret[0] = (struct ui_choice){long_event, "whose name is long", NULL};
		return 1;
	}
	if (!max || strncmp(text, "bra", 3))
		return 0;
	ret[0] = (struct ui_choice){"branch-misses", "mispredicted branches", NULL};
	return 1;
}

static void choosing_events(void **state)
{
	static const struct ui_choice sets[] = {{"clock", "CPU time", NULL},
						{"memory", "misses", "no PMU here"}};

	(void)state;
	s.config.event_sets = sets;
	s.config.nevent_sets = 2;
	s.config.find_events = find;
	script_keys(&s, "e Down Enter"); /* cannot be had: says why, stays */
	assert_int_equal(s.fake.ncommands, 0);
	assert_true(screen_has("no PMU here"));
	script_keys(&s, "Up Enter");
	assert_int_equal(commanded()->kind, COMMAND_EVENTS);
	assert_string_equal(commanded()->text, "clock");
	script_keys(&s, "e \"branch Enter");
	assert_string_equal(commanded()->text, "branch-misses");
	script_keys(&s, "e \"{cycles,r1a8}:u Enter"); /* a list of its own */
	assert_string_equal(commanded()->text, "{cycles,r1a8}:u");
	script_keys(&s, "e \"long Enter");
	assert_string_equal(commanded()->text, long_event);
	script_keys(&s, "e Esc");
	assert_int_equal(s.fake.ncommands, 4);
}

static void threads(void **state)
{
	(void)state;
	script_keys(&s, "t"); /* none was chosen yet */
	assert_true(screen_has("choose a thread first"));
	script_keys(&s, "3 Down Enter");
	assert_int_equal(view(), VIEW_FUNCTIONS);
	assert_int_equal(s.fake.query.task, 2);
	assert_true(screen_has("thread ib_io_wr-1 (4251)"));
	script_keys(&s, "t");
	assert_int_equal(s.fake.query.task, 0);
	script_keys(&s, "t");
	assert_int_equal(s.fake.query.task, 2);
	script_keys(&s, "Esc");
	assert_int_equal(s.fake.query.task, 0);
	script_keys(&s, "3 g c"); /* of its top function */
	assert_int_equal(view(), VIEW_CALLERS);
	assert_true(screen_has("Callers of row_search_mvcc"));
	script_keys(&s, "Esc t");
	assert_true(s.fake.query.flags & QUERY_GROUP_THREADS);
	script_keys(&s, "Down Enter");
	assert_int_equal(view(), VIEW_FUNCTIONS);
	assert_int_equal(s.fake.query.focus.kind, ROW_GROUP);
}

static void hot_lines(void **state)
{
	(void)state;
	script_keys(&s, "a");
	assert_int_equal(page_cursor(page_now(&s.ui))->line, 4412); /* starts on the hottest */
	script_keys(&s, "]");
	assert_int_equal(page_cursor(page_now(&s.ui))->line, 4416);
	script_keys(&s, "]");
	assert_int_equal(page_cursor(page_now(&s.ui))->line, 4413);
	script_keys(&s, "[ [");
	assert_int_equal(page_cursor(page_now(&s.ui))->line, 4412);
	script_keys(&s, "["); /* round to the coolest */
	assert_int_equal(page_cursor(page_now(&s.ui))->line, 4409);
	script_keys(&s, "] g ]"); /* from a cold line to the hottest */
	assert_int_equal(page_cursor(page_now(&s.ui))->line, 4412);
}

static void source_keeps_its_order(void **state)
{
	(void)state;
	script_keys(&s, "a <");
	assert_true(screen_has("rows stay in their order here"));
	assert_false(screen_has("sorted by"));
	script_keys(&s, "F6");
	assert_int_equal(s.ui.overlay.kind, 0);
	script_keys(&s, "I");
	assert_false(page_now(&s.ui)->reverse);
}

static void evidence_stands_whole(void **state)
{
	(void)state;
	script_keys(&s, "6");
	const struct row *row = page_cursor(page_now(&s.ui));
	assert_non_null(row);
	assert_true(screen_has(row->note));
	assert_true(screen_has("row_search_mvcc:4412: IPC 0.31"));
}

static void instructions(void **state)
{
	(void)state;
	script_keys(&s, "a o");
	assert_true(s.fake.query.flags & QUERY_ASSEMBLY);
	script_keys(&s, "g"); /* the conditional jump back */
	for (int i = 0; i < 20 && page_cursor(page_now(&s.ui))->go.kind != ROW_INSN; i++)
		script_keys(&s, "Down");
	script_keys(&s, "Enter");
	assert_int_equal(page_cursor(page_now(&s.ui))->addr, 0x7a31f0);
	for (int i = 0; i < 20 && page_cursor(page_now(&s.ui))->go.kind != ROW_FUNCTION; i++)
		script_keys(&s, "Down");
	script_keys(&s, "Enter"); /* the call */
	assert_int_equal(view(), VIEW_SOURCE);
	assert_int_equal(s.fake.query.focus.a, 5);
	script_keys(&s, "Esc o");
	assert_false(s.fake.query.flags & QUERY_ASSEMBLY);
}

static void whole_names(void **state)
{
	(void)state;
	script_keys(&s, "/ \"Rb Enter y");
	assert_true(screen_has("any key goes back"));
	assert_true(screen_has("std::__cxx11::basic_string<char>"));
	assert_true(screen_has("bits/stl_tree.h"));
	assert_false(screen_has("stl_tree.h:0")); /* no line is known */
	script_keys(&s, "q");                     /* any key closes it, and does nothing else */
	assert_false(s.ui.quit);
	assert_false(screen_has("any key goes back"));
	script_keys(&s, "/ \"boost Enter y G"); /* 4 KB */
	assert_true(screen_has(">::apply(int)"));
	script_keys(&s, "x");
}

static void help_scrolls(void **state)
{
	(void)state;
	script_keys(&s, "?");
	assert_true(screen_has("Where the time goes"));
	script_keys(&s, "G");
	assert_true(screen_has("stacks cut"));
	script_keys(&s, "PgUp Up g");
	assert_true(screen_has("Where the time goes"));
	script_keys(&s, "Esc Esc");
	assert_int_equal(s.ui.overlay.kind, OVERLAY_NONE);
}

static void notices(void **state)
{
	(void)state;
	fake_notice(&s.fake, NOTICE_ERROR, "cannot write /full/x.pb.gz: No space left on device");
	script_refresh(&s);
	assert_true(screen_has("No space left on device"));
	clock_fake(1000000000000ULL + 3600000000000ULL, 1);
	script_refresh(&s);
	assert_true(screen_has("No space left on device")); /* errors stay until a key is pressed */
	script_keys(&s, "Down");
	assert_false(screen_has("No space"));
	fake_notice(&s.fake, NOTICE_FINISHED, "");
	script_refresh(&s);
	assert_true(screen_has("the target has ended"));
	clock_fake(1000000000000ULL + 3620000000000ULL, 1);
	script_refresh(&s);
	assert_false(screen_has("the target has ended")); /* others fade */
}

static void reading_can_be_stopped(void **state)
{
	(void)state;
	s.fake.reading = 0.25;
	script_refresh(&s);
	clock_fake(1000000000000ULL + 10000000000ULL, 1);
	s.fake.reading = 0.5;
	script_refresh(&s);
	assert_true(screen_has("50%  0:10 left  Esc stops"));
	script_keys(&s, "Enter Esc"); /* goes back first */
	assert_int_equal(s.fake.ncommands, 0);
	script_keys(&s, "Esc");
	assert_int_equal(commanded()->kind, COMMAND_CANCEL);
	s.fake.finished = true;
	script_refresh(&s);
	assert_false(screen_has("stops"));
	script_keys(&s, "Esc");
	assert_int_equal(s.fake.ncommands, 1);
}

static void a_download_can_be_stopped(void **state)
{
	(void)state;
	s.fake.download = true;
	script_refresh(&s);
	assert_true(screen_has("fetch libengine.so 3.0 MiB of 80.0 MiB +2"));
	script_keys(&s, "Esc");
	assert_int_equal(commanded()->kind, COMMAND_CANCEL);
	s.fake.download = false;
	script_refresh(&s);
	assert_false(screen_has("fetch"));
	script_keys(&s, "Esc"); /* nothing is left to stop */
	assert_int_equal(s.fake.ncommands, 1);
}

static void output_follows_its_end(void **state)
{
	struct page *page;

	(void)state;
	app_fini(&s.ui);
	s.config.has_output = true;
	script_start(&s, 80, 24);
	script_keys(&s, "8"); /* the same as without output */
	assert_int_equal(view(), VIEW_DOCTOR);
	script_keys(&s, "9");
	page = page_now(&s.ui);
	assert_int_equal(page->view->kind, VIEW_OUTPUT);
	assert_int_equal(page->cursor, (int)page->shown.len - 1);
	script_refresh(&s);
	assert_int_equal(page->cursor, (int)page->shown.len - 1);
	script_keys(&s, "Up Up");
	script_refresh(&s);
	script_refresh(&s);
	assert_true(page->cursor < (int)page->shown.len - 3); /* the person reads: stay */
	script_keys(&s, "G");
	script_refresh(&s);
	assert_int_equal(page->cursor, (int)page->shown.len - 1);
}

static void mouse(void **state)
{
	(void)state;
	app_mouse(&s.ui, 30, 6, false, 0); /* the third row */
	script_refresh(&s);
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
	app_mouse(&s.ui, 30, 6, true, 0);
	script_refresh(&s);
	assert_int_equal(view(), VIEW_TREE);
	script_keys(&s, "Esc");
	app_mouse(&s.ui, 30, 10, false, 3);
	script_refresh(&s);
	assert_int_equal(page_now(&s.ui)->cursor, 11);
	app_mouse(&s.ui, 20, 3, false, 0); /* the title TOTAL% */
	script_refresh(&s);
	assert_int_equal(s.fake.query.sort, COLUMN_TOTAL);
	app_mouse(&s.ui, 20, 3, false, 0);
	script_refresh(&s);
	assert_true(s.fake.query.flags & QUERY_REVERSE);
	app_mouse(&s.ui, 14, 2, false, 0); /* the tab 2Tree */
	script_refresh(&s);
	assert_int_equal(view(), VIEW_TREE);
	app_mouse(&s.ui, 79, 23, false, 0); /* help in the footer */
	script_refresh(&s);
	assert_int_equal(s.ui.overlay.kind, OVERLAY_TEXT);
	app_mouse(&s.ui, 3, 3, false, 0);
	assert_int_equal(s.ui.overlay.kind, OVERLAY_NONE);
	script_keys(&s, "1 F6");
	app_mouse(&s.ui, 20, 12, false, 0);
	script_refresh(&s);
	assert_int_equal(s.ui.overlay.kind, OVERLAY_NONE);
	script_keys(&s, "8"); /* rows of several lines */
	app_mouse(&s.ui, 20, 7, false, 0);
	assert_int_equal(page_now(&s.ui)->cursor, 2);
	app_mouse(&s.ui, 20, 4, false, 0); /* the first one's second line */
	assert_int_equal(page_now(&s.ui)->cursor, 0);
	app_mouse(&s.ui, 20, 20, false, 0); /* below the last */
	assert_int_equal(page_now(&s.ui)->cursor, 0);
	script_keys(&s, "1");
	app_mouse(&s.ui, 500, 500, true, 0);
	app_mouse(&s.ui, -1, -1, false, 0);
	script_refresh(&s);
}

static void quitting(void **state)
{
	static const char *const keys[] = {"q", "F10", "^C"};

	(void)state;
	for (int i = 0; i < 3; i++) {
		s.ui.quit = false;
		script_keys(&s, keys[i]);
		assert_true(s.ui.quit);
	}
}

static void remapped_keys_show(void **state)
{
	static const char *const lines[] = {"callers=x", "quit=Q", NULL};

	(void)state;
	app_fini(&s.ui);
	s.config.keys = lines;
	script_start(&s, 80, 24);
	assert_true(screen_has("x callers"));
	assert_true(screen_has("Q quit"));
	script_keys(&s, "q");
	assert_false(s.ui.quit);
	script_keys(&s, "x");
	assert_int_equal(view(), VIEW_CALLERS);
	script_keys(&s, "Q");
	assert_true(s.ui.quit);
}

static void bad_remaps_are_told(void **state)
{
	static const char *const lines[] = {"nonsense=x", NULL};

	(void)state;
	app_fini(&s.ui);
	s.config.keys = lines;
	script_start(&s, 80, 24);
	assert_true(screen_has("there is no action \"nonsense\""));
	script_keys(&s, "Down");
	assert_true(screen_has("c callers"));
}

static void before_the_first_answer(void **state)
{
	(void)state;
	app_fini(&s.ui);
	s.fake.silent = true;
	script_start(&s, 80, 24);
	assert_true(screen_has("starting"));
	script_keys(
		&s,
		"Down Up G g PgDn Enter c a b y > < I F6 Esc + - * ] [ t K U H v w z / \"x Enter n N");
	script_keys(&s, "2 3 4 5 6 7 8 ? Esc Z Z \\ \"x Enter Right Left");
	s.fake.silent = false;
	script_keys(&s, "1");
	script_refresh(&s);
	assert_false(screen_has("starting"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(cursor_stays_on_its_function),
		T(cursor_outlives_its_row),
		T(cursor_follows_the_top_until_moved),
		T(moving_stops_at_the_ends),
		T(going_in_and_back),
		T(going_in_for_ever_is_bounded),
		T(callers_walk),
		T(tabs),
		T(tree_opens_and_closes),
		T(searching),
		T(filtering),
		T(freezing),
		T(freezing_at_once),
		T(windows_and_marks),
		T(saving),
		T(rates_and_intervals),
		T(choosing_events),
		T(threads),
		T(hot_lines),
		T(source_keeps_its_order),
		T(evidence_stands_whole),
		T(instructions),
		T(whole_names),
		T(help_scrolls),
		T(notices),
		T(reading_can_be_stopped),
		T(a_download_can_be_stopped),
		T(output_follows_its_end),
		T(mouse),
		T(quitting),
		T(remapped_keys_show),
		T(bad_remaps_are_told),
		T(before_the_first_answer),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
