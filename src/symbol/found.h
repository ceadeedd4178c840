/*
 * found: what a look-up says of one address, in memory of its own.
 *
 * Look-ups read mapped files inside guards, where no lock may be taken; so they copy their words
 * here, and naming.c brings them into the shared tables afterwards.
 */
#ifndef ALTPTTOP_FOUND_H
#define ALTPTTOP_FOUND_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/strbuf.h"

#define FOUND_MAX 128 /* inlined frames at one address; what is deeper is left out */

struct found_line {
	uint64_t start, size; /* of the function; start 0: known only as an inlined callee */
	uint32_t raw;         /* offsets in text; 0: none */
	uint32_t file;
	uint32_t line, column;
	uint32_t decl_file, decl_line;
	bool no_symbol; /* start is an FDE's start or the address itself; raw is to be made up */
};

struct found {
	struct strbuf text; /* NUL-separated; begins with an empty text */
	struct found_line lines[FOUND_MAX];
	uint32_t n; /* innermost first */
};

static inline void found_init(struct found *f)
{
	strbuf_init(&f->text);
	f->n = 0;
}

static inline void found_fini(struct found *f)
{
	strbuf_fini(&f->text);
}

static inline void found_reset(struct found *f)
{
	strbuf_reset(&f->text);
	strbuf_putc(&f->text, '\0');
	f->n = 0;
}

/* Keep a text, at most @max bytes of it; its offset. */
static inline uint32_t found_text(struct found *f, const char *s, size_t max)
{
	size_t at = f->text.len, len = strnlen(s, max);

	if (!len)
		return 0;
	strbuf_add(&f->text, s, len);
	strbuf_putc(&f->text, '\0');
	return f->text.failed ? 0 : (uint32_t)at;
}

static inline const char *found_str(const struct found *f, uint32_t at)
{
	return at < f->text.len ? f->text.buf + at : "";
}

#endif
