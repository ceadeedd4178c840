/*
 * page: pages and the stack of them: what is asked for each, where its cursor stays when rows move,
 * which rows are open, how one goes in and back. Ui thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen.h"
#include "view/utf8.h"

#define UNFOLD_MOST  200  /* rows that a tree opens by itself */
#define UNFOLD_SHARE 0.20 /* the least share of the whole that it follows */

struct page *page_new(struct ui *ui, enum view_kind view)
{
	struct page *page = calloc(1, sizeof *page);

	if (!page)
		return NULL;
	page->screen = screen_of(view);
	page->view = view_of(view);
	page->sort = COLUMN_DEFAULT;
	page->unfold = page->screen->flags & SCREEN_UNFOLDS;
	if (page->screen->open)
		page->screen->open(ui, page);
	return page;
}

void page_free(struct page *page)
{
	if (!page)
		return;
	answer_unref(page->answer);
	vec_fini(&page->shown);
	vec_fini(&page->expanded);
	free(page);
}

struct page *page_now(struct ui *ui)
{
	return ui->pages[ui->depth - 1];
}

/* Whatever changes the page at hand asks anew. */
static void arrived(struct ui *ui)
{
	ui->ask = true;
	ui->redraw = true;
}

struct page *page_push(struct ui *ui, enum view_kind view, struct row_key focus, const char *about)
{
	struct page *page = page_new(ui, view);

	if (!page)
		return NULL;
	page->focus = focus;
	snprintf(page->about, sizeof page->about, "%s", about);
	if (ui->depth == PAGES_DEEP) { /* forget the oldest that was gone into */
		page_free(ui->pages[1]);
		memmove(&ui->pages[1], &ui->pages[2], sizeof ui->pages[0] * (PAGES_DEEP - 2));
		ui->depth--;
	}
	ui->pages[ui->depth++] = page;
	arrived(ui);
	return page;
}

bool page_pop(struct ui *ui)
{
	if (ui->depth <= 1)
		return false;
	page_free(ui->pages[--ui->depth]);
	arrived(ui);
	return true;
}

void page_tab(struct ui *ui, int tab)
{
	if (tab < 0 || tab >= ui->ntabs)
		return;
	while (ui->depth > 1)
		page_free(ui->pages[--ui->depth]);
	ui->tab = tab;
	ui->pages[0] = ui->tabs[tab];
	ui->depth = 1;
	arrived(ui);
}

void page_ask(struct ui *ui, struct page *page)
{
	struct view_state state = {
		.flags = ui->flags | page->flags,
		.window_ns = ui->window_ns,
		.until_ns = ui->frozen ? ui->until_ns : 0,
		.task = ui->task,
		.set = ui->set,
		.event = ui->event,
		.sort = page->sort,
		.reverse = page->reverse,
		.focus = page->focus,
		.filter = ui->filter,
		.options = page->options,
		.expanded = page->expanded.data,
		.nexpanded = (uint32_t)page->expanded.len,
		.expand_all = page->expand_all,
	};
	struct query q = {.serial = ++ui->serial};

	view_query(page->view, &state, &q);
	page->serial = q.serial;
	engine_ask(ui->engine, &q);
}

const struct row *page_row(const struct page *page, int index)
{
	if (!page->answer || index < 0 || (size_t)index >= page->shown.len)
		return NULL;
	return &page->answer->rows[page->shown.data[index]];
}

const struct row *page_cursor(const struct page *page)
{
	return page_row(page, page->cursor);
}

static int clamp(const struct page *page, int to)
{
	int last = (int)page->shown.len - 1;

	return to > last ? last < 0 ? 0 : last : to < 0 ? 0 : to;
}

void page_move(struct page *page, int to)
{
	const struct row *row;

	page->cursor = clamp(page, to);
	page->pinned = true;
	row = page_cursor(page);
	page->cursor_key = row ? row->key : (struct row_key){0};
}

void page_home(struct page *page)
{
	page->cursor = page->top = 0;
	page->pinned = false;
}

int page_find(const struct page *page, struct row_key key)
{
	for (size_t i = 0; i < page->shown.len; i++)
		if (row_key_equal(page->answer->rows[page->shown.data[i]].key, key))
			return (int)i;
	return -1;
}

/* Where the cursor goes when a page gets its first rows: its focus, or a line that was asked for.
 */
static void place_first(struct page *page)
{
	const struct answer *a = page->answer;

	for (size_t i = 0; i < page->shown.len; i++) {
		uint32_t index = page->shown.data[i];
		bool there = page->find_line ? a->rows[index].key.kind == ROW_LINE &&
						       a->rows[index].line == page->find_line
					     : a->focus_row && index == a->focus_row;

		if (there) {
			page_move(page, (int)i);
			break;
		}
	}
	if (page->shown.len)
		page->find_line = 0;
}

/* List @key as open (or, where all is open, as closed) or not; false: it is so already. */
static bool toggle(struct page *page, struct row_key key, bool listed)
{
	for (size_t i = 0; i < page->expanded.len; i++)
		if (row_key_equal(page->expanded.data[i], key)) {
			if (!listed)
				page->expanded.data[i] = page->expanded.data[--page->expanded.len];
			return !listed;
		}
	return listed && !vec_push(&page->expanded, key);
}

/* Open the hottest paths of a tree, a level an answer, until the person opens or closes one. */
static void unfold(struct ui *ui, struct page *page)
{
	const struct answer *a = page->answer;
	double whole = 0;
	bool more = false;

	if (!page->unfold || !a->nrows)
		return;
	for (uint32_t i = 0; i < a->nrows; i++)
		if (a->rows[i].depth == 0 && a->rows[i].total > whole)
			whole = a->rows[i].total;
	for (uint32_t i = 0; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (!(row->flags & ROW_EXPANDABLE) || row->flags & ROW_EXPANDED ||
		    row->total < whole * UNFOLD_SHARE || page->expanded.len >= UNFOLD_MOST)
			continue;
		more = toggle(page, row->key, true) || more;
	}
	ui->ask |= more;
}

void page_take(struct ui *ui, struct page *page, const struct answer *answer)
{
	bool first = !page->answer || !page->answer->nrows;
	bool at_end = !page->pinned || page->cursor + 1 >= (int)page->shown.len;
	int at;

	answer_unref(page->answer);
	page->answer = answer;
	page->shown.len = 0;
	for (uint32_t i = 0; i < answer->nrows; i++)
		if (!view_hides(page->view, &answer->rows[i], ui->config->percent_limit))
			vec_push(&page->shown, i);
	if (first && answer->nrows)
		place_first(page);
	at = page->pinned ? page_find(page, page->cursor_key) : 0;
	if (page->screen->flags & SCREEN_FOLLOW && at_end)
		at = (int)page->shown.len - 1;
	page->cursor = clamp(page, at >= 0 ? at : page->cursor);
	unfold(ui, page);
	if (page->screen->answered)
		page->screen->answered(ui, page);
}

/* Closing a row closes what is open below it, so that nothing there keeps it open. */
static bool close_row(struct page *page, const struct row *row)
{
	bool changed = toggle(page, row->key, page->expand_all);

	for (int i = page->cursor + 1; !page->expand_all && page_row(page, i); i++) {
		const struct row *below = page_row(page, i);

		if (below->depth <= row->depth)
			break;
		changed = toggle(page, below->key, false) || changed;
	}
	return changed;
}

static void go_to_parent(struct page *page, const struct row *row)
{
	for (int i = page->cursor - 1; i >= 0; i--)
		if (page_row(page, i)->depth < row->depth) {
			page_move(page, i);
			return;
		}
}

void page_expand(struct ui *ui, struct page *page, bool expand)
{
	const struct row *row = page_cursor(page);
	bool open = row && row->flags & ROW_EXPANDED;

	page->unfold = false;
	if (!row)
		return;
	page_move(page, page->cursor);
	ui->redraw = true;
	if (expand && open)
		page_move(page, page->cursor + 1); /* its first child */
	else if (expand && row->flags & ROW_EXPANDABLE)
		ui->ask |= toggle(page, row->key, !page->expand_all);
	else if (!expand && open)
		ui->ask |= close_row(page, row);
	else if (!expand)
		go_to_parent(page, row);
}

bool page_search(struct ui *ui, struct page *page, int step)
{
	int n = (int)page->shown.len, at = page->cursor;

	if (!*ui->search || !n)
		return false;
	for (int i = 0; i < n; i++) {
		const struct row *row;

		if (i || step)
			at = (at + (step < 0 ? n - 1 : 1)) % n;
		row = page_row(page, at);
		if (utf8_holds(row->name, ui->search) || utf8_holds(row->module, ui->search) ||
		    utf8_holds(row->note, ui->search)) {
			page_move(page, at);
			return true;
		}
	}
	return false;
}

struct row_key row_function(const struct row *row)
{
	if (row->go.kind == ROW_FUNCTION)
		return row->go;
	switch (row->key.kind) {
	case ROW_FUNCTION:
	case ROW_NODE:
	case ROW_CALLER:
	case ROW_SELF:
	case ROW_CALLEE:
	case ROW_INLINE:
		if (row->key.a)
			return (struct row_key){ROW_FUNCTION, row->key.a, 0};
		break;
	default: break;
	}
	return (struct row_key){0};
}

void row_function_name(const struct row *row, char *ret, size_t size)
{
	static const char down[] = " \xe2\x96\xb8 ", up[] = " \xe2\x97\x82 "; /* ▸ ◂ in chains */
	const char *name = row->key.kind == ROW_THREAD ? row->module
			   : row->key.kind == ROW_INSN ? row->note
						       : row->name;
	const char *end, *next;

	while (row->key.kind == ROW_NODE && (next = strstr(name, down)))
		name = next + sizeof down - 1;
	end = row->key.kind == ROW_NODE ? strstr(name, up) : NULL;
	snprintf(ret, size, "%.*s", end ? (int)(end - name) : (int)size, name);
}
