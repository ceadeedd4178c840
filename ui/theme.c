/*
 * theme: one table of looks, a column for each kind of terminal. Colours for 256 are of middle
 * brightness, so that they can be read on the background that is there. No state.
 */
#include "theme.h"

#include <stdlib.h>
#include <string.h>

#define DEF PAINT_DEFAULT

static const struct look_paint {
	short dark, light, cursor,
		eight;  /* foregrounds; cursor: on the cursor's row, in 256 colours */
	unsigned flags; /* with colours */
	unsigned mono;  /* without */
} looks[LOOKS] = {
	[LOOK_NORMAL] = {DEF, DEF, 255, DEF, 0, 0},
	[LOOK_DIM] = {244, 244, 250, DEF, 0, PAINT_DIM},
	[LOOK_STRONG] = {DEF, DEF, 255, DEF, PAINT_BOLD, PAINT_BOLD},
	[LOOK_BRAND] = {75, 25, 255, 6, PAINT_BOLD, PAINT_BOLD},
	[LOOK_LABEL] = {244, 243, 250, DEF, 0, 0},
	[LOOK_VALUE] = {252, 236, 255, DEF, 0, 0},
	[LOOK_GOOD] = {71, 28, 157, 2, 0, 0},
	[LOOK_FAIR] = {179, 130, 222, 3, 0, 0},
	[LOOK_BAD] = {203, 160, 217, 1, 0, PAINT_BOLD},
	[LOOK_WARN] = {215, 130, 222, 3, PAINT_BOLD, PAINT_BOLD},
	[LOOK_ERROR] = {203, 160, 217, 1, PAINT_BOLD, PAINT_BOLD | PAINT_REVERSE},
	[LOOK_BAR] = {67, 67, 117, 4, 0, 0},
	[LOOK_SPARK] = {73, 30, 117, 6, 0, 0},
	[LOOK_TRACK] = {240, 249, 250, DEF, 0, PAINT_DIM},
	[LOOK_MODULE] = {109, 60, 255, 6, 0, 0},
	[LOOK_KERNEL] = {174, 124, 217, 1, 0, 0},
	[LOOK_INLINE] = {110, 25, 255, 6, 0, 0},
	[LOOK_NOTE] = {245, 243, 250, DEF, 0, PAINT_DIM},
	[LOOK_SPECIAL] = {179, 130, 222, 3, 0, PAINT_DIM},
	[LOOK_LINE] = {245, 243, 250, DEF, 0, PAINT_DIM},
	[LOOK_CODE] = {250, 238, 255, DEF, 0, 0},
	[LOOK_ASM] = {151, 22, 157, 2, 0, 0},
	[LOOK_LINK] = {75, 25, 255, 6, PAINT_UNDERLINE, PAINT_UNDERLINE},
	[LOOK_MARK] = {110, 25, 255, 6, 0, 0},
	[LOOK_HEAD] = {247, 241, 250, DEF, 0, PAINT_DIM},
	[LOOK_SORTED] = {75, 25, 255, 6, PAINT_BOLD, PAINT_BOLD},
	[LOOK_TAB] = {247, 241, 255, DEF, 0, 0},
	[LOOK_TAB_ON] = {75, 25, 255, 6, PAINT_BOLD | PAINT_UNDERLINE, PAINT_BOLD | PAINT_REVERSE},
	[LOOK_KEY] = {75, 25, 255, 6, PAINT_BOLD, PAINT_BOLD},
	[LOOK_DOES] = {247, 241, 255, DEF, 0, 0},
	[LOOK_STATE] = {215, 130, 222, 3, PAINT_BOLD, PAINT_BOLD},
	[LOOK_FRAME] = {244, 244, 250, DEF, 0, PAINT_DIM},
	[LOOK_INPUT] = {DEF, DEF, 255, DEF, 0, 0},
};

/* On the cursor's row and on chosen lines both colours are set, so either background will do. */
#define CURSOR_BG 24

struct paint theme_paint(enum theme_kind theme, struct pen pen)
{
	const struct look_paint *l = &looks[pen.look < LOOKS ? pen.look : LOOK_NORMAL];
	struct paint p = {DEF, DEF, l->mono};

	if (theme != THEME_MONO) {
		p.fg = theme == THEME_8 ? l->eight : theme == THEME_256_LIGHT ? l->light : l->dark;
		p.flags = l->flags;
	}
	if (pen.mods & (PEN_CURSOR | PEN_SELECT)) {
		if (theme == THEME_256_DARK || theme == THEME_256_LIGHT) {
			p.fg = l->cursor;
			p.bg = CURSOR_BG;
		} else {
			p.fg = p.bg = DEF;
			p.flags = (p.flags & ~(unsigned)PAINT_DIM) | PAINT_REVERSE;
		}
	}
	if (pen.mods & PEN_MATCH)
		p.flags |= PAINT_UNDERLINE | PAINT_BOLD;
	if (pen.mods & PEN_CARET)
		p.flags ^= PAINT_REVERSE;
	return p;
}

enum theme_kind theme_choose(int color, int colors, const char *no_color, const char *colorfgbg)
{
	const char *bg;
	int n;

	if (color == 2 || colors < 8 || (color == 0 && no_color && *no_color))
		return THEME_MONO;
	if (colors < 256)
		return THEME_8;
	bg = colorfgbg ? strrchr(colorfgbg, ';') : NULL;
	n = bg ? atoi(bg + 1) : 0;
	return n == 7 || (n >= 9 && n <= 15) ? THEME_256_LIGHT : THEME_256_DARK;
}
