/* perf_cursor: bounds-checked reading of one perf record; shared by the perf_*.c of this room only.
 */
#ifndef ALTPTTOP_PERF_CURSOR_H
#define ALTPTTOP_PERF_CURSOR_H

#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "codec/perf_record.h"

/*
 * What is left of a record. A read beyond the end yields 0 and marks the cursor bad; every caller
 * looks at `bad` once, at the end, before anything that was read is believed.
 */
struct cursor {
	uint8_t *at, *end;
	bool swap, bad;
};

static inline void *cursor_take(struct cursor *c, uint64_t bytes)
{
	uint8_t *p = c->at;

	if (c->bad || bytes > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		return NULL;
	}
	c->at += bytes;
	return p;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	uint64_t v = 0;
	const void *p = cursor_take(c, sizeof v);

	if (p)
		memcpy(&v, p, sizeof v);
	return c->swap ? bswap_64(v) : v;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	uint32_t v = 0;
	const void *p = cursor_take(c, sizeof v);

	if (p)
		memcpy(&v, p, sizeof v);
	return c->swap ? bswap_32(v) : v;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	uint16_t v = 0;
	const void *p = cursor_take(c, sizeof v);

	if (p)
		memcpy(&v, p, sizeof v);
	return c->swap ? bswap_16(v) : v;
}

/* @n 64-bit words in host order, where they lie; NULL when they do not fit or are misaligned. */
static inline const uint64_t *cursor_words(struct cursor *c, uint64_t n)
{
	uint64_t *w;

	if (c->bad || n > (uint64_t)(c->end - c->at) / sizeof *w || ((uintptr_t)c->at & 7)) {
		c->bad = true;
		return NULL;
	}
	w = (uint64_t *)(void *)c->at;
	c->at += n * sizeof *w;
	if (c->swap)
		for (uint64_t i = 0; i < n; i++)
			w[i] = bswap_64(w[i]);
	return w;
}

/* Over the record's payload: its size was checked by record_header_parse. */
struct cursor record_cursor(const void *record, bool swap);
/* A struct read_format. */
void cursor_read(struct cursor *c, uint64_t format, struct record_read *r);
/* Read the trailing sample_id and cut it off @c. */
void cursor_trailer(struct cursor *c, const struct record_layout *l, struct record_ident *who);

#endif
