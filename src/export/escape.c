/*
 * escape: the quoting rules of the text formats, in one place.
 *
 * Symbol and thread names are hostile: any byte but NUL may be in them. Any thread.
 */
#include "export/escape.h"

#include <string.h>

unsigned utf8_length(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;
	unsigned low = 0x80, high = 0xbf, more;

	if (u[0] < 0x80)
		return u[0] != 0;
	if (u[0] >= 0xc2 && u[0] <= 0xdf)
		more = 1;
	else if (u[0] >= 0xe0 && u[0] <= 0xef)
		more = 2;
	else if (u[0] >= 0xf0 && u[0] <= 0xf4)
		more = 3;
	else
		return 0;
	if (u[0] == 0xe0)
		low = 0xa0;
	else if (u[0] == 0xed)
		high = 0x9f;
	else if (u[0] == 0xf0)
		low = 0x90;
	else if (u[0] == 0xf4)
		high = 0x8f;
	if (u[1] < low || u[1] > high)
		return 0;
	for (unsigned i = 2; i <= more; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	return more + 1;
}

/* U+0080 … U+009F: control characters that terminals obey. */
static bool is_c1(const char *p, unsigned n)
{
	return n == 2 && (unsigned char)p[0] == 0xc2 && (unsigned char)p[1] < 0xa0;
}

static bool is_control(const char *p, unsigned n)
{
	return (n == 1 && ((unsigned char)*p < 0x20 || *p == 0x7f)) || is_c1(p, n);
}

static void add_hex(struct strbuf *b, const char *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		strbuf_printf(b, "\\x%02x", (unsigned char)p[i]);
}

/* Copy the character at *p, or say its bytes in hexadecimal; move on. */
static void add_char(struct strbuf *b, const char **p)
{
	unsigned n = utf8_length(*p);

	if (!n || is_control(*p, n))
		add_hex(b, *p, n ? n : 1);
	else
		strbuf_add(b, *p, n);
	*p += n ? n : 1;
}

void escape_plain(struct strbuf *b, const char *text)
{
	while (*text)
		add_char(b, &text);
}

/* Bytes of @n characters from @p on, which escape_plain made: valid UTF-8. */
static size_t characters(const char *p, size_t n)
{
	const char *at = p;

	for (; n && *at; n--)
		at += utf8_length(at);
	return (size_t)(at - p);
}

void escape_name(struct strbuf *b, const char *text)
{
	enum { HEAD = ESCAPE_NAME_MAX * 2 / 3 };
	size_t from = b->len, count = 0;

	escape_plain(b, text);
	if (b->failed || b->len - from <= ESCAPE_NAME_MAX)
		return;
	for (const char *p = b->buf + from; *p; p += utf8_length(p))
		count++;
	if (count <= ESCAPE_NAME_MAX)
		return;
	size_t head = characters(b->buf + from, HEAD),
	       tail = characters(b->buf + from, count - (ESCAPE_NAME_MAX - HEAD - 1));
	size_t left = b->len - from - tail;
	memmove(b->buf + from + head + 3, b->buf + from + tail, left + 1);
	memcpy(b->buf + from + head, "\xe2\x80\xa6", 3);
	b->len = from + head + 3 + left;
}

void escape_folded(struct strbuf *b, const char *text)
{
	if (*text == '#') { /* would start a comment at a line's beginning */
		add_hex(b, text++, 1);
	}
	while (*text) {
		if (*text == ';') {
			strbuf_putc(b, ':');
			text++;
		} else {
			add_char(b, &text);
		}
	}
}

void escape_json(struct strbuf *b, const char *text)
{
	strbuf_putc(b, '"');
	while (*text) {
		unsigned n = utf8_length(text);
		if (n == 1 && (*text == '"' || *text == '\\'))
			strbuf_printf(b, "\\%c", *text);
		else if (n && is_control(text, n))
			strbuf_printf(b, "\\u%04x",
				      n == 1 ? (unsigned)*text : (unsigned char)text[1]);
		else if (n)
			strbuf_add(b, text, n);
		else
			strbuf_printf(b, "\\\\x%02x", (unsigned char)*text);
		text += n ? n : 1;
	}
	strbuf_putc(b, '"');
}

void escape_csv(struct strbuf *b, const char *text)
{
	bool quote = strpbrk(text, ",\"\r\n") || *text == ' ';

	if (quote)
		strbuf_putc(b, '"');
	while (*text) {
		if (*text == '"') {
			strbuf_puts(b, "\"\"");
			text++;
		} else {
			add_char(b, &text);
		}
	}
	if (quote)
		strbuf_putc(b, '"');
}
