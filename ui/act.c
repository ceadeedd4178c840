/*
 * act: what each action does where a screen does not do otherwise. One table from action to
 * function. Ui thread.
 */
#include <stdio.h>
#include <string.h>

#include "act.h"
#include "screen.h"

#define SHIFT_CELLS 8

static void do_quit(struct ui *ui, struct page *page)
{
	(void)page;
	ui->quit = true;
}

static void do_help(struct ui *ui, struct page *page)
{
	(void)page;
	help_open(ui);
}

static void do_up(struct ui *ui, struct page *page)
{
	(void)ui;
	page_move(page, page->cursor - 1);
}

static void do_down(struct ui *ui, struct page *page)
{
	(void)ui;
	page_move(page, page->cursor + 1);
}

static void do_left(struct ui *ui, struct page *page)
{
	if (page->screen->flags & SCREEN_TREE && !page->shift)
		page_expand(ui, page, false);
	else
		page->shift = page->shift > SHIFT_CELLS ? page->shift - SHIFT_CELLS : 0;
}

static void do_right(struct ui *ui, struct page *page)
{
	if (page->screen->flags & SCREEN_TREE)
		page_expand(ui, page, true);
	else
		page->shift += page->shift < CELL_TEXT * 4 ? SHIFT_CELLS : 0;
}

static void do_top(struct ui *ui, struct page *page)
{
	(void)ui;
	page_move(page, 0);
}

static void do_bottom(struct ui *ui, struct page *page)
{
	(void)ui;
	page_move(page, (int)page->shown.len - 1);
}

static int page_height(const struct ui *ui)
{
	return ui->layout.body.h > 1 ? ui->layout.body.h - 1 : 1;
}

static void do_page_up(struct ui *ui, struct page *page)
{
	page_move(page, page->cursor - page_height(ui));
}

static void do_page_down(struct ui *ui, struct page *page)
{
	page_move(page, page->cursor + page_height(ui));
}

static void do_enter(struct ui *ui, struct page *page)
{
	const struct row *row = page_cursor(page);

	if (row)
		page_move(page, page->cursor); /* coming back finds this row */
	if (row && page->screen->enter && !page->screen->enter(ui, page, row))
		app_say(ui, MESSAGE_INFO, "nothing to go into here");
}

/* Back to where one came from; at the root, undo what narrows the view, one thing a press. */
static void do_back(struct ui *ui, struct page *page)
{
	struct command stop = {.kind = COMMAND_CANCEL};

	if (page_pop(ui))
		return;
	if (app_reading(ui) || *ui->status.download) {
		engine_command(ui->engine, &stop);
		return;
	}
	if (*ui->search)
		ui->search[0] = '\0';
	else if (*ui->filter && page->view->filtered)
		ui->filter[0] = '\0';
	else if (ui->task)
		ui->task = 0, ui->thread[0] = '\0';
	else
		return;
	ui->ask = true;
}

static void do_next_tab(struct ui *ui, struct page *page)
{
	(void)page;
	page_tab(ui, (ui->tab + 1) % ui->ntabs);
}

static void do_previous_tab(struct ui *ui, struct page *page)
{
	(void)page;
	page_tab(ui, (ui->tab + ui->ntabs - 1) % ui->ntabs);
}

/* Each letter searches from where the search began, and a search in vain comes back there. */
static bool search_from_start(struct ui *ui, const char *text)
{
	struct page *page = page_now(ui);
	int from = ui->search_key.kind ? page_find(page, ui->search_key) : -1;

	snprintf(ui->search, sizeof ui->search, "%s", text);
	page_move(page, from >= 0 ? from : ui->search_from);
	return page_search(ui, page, 0);
}

static void search_changed(struct ui *ui, const char *text)
{
	search_from_start(ui, text);
}

static void search_done(struct ui *ui, const char *text)
{
	if (*text && !search_from_start(ui, text))
		app_say(ui, MESSAGE_INFO, "no row has \"%.100s\"", text);
}

static void search_cancelled(struct ui *ui)
{
	search_from_start(ui, "");
	if (!ui->search_key.kind)
		page_home(page_now(ui));
}

static void do_search(struct ui *ui, struct page *page)
{
	const struct row *row = page_cursor(page);

	ui->search_from = page->cursor;
	ui->search_key = row && page->pinned ? row->key : (struct row_key){0};
	overlay_prompt(ui, "Search:", "", search_done);
	ui->overlay.edit.most = sizeof ui->search - 1;
	ui->overlay.changed = search_changed;
	ui->overlay.cancelled = search_cancelled;
}

static void search_on(struct ui *ui, struct page *page, int step)
{
	if (!*ui->search)
		do_search(ui, page);
	else if (!page_search(ui, page, step))
		app_say(ui, MESSAGE_INFO, "no row has \"%.100s\"", ui->search);
}

static void do_search_next(struct ui *ui, struct page *page)
{
	search_on(ui, page, 1);
}

static void do_search_previous(struct ui *ui, struct page *page)
{
	search_on(ui, page, -1);
}

static void filter_done(struct ui *ui, const char *text)
{
	snprintf(ui->filter, sizeof ui->filter, "%s", text);
	ui->ask = true;
}

/* The way back is not to be guessed. */
static void filter_entered(struct ui *ui, const char *text)
{
	char key[KEY_TEXT];

	filter_done(ui, text);
	if (*text)
		app_say(ui, MESSAGE_INFO, "only what matches is shown; %s shows all again",
			keymap_text(&ui->keys, ACTION_BACK, key));
}

static void filter_cancelled(struct ui *ui)
{
	filter_done(ui, ui->filter_before);
}

static void do_filter(struct ui *ui, struct page *page)
{
	if (!page->view->filtered) {
		app_say(ui, MESSAGE_INFO, "this screen has nothing to filter");
		return;
	}
	memcpy(ui->filter_before, ui->filter, sizeof ui->filter_before);
	overlay_prompt(ui, "Filter:", ui->filter, filter_entered);
	ui->overlay.edit.most = sizeof ui->filter - 1;
	ui->overlay.changed = filter_done;
	ui->overlay.cancelled = filter_cancelled;
}

/* Lines, paths, edges stay in their order: say so instead of doing nothing. */
static bool has_own_order(struct ui *ui, const struct page *page)
{
	if (page->screen->flags & SCREEN_ORDERED)
		app_say(ui, MESSAGE_INFO, "rows stay in their order here");
	return page->screen->flags & SCREEN_ORDERED;
}

static void sort_by(struct ui *ui, struct page *page, uint32_t column)
{
	page->sort = column;
	ui->ask = true;
	app_say(ui, MESSAGE_INFO, "sorted by %s%s",
		view_column_title(page->view, page->answer, column),
		page->reverse ? ", reversed" : "");
}

static void sort_step(struct ui *ui, struct page *page, int step)
{
	uint32_t sorts[VIEW_COLUMNS];
	int n = view_sorts(page->view, page->answer, sorts), at = 0;

	if (has_own_order(ui, page) || !n)
		return;
	for (int i = 0; i < n; i++)
		if (sorts[i] == page->sort)
			at = i;
	sort_by(ui, page, sorts[(at + n + step) % n]);
}

static void do_sort_left(struct ui *ui, struct page *page)
{
	sort_step(ui, page, -1);
}

static void do_sort_right(struct ui *ui, struct page *page)
{
	sort_step(ui, page, 1);
}

static void sort_chosen(struct ui *ui, const struct menu_item *item, const char *text)
{
	(void)text;
	sort_by(ui, page_now(ui), item->id);
}

static void do_sort_menu(struct ui *ui, struct page *page)
{
	uint32_t sorts[VIEW_COLUMNS];
	struct menu_item items[VIEW_COLUMNS];
	int n = view_sorts(page->view, page->answer, sorts), cursor = 0;

	if (has_own_order(ui, page))
		return;
	for (int i = 0; i < n; i++) {
		items[i] = (struct menu_item){.id = sorts[i]};
		snprintf(items[i].name, sizeof items[i].name, "%s",
			 view_column_title(page->view, page->answer, sorts[i]));
		snprintf(items[i].text, sizeof items[i].text, "%s",
			 view_column_help(page->view, page->answer, sorts[i]));
		if (sorts[i] == page->sort)
			cursor = i;
	}
	if (!n)
		return;
	overlay_menu(ui, "Sort by", items, n, sort_chosen);
	ui->overlay.cursor = cursor;
}

static void do_reverse(struct ui *ui, struct page *page)
{
	if (has_own_order(ui, page))
		return;
	page->reverse = !page->reverse;
	ui->ask = true;
}

static void do_expand(struct ui *ui, struct page *page)
{
	page_expand(ui, page, true);
}

static void do_collapse(struct ui *ui, struct page *page)
{
	page_expand(ui, page, false);
}

static void do_expand_all(struct ui *ui, struct page *page)
{
	page->expand_all = !page->expand_all;
	page->expanded.len = 0;
	page->unfold = false;
	ui->ask = true;
}

/* Open @view on the function that the cursor is on, or else on the one the page is about. */
static struct page *open_function(struct ui *ui, struct page *page, enum view_kind view)
{
	const struct row *row = page_cursor(page);
	struct row_key key = row ? row_function(row) : (struct row_key){0};
	char name[256];

	if (key.kind) {
		row_function_name(row, name, sizeof name);
	} else if (page->focus.kind == ROW_FUNCTION) {
		key = page->focus;
		memcpy(name, page->about, sizeof name);
	} else {
		app_say(ui, MESSAGE_INFO, "this row is no function");
		return NULL;
	}
	if (page->view->kind == view && row_key_equal(page->focus, key) && view != VIEW_TREE)
		return NULL; /* there already */
	page_move(page, page->cursor);
	return page_push(ui, view, key, name);
}

static void do_source(struct ui *ui, struct page *page)
{
	open_function(ui, page, VIEW_SOURCE);
}

static void do_callers(struct ui *ui, struct page *page)
{
	open_function(ui, page, VIEW_CALLERS);
}

static void do_bottom_up(struct ui *ui, struct page *page)
{
	struct page *tree = open_function(ui, page, VIEW_TREE);

	if (tree)
		tree->flags |= QUERY_BOTTOM_UP;
}

static void do_assembly(struct ui *ui, struct page *page)
{
	struct page *source = open_function(ui, page, VIEW_SOURCE);

	if (source)
		source->flags |= QUERY_ASSEMBLY;
}

static void do_hot(struct ui *ui, struct page *page)
{
	(void)page;
	app_say(ui, MESSAGE_INFO, "hot lines are in Source: a opens it");
}

/* One thread only: the one that was last under the cursor in Threads. */
static void do_thread(struct ui *ui, struct page *page)
{
	(void)page;
	if (ui->task) {
		ui->task = 0;
		ui->thread[0] = '\0';
	} else if (ui->last_task) {
		ui->task = ui->last_task;
		snprintf(ui->thread, sizeof ui->thread, "%s", ui->last_thread);
	} else {
		app_say(ui, MESSAGE_INFO, "choose a thread first: go to Threads, and Enter");
		return;
	}
	ui->ask = true;
}

static void flip(struct ui *ui, struct page *page, uint32_t flag, const char *on, const char *off)
{
	if (!(page->view->flags & flag)) {
		app_say(ui, MESSAGE_INFO, "that changes nothing on this screen");
		return;
	}
	ui->flags ^= flag;
	ui->ask = true;
	app_say(ui, MESSAGE_INFO, "%s", ui->flags & flag ? on : off);
}

/* Hiding both would leave nothing. */
static void show_other(struct ui *ui, const struct page *page, uint32_t other)
{
	if (page->view->flags & other)
		ui->flags &= ~other;
}

static void do_kernel(struct ui *ui, struct page *page)
{
	show_other(ui, page, QUERY_NO_USER);
	flip(ui, page, QUERY_NO_KERNEL, "kernel hidden", "kernel shown");
}

static void do_user(struct ui *ui, struct page *page)
{
	show_other(ui, page, QUERY_NO_KERNEL);
	flip(ui, page, QUERY_NO_USER, "user code hidden", "user code shown");
}

/* All, the host alone, guests alone, and round again. */
static void do_guest(struct ui *ui, struct page *page)
{
	const uint32_t both = QUERY_NO_GUEST | QUERY_NO_HOST;
	uint32_t next = ui->flags & QUERY_NO_GUEST  ? QUERY_NO_HOST
			: ui->flags & QUERY_NO_HOST ? 0
						    : QUERY_NO_GUEST;

	if (!(page->view->flags & both)) {
		app_say(ui, MESSAGE_INFO, "that changes nothing on this screen");
		return;
	}
	ui->flags = (ui->flags & ~both) | next;
	ui->ask = true;
	app_say(ui, MESSAGE_INFO, "%s",
		next == QUERY_NO_GUEST  ? "guests of virtual machines hidden"
		: next == QUERY_NO_HOST ? "guests of virtual machines only"
					: "host and guests shown");
}

static void do_inlines(struct ui *ui, struct page *page)
{
	flip(ui, page, QUERY_FOLD_INLINE, "inlines folded into the functions that hold them",
	     "inlines as frames of their own");
}

static void do_tail_calls(struct ui *ui, struct page *page)
{
	flip(ui, page, QUERY_TAIL_CALLS,
	     "with callers that tail calls left no frame of, marked ?: DWARF tells of them",
	     "only callers that are on the stack");
}

static void do_addresses(struct ui *ui, struct page *page)
{
	flip(ui, page, QUERY_ADDRESSES, "with addresses", "without addresses");
}

static void do_whole_name(struct ui *ui, struct page *page)
{
	const struct row *row = page_cursor(page);
	struct strbuf *text;

	if (!row)
		return;
	text = overlay_text(ui, "Whole name", true);
	strbuf_puts(text, *row->full ? row->full : row->name);
	strbuf_putc(text, '\n');
	if (*row->file)
		strbuf_printf(text, row->line ? "%s:%u\n" : "%s\n", row->file, row->line);
	if (*row->module)
		strbuf_printf(text, "%s\n", row->module);
}

static void do_redraw(struct ui *ui, struct page *page)
{
	(void)page;
	ui->anew = true;
}

static void do_suspend(struct ui *ui, struct page *page)
{
	(void)page;
	ui->suspend = true;
}

static void (*const doers[ACTIONS])(struct ui *, struct page *) = {
	[ACTION_QUIT] = do_quit,
	[ACTION_HELP] = do_help,
	[ACTION_UP] = do_up,
	[ACTION_DOWN] = do_down,
	[ACTION_LEFT] = do_left,
	[ACTION_RIGHT] = do_right,
	[ACTION_TOP] = do_top,
	[ACTION_BOTTOM] = do_bottom,
	[ACTION_PAGE_UP] = do_page_up,
	[ACTION_PAGE_DOWN] = do_page_down,
	[ACTION_ENTER] = do_enter,
	[ACTION_BACK] = do_back,
	[ACTION_NEXT_TAB] = do_next_tab,
	[ACTION_PREVIOUS_TAB] = do_previous_tab,
	[ACTION_SEARCH] = do_search,
	[ACTION_SEARCH_NEXT] = do_search_next,
	[ACTION_SEARCH_PREVIOUS] = do_search_previous,
	[ACTION_FILTER] = do_filter,
	[ACTION_SORT_LEFT] = do_sort_left,
	[ACTION_SORT_RIGHT] = do_sort_right,
	[ACTION_SORT_MENU] = do_sort_menu,
	[ACTION_REVERSE] = do_reverse,
	[ACTION_EXPAND] = do_expand,
	[ACTION_COLLAPSE] = do_collapse,
	[ACTION_EXPAND_ALL] = do_expand_all,
	[ACTION_FREEZE] = do_freeze,
	[ACTION_WINDOW] = do_window,
	[ACTION_MARK] = do_mark,
	[ACTION_EVENTS] = do_events,
	[ACTION_SAVE] = do_save,
	[ACTION_SOURCE] = do_source,
	[ACTION_CALLERS] = do_callers,
	[ACTION_CALLS] = do_calls,
	[ACTION_BOTTOM_UP] = do_bottom_up,
	[ACTION_ASSEMBLY] = do_assembly,
	[ACTION_HOT_NEXT] = do_hot,
	[ACTION_HOT_PREVIOUS] = do_hot,
	[ACTION_THREAD] = do_thread,
	[ACTION_KERNEL] = do_kernel,
	[ACTION_USER] = do_user,
	[ACTION_GUEST] = do_guest,
	[ACTION_INLINES] = do_inlines,
	[ACTION_TAIL_CALLS] = do_tail_calls,
	[ACTION_ADDRESSES] = do_addresses,
	[ACTION_WHOLE_NAME] = do_whole_name,
	[ACTION_RATE] = do_rate,
	[ACTION_INTERVAL] = do_interval,
	[ACTION_REDRAW] = do_redraw,
	[ACTION_SUSPEND] = do_suspend,
};

void app_act(struct ui *ui, enum action action)
{
	struct page *page = page_now(ui);

	if (action >= ACTION_TAB_1 && action <= ACTION_TAB_9) {
		int tab = (int)(action - ACTION_TAB_1);

		if (tab >= ui->ntabs)
			app_say(ui, MESSAGE_INFO, "there are %d tabs here", ui->ntabs);
		page_tab(ui, tab);
		return;
	}
	if (action == ACTION_NONE || (page->screen->act && page->screen->act(ui, page, action)))
		return;
	if (doers[action])
		doers[action](ui, page);
}
