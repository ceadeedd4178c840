/*
 * table: draws a page's rows in its view's columns: titles, cells, bars, the cursor, search matches
 * and a scroll bar. Only rows that show are looked at. Ui thread.
 */
#include <string.h>

#include "screen.h"
#include "view/utf8.h"

static int cell_cells(const struct view_cell *cell, int max)
{
	int n = 0;

	for (int i = 0; i < cell->nspans && n < max; i++)
		n += utf8_cells(cell->spans[i].text, max - n);
	return n;
}

/* Spans one behind the other; those that scroll start @shift cells later in their text. */
static void draw_spans(struct canvas *c, const struct view_cell *cell, int x, int y, int w,
		       int shift)
{
	int end = x + w;

	for (int i = 0; i < cell->nspans && x < end; i++) {
		const struct span *s = &cell->spans[i];
		struct pen pen = {(uint8_t)s->look, 0};
		int skip = 0;

		if (i >= cell->scrolls && shift > 0) {
			int cells = utf8_cells(s->text, shift + 1);

			skip = cells < shift ? cells : shift;
			shift -= skip;
		}
		x += canvas_text_from(c, x, y, end - x, skip, pen, s->text);
	}
}

static void draw_cell(struct canvas *c, const struct placed *p, const struct view_cell *cell,
		      struct rect at, int shift)
{
	int x = at.x + p->x, w = p->width, used;

	if (p->bar && w > p->bar + 1) {
		canvas_bar(c, x, at.y, p->bar, cell->bar, (struct pen){LOOK_BAR, 0});
		x += p->bar + 1;
		w -= p->bar + 1;
	}
	if (cell->nspark)
		canvas_spark(c, x, at.y, w, cell->spark, cell->nspark, (struct pen){LOOK_SPARK, 0});
	if (!(p->column->flags & COLUMN_LEFT)) {
		used = cell_cells(cell, w);
		x += w - used;
		w = used;
	}
	draw_spans(c, cell, x, at.y, w, shift);
}

static void draw_heads(struct ui *ui, const struct page *page, const struct placed *placed, int n,
		       struct rect r)
{
	struct canvas *c = &ui->canvas;
	uint32_t sort = page->answer ? page->answer->query.sort : page->sort;

	if (sort == COLUMN_DEFAULT)
		sort = view_default_sort(page->view);
	for (int i = 0; i < n; i++) {
		const struct placed *p = &placed[i];
		bool unsorted = p->column->flags & COLUMN_UNSORTED, on = !unsorted && p->id == sort;
		struct pen pen = {on ? LOOK_SORTED : LOOK_HEAD, 0};
		int cells = utf8_cells(p->title, p->width);
		int x = r.x + p->x + (p->column->flags & COLUMN_LEFT ? 0 : p->width - cells);

		canvas_text(c, x, r.y, p->width, pen, p->title);
		if (on && page->reverse)
			canvas_put(c, x + cells, r.y, pen, 0x25b2); /* ▲ */
		if (!unsorted)
			zone_add(ui, (struct rect){r.x + p->x, r.y, p->width, 1}, ZONE_SORT, p->id);
	}
}

/* Underline what the search found in a row, as far as it shows. */
static void mark_matches(struct canvas *c, int y, int w, const char *search)
{
	uint32_t want[64];
	int n = 0;

	for (const char *s = search; n < 64;) {
		uint32_t ch = utf8_next(&s);

		if (!ch)
			break;
		want[n++] = ch >= 'A' && ch <= 'Z' ? ch + 32 : ch;
	}
	for (int x = 0; n && x + n <= w; x++) {
		int i = 0;

		while (i < n) {
			uint32_t ch = canvas_at(c, x + i, y)->ch;

			if ((ch >= 'A' && ch <= 'Z' ? ch + 32 : ch) != want[i])
				break;
			i++;
		}
		if (i == n)
			canvas_paint(c, (struct rect){x, y, n, 1}, PEN_MATCH);
	}
}

static void draw_empty(struct ui *ui, const struct page *page, struct rect body)
{
	const char *text = page->answer ? *page->answer->note ? page->answer->note
					  : *ui->filter && page->view->filtered
						  ? "nothing matches the filter"
						  : "no samples yet"
					: "";
	int cells = utf8_cells(text, body.w);

	canvas_text(&ui->canvas, body.x + (body.w - cells) / 2, body.y + body.h / 3, body.w,
		    (struct pen){LOOK_DIM, 0}, text);
}

/* The cursor within the body, the body within the rows. */
static void scroll_to_cursor(struct page *page, int height)
{
	int n = (int)page->shown.len;

	if (page->cursor < page->top)
		page->top = page->cursor;
	if (page->cursor >= page->top + height)
		page->top = page->cursor - height + 1;
	if (page->top > n - height)
		page->top = n - height;
	if (page->top < 0)
		page->top = 0;
}

void table_draw(struct ui *ui, struct page *page, struct rect heads, struct rect body)
{
	struct placed placed[VIEW_COLUMNS];
	struct canvas *c = &ui->canvas;
	struct view_env env;
	int n, width = body.w - 1; /* the last column is the scroll bar's */

	n = view_place(page->view, page->answer, width, page->sort, placed);
	if (heads.h)
		draw_heads(ui, page, placed, n, heads);
	if (!page->answer || !page->shown.len) {
		draw_empty(ui, page, body);
		return;
	}
	scroll_to_cursor(page, body.h);
	view_env_init(&env, page->answer);
	if (page->screen->flags & SCREEN_TOTAL)
		env.scale = 1;
	for (int y = 0; y < body.h && page_row(page, page->top + y); y++) {
		const struct row *row = page_row(page, page->top + y);
		struct rect line = {body.x, body.y + y, body.w, 1};
		struct view_cell cell;

		for (int i = 0; i < n; i++) {
			view_cell_fill(&placed[i], row, &env, &cell);
			draw_cell(c, &placed[i], &cell, line, page->shift);
		}
		if (*ui->search)
			mark_matches(c, line.y, width, ui->search);
		if (page->top + y == page->cursor)
			canvas_paint(c, line, PEN_CURSOR);
	}
	canvas_scroll(c, (struct rect){body.x + body.w - 1, body.y, 1, body.h}, page->top, body.h,
		      (int)page->shown.len);
}
