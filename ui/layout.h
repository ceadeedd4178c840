/*
 * layout: where the parts of the screen are, from its size alone. Pure geometry.
 */
#ifndef ALTPTTOP_LAYOUT_H
#define ALTPTTOP_LAYOUT_H

#include <stdbool.h>

#include "canvas.h"

#define LAYOUT_MIN_W 24
#define LAYOUT_MIN_H 6

struct layout {
	bool small;          /* nothing fits: say so */
	struct rect facts;   /* first header line */
	struct rect quality; /* second header line, with the history; h 0: none */
	struct rect tabs;
	struct rect title; /* what a drilled-in screen is about; h 0: none */
	struct rect heads; /* column titles */
	struct rect body;  /* rows */
	struct rect hint;  /* on the cursor's row; h 0: none */
	struct rect foot;  /* keys, messages and prompts */
};

/* @titled: the screen has a title line; @headed: its table has column titles. */
/* @title, @hint: lines that they want; a title of 0 has none. The hint gets a quarter at most. */
void layout_screen(struct layout *ret, int w, int h, int title, int hint, bool headed);

/* A box of at most w × h cells in the middle of the screen, kept inside it. */
struct rect layout_box(int screen_w, int screen_h, int w, int h);

static inline bool rect_holds(struct rect r, int x, int y)
{
	return x >= r.x && x < r.x + r.w && y >= r.y && y < r.y + r.h;
}

#endif
