/*
 * overlay: prompts, questions, menus and pages of text over the screen. Ui thread; one at a time.
 */
#include "overlay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paragraph.h"
#include "screen.h"
#include "view/utf8.h"

#define HELP_KEYS  18 /* cells of the first column in lines that start with blanks */
#define MENU_NAME  40 /* cells of a menu's first column at most */
#define MENU_WHOLE 3

static const char question_keys[] = "y yes  any other key no";

void overlay_close(struct ui *ui)
{
	struct overlay *o = &ui->overlay;

	if (o->kind == OVERLAY_TEXT) {
		strbuf_fini(&o->text);
		if (o->plain && ui->mouse)
			ui->mouse(true);
	}
	free(o->items);
	*o = (struct overlay){0};
	ui->redraw = true;
}

static struct overlay *open(struct ui *ui, enum overlay_kind kind, const char *title)
{
	struct overlay *o = &ui->overlay;

	overlay_close(ui);
	o->kind = kind;
	snprintf(o->title, sizeof o->title, "%s", title);
	return o;
}

void overlay_prompt(struct ui *ui, const char *title, const char *text,
		    void (*done)(struct ui *, const char *))
{
	struct overlay *o = open(ui, OVERLAY_PROMPT, title);

	edit_set(&o->edit, text);
	o->done = done;
}

void overlay_question(struct ui *ui, const char *title, void (*done)(struct ui *, const char *))
{
	open(ui, OVERLAY_QUESTION, title)->done = done;
}

static void menu_match(struct overlay *o)
{
	o->nmatch = 0;
	for (int i = 0; i < o->nitems; i++)
		if (utf8_holds(o->items[i].name, o->edit.text) ||
		    utf8_holds(o->items[i].text, o->edit.text))
			o->match[o->nmatch++] = i;
	if (o->cursor >= o->nmatch)
		o->cursor = o->nmatch ? o->nmatch - 1 : 0;
}

void overlay_menu_items(struct ui *ui, const struct menu_item *items, int n)
{
	struct overlay *o = &ui->overlay;

	n = n < MENU_MAX ? n : MENU_MAX;
	free(o->items);
	o->items = calloc((size_t)(n ? n : 1), sizeof *o->items);
	o->nitems = o->items ? n : 0;
	if (o->items && n)
		memcpy(o->items, items, sizeof *items * (size_t)n);
	menu_match(o);
}

void overlay_menu(struct ui *ui, const char *title, const struct menu_item *items, int n,
		  void (*chosen)(struct ui *, const struct menu_item *, const char *))
{
	struct overlay *o = open(ui, OVERLAY_MENU, title);

	edit_set(&o->edit, "");
	o->chosen = chosen;
	overlay_menu_items(ui, items, n);
}

struct strbuf *overlay_text(struct ui *ui, const char *title, bool plain)
{
	struct overlay *o = open(ui, OVERLAY_TEXT, title);

	strbuf_init(&o->text);
	o->plain = plain;
	if (plain && ui->mouse)
		ui->mouse(false);
	return &o->text;
}

/* End the overlay first, so that what it calls can open the next. */
static void prompt_end(struct ui *ui, bool accepted)
{
	struct overlay *o = &ui->overlay;
	void (*done)(struct ui *, const char *) = accepted ? o->done : NULL;
	void (*cancelled)(struct ui *) = accepted ? NULL : o->cancelled;
	char text[EDIT_TEXT];

	memcpy(text, o->edit.text, sizeof text);
	overlay_close(ui);
	if (done)
		done(ui, text);
	if (cancelled)
		cancelled(ui);
}

static void prompt_key(struct ui *ui, uint32_t key)
{
	struct overlay *o = &ui->overlay;

	switch (edit_key(&o->edit, key)) {
	case EDIT_ACCEPTED: prompt_end(ui, true); break;
	case EDIT_CANCELLED: prompt_end(ui, false); break;
	case EDIT_CHANGED:
		if (o->changed)
			o->changed(ui, o->edit.text);
		break;
	case EDIT_NOTHING:
		if (key == K_BACKSPACE && !o->edit.len)
			prompt_end(ui, false);
	}
}

static void menu_choose(struct ui *ui)
{
	struct overlay *o = &ui->overlay;
	void (*chosen)(struct ui *, const struct menu_item *, const char *) = o->chosen;
	struct menu_item item;
	char text[EDIT_TEXT];
	bool any = o->nmatch > 0;

	if (!any && !(o->free && o->edit.len))
		return;
	if (any)
		item = o->items[o->match[o->cursor]];
	if (any && item.off) {
		app_say(ui, MESSAGE_WARN, "%s: %s", item.name, item.text);
		return;
	}
	memcpy(text, o->edit.text, sizeof text);
	overlay_close(ui);
	chosen(ui, any ? &item : NULL, text);
}

static void menu_key(struct ui *ui, uint32_t key)
{
	struct overlay *o = &ui->overlay;
	int page = ui->canvas.h / 2;

	ui->message_kind = MESSAGE_NONE;
	switch (key) {
	case K_UP: o->cursor--; break;
	case K_DOWN: o->cursor++; break;
	case K_PAGE_UP: o->cursor -= page; break;
	case K_PAGE_DOWN: o->cursor += page; break;
	case K_ENTER: menu_choose(ui); return;
	default:
		if (!o->filters && (key == 'j' || key == 'k')) {
			o->cursor += key == 'j' ? 1 : -1;
			break;
		}
		if (!o->filters && key == 'q')
			key = K_ESC;
		if (!o->filters && key != K_ESC && key != K_CTRL_C)
			return;
		switch (edit_key(&o->edit, key)) {
		case EDIT_CANCELLED: prompt_end(ui, false); return;
		case EDIT_CHANGED:
			if (o->changed)
				o->changed(ui, o->edit.text);
			o->cursor = 0;
			menu_match(o);
			break;
		default: break;
		}
	}
	if (o->cursor >= o->nmatch)
		o->cursor = o->nmatch - 1;
	if (o->cursor < 0)
		o->cursor = 0;
}

static void text_key(struct ui *ui, uint32_t key)
{
	struct overlay *o = &ui->overlay;
	int page = ui->canvas.h - 3;

	switch (keymap_find(&ui->keys, key)) {
	case ACTION_UP: o->top--; break;
	case ACTION_DOWN: o->top++; break;
	case ACTION_PAGE_UP: o->top -= page; break;
	case ACTION_PAGE_DOWN:
	case ACTION_FREEZE: o->top += page; break;
	case ACTION_TOP: o->top = 0; break;
	case ACTION_BOTTOM: o->top = o->lines; break;
	default: overlay_close(ui);
	}
}

static void question_key(struct ui *ui, uint32_t key)
{
	if (key == 'y' || key == 'Y')
		prompt_end(ui, true);
	else if (key != K_NONE)
		prompt_end(ui, false);
}

/* Of the terminal, not of the screen: they work under everything, save as letters, which are typed.
 */
static bool terminal_key(struct ui *ui, uint32_t key)
{
	enum action action = keymap_find(&ui->keys, key);

	if ((action != ACTION_REDRAW && action != ACTION_SUSPEND) || (key >= ' ' && key < K_F1))
		return false;
	app_act(ui, action);
	return true;
}

bool overlay_key(struct ui *ui, uint32_t key)
{
	static void (*const keys[])(struct ui *, uint32_t) = {
		[OVERLAY_PROMPT] = prompt_key,
		[OVERLAY_QUESTION] = question_key,
		[OVERLAY_MENU] = menu_key,
		[OVERLAY_TEXT] = text_key,
	};

	if (ui->overlay.kind == OVERLAY_NONE)
		return false;
	if (!terminal_key(ui, key))
		keys[ui->overlay.kind](ui, key);
	return true;
}

/* Cells that a line of the menu takes whole, and its name alone. */
static int menu_cells(const struct menu_item *item, int *ret_name)
{
	int name = utf8_cells(item->name, MENU_NAME), whole = utf8_cells(item->name, 100);

	*ret_name = name;
	return whole > name ? 999 : name + 2 + utf8_cells(item->text, 160);
}

struct menu_place {
	struct rect box;
	int names; /* cells of the first column */
	int rows;  /* of items */
	int whole; /* lines below them, for what is cut in the one at the cursor */
};

static struct menu_place menu_place(const struct ui *ui)
{
	const struct overlay *o = &ui->overlay;
	struct menu_place p = {0};
	int title = utf8_cells(o->title, 70) + 6, w = o->filters && title < 50 ? 50 : title,
	    wide = 0;
	int h = o->nitems + 2 + (o->filters ? 1 : 0);

	for (int i = 0; i < o->nitems; i++) {
		int name, cells = menu_cells(&o->items[i], &name);

		p.names = name > p.names ? name : p.names;
		wide = cells > wide ? cells : wide;
	}
	wide += 4;
	p.whole = wide > ui->canvas.w - 2 && ui->canvas.h >= 12 ? MENU_WHOLE : 0;
	h = (o->filters && h < 8 ? 8 : h) + p.whole;
	p.box = layout_box(ui->canvas.w - 2, ui->canvas.h - 2, wide > w ? wide : w, h);
	p.rows = p.box.h - 2 - p.whole - (o->filters ? 1 : 0);
	return p;
}

bool overlay_mouse(struct ui *ui, int x, int y, bool twice, int wheel)
{
	struct overlay *o = &ui->overlay;
	struct menu_place p = menu_place(ui);
	int line = y - p.box.y - 1 - (o->filters ? 1 : 0);

	(void)twice;
	if (o->kind == OVERLAY_NONE)
		return false;
	if (o->kind == OVERLAY_TEXT) {
		o->top += wheel * 3;
		if (!wheel)
			overlay_close(ui);
	} else if (o->kind == OVERLAY_MENU) {
		if (wheel)
			menu_key(ui, wheel < 0 ? K_UP : K_DOWN);
		else if (!rect_holds(p.box, x, y))
			prompt_end(ui, false);
		else if (line >= 0 && line < p.rows && line + o->top < o->nmatch) {
			o->cursor = line + o->top;
			menu_choose(ui);
		}
	}
	return true;
}

static void draw_item(struct canvas *c, const struct menu_item *item, int names, struct rect r)
{
	canvas_text(c, r.x, r.y, r.w < names ? r.w : names,
		    (struct pen){item->off ? LOOK_DIM : LOOK_NORMAL, PEN_BOX}, item->name);
	canvas_text(c, r.x + names + 2, r.y, r.w - names - 2,
		    (struct pen){item->off ? LOOK_WARN : LOOK_NOTE, PEN_BOX}, item->text);
}

/* What the line at the cursor says, whole. */
static void draw_item_whole(struct canvas *c, const struct menu_item *item, struct rect r)
{
	char text[sizeof item->name + sizeof item->text + 4];
	bool named = !strncmp(item->text, item->name, strlen(item->name));

	snprintf(text, sizeof text, "%s%s%s", named ? "" : item->name,
		 named || !*item->text ? "" : ": ", item->text);
	paragraph_draw(c, text, strlen(text), r, r.y, (struct pen){LOOK_LABEL, PEN_BOX}, 0);
}

static void draw_menu(struct ui *ui)
{
	struct overlay *o = &ui->overlay;
	struct canvas *c = &ui->canvas;
	struct menu_place p = menu_place(ui);
	struct rect r = {p.box.x + 2, p.box.y + 1, p.box.w - 4, 1};

	canvas_box(c, p.box, o->title);
	if (o->filters)
		edit_draw(&o->edit, c, r.x, r.y++, r.w, PEN_BOX);
	if (o->cursor < o->top)
		o->top = o->cursor;
	if (o->cursor >= o->top + p.rows)
		o->top = o->cursor - p.rows + 1;
	if (o->filters && !o->nmatch)
		canvas_text(c, r.x, r.y, r.w, (struct pen){LOOK_DIM, PEN_BOX},
			    o->free ? "Enter takes the text as it is" : "nothing matches");
	for (int i = 0; i < p.rows && o->top + i < o->nmatch; i++, r.y++) {
		draw_item(c, &o->items[o->match[o->top + i]], p.names, r);
		if (o->top + i == o->cursor)
			canvas_paint(c, (struct rect){r.x - 1, r.y, r.w + 2, 1}, PEN_SELECT);
	}
	r.y = p.box.y + p.box.h - 1 - p.whole;
	r.h = p.whole;
	if (p.whole && o->nmatch)
		draw_item_whole(c, &o->items[o->match[o->cursor]], r);
}

/* A line of the text: a heading, or with its first column looking like keys. */
static int draw_line(struct canvas *c, const char *line, size_t len, struct rect r, int y,
		     bool words)
{
	bool heading = len && *line == '\001', keys = words && len && *line == ' ';
	int indent = !words ? -1 : keys ? HELP_KEYS : 0, lines;

	lines = paragraph_draw(c, line + heading, len - heading, r, y,
			       (struct pen){heading ? LOOK_STRONG : LOOK_NORMAL, 0}, indent);
	if (keys && y >= r.y && y < r.y + r.h)
		canvas_look(c, (struct rect){r.x, y, HELP_KEYS, 1}, LOOK_KEY);
	return lines;
}

static int draw_lines(struct canvas *c, const char *text, struct rect r, int top, bool words)
{
	int y = r.y - top;

	while (*text) {
		size_t len = strcspn(text, "\n");

		y += draw_line(c, text, len, r, y, words);
		text += len + (text[len] == '\n');
	}
	return y - (r.y - top);
}

static void draw_text(struct ui *ui)
{
	struct overlay *o = &ui->overlay;
	struct canvas *c = &ui->canvas;
	struct rect r = {0, 1, c->w, c->h - 2};
	struct rect nowhere = {0, 0, r.w, 0};

	if (!o->plain)
		r = (struct rect){2, 1, c->w - 4, c->h - 2};
	nowhere.w = r.w;
	o->lines = draw_lines(c, o->text.buf ? o->text.buf : "", nowhere, 0, !o->plain);
	if (o->top > o->lines - r.h)
		o->top = o->lines - r.h;
	if (o->top < 0)
		o->top = 0;
	canvas_clear(c);
	canvas_text(c, o->plain ? 0 : 2, 0, c->w - 2, (struct pen){LOOK_BRAND, 0}, o->title);
	draw_lines(c, o->text.buf ? o->text.buf : "", r, o->top, !o->plain);
	if (!o->plain) /* nothing lies over what is to be copied */
		canvas_scroll(c, (struct rect){c->w - 1, r.y, 1, r.h}, o->top, r.h, o->lines);
	canvas_text(c, o->plain ? 0 : 2, c->h - 1, c->w - 2, (struct pen){LOOK_DOES, 0},
		    o->lines > r.h ? "arrows and PgDn scroll, any other key goes back"
				   : "any key goes back");
}

static void draw_question(struct ui *ui)
{
	char text[sizeof ui->overlay.title + 32];
	struct rect foot = ui->layout.foot;

	snprintf(text, sizeof text, "%s ", ui->overlay.title);
	foot.x = utf8_cells(text, foot.w);
	strcat(text, question_keys);
	if (footer_sentence(ui, text, (struct pen){LOOK_STATE, 0}) == 1)
		canvas_look(&ui->canvas, foot, LOOK_KEY);
}

void overlay_draw(struct ui *ui)
{
	struct overlay *o = &ui->overlay;
	struct canvas *c = &ui->canvas;
	struct rect foot = ui->layout.foot;
	int x;

	switch (o->kind) {
	case OVERLAY_NONE: break;
	case OVERLAY_MENU: draw_menu(ui); break;
	case OVERLAY_TEXT: draw_text(ui); break;
	case OVERLAY_QUESTION: draw_question(ui); break;
	case OVERLAY_PROMPT:
		canvas_fill(c, foot, (struct pen){LOOK_INPUT, 0}, ' ');
		x = foot.x +
		    canvas_text(c, foot.x, foot.y, foot.w * 2 / 3, (struct pen){LOOK_STATE, 0},
				o->title) +
		    1;
		edit_draw(&o->edit, c, x, foot.y, foot.x + foot.w - x, 0);
	}
}
