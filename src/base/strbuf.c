/*
 * strbuf: text that grows by doubling. An empty buffer points at a static "", so that buf can
 * always be printed; an allocation that fails leaves the text as it was and is remembered in
 * `failed`.
 */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char empty[1];

void strbuf_init(struct strbuf *b)
{
	*b = (struct strbuf){.buf = empty};
}

void strbuf_fini(struct strbuf *b)
{
	if (b->buf != empty)
		free(b->buf);
	strbuf_init(b);
}

void strbuf_reset(struct strbuf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->buf != empty)
		b->buf[0] = 0;
}

/* Room for @more bytes and the NUL. */
static bool ensure(struct strbuf *b, size_t more)
{
	if (b->failed || more > SIZE_MAX / 2 - b->len)
		return !(b->failed = true);
	size_t need = b->len + more + 1;
	if (need <= b->cap)
		return true;
	size_t cap = b->cap < 64 ? 64 : b->cap * 2;
	if (cap < need)
		cap = need;
	char *p = realloc(b->buf == empty ? NULL : b->buf, cap);
	if (!p)
		return !(b->failed = true);
	b->buf = p;
	b->cap = cap;
	return true;
}

void strbuf_add(struct strbuf *b, const void *data, size_t len)
{
	if (!len || !ensure(b, len))
		return;
	memcpy(b->buf + b->len, data, len);
	b->len += len;
	b->buf[b->len] = 0;
}

void strbuf_puts(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s));
}

void strbuf_putc(struct strbuf *b, char c)
{
	strbuf_add(b, &c, 1);
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;
	size_t room = b->failed ? 0 : b->cap - b->len; /* most often it fits */
	va_start(ap, fmt);
	int n = vsnprintf(room ? b->buf + b->len : NULL, room, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
		return;
	}
	if ((size_t)n >= room) {
		if (room)
			b->buf[b->len] = 0;
		if (!n || !ensure(b, (size_t)n))
			return;
		va_start(ap, fmt);
		vsnprintf(b->buf + b->len, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	b->len += (size_t)n;
}

char *strbuf_take(struct strbuf *b)
{
	char *text = b->buf == empty ? strdup("") : b->buf;
	strbuf_init(b);
	return text;
}
