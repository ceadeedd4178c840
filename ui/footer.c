/*
 * footer: the hint on the cursor's row, and the last line: keys of the screen, or a message until
 * it fades. Ui thread.
 */
#include <stdio.h>
#include <string.h>

#include "screen.h"
#include "view/number.h"
#include "view/utf8.h"

void zone_add(struct ui *ui, struct rect r, enum zone_kind kind, uint32_t what)
{
	if (ui->nzones < ZONES_MAX)
		ui->zones[ui->nzones++] = (struct zone){r, kind, what};
}

/* What can be said of the row: its hint, or its whole name, place and samples. */
static void draw_hint(struct ui *ui, const struct page *page, struct rect r)
{
	const struct row *row = page_cursor(page);
	struct canvas *c = &ui->canvas;
	char text[400], number[NUMBER_TEXT];
	int x = r.x, room = r.w;

	if (!row || page->screen->flags & SCREEN_TEXT)
		return;
	if (*row->hint) {
		canvas_text(c, x, r.y, room, (struct pen){LOOK_NOTE, 0}, row->hint);
		return;
	}
	if (row->self_samples || row->total_samples) {
		uint64_t n = page->screen->flags & SCREEN_TOTAL ? row->total_samples
								: row->self_samples;

		snprintf(text, sizeof text, "  %s samples", number_grouped(number, n));
		room -= utf8_cells(text, r.w);
		canvas_text(c, x + room, r.y, r.w, (struct pen){LOOK_DIM, 0}, text);
	}
	if (row->key.kind == ROW_LINE || row->key.kind == ROW_INSN)
		return;
	if (*row->file && row->line)
		snprintf(text, sizeof text, "  %s:%u", row->file, row->line);
	else
		snprintf(text, sizeof text, "%s%s", *row->file ? "  " : "", row->file);
	if (utf8_cells(text, room) < room / 2) {
		room -= utf8_cells(text, room);
		canvas_text(c, x + room, r.y, r.w, (struct pen){LOOK_LINE, 0}, text);
	}
	canvas_text(c, x, r.y, room, (struct pen){LOOK_NOTE, 0}, row->full);
}

static void draw_message(struct ui *ui, struct rect r)
{
	static const enum look looks[] = {LOOK_NORMAL, LOOK_GOOD, LOOK_WARN, LOOK_ERROR};

	canvas_text(&ui->canvas, r.x, r.y, r.w, (struct pen){(uint8_t)looks[ui->message_kind], 0},
		    ui->message);
}

static int key_cells(const struct ui *ui, enum action action)
{
	char key[KEY_TEXT];

	return utf8_cells(keymap_text(&ui->keys, action, key), KEY_TEXT) + 1 +
	       utf8_cells(action_table[action].label, 40);
}

static int draw_key(struct ui *ui, enum action action, int x, int y)
{
	struct canvas *c = &ui->canvas;
	char key[KEY_TEXT];
	int start = x;

	x += canvas_text(c, x, y, c->w - x, (struct pen){LOOK_KEY, 0},
			 keymap_text(&ui->keys, action, key));
	x += 1 + canvas_text(c, x + 1, y, c->w - x - 1, (struct pen){LOOK_DOES, 0},
			     action_table[action].label);
	zone_add(ui, (struct rect){start, y, x - start, 1}, ZONE_ACTION, action);
	return x - start;
}

/* The screen's own keys, then those of every screen, as many as fit; help is always there. */
static void draw_keys(struct ui *ui, const struct page *page, struct rect r)
{
	static const enum action common[] = {ACTION_SEARCH, ACTION_WINDOW, ACTION_FREEZE,
					     ACTION_SAVE, ACTION_QUIT};
	int x = r.x, help = key_cells(ui, ACTION_HELP), end = r.x + r.w - help;
	enum action list[FOOT_MAX + 8];
	int n = 0;

	for (int i = 0; i < FOOT_MAX && page->screen->foot[i]; i++)
		list[n++] = page->screen->foot[i];
	if (ui->depth > 1)
		list[n++] = ACTION_BACK;
	for (size_t i = 0; i < sizeof common / sizeof *common; i++)
		list[n++] = common[i];
	for (int i = 0; i < n; i++)
		if (x + key_cells(ui, list[i]) + 2 <= end)
			x += draw_key(ui, list[i], x, r.y) + 2;
	draw_key(ui, ACTION_HELP, end, r.y);
}

void footer_draw(struct ui *ui)
{
	const struct page *page = page_now(ui);

	if (ui->layout.hint.h)
		draw_hint(ui, page, ui->layout.hint);
	if (ui->message_kind)
		draw_message(ui, ui->layout.foot);
	else
		draw_keys(ui, page, ui->layout.foot);
}
