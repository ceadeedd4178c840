/*
 * explain: what stands below the table on the row under the cursor: what its note and hint say,
 * whole, or its whole name, place and samples. Ui thread.
 */
#include <stdio.h>
#include <string.h>

#include "paragraph.h"
#include "screen.h"
#include "view/number.h"
#include "view/utf8.h"

#define SENTENCE  1200
#define ROWS_MOST 400 /* that are looked at for the longest sentence */

/* What there is to say of @row in sentences; false: nothing. */
static bool sentence(const struct page *page, const struct row *row, char *text)
{
	bool all = page->screen->flags & SCREEN_EXPLAINS, same = !strcmp(row->note, row->hint);
	bool named = all && row->key.kind != ROW_HEADING;
	const char *note = all || row->key.kind != ROW_FUNCTION || *row->note ? row->note
									      : row->full;

	if (!*row->hint && (!all || !*row->note))
		return false;
	if (all && strcmp(row->name, row->hint) == 0) /* rows that are sentences */
		snprintf(text, SENTENCE, "%.900s", row->name);
	else
		snprintf(text, SENTENCE, "%.300s%s%.400s%s%.400s", named ? row->name : "",
			 named ? ": " : "", note, *note && *row->hint && !same ? " \xc2\xb7 " : "",
			 same ? "" : row->hint);
	return true;
}

static int lines_of(const struct page *page, const struct row *row, int w)
{
	char text[SENTENCE];

	return row && sentence(page, row, text) ? paragraph_lines(text, strlen(text), w, 0) : 1;
}

/* Where each row says something all leave room for the longest, so that the table stays put. */
int explain_lines(const struct page *page, int w)
{
	int most = lines_of(page, page_cursor(page), w);

	for (int i = 0; page->screen->flags & SCREEN_EXPLAINS && i < ROWS_MOST; i++) {
		const struct row *row = page_row(page, i);
		int lines = lines_of(page, row, w);

		if (!row)
			break;
		most = lines > most ? lines : most;
	}
	return most;
}

/* Text at the right end of what is left of the line. */
static void from_right(struct canvas *c, struct rect *r, enum look look, const char *text)
{
	int cells = utf8_cells(text, r->w);

	if (cells >= r->w * 2 / 3)
		return;
	canvas_text(c, r->x + r->w - cells, r->y, cells, (struct pen){(uint8_t)look, 0}, text);
	r->w -= cells;
}

/* Its whole name, place and samples, in the last line. */
static void draw_place(struct canvas *c, const struct page *page, const struct row *row,
		       struct rect r)
{
	char text[400], number[NUMBER_TEXT];
	uint64_t n = page->screen->flags & SCREEN_TOTAL ? row->total_samples : row->self_samples;
	int used;

	snprintf(text, sizeof text, "  %s sample%s", number_grouped(number, n), n == 1 ? "" : "s");
	if (n)
		from_right(c, &r, LOOK_DIM, text);
	if (row->key.kind == ROW_LINE || row->key.kind == ROW_INSN) {
		canvas_text(c, r.x, r.y, r.w, (struct pen){LOOK_NOTE, 0}, row->note);
		return;
	}
	snprintf(text, sizeof text, row->line ? "  %.200s:%u" : "  %.200s", row->file, row->line);
	if (*row->file)
		from_right(c, &r, LOOK_LINE, text);
	used = canvas_text(c, r.x, r.y, r.w, (struct pen){LOOK_NOTE, 0}, row->full);
	if (row->key.kind == ROW_THREAD && *row->module) {
		snprintf(text, sizeof text, "  in %.300s", row->module);
		canvas_text(c, r.x + used, r.y, r.w - used, (struct pen){LOOK_DIM, 0}, text);
	}
}

void explain_draw(struct ui *ui, const struct page *page, struct rect r)
{
	const struct row *row = page_cursor(page);
	char text[SENTENCE];
	int lines;

	if (!row || page->screen->flags & SCREEN_TEXT)
		return;
	if (!sentence(page, row, text)) {
		draw_place(&ui->canvas, page, row, (struct rect){r.x, r.y + r.h - 1, r.w, 1});
		return;
	}
	lines = paragraph_lines(text, strlen(text), r.w, 0);
	paragraph_draw(&ui->canvas, text, strlen(text), r, r.y + (lines < r.h ? r.h - lines : 0),
		       (struct pen){LOOK_NOTE, 0}, 0);
}
