/*
 * edit: one line of text being typed. No drawing of its own beyond edit_draw, no terminal.
 */
#ifndef ALTPTTOP_EDIT_H
#define ALTPTTOP_EDIT_H

#include "canvas.h"

#define EDIT_TEXT 1024

struct edit {
	char text[EDIT_TEXT]; /* UTF-8, always terminated */
	size_t len, at;       /* bytes; at: where typing goes */
	size_t most;          /* bytes that it may hold */
};

enum edit_result { EDIT_NOTHING, EDIT_CHANGED, EDIT_ACCEPTED, EDIT_CANCELLED };

/* The caret at its end; @e->most is all there is room for. */
void edit_set(struct edit *e, const char *text);
enum edit_result edit_key(struct edit *e, uint32_t key);
/* The text with its caret, scrolled so that the caret shows. */
void edit_draw(const struct edit *e, struct canvas *c, int x, int y, int w, uint8_t mods);

#endif
