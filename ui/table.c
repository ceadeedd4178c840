/*
 * table: draws a page's rows in its view's columns: titles, cells, bars, the cursor, search matches
 * and a scroll bar. Only rows that show are looked at. Ui thread.
 */
#include <string.h>

#include "paragraph.h"
#include "screen.h"
#include "view/cell.h"
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

	/* The order that an analysis has of its own is none of a column that must show. */
	if (sort == COLUMN_DEFAULT && !(page->view->columns[0].flags & COLUMN_EACH_CELL))
		sort = view_default_sort(page->view);
	for (int i = 0; i < n; i++) {
		const struct placed *p = &placed[i];
		bool unsorted = p->column->flags & COLUMN_UNSORTED ||
				page->screen->flags & SCREEN_ORDERED,
		     on = !unsorted && sort && p->id == sort;
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
		int i = 0, end = x;

		while (i < n && end < w) {
			const struct canvas_cell *cell = canvas_at(c, end, y);
			uint32_t ch = cell->ch;

			if ((ch >= 'A' && ch <= 'Z' ? ch + 32 : ch) != want[i])
				break;
			end += cell->width ? cell->width : 1;
			i++;
		}
		if (i == n)
			canvas_paint(c, (struct rect){x, y, end - x, 1}, PEN_MATCH);
	}
}

static void draw_empty(struct ui *ui, const struct page *page, struct rect body)
{
	const char *text = page->screen->empty ? page->screen->empty : "no samples yet";

	if (!page->answer)
		text = "";
	else if (*page->answer->note)
		text = page->answer->note;
	else if (*ui->filter && page->view->filtered)
		text = "nothing matches the filter";
	body.x += 2;
	body.w -= 4;
	paragraph_draw(&ui->canvas, text, strlen(text), body, body.y + body.h / 4,
		       (struct pen){LOOK_DIM, 0}, 0);
}

/*
 * The cursor within the body, the body within the rows; a cursor that jumped comes to the middle,
 * but not one that a lower table lost from its end.
 */
static void scroll_to_cursor(struct page *page, int height)
{
	int n = (int)page->shown.len, above = page->top - page->cursor;
	int below = page->cursor - (page->top + height - 1);
	int lower = page->height > height ? page->height - height : 0;

	page->height = height;
	if (above > 1 || below > 1 + lower)
		page->top = page->cursor - height / 2;
	else if (above > 0 || below > 0)
		page->top += above > 0 ? -above : below;
	if (page->top > n - height)
		page->top = n - height;
	if (page->top < 0)
		page->top = 0;
}

static int wrapped_lines(const struct row *row, int w)
{
	return paragraph_lines(row->name, strlen(row->name), w, paragraph_hang(row->name, w));
}

int table_row_at(const struct page *page, struct rect body, int y)
{
	bool wrap = page->screen->flags & SCREEN_WRAP;
	int row = wrap ? page->top : page->top + y - body.y, below = body.y;

	for (; wrap && page_row(page, row); row++) {
		below += wrapped_lines(page_row(page, row), body.w - 1);
		if (below > y)
			break;
	}
	return page_row(page, row) ? row : -1;
}

/* Rows of sentences: each as many lines as it needs. */
static void draw_wrapped(struct ui *ui, struct page *page, struct rect body)
{
	int lines = 0, y = body.y, w = body.w - 1;

	for (int i = page->top; i <= page->cursor; i++)
		lines += wrapped_lines(page_row(page, i), w);
	for (; page->top < page->cursor && lines > body.h; page->top++)
		lines -= wrapped_lines(page_row(page, page->top), w);
	for (int i = page->top; y < body.y + body.h && page_row(page, i); i++) {
		const struct row *row = page_row(page, i);
		int room = body.y + body.h - y;
		int n = paragraph_draw(&ui->canvas, row->name, strlen(row->name),
				       (struct rect){body.x, body.y, w, body.h}, y,
				       (struct pen){(uint8_t)cell_name_look(row), 0},
				       paragraph_hang(row->name, w));

		n = n < room ? n : room; /* the last one's end may be below the body */
		if (i == page->cursor)
			canvas_paint(&ui->canvas, (struct rect){body.x, y, w, n}, PEN_CURSOR);
		for (int k = 0; *ui->search && k < n; k++)
			mark_matches(&ui->canvas, y + k, w, ui->search);
		y += n;
	}
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
	if (page->screen->flags & SCREEN_WRAP) {
		draw_wrapped(ui, page, body);
		return;
	}
	view_env_init(&env, page->answer);
	env.shift = page->shift;
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
