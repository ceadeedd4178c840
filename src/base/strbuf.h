/* strbuf: a growing text. buf is always NUL-terminated; a failed allocation sets `failed` and keeps
 * what is there. */
#ifndef ALTPTTOP_STRBUF_H
#define ALTPTTOP_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
	char *buf;
	size_t len, cap;
	bool failed;
};

void strbuf_init(struct strbuf *b);
void strbuf_fini(struct strbuf *b);
void strbuf_reset(struct strbuf *b);
void strbuf_add(struct strbuf *b, const void *data, size_t len);
void strbuf_puts(struct strbuf *b, const char *s);
void strbuf_putc(struct strbuf *b, char c);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *strbuf_take(
	struct strbuf *b); /* the text, to be freed by the caller; the buffer is empty afterwards */

#endif
