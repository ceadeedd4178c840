/*
 * canvas: the cell grid and the primitives of drawing: text, bars, sparks, boxes. It knows no
 * terminal; term.c shows it, tests dump it. Ui thread only.
 */
#include "canvas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/utf8.h"

#define ELLIPSIS 0x2026u

static const struct canvas_cell blank = {.ch = ' ', .width = 1};

int canvas_init(struct canvas *c, int w, int h, bool ascii)
{
	*c = (struct canvas){.ascii = ascii};
	return canvas_resize(c, w, h);
}

int canvas_resize(struct canvas *c, int w, int h)
{
	size_t n = (size_t)(w > 0 ? w : 1) * (size_t)(h > 0 ? h : 1);
	struct canvas_cell *cells = reallocarray(c->cells, n, sizeof *cells);

	if (!cells)
		return -ENOMEM;
	c->cells = cells;
	c->w = w > 0 ? w : 1;
	c->h = h > 0 ? h : 1;
	canvas_clear(c);
	return 0;
}

void canvas_fini(struct canvas *c)
{
	free(c->cells);
	c->cells = NULL;
	c->w = c->h = 0;
}

void canvas_clear(struct canvas *c)
{
	for (size_t i = 0, n = (size_t)c->w * (size_t)c->h; i < n; i++)
		c->cells[i] = blank;
}

static struct canvas_cell *at(struct canvas *c, int x, int y)
{
	return x < 0 || y < 0 || x >= c->w || y >= c->h
		       ? NULL
		       : &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
}

const struct canvas_cell *canvas_at(const struct canvas *c, int x, int y)
{
	return at((struct canvas *)c, x, y);
}

/* The nearest ASCII for the glyphs that screens use themselves; '?' for the rest of the world. */
static uint32_t to_ascii(uint32_t ch)
{
	static const struct {
		uint32_t from;
		char to;
	} glyphs[] = {
		{0x2588, '#'}, {0x2589, '#'}, {0x258a, '#'}, {0x258b, '='}, {0x258c, '='},
		{0x258d, '-'}, {0x258e, '-'}, {0x258f, '-'}, {0x2581, '_'}, {0x2582, '.'},
		{0x2583, '.'}, {0x2584, '-'}, {0x2585, '-'}, {0x2586, '='}, {0x2587, '#'},
		{0x2502, '|'}, {0x2500, '-'}, {0x256d, '+'}, {0x256e, '+'}, {0x2570, '+'},
		{0x256f, '+'}, {0x25be, 'v'}, {0x25b8, '>'}, {0x25c2, '<'}, {0x25b6, '>'},
		{0x25bc, 'v'}, {0x25b2, '^'}, {0x2193, 'v'}, {0x2191, '^'}, {0x2192, '>'},
		{0x2190, '<'}, {0x2026, '~'}, {0x2013, '-'}, {0x00b7, '.'}, {0x00b1, '~'},
		{0x2248, '~'}, {0x00d7, 'x'}, {0x00b5, 'u'}, {0x203a, '>'}, {0x2039, '<'},
		{0x03a3, 'S'}, {0x2191, '^'}, {0x2503, '#'}, {0x2588, '#'}, {0x2591, '.'},
		{0x2514, '`'}, {0x251c, '+'}, {0x2510, '+'}, {0x250c, '+'}, {0x2518, '+'},
		{0x25cf, '*'}, {0x253c, '+'},
	};

	if (ch < 0x7f)
		return ch;
	for (size_t i = 0; i < sizeof glyphs / sizeof *glyphs; i++)
		if (glyphs[i].from == ch)
			return (uint32_t)glyphs[i].to;
	return '?';
}

/* Whoever overwrites half of a wide character blanks the other half. */
static void split(struct canvas *c, int x, int y)
{
	struct canvas_cell *cell = at(c, x, y), *left = at(c, x - 1, y), *right = at(c, x + 1, y);

	if (!cell)
		return;
	if (cell->width == 0 && left) {
		left->ch = ' ';
		left->width = 1;
		memset(left->mark, 0, sizeof left->mark);
	}
	if (cell->width == 2 && right) {
		right->ch = ' ';
		right->width = 1;
	}
}

static void set(struct canvas *c, int x, int y, struct pen pen, uint32_t ch, int width)
{
	struct canvas_cell *cell = at(c, x, y);

	if (!cell)
		return;
	split(c, x, y);
	*cell = (struct canvas_cell){.ch = ch, .width = (uint8_t)width, .pen = pen};
	if (width == 2) {
		split(c, x + 1, y);
		*at(c, x + 1, y) = (struct canvas_cell){.ch = ' ', .width = 0, .pen = pen};
	}
}

void canvas_put(struct canvas *c, int x, int y, struct pen pen, uint32_t ch)
{
	int width = utf8_width(ch);

	if (c->ascii) {
		ch = to_ascii(ch);
		for (int i = 0; i < width; i++)
			set(c, x + i, y, pen, ch, 1);
		return;
	}
	if (width == 2 && x + 1 >= c->w)
		set(c, x, y, pen, ' ', 1);
	else if (width > 0)
		set(c, x, y, pen, ch, width);
}

void canvas_fill(struct canvas *c, struct rect r, struct pen pen, uint32_t ch)
{
	for (int y = r.y; y < r.y + r.h; y++)
		for (int x = r.x; x < r.x + r.w; x++)
			canvas_put(c, x, y, pen, ch);
}

static void combine(struct canvas *c, int x, int y, uint32_t mark)
{
	struct canvas_cell *cell = at(c, x, y);

	if (cell && cell->width == 0)
		cell = at(c, x - 1, y);
	if (!cell || c->ascii)
		return;
	for (int i = 0; i < CELL_MARKS; i++)
		if (!cell->mark[i]) {
			cell->mark[i] = mark;
			return;
		}
}

int canvas_text_from(struct canvas *c, int x, int y, int max, int skip, struct pen pen,
		     const char *text)
{
	int used = 0, last = -1;
	uint32_t ch;

	if (max <= 0 || y < 0 || y >= c->h)
		return 0;
	while ((ch = utf8_next(&text))) {
		int w = utf8_width(ch);

		if (skip > 0) { /* a wide character half left out leaves a blank */
			skip -= w;
			if (skip < 0)
				canvas_put(c, x + used++, y, pen, ' ');
			continue;
		}
		if (w == 0) {
			if (last >= 0)
				combine(c, last, y, ch);
			continue;
		}
		if (used + w > max) {
			int end = used < max ? x + used : x + max - 1;

			canvas_put(c, end, y, pen, ELLIPSIS);
			for (int i = end + 1; i < x + max; i++)
				canvas_put(c, i, y, pen, ' ');
			return max;
		}
		last = x + used;
		canvas_put(c, last, y, pen, ch);
		used += w;
	}
	return used;
}

int canvas_text(struct canvas *c, int x, int y, int max, struct pen pen, const char *text)
{
	return canvas_text_from(c, x, y, max, 0, pen, text);
}

void canvas_look(struct canvas *c, struct rect r, enum look look)
{
	for (int y = r.y; y < r.y + r.h; y++)
		for (int x = r.x; x < r.x + r.w; x++) {
			struct canvas_cell *cell = at(c, x, y);

			if (cell)
				cell->pen.look = (uint8_t)look;
		}
}

void canvas_paint(struct canvas *c, struct rect r, uint8_t mods)
{
	for (int y = r.y; y < r.y + r.h; y++)
		for (int x = r.x; x < r.x + r.w; x++) {
			struct canvas_cell *cell = at(c, x, y);

			if (cell)
				cell->pen.mods |= mods;
		}
}

void canvas_bar(struct canvas *c, int x, int y, int w, double part, struct pen pen)
{
	int eighths;

	if (!(part > 0))
		return;
	eighths = (int)((part < 1 ? part : 1) * w * 8 + 0.5);
	for (int i = 0; i < w && eighths > 0; i++, eighths -= 8)
		canvas_put(c, x + i, y, pen, eighths >= 8 ? 0x2588u : 0x2590u - (uint32_t)eighths);
}

void canvas_spark(struct canvas *c, int x, int y, int w, const float *values, int n, struct pen pen)
{
	int first = n > w ? n - w : 0, at_x = x + (n < w ? w - n : 0);

	for (int i = first; i < n; i++, at_x++) {
		int level;

		if (!(values[i] >= 0))
			continue;
		level = (int)(values[i] * 8);
		canvas_put(c, at_x, y, pen,
			   0x2581u + (uint32_t)(level < 0   ? 0
						: level > 7 ? 7
							    : level));
	}
}

void canvas_box(struct canvas *c, struct rect r, const char *title)
{
	struct pen frame = {LOOK_FRAME, PEN_BOX};
	int right = r.x + r.w - 1, bottom = r.y + r.h - 1;

	canvas_fill(c, r, (struct pen){LOOK_NORMAL, PEN_BOX}, ' ');
	for (int x = r.x + 1; x < right; x++) {
		canvas_put(c, x, r.y, frame, 0x2500);
		canvas_put(c, x, bottom, frame, 0x2500);
	}
	for (int y = r.y + 1; y < bottom; y++) {
		canvas_put(c, r.x, y, frame, 0x2502);
		canvas_put(c, right, y, frame, 0x2502);
	}
	canvas_put(c, r.x, r.y, frame, 0x256d);
	canvas_put(c, right, r.y, frame, 0x256e);
	canvas_put(c, r.x, bottom, frame, 0x2570);
	canvas_put(c, right, bottom, frame, 0x256f);
	if (*title && r.w > 6) {
		canvas_put(c, r.x + 2, r.y, frame, ' ');
		canvas_put(c,
			   r.x + 3 +
				   canvas_text(c, r.x + 3, r.y, r.w - 6,
					       (struct pen){LOOK_STRONG, PEN_BOX}, title),
			   r.y, frame, ' ');
	}
}

void canvas_scroll(struct canvas *c, struct rect r, int first, int shown, int all)
{
	int size, start;

	if (all <= shown || r.h < 2)
		return;
	size = (int)((long long)r.h * shown / all);
	size = size < 1 ? 1 : size;
	start = (int)((long long)(r.h - size) * first / (all - shown));
	for (int i = 0; i < r.h; i++) {
		bool thumb = i >= start && i < start + size;

		canvas_put(c, r.x, r.y + i, (struct pen){LOOK_TRACK, 0}, thumb ? 0x2503 : 0x2502);
	}
}

void canvas_dump(const struct canvas *c, struct strbuf *out)
{
	for (int y = 0; y < c->h; y++) {
		int end = c->w;

		while (end > 0 && canvas_at(c, end - 1, y)->ch == ' ' &&
		       canvas_at(c, end - 1, y)->width)
			end--;
		for (int x = 0; x < end; x++) {
			const struct canvas_cell *cell = canvas_at(c, x, y);
			char bytes[4];

			if (!cell->width)
				continue;
			strbuf_add(out, bytes, (size_t)utf8_put(bytes, cell->ch));
			for (int i = 0; i < CELL_MARKS && cell->mark[i]; i++)
				strbuf_add(out, bytes, (size_t)utf8_put(bytes, cell->mark[i]));
		}
		strbuf_putc(out, '\n');
	}
}

void canvas_dump_looks(const struct canvas *c, struct strbuf *out)
{
	static const char letters[LOOKS] = {
		[LOOK_NORMAL] = '.', [LOOK_DIM] = 'd',    [LOOK_STRONG] = 's',  [LOOK_BRAND] = 'p',
		[LOOK_LABEL] = 'l',  [LOOK_VALUE] = 'v',  [LOOK_GOOD] = 'g',    [LOOK_FAIR] = 'f',
		[LOOK_BAD] = 'b',    [LOOK_WARN] = 'w',   [LOOK_ERROR] = 'e',   [LOOK_BAR] = 'B',
		[LOOK_SPARK] = 'S',  [LOOK_TRACK] = 't',  [LOOK_MODULE] = 'm',  [LOOK_KERNEL] = 'k',
		[LOOK_INLINE] = 'i', [LOOK_NOTE] = 'n',   [LOOK_SPECIAL] = 'x', [LOOK_LINE] = '#',
		[LOOK_CODE] = 'c',   [LOOK_ASM] = 'a',    [LOOK_LINK] = 'L',    [LOOK_MARK] = '+',
		[LOOK_HEAD] = 'h',   [LOOK_SORTED] = 'H', [LOOK_TAB] = 'o',     [LOOK_TAB_ON] = 'O',
		[LOOK_KEY] = 'K',    [LOOK_DOES] = 'D',   [LOOK_STATE] = 'W',   [LOOK_FRAME] = '|',
		[LOOK_INPUT] = 'I',
	};

	for (int y = 0; y < c->h; y++) {
		for (int x = 0; x < c->w; x++) {
			const struct canvas_cell *cell = canvas_at(c, x, y);

			if (cell->pen.mods & PEN_CURSOR)
				strbuf_putc(out, '>');
			else if (cell->ch == ' ')
				strbuf_putc(out, ' ');
			else
				strbuf_putc(out, letters[cell->pen.look]);
		}
		while (out->len && out->buf[out->len - 1] == ' ')
			out->buf[--out->len] = '\0';
		strbuf_putc(out, '\n');
	}
}
