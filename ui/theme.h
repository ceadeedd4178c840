/*
 * theme: turns meaning into colour. The default background is kept; where nothing but black and
 * white is to be had, meaning becomes bold, dim, underline and reverse.
 */
#ifndef ALTPTTOP_THEME_H
#define ALTPTTOP_THEME_H

#include "canvas.h"

enum theme_kind { THEME_MONO, THEME_8, THEME_256_DARK, THEME_256_LIGHT };

enum paint_flag {
	PAINT_BOLD = 1 << 0,
	PAINT_DIM = 1 << 1,
	PAINT_UNDERLINE = 1 << 2,
	PAINT_REVERSE = 1 << 3,
};

#define PAINT_DEFAULT (-1) /* the terminal's own colour */
struct paint {
	short fg, bg;
	unsigned flags; /* enum paint_flag */
};

struct paint theme_paint(enum theme_kind theme, struct pen pen);

/*
 * Which theme: @color is 0 auto, 1 always, 2 never; @colors is what the terminal offers. auto
 * honours NO_COLOR (set and not empty); COLORFGBG tells a light background.
 */
enum theme_kind theme_choose(int color, int colors, const char *no_color, const char *colorfgbg);

#endif
