/*
 * explain: the sentence of the row under the cursor, whole, at the bottom of screens whose rows say
 * why (Events, Top-down, Verdicts). Ui thread.
 */
#include <stdio.h>
#include <string.h>

#include "paragraph.h"
#include "screen.h"
#include "view/utf8.h"

/*
 * Narrow screens cut the evidence in its column and in the line below: as far as rows leave room,
 * that of the row under the cursor stands whole at the bottom.
 */
void explain_row(struct ui *ui, struct page *page, struct rect body)
{
	const struct row *row = page_cursor(page);
	struct rect r = {body.x, body.y, body.w - 1, body.h};
	char text[1200];
	int lines;

	page->explained = false;
	if (!row || (!*row->note && !*row->hint))
		return;
	bool both = *row->note && *row->hint && strcmp(row->note, row->hint) != 0;
	if (strcmp(row->name, row->hint) == 0)
		snprintf(text, sizeof text, "%.900s", row->name);
	else
		snprintf(text, sizeof text, "%.300s: %.400s%s%.400s", row->name,
			 both || !*row->hint ? row->note : "", both ? " \xc2\xb7 " : "", row->hint);
	if (utf8_cells(text, r.w + 1) <= r.w)
		return;
	lines = paragraph_lines(text, strlen(text), r.w, 0);
	if ((int)page->shown.len + 1 + lines > body.h)
		return;
	page->explained = true;
	paragraph_draw(&ui->canvas, text, strlen(text), r, body.y + body.h - lines,
		       (struct pen){LOOK_NORMAL, 0}, 0);
}
