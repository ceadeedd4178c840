/* paragraph: one line of text broken into as many lines of the screen as it needs. No state. */
#ifndef ALTPTTOP_PARAGRAPH_H
#define ALTPTTOP_PARAGRAPH_H

#include "canvas.h"

/*
 * Draw @len bytes of @text in @r.w cells from line @y on, what lies above or below @r left out;
 * returns the lines it takes (at least 1). @indent: cells that later lines are set in, negative: no
 * breaking between words, as text that is to be copied wants it.
 */
int paragraph_draw(struct canvas *c, const char *text, size_t len, struct rect r, int y,
		   struct pen pen, int indent);
/* The lines it would take. */
int paragraph_lines(const char *text, size_t len, int w, int indent);

/* Where the last column of a text in columns begins (after two blanks or more), 0: none. */
int paragraph_hang(const char *text, int w);

#endif
