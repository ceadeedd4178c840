/*
 * escape: the quoting rules of the text formats, in one place.
 *
 * Symbol and thread names are hostile: any byte but NUL may be in them. Any thread.
 */
#include "export/escape.h"

#include <string.h>

static void add_hex(struct strbuf *b, const char *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		strbuf_printf(b, "\\x%02x", (unsigned char)p[i]);
}

/* Copy the character at *p, or say its bytes in hexadecimal; move on. */
static void add_char(struct strbuf *b, const char **p)
{
	unsigned n = utf8_length(*p);

	if (!n || plain_control(*p, n))
		add_hex(b, *p, n ? n : 1);
	else
		strbuf_add(b, *p, n);
	*p += n ? n : 1;
}

/* Printable ASCII but ';', '"' and '\\', which no format here quotes: nearly all of any name. */
static size_t ordinary(const char *text)
{
	const char *p = text;

	while (*p >= ' ' && *p < 0x7f && *p != ';' && *p != '"' && *p != '\\')
		p++;
	return (size_t)(p - text);
}

/* Copy what is ordinary at *p; move on to what is not. Is there more? */
static bool copy_ordinary(struct strbuf *b, const char **p)
{
	size_t n = ordinary(*p);

	strbuf_add(b, *p, n);
	*p += n;
	return **p;
}

void escape_plain(struct strbuf *b, const char *text)
{
	while (copy_ordinary(b, &text))
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
	while (copy_ordinary(b, &text)) {
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
	while (copy_ordinary(b, &text)) {
		unsigned n = utf8_length(text);
		if (n == 1 && (*text == '"' || *text == '\\'))
			strbuf_printf(b, "\\%c", *text);
		else if (n && plain_control(text, n))
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
	while (copy_ordinary(b, &text)) {
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
