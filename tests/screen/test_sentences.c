/*
 * test_sentences: what is told in sentences is told whole at 80 columns and at 40: messages,
 * questions, titles, what a row says, what a menu offers. And that marks and saving say what holds.
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
#include "ui/paragraph.h"
#include "view/facts.h"

#define BEGIN_NS  1000000000000ULL
#define SECOND_NS 1000000000ULL

static const char sentence[] =
	"row_search_mvcc: called at least 1234567 times for each second of CPU time of the whole "
	"process; 20000 calls were counted in 0.03 s, each slowed down by 9.1 us, and this is the end";

static void start_many(void)
{
	app_fini(&s.ui);
	s.fake.many = true;
	script_start(&s, 80, 24);
}

static void messages_are_whole(void **state)
{
	(void)state;
	fake_notice(&s.fake, NOTICE_INFO, sentence);
	script_refresh(&s);
	assert_true(screen_says(sentence));
	app_resize(&s.ui, 40, 10);
	script_refresh(&s);
	assert_true(screen_says(sentence));
	clock_fake(BEGIN_NS + 9 * SECOND_NS, 1); /* it takes longer to read than a line */
	script_refresh(&s);
	assert_true(screen_says(sentence));
	clock_fake(BEGIN_NS + 20 * SECOND_NS, 1);
	script_refresh(&s);
	assert_false(screen_has("row_search_mvcc: called"));
}

static void questions_are_whole(void **state)
{
	static const char path[] = "/var/lib/somewhere/quite/deep/in/the/tree/of/directories/where/"
				   "snapshots/are/kept/for/ever/altpttop-mysqld.pb.gz";

	(void)state;
	strcpy(s.ui.save.text, path);
	fake_notice(&s.fake, NOTICE_EXISTS, path);
	script_refresh(&s);
	assert_true(
		screen_says("altpttop-mysqld.pb.gz exists. Replace it? y yes any other key no"));
	script_keys(&s, "n");
	assert_int_equal(s.fake.ncommands, 0);
}

/* The table is full, and the column is too narrow for any evidence. */
static void evidence_is_whole_below_a_full_table(void **state)
{
	(void)state;
	start_many();
	script_keys(&s, "6");
	for (int i = 0; i < 40; i++) {
		const struct row *row = page_cursor(page_now(&s.ui));

		assert_true(screen_says(row->note));
		assert_true(!*row->hint || screen_says(row->hint));
		script_keys(&s, "Down");
	}
	app_resize(&s.ui, 40, 16);
	script_keys(&s, "g");
	assert_true(screen_says("row_search_mvcc:4412: IPC 0.31, L1D miss 12 % of loads"));
}

/* Whatever the row below the table says, rows stay where they are. */
static void the_table_stays_put(void **state)
{
	struct page *page;
	int height, top;

	(void)state;
	start_many();
	script_keys(&s, "6");
	page = page_now(&s.ui);
	height = s.ui.layout.body.h;
	for (int i = 0; i < 39; i++) {
		top = page->top;
		script_keys(&s, "Down");
		assert_int_equal(s.ui.layout.body.h, height);
		assert_in_range(page->top, top, top + 1);
	}
}

static void long_titles_are_whole(void **state)
{
	(void)state;
	start_many();
	script_keys(&s, "6");
	assert_true(screen_says("row_search_mvcc (9), most callees main (12)"));
	script_keys(&s, "Enter Esc"); /* and those of screens gone into take a line */
	app_resize(&s.ui, 40, 10);
	script_refresh(&s);
	assert_int_equal(s.ui.layout.title.h, 1);
}

static void menus_tell_the_whole_line(void **state)
{
	static const struct ui_choice sets[] = {
		{"clock", "CPU time", NULL},
		{"zen-frontend", "",
		 "CYCLES_NOT_IN_HALT is not counted by this machine (ENOENT); see --doctor"}};

	(void)state;
	s.config.event_sets = sets;
	s.config.nevent_sets = 2;
	script_keys(&s, "e Down");
	assert_false(screen_has("counted by this machine (ENOENT); see --doctor"));
	app_resize(&s.ui, 200, 24);
	script_refresh(&s);
	assert_true(screen_has("counted by this machine (ENOENT); see --doctor"));
	app_resize(&s.ui, 76, 24);
	script_refresh(&s);
	assert_true(screen_has("zen-frontend: CYCLES_NOT_IN_HALT is not counted by this machine"));
	assert_true(screen_has("(ENOENT); see --doctor"));
}

/* All since the mark, not a part of it; and what is a part says so. */
static void marks_are_not_cut(void **state)
{
	(void)state;
	script_keys(&s, "z");
	assert_int_equal(s.fake.query.window_ns, 0);
	assert_true(screen_has("since mark 0:42"));
	script_keys(&s, "w w");
	assert_int_equal(s.fake.query.window_ns, 10 * SECOND_NS);
	assert_true(screen_has("marked  last 10 s"));
	assert_false(screen_has("since mark"));
	script_keys(&s, "w"); /* there are 42 s, not 60 */
	assert_int_equal(s.fake.query.window_ns, 60 * SECOND_NS);
	assert_true(screen_has("since mark 0:42"));
	script_keys(&s, "w z"); /* as it was */
	assert_int_equal(s.fake.query.window_ns, 10 * SECOND_NS);
	assert_true(screen_has("  last 10 s"));
	assert_false(screen_has("marked"));
}

/* Nothing would ever come after it. */
static void no_mark_where_nothing_comes(void **state)
{
	(void)state;
	s.config.whole = true;
	script_keys(&s, "z");
	assert_true(screen_has("nothing more comes"));
	assert_true(screen_has("this is a recording"));
	s.config.whole = false;
	s.fake.finished = true;
	script_refresh(&s);
	script_keys(&s, "z");
	assert_true(screen_has("the target has ended"));
	assert_int_equal(s.fake.ncommands, 0);
	s.fake.marked = true; /* before it ended */
	script_refresh(&s);
	script_keys(&s, "z");
	assert_int_equal(commanded()->kind, COMMAND_MARK);
}

/* What is on the screen is what is saved. */
static void a_frozen_screen_is_saved_as_it_is(void **state)
{
	(void)state;
	script_keys(&s, "s Enter");
	assert_int_equal(commanded()->number, 0);
	script_keys(&s, "Z");
	s.fake.time_ns += 5 * SECOND_NS;
	script_keys(&s, "s Enter");
	assert_int_equal(commanded()->number, 83 * SECOND_NS);
}

/* Another event set brings other rows: they are shown from the first. */
static void another_set_starts_at_the_top(void **state)
{
	static const struct ui_choice sets[] = {{"clock", "CPU time", NULL}};

	(void)state;
	start_many();
	s.config.event_sets = sets;
	s.config.nevent_sets = 1;
	script_keys(&s, "G");
	assert_true(page_now(&s.ui)->top > 0);
	script_keys(&s, "e Enter");
	assert_int_equal(commanded()->kind, COMMAND_EVENTS);
	assert_int_equal(page_now(&s.ui)->top, 0);
	assert_int_equal(page_now(&s.ui)->cursor, 0);
	script_refresh(&s);
	assert_int_equal(page_now(&s.ui)->top, 0);
}

/* No word of the header is left unexplained. */
static void help_explains_the_header(void **state)
{
	static const char *const words[] = {"lost",     "throttled", "EINTR",   "gap",       "cut",
					    "stitched", "no-sym",    "damaged", "unsampled", "own",
					    "costs",    "stop",      "memory"};

	(void)state;
	app_fini(&s.ui);
	script_start(&s, 100, 200);
	script_keys(&s, "?");
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		char line[40];

		snprintf(line, sizeof line, "\n    %-16s", words[i]);
		assert_true(screen_has(line));
	}
	assert_true(screen_says("stack dump too short: 51; --call-graph dwarf,65528 copies more"));
	assert_true(screen_has("Output, where a command is started"));
	for (int i = 0; i < LOSS_KINDS; i++)
		assert_true(*facts_loss_help((enum loss_kind)i));
	for (int i = CUT_NONE + 1; i < CUT_REASONS; i++)
		assert_true(*facts_cut_help((enum cut_reason)i));
}

/* Columns without a title are told apart. */
static void help_names_each_column(void **state)
{
	const char *text, *remark;

	(void)state;
	script_keys(&s, "5 h");
	text = s.ui.overlay.text.buf;
	remark = strstr(text, "why a value is not there");
	assert_non_null(remark);
	assert_null(strstr(text, "[k] [.]"));
	script_keys(&s, "Esc 1 h");
	assert_non_null(strstr(s.ui.overlay.text.buf, "[k] [.]"));
}

/* Each character of a name that takes more than a screen, to be copied: nothing lies over it. */
static void whole_names_are_whole(void **state)
{
	char *name;

	(void)state;
	app_resize(&s.ui, 40, 10);
	script_keys(&s, "/ \"boost Enter");
	name = strdup(page_cursor(page_now(&s.ui))->full); /* its answer may go with a key */
	assert_non_null(name);
	assert_true(strlen(name) > 40 * 10);
	script_keys(&s, "y");
	for (int i = 0; i < 8 * 40; i++)
		assert_int_equal(canvas_at(&s.ui.canvas, i % 40, 1 + i / 40)->ch, name[i]);
	free(name);
}

/* Marks that vary a character draw nothing: at the end of a line too. */
static void marks_take_no_lines(void **state)
{
	static char many[3001];
	static const char text[] = "\xe2\x9d\xa4\xef\xb8\x8f\nnext";

	(void)state;
	assert_int_equal(paragraph_lines(text, 6, 40, 0), 1);
	assert_int_equal(paragraph_lines(text, 6, 40, -1), 1);
	for (size_t i = 0; i + 3 < sizeof many; i += 3) /* more of them than a line is copied of */
		memcpy(many + i, "\xef\xb8\x8f", 3);
	paragraph_draw(&s.ui.canvas, many, 2400, (struct rect){0, 0, 40, 10}, 0, (struct pen){0, 0},
		       0);
}

/* What stands below the table on a thread: name, function, samples, each beside the other. */
static void threads_are_told_in_a_line(void **state)
{
	(void)state;
	start_many();
	script_keys(&s, "3");
	assert_true(screen_has("\nmain  in row_search_mvcc  "));
	assert_true(screen_has("  12,345 samples\n"));
}

static void wide_matches_are_marked(void **state)
{
	int marked = 0;

	(void)state;
	script_keys(&s, "/ \"\xe6\x95\xb0\xe6\x8d\xae Enter");
	for (int y = 0; y < s.ui.canvas.h; y++)
		for (int x = 0; x < s.ui.canvas.w; x++)
			marked += canvas_at(&s.ui.canvas, x, y)->pen.mods & PEN_MATCH &&
				  canvas_at(&s.ui.canvas, x, y)->width == 2;
	assert_in_range(marked, 2, 4); /* once or twice in that name */
}

/* Where nothing can be drawn, what leaves is told. */
static void too_small_tells_the_way_out(void **state)
{
	(void)state;
	assert_int_equal(keymap_remap(&s.ui.keys, "quit=x", &(struct err){0}), 0);
	app_resize(&s.ui, 20, 5);
	script_refresh(&s);
	assert_true(screen_has("x quits"));
	script_keys(&s, "/ x");
	assert_false(s.ui.quit);
	assert_true(screen_has("Esc goes back"));
	script_keys(&s, "Esc");
	assert_true(screen_has("x quits"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(messages_are_whole),
		T(questions_are_whole),
		T(evidence_is_whole_below_a_full_table),
		T(the_table_stays_put),
		T(long_titles_are_whole),
		T(menus_tell_the_whole_line),
		T(marks_are_not_cut),
		T(no_mark_where_nothing_comes),
		T(a_frozen_screen_is_saved_as_it_is),
		T(another_set_starts_at_the_top),
		T(help_explains_the_header),
		T(help_names_each_column),
		T(whole_names_are_whole),
		T(marks_take_no_lines),
		T(threads_are_told_in_a_line),
		T(wide_matches_are_marked),
		T(too_small_tells_the_way_out),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
