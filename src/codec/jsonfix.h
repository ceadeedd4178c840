/*
 * jsonfix: makes lenient JSON strict, as a stream filter: what some tracers write and yajl refuses.
 *
 * Drops a comma before ] or }, turns control characters inside strings into blanks, doubles a
 * backslash that escapes nothing, writes null for NaN and Infinity. Everything else passes
 * unchanged. Plain state, any thread.
 */
#ifndef ALTPTTOP_JSONFIX_H
#define ALTPTTOP_JSONFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsonfix {
	bool in_string, escape, comma, in_word;
	bool minus; /* held back: it may lead -Infinity */
};

/* Room that @n bytes may need. */
#define JSONFIX_ROOM(n) (4 * (n) + 8)

/* Filter @n bytes into @out; returns how many bytes were made. */
size_t jsonfix_run(struct jsonfix *f, const uint8_t *in, size_t n, uint8_t *out);

#endif
