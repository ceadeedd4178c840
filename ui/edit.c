/*
 * edit: line editing for prompts and menu filters: the keys that shells have taught everybody. Ui
 * thread only, no state of its own.
 */
#include "edit.h"

#include <stdio.h>
#include <string.h>

#include "keys.h"
#include "view/utf8.h"

#define CTRL(letter) ((uint32_t)(letter)&0x1f)

void edit_set(struct edit *e, const char *text)
{
	snprintf(e->text, sizeof e->text, "%s", text);
	e->len = strlen(e->text);
	while (e->len && e->len == sizeof e->text - 1 &&
	       ((unsigned char)e->text[e->len - 1] & 0x80))
		e->text[--e->len] = '\0'; /* a character cut in half */
	e->at = e->len;
	e->most = sizeof e->text - 1;
}

static void cut(struct edit *e, size_t from, size_t to)
{
	memmove(e->text + from, e->text + to, e->len - to + 1);
	e->len -= to - from;
	e->at = from;
}

static void insert(struct edit *e, uint32_t ch)
{
	char bytes[4];
	size_t n = (size_t)utf8_put(bytes, ch);

	if (e->len + n > e->most)
		return;
	memmove(e->text + e->at + n, e->text + e->at, e->len - e->at + 1);
	memcpy(e->text + e->at, bytes, n);
	e->len += n;
	e->at += n;
}

static size_t word_start(const struct edit *e)
{
	size_t at = e->at;

	while (at && e->text[at - 1] == ' ')
		at--;
	while (at && e->text[at - 1] != ' ' && e->text[at - 1] != '/')
		at--;
	return at == e->at && at ? at - 1 : at;
}

enum edit_result edit_key(struct edit *e, uint32_t key)
{
	size_t len = e->len, at = e->at;

	switch (key) {
	case K_ENTER: return EDIT_ACCEPTED;
	case K_ESC:
	case CTRL('C'):
	case CTRL('G'): return EDIT_CANCELLED;
	case K_LEFT:
	case CTRL('B'): e->at -= utf8_back(e->text, at); break;
	case K_RIGHT:
	case CTRL('F'): e->at += utf8_forward(e->text, at); break;
	case K_HOME:
	case CTRL('A'): e->at = 0; break;
	case K_END:
	case CTRL('E'): e->at = e->len; break;
	case K_BACKSPACE: cut(e, at - utf8_back(e->text, at), at); break;
	case K_DELETE:
	case CTRL('D'): cut(e, at, at + utf8_forward(e->text, at)); break;
	case CTRL('U'): cut(e, 0, at); break;
	case CTRL('K'): cut(e, at, len); break;
	case CTRL('W'): cut(e, word_start(e), at); break;
	default:
		if (key >= 0x20 && key < K_BACK_TAB && key != 0x7f)
			insert(e, key);
	}
	return e->len != len ? EDIT_CHANGED : EDIT_NOTHING;
}

void edit_draw(const struct edit *e, struct canvas *c, int x, int y, int w, uint8_t mods)
{
	struct pen pen = {LOOK_INPUT, mods};
	const char *s = e->text;
	int column = 0, caret = 0, skip;

	while (*s && (size_t)(s - e->text) < e->at) {
		uint32_t ch = utf8_next(&s);

		column += ch ? utf8_width(ch) : 0;
	}
	skip = column >= w ? column - w + 1 : 0;
	caret = column - skip;
	canvas_fill(c, (struct rect){x, y, w, 1}, pen, ' ');
	canvas_text_from(c, x, y, w, skip, pen, e->text);
	if (w > 0)
		canvas_paint(c, (struct rect){x + caret, y, 1, 1}, PEN_CARET);
}
