/*
 * overlay: what lies over a screen and takes the keys first: a prompt in the last line, a question,
 * a menu, a page of text. One at a time. Ui thread only.
 */
#ifndef ALTPTTOP_OVERLAY_H
#define ALTPTTOP_OVERLAY_H

#include "base/strbuf.h"
#include "canvas.h"
#include "edit.h"

struct ui;

enum overlay_kind { OVERLAY_NONE, OVERLAY_PROMPT, OVERLAY_QUESTION, OVERLAY_MENU, OVERLAY_TEXT };

#define MENU_MAX 256
struct menu_item {
	char name[128]; /* the longest that events have: what is chosen is asked for by it */
	char text[160];
	bool off; /* cannot be chosen; text says why */
	uint32_t id;
};

struct overlay {
	enum overlay_kind kind;
	char title[600];
	struct edit edit;
	/* A prompt's or question's end; @text is what was typed, or "" for yes. */
	void (*done)(struct ui *ui, const char *text);
	/* Typing changed @text (prompt, menu filter); NULL: nothing. */
	void (*changed)(struct ui *ui, const char *text);
	void (*cancelled)(struct ui *ui); /* NULL: nothing */

	/* Menu: chosen item, or NULL with the filter's text where nothing matches and free is set.
	 */
	void (*chosen)(struct ui *ui, const struct menu_item *item, const char *text);
	struct menu_item *items;
	int nitems, match[MENU_MAX], nmatch, cursor, top;
	bool filters, free; /* typing filters; text that matches nothing may be chosen as it is */

	/* Text: lines to scroll in; boxed, or whole screen and plain to copy from. */
	struct strbuf text;
	bool plain;
	int lines;
};

void overlay_close(struct ui *ui);
void overlay_prompt(struct ui *ui, const char *title, const char *text,
		    void (*done)(struct ui *, const char *));
void overlay_question(struct ui *ui, const char *title, void (*done)(struct ui *, const char *));
/* Copies @items. */
void overlay_menu(struct ui *ui, const char *title, const struct menu_item *items, int n,
		  void (*chosen)(struct ui *, const struct menu_item *, const char *));
void overlay_menu_items(struct ui *ui, const struct menu_item *items, int n); /* replace them */
/* An empty text to be filled: lines; a line that starts with \001 is a heading. */
struct strbuf *overlay_text(struct ui *ui, const char *title, bool plain);

bool overlay_key(struct ui *ui, uint32_t key); /* false: nothing lies over the screen */
bool overlay_mouse(struct ui *ui, int x, int y, bool twice, int wheel);
void overlay_draw(struct ui *ui);

#endif
