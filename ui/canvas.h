/*
 * canvas: a grid of cells that screens draw on, in memory. The terminal shows a canvas by comparing
 * it with what it showed before; tests write it out as text.
 *
 * Drawing clips at the canvas's edges and keeps wide characters whole: half of one is never left.
 * Text goes through utf8_next, so nothing drawn can move the terminal's cursor. Not thread-safe.
 */
#ifndef ALTPTTOP_CANVAS_H
#define ALTPTTOP_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "view/look.h"

enum pen_mod {
	PEN_CURSOR = 1 << 0, /* on the cursor's row */
	PEN_MATCH = 1 << 1,  /* found by the search */
	PEN_BOX = 1 << 2,    /* inside a box that lies over the screen */
	PEN_CARET = 1 << 3,  /* where typing goes */
	PEN_SELECT = 1 << 4, /* the chosen line of a menu */
	PEN_BAND = 1 << 5,   /* the header's and footer's band */
};

struct pen {
	uint8_t look; /* enum look */
	uint8_t mods; /* enum pen_mod */
};

#define CELL_MARKS 2
struct canvas_cell {
	uint32_t ch;               /* a character to draw, never 0 in a cell of width 1 or 2 */
	uint32_t mark[CELL_MARKS]; /* combining characters, 0 none */
	uint8_t width;             /* 1 or 2; 0: right half of the wide character before */
	struct pen pen;
	uint8_t pad;
};

struct rect {
	int x, y, w, h;
};

struct canvas {
	struct canvas_cell *cells; /* w × h, row by row */
	int w, h;
	bool ascii; /* glyphs beyond ASCII are replaced by the nearest within */
};

int canvas_init(struct canvas *c, int w, int h, bool ascii); /* 0 or -ENOMEM */
int canvas_resize(struct canvas *c, int w, int h);           /* cleared; -ENOMEM: as it was */
void canvas_fini(struct canvas *c);
void canvas_clear(struct canvas *c);

void canvas_put(struct canvas *c, int x, int y, struct pen pen, uint32_t ch);
void canvas_fill(struct canvas *c, struct rect r, struct pen pen, uint32_t ch);

/*
 * Draw @text in at most @max cells from (x, y), leaving out its first @skip cells. Text that does
 * not fit ends in an ellipsis. Returns cells used (≤ @max). Never longer than @max, whatever the
 * text.
 */
int canvas_text(struct canvas *c, int x, int y, int max, struct pen pen, const char *text);
int canvas_text_from(struct canvas *c, int x, int y, int max, int skip, struct pen pen,
		     const char *text);

/* Give every cell of @r another look, glyphs kept. */
void canvas_look(struct canvas *c, struct rect r, enum look look);
/* Add @mods to every cell of @r, glyphs kept. */
void canvas_paint(struct canvas *c, struct rect r, uint8_t mods);

/* A bar of @w cells filled to @part (0…1), in eighths of a cell. */
void canvas_bar(struct canvas *c, int x, int y, int w, double part, struct pen pen);
/* The newest @w of @n values (0…1; negative: no data), newest right. */
void canvas_spark(struct canvas *c, int x, int y, int w, const float *values, int n,
		  struct pen pen);
/* A box with a title over what was there. */
void canvas_box(struct canvas *c, struct rect r, const char *title);
/* A scroll bar of @r.h cells at column @r.x: rows first … first + shown of @all. */
void canvas_scroll(struct canvas *c, struct rect r, int first, int shown, int all);

/* The grid as lines of text, trailing blanks cut. */
void canvas_dump(const struct canvas *c, struct strbuf *out);
/* The looks instead of the characters: a letter a look, upper case on the cursor's row. */
void canvas_dump_looks(const struct canvas *c, struct strbuf *out);

const struct canvas_cell *canvas_at(const struct canvas *c, int x, int y);

#endif
