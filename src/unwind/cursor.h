/*
 * cursor: reading DWARF bytes without ever leaving them.
 *
 * Past the end every read gives 0 and sets `bad`, so that a parser checks once, at its end. Inline:
 * row making spends its time here.
 */
#ifndef ALTPTTOP_CURSOR_H
#define ALTPTTOP_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline struct cursor cursor_make(const uint8_t *bytes, size_t size)
{
	return (struct cursor){bytes, bytes + size, false};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline void cursor_skip(struct cursor *c, uint64_t bytes)
{
	if (bytes > cursor_left(c)) {
		c->bad = true;
		c->at = c->end;
		return;
	}
	c->at += bytes;
}

/* Little-endian, 1 to 8 bytes. */
static inline uint64_t cursor_uint(struct cursor *c, unsigned bytes)
{
	uint64_t v = 0;
	if (bytes > cursor_left(c)) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	memcpy(&v, c->at, bytes);
	c->at += bytes;
	return v;
}

static inline int64_t cursor_int(struct cursor *c, unsigned bytes)
{
	unsigned shift = 64 - 8 * bytes;
	return (int64_t)(cursor_uint(c, bytes) << shift) >> shift;
}

static inline uint8_t cursor_byte(struct cursor *c)
{
	return (uint8_t)cursor_uint(c, 1);
}

/* Seven bits a byte, the lowest first. *ret_bits: how many they were. */
static inline uint64_t cursor_leb(struct cursor *c, uint8_t *ret_last, unsigned *ret_bits)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;
	do {
		b = cursor_byte(c);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
		c->bad |= shift > 77; /* padded, or made to be long */
	} while (b & 0x80 && !c->bad);
	*ret_last = b;
	*ret_bits = shift;
	return v;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	unsigned bits;
	uint8_t last;
	return cursor_leb(c, &last, &bits);
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	unsigned bits;
	uint8_t last;
	uint64_t v = cursor_leb(c, &last, &bits);
	if (bits < 64 && last & 0x40)
		v |= ~(uint64_t)0 << bits;
	return (int64_t)v;
}

#endif
