/*
 * test_dialogs: prompts and questions that are answered late, given up or left half way, and keys
 * on screens where they change nothing: nothing is done that the person did not ask for.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "desk.h"

/* Saving takes a while; the question comes when the person types something else. */
static void a_question_waits_for_the_prompt(void **state)
{
	(void)state;
	script_keys(&s, "s ^U \"slow.pb.gz Enter");
	assert_int_equal(s.fake.ncommands, 1);
	script_keys(&s, "/ \"mem");
	fake_notice(&s.fake, NOTICE_EXISTS, "slow.pb.gz");
	script_refresh(&s);
	script_keys(&s, "\"y"); /* a letter of what is searched for */
	assert_int_equal(s.fake.ncommands, 1);
	assert_string_equal(s.ui.search, "memy");
	script_keys(&s, "Esc");
	assert_true(screen_has("slow.pb.gz exists. Replace it?"));
	script_keys(&s, "y");
	assert_int_equal(s.fake.ncommands, 2);
	assert_true(commanded()->replace);
	assert_string_equal(commanded()->text, "slow.pb.gz");
}

/* Two files are being saved; the first is there already: the second is not what may be replaced. */
static void a_question_is_about_the_file_that_exists(void **state)
{
	(void)state;
	script_keys(&s, "s ^U \"first.csv Enter");
	script_keys(&s, "s ^U \"second.csv Enter");
	fake_notice(&s.fake, NOTICE_EXISTS, "first.csv");
	clock_fake(1000000000000ULL + 2000000000ULL, 1); /* the word on the second was read */
	script_refresh(&s);
	assert_false(screen_has("second.csv exists"));
	assert_true(screen_has("first.csv exists"));
	script_keys(&s, "y");
	assert_int_equal(s.fake.ncommands, 2);
}

/* What was said when saving began is not true any more. */
static void a_refused_file_is_not_said_to_be_saved(void **state)
{
	(void)state;
	script_keys(&s, "s ^U \"there.pb.gz Enter");
	assert_true(screen_has("there.pb.gz exists. Replace it?"));
	script_keys(&s, "n");
	assert_int_equal(s.fake.ncommands, 1);
	assert_false(screen_has("saving there.pb.gz"));
	assert_true(screen_has("there.pb.gz exists: not saved"));
	script_keys(&s, "s Enter y");
	assert_int_equal(s.fake.ncommands, 3);
	assert_false(screen_has("not saved"));
	assert_true(screen_has("saved there.pb.gz"));
}

static void a_filter_given_up_is_as_before(void **state)
{
	(void)state;
	script_keys(&s, "\\ \"libc");
	assert_string_equal(s.fake.query.filter, "libc"); /* while typing */
	script_keys(&s, "Esc");
	assert_string_equal(s.fake.query.filter, "");
	script_keys(&s, "\\ \"kernel Enter \\ ^U \"libc Esc");
	assert_string_equal(s.fake.query.filter, "kernel");
	script_keys(&s, "\\ ^U Enter");
	assert_string_equal(s.fake.query.filter, "");
}

/* Rows change places while the person types. */
static void a_search_given_up_comes_back_to_its_row(void **state)
{
	struct page *page = page_now(&s.ui);

	(void)state;
	script_keys(&s, "Down Down");
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
	script_keys(&s, "/ \"zz");
	page->sort = COLUMN_TOTAL;
	s.ui.ask = true;
	script_refresh(&s);
	script_keys(&s, "\"z Esc");
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
}

/* A cursor that nobody moved stays at the top, whatever is there then. */
static void a_search_given_up_does_not_move_the_cursor(void **state)
{
	(void)state;
	script_keys(&s, "/ \"kern Esc");
	assert_string_equal(cursor_name(), "row_search_mvcc");
	script_keys(&s, ">");
	assert_string_equal(cursor_name(), "btr_cur_search_to_nth_level");
}

/* What is typed is what is looked for: nothing is left out of it unseen. */
static void long_texts_are_used_whole(void **state)
{
	(void)state;
	script_keys(&s, "\\");
	for (int i = 0; i < 4; i++)
		script_keys(&s, "\"0123456789012345678901234567890123456789");
	assert_string_equal(s.ui.overlay.edit.text, s.ui.filter);
	script_keys(&s, "Esc /");
	for (int i = 0; i < 4; i++)
		script_keys(&s, "\"0123456789012345678901234567890123456789");
	assert_string_equal(s.ui.overlay.edit.text, s.ui.search);
}

/* Events hides nothing: keys for that say so, and leave alone what is hidden elsewhere. */
static void keys_without_effect_have_none(void **state)
{
	(void)state;
	script_keys(&s, "U 5 K");
	assert_true(screen_has("that changes nothing on this screen"));
	script_keys(&s, "1");
	assert_int_equal(s.fake.query.flags & QUERY_FILTERS, QUERY_NO_USER);
	script_keys(&s, "U K 5 U 1");
	assert_int_equal(s.fake.query.flags & QUERY_FILTERS, QUERY_NO_KERNEL);
	script_keys(&s, "U"); /* where it does: one of the two */
	assert_int_equal(s.fake.query.flags & QUERY_FILTERS, QUERY_NO_USER);
}

/* Paths, edges, verdicts and events come in an order of their own: no key says otherwise. */
static void screens_with_their_own_order(void **state)
{
	static const char *const ways[] = {"2", "1 c", "5", "6"};

	(void)state;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		script_keys(&s, ways[i]);
		script_keys(&s, ">");
		assert_true(screen_has("stay in their order here"));
		assert_false(screen_has("sorted by"));
		script_keys(&s, "<");
		assert_false(screen_has("sorted by"));
		script_keys(&s, "I");
		assert_false(page_now(&s.ui)->reverse);
		script_keys(&s, "F6");
		assert_int_equal(s.ui.overlay.kind, OVERLAY_NONE);
		for (int k = 0; k < s.ui.nzones; k++)
			assert_int_not_equal(s.ui.zones[k].kind, ZONE_SORT);
	}
}

/* Messages that come together are told one after the other, none below what lies over the screen.
 */
static void no_sentence_is_swallowed(void **state)
{
	(void)state;
	fake_notice(&s.fake, NOTICE_ERROR, "an error that stands until a key is pressed");
	fake_notice(&s.fake, NOTICE_WARN, "perf was refused: using the timer sampler");
	fake_notice(&s.fake, NOTICE_SAVED, "one.csv");
	fake_notice(&s.fake, NOTICE_FINISHED, "the target has ended");
	script_refresh(&s);
	assert_true(screen_has("an error that stands"));
	clock_fake(1000000000000ULL + 60000000000ULL, 1);
	script_refresh(&s);
	assert_true(screen_has("an error that stands"));
	script_keys(&s, "Down");
	assert_true(screen_has("perf was refused"));
	clock_fake(1000000000000ULL + 61000000000ULL, 1);
	script_refresh(&s);
	assert_true(screen_has("perf was refused"));
	clock_fake(1000000000000ULL + 62000000000ULL, 1);
	script_refresh(&s);
	assert_true(screen_has("saved one.csv"));
	script_keys(&s, "/ \"a");
	clock_fake(1000000000000ULL + 70000000000ULL, 1);
	script_refresh(&s);
	script_keys(&s, "Esc");
	assert_true(screen_has("the target has ended"));
}

/* Under whatever lies over the screen: it stays as it is, and so does what was typed. */
static void redraw_and_suspend_work_everywhere(void **state)
{
	static const struct {
		const char *open;
		enum overlay_kind kind;
	} overlays[] = {{"/ \"abc", OVERLAY_PROMPT},
			{"F6", OVERLAY_MENU},
			{"e", OVERLAY_MENU},
			{"?", OVERLAY_TEXT},
			{"y", OVERLAY_TEXT}};

	(void)state;
	for (size_t i = 0; i < sizeof overlays / sizeof *overlays; i++) {
		script_keys(&s, overlays[i].open);
		assert_int_equal(s.ui.overlay.kind, overlays[i].kind);
		script_keys(&s, "^L");
		assert_true(s.ui.anew);
		s.ui.anew = false;
		script_keys(&s, "^Z");
		assert_true(s.ui.suspend);
		s.ui.suspend = false;
		assert_int_equal(s.ui.overlay.kind, overlays[i].kind);
		if (!i)
			assert_string_equal(s.ui.overlay.edit.text, "abc");
		script_keys(&s, "^C");
		assert_int_equal(s.ui.overlay.kind, OVERLAY_NONE);
		assert_false(s.ui.quit);
	}
	script_keys(&s, "s ^U \"there.csv Enter");
	fake_notice(&s.fake, NOTICE_EXISTS, "there.csv");
	script_refresh(&s);
	script_keys(&s, "^L y"); /* no answer, then one */
	assert_true(commanded()->replace);
	assert_int_equal(keymap_remap(&s.ui.keys, "redraw=x", &(struct err){0}), 0);
	s.ui.anew = false;
	script_keys(&s, "/ x");
	assert_string_equal(s.ui.overlay.edit.text, "x");
	assert_false(s.ui.anew);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_question_waits_for_the_prompt),
		T(a_question_is_about_the_file_that_exists),
		T(a_refused_file_is_not_said_to_be_saved),
		T(a_filter_given_up_is_as_before),
		T(a_search_given_up_comes_back_to_its_row),
		T(a_search_given_up_does_not_move_the_cursor),
		T(long_texts_are_used_whole),
		T(keys_without_effect_have_none),
		T(screens_with_their_own_order),
		T(no_sentence_is_swallowed),
		T(redraw_and_suspend_work_everywhere),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
