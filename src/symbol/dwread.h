/*
 * dwread: a cursor over DWARF bytes that never leaves them. Little-endian files only.
 *
 * Reading beyond the end yields zeros and sets `bad`; callers look at it once per step.
 */
#ifndef ALTPTTOP_DWREAD_H
#define ALTPTTOP_DWREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dw_cur {
	const uint8_t *p, *end;
	bool bad;
};

static inline struct dw_cur dw_cur(const uint8_t *bytes, size_t size, uint64_t from, uint64_t to)
{
	if (to > size)
		to = size;
	if (from > to)
		return (struct dw_cur){bytes, bytes, true};
	return (struct dw_cur){bytes + from, bytes + to, false};
}

static inline void dw_fail(struct dw_cur *c)
{
	c->bad = true;
	c->p = c->end;
}

static inline void dw_skip(struct dw_cur *c, uint64_t n)
{
	if (n > (uint64_t)(c->end - c->p))
		dw_fail(c);
	else
		c->p += n;
}

static inline uint8_t dw_u8(struct dw_cur *c)
{
	if (c->p == c->end) {
		c->bad = true;
		return 0;
	}
	return *c->p++;
}

/* @n bytes, 1 to 8, little-endian. */
static inline uint64_t dw_uint(struct dw_cur *c, unsigned n)
{
	uint64_t v = 0;

	if (n > (size_t)(c->end - c->p)) {
		dw_fail(c);
		return 0;
	}
	memcpy(&v, c->p, n);
	c->p += n;
	return v;
}

static inline uint64_t dw_uleb(struct dw_cur *c)
{
	uint64_t v = 0;

	if (c->p < c->end && *c->p < 0x80)
		return *c->p++;
	for (unsigned shift = 0; c->p < c->end; shift += 7) {
		uint8_t b = *c->p++;

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

static inline int64_t dw_sleb(struct dw_cur *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		if (c->p == c->end) {
			c->bad = true;
			return 0;
		}
		b = *c->p++;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if (b & 0x40 && shift < 64)
		v |= ~(uint64_t)0 << shift;
	return (int64_t)v;
}

static inline void dw_skip_leb(struct dw_cur *c)
{
	while (c->p < c->end)
		if (!(*c->p++ & 0x80))
			return;
	c->bad = true;
}

/* A NUL-terminated text inside, "" when it does not end. */
static inline const char *dw_text(struct dw_cur *c)
{
	const char *s = (const char *)c->p;
	const uint8_t *nul = c->p < c->end ? memchr(c->p, '\0', (size_t)(c->end - c->p)) : NULL;

	if (!nul) {
		dw_fail(c);
		return "";
	}
	c->p = nul + 1;
	return s;
}

/* A unit length: sets @ret_wide for 64-bit DWARF. */
static inline uint64_t dw_length(struct dw_cur *c, bool *ret_wide)
{
	uint64_t v = dw_uint(c, 4);

	*ret_wide = v == 0xffffffff;
	if (*ret_wide)
		v = dw_uint(c, 8);
	else if (v >= 0xfffffff0)
		c->bad = true;
	return v;
}

#endif
