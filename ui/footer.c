/*
 * footer: the last line: keys of the screen, or until it fades a message, over as many lines as it
 * needs. Ui thread.
 */
#include <stdio.h>
#include <string.h>

#include "paragraph.h"
#include "screen.h"
#include "view/utf8.h"

#define GAP 2

void zone_add(struct ui *ui, struct rect r, enum zone_kind kind, uint32_t what)
{
	if (ui->nzones < ZONES_MAX)
		ui->zones[ui->nzones++] = (struct zone){r, kind, what};
}

/* Sentences are told whole: what does not fit the last line covers those above. */
int footer_sentence(struct ui *ui, const char *text, struct pen pen)
{
	struct rect r = ui->layout.foot;
	int lines = paragraph_lines(text, strlen(text), r.w, 0);

	r.h = lines < ui->canvas.h ? lines : ui->canvas.h;
	r.y -= r.h - 1;
	canvas_fill(&ui->canvas, r, pen, ' ');
	return paragraph_draw(&ui->canvas, text, strlen(text), r, r.y, pen, 0);
}

static void draw_message(struct ui *ui)
{
	static const enum look looks[] = {LOOK_NORMAL, LOOK_GOOD, LOOK_WARN, LOOK_ERROR};

	footer_sentence(ui, ui->message, (struct pen){(uint8_t)looks[ui->message_kind], 0});
}

/* Keys that hide something by where the CPU was: while one is on, the footer names it first. */
static const struct {
	uint32_t flags; /* enum query_flag */
	enum action action;
	const char *label;
} filters[] = {
	{QUERY_NO_KERNEL, ACTION_KERNEL, "show kernel"},
	{QUERY_NO_USER, ACTION_USER, "show user"},
	{QUERY_NO_GUEST, ACTION_GUEST, "only guests"},
	{QUERY_NO_HOST, ACTION_GUEST, "show host"},
};
#define FILTERS (sizeof filters / sizeof *filters)

static bool filter_on(const struct ui *ui, size_t i)
{
	return ui->flags & ui->pages[ui->depth - 1]->view->flags & filters[i].flags;
}

static const char *label_of(const struct ui *ui, enum action action)
{
	const struct screen *screen = ui->pages[ui->depth - 1]->screen;

	for (size_t i = 0; i < FILTERS; i++)
		if (filters[i].action == action && filter_on(ui, i))
			return filters[i].label;
	return action == ACTION_THREAD && screen->thread_label ? screen->thread_label
							       : action_table[action].label;
}

static int key_cells(const struct ui *ui, enum action action)
{
	char key[KEY_TEXT];

	return utf8_cells(keymap_text(&ui->keys, action, key), KEY_TEXT) + 1 +
	       utf8_cells(label_of(ui, action), 40);
}

static int draw_key(struct ui *ui, enum action action, int x, int y)
{
	struct canvas *c = &ui->canvas;
	char key[KEY_TEXT];
	int start = x;

	x += canvas_text(c, x, y, c->w - x, (struct pen){LOOK_KEY, 0},
			 keymap_text(&ui->keys, action, key));
	x += 1 + canvas_text(c, x + 1, y, c->w - x - 1, (struct pen){LOOK_DOES, 0},
			     label_of(ui, action));
	zone_add(ui, (struct rect){start, y, x - start, 1}, ZONE_ACTION, action);
	return x - start;
}

/* The screen's own keys, then those of every screen, as many as fit; quit and help always. */
static void draw_keys(struct ui *ui, const struct page *page, struct rect r)
{
	static const enum action common[] = {ACTION_SEARCH, ACTION_SAVE, ACTION_WINDOW,
					     ACTION_FREEZE};
	int right = key_cells(ui, ACTION_QUIT) + GAP + key_cells(ui, ACTION_HELP);
	int x = r.x, end = r.x + r.w - right;
	enum action list[FOOT_MAX + 8 + FILTERS];
	int n = 0;

	if (ui->depth > 1)
		list[n++] = ACTION_BACK;
	for (size_t i = 0; i < FILTERS; i++)
		if (filter_on(ui, i))
			list[n++] = filters[i].action;
	for (int i = 0; i < FOOT_MAX && page->screen->foot[i]; i++)
		list[n++] = page->screen->foot[i];
	for (size_t i = 0; i < sizeof common / sizeof *common; i++)
		list[n++] = common[i];
	for (int i = 0; i < n; i++)
		if (x + key_cells(ui, list[i]) + GAP <= end)
			x += draw_key(ui, list[i], x, r.y) + GAP;
	x = end + draw_key(ui, ACTION_QUIT, end, r.y) + GAP;
	draw_key(ui, ACTION_HELP, x, r.y);
}

void footer_draw(struct ui *ui)
{
	const struct page *page = page_now(ui);

	if (ui->layout.hint.h)
		explain_draw(ui, page, ui->layout.hint);
	if (ui->message_kind)
		draw_message(ui);
	else
		draw_keys(ui, page, ui->layout.foot);
}
