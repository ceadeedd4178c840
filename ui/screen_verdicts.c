/*
 * screen_verdicts: what kind of slowness it is, where, on what evidence, and what could be gained.
 * Enter goes to the place.
 */
#include <stdio.h>
#include <string.h>

#include "paragraph.h"
#include "screen.h"
#include "view/utf8.h"

static bool enter(struct ui *ui, struct page *page, const struct row *row)
{
	struct row_key key = row_function(row);
	struct page *source;

	(void)page;
	if (row->go.kind == ROW_THREAD || row->go.kind == ROW_MODULE) {
		page_push(ui, VIEW_FUNCTIONS, row->go, row->name);
		return true;
	}
	if (!key.kind)
		return false;
	source = page_push(ui, VIEW_SOURCE, key, row->name);
	if (source)
		source->find_line = row->line;
	return true;
}

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

const struct screen screen_verdicts = {
	.view = VIEW_VERDICTS,
	.name = "Verdicts",
	.brief = "Verdict",
	.about =
		"What kind of slowness it is: the function or path, the kind, the numbers behind it, and "
		"how much faster everything could be at most if it cost nothing. The line below the table "
		"says what to do next. Nothing is said that the samples do not carry.",
	.empty = "no verdict that the samples carry",
	.flags = SCREEN_TOTAL,
	.foot = {ACTION_ENTER, ACTION_SOURCE, ACTION_CALLERS, ACTION_EVENTS},
	.enter = enter,
	.draw = explain_row,
};
