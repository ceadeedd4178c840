/*
 * paragraph: wraps text for screens of sentences (help, the doctor, whole names). Ui thread.
 */
#include "paragraph.h"

#include <string.h>

#include "view/utf8.h"

#define LINE_BYTES 1024

/* How many bytes of @line fit @w cells; between words where @words, never none. */
static size_t fit_bytes(const char *line, size_t len, int w, bool words)
{
	const char *s = line, *end = line + len, *fits = line, *space = NULL;
	int cells = 0;

	while (s < end) {
		const char *at = s;

		cells += utf8_width(utf8_next(&s));
		if (s > end && len < LINE_BYTES)
			fits = end; /* what was left draws nothing */
		if (cells > w || s > end || (size_t)(s - line) >= LINE_BYTES)
			break;
		if (*at == ' ')
			space = s;
		fits = s;
	}
	if (fits < end && words && space)
		fits = space;
	return fits > line ? (size_t)(fits - line) : len ? 1 : 0;
}

int paragraph_draw(struct canvas *c, const char *text, size_t len, struct rect r, int y,
		   struct pen pen, int indent)
{
	char line[LINE_BYTES + 4];
	int lines = 0, in = 0;

	do {
		size_t n = fit_bytes(text, len, r.w - in, indent >= 0);

		if (c && y + lines >= r.y && y + lines < r.y + r.h) {
			memcpy(line, text, n);
			line[n] = '\0';
			canvas_text(c, r.x + in, y + lines, r.w - in, pen, line);
		}
		lines++;
		text += n;
		len -= n;
		in = indent > 0 && indent < r.w * 2 / 3 ? indent : 0;
	} while (len);
	return lines;
}

int paragraph_lines(const char *text, size_t len, int w, int indent)
{
	return paragraph_draw(NULL, text, len, (struct rect){0, 0, w, 0}, 0, (struct pen){0, 0},
			      indent);
}

int paragraph_hang(const char *text, int w)
{
	int cells = 0, blanks = 0, hang = 0;
	uint32_t ch;

	while (cells < w && (ch = utf8_next(&text))) {
		if (ch != ' ' && blanks >= 2)
			hang = cells;
		blanks = ch == ' ' ? blanks + 1 : 0;
		cells += utf8_width(ch);
	}
	return hang;
}
