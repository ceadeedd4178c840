/*
 * chunk: an append-only array whose entries never move, read without a lock while it grows.
 *
 * Block k holds CHUNK_FIRST << k entries, so an index finds its block by its highest bit. One
 * thread appends at a time (the caller's mutex); the length is published with release after the
 * entry is written, readers load it with acquire.
 */
#ifndef ALTPTTOP_CHUNK_H
#define ALTPTTOP_CHUNK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNK_FIRST_BITS 8
#define CHUNK_FIRST      (1u << CHUNK_FIRST_BITS)
#define CHUNK_BLOCKS     (32 - CHUNK_FIRST_BITS)

struct chunk {
	_Atomic(unsigned char *) blocks[CHUNK_BLOCKS];
	_Atomic uint32_t len;
	uint32_t cap; /* entries; an append beyond it is refused */
	size_t item;
	size_t bytes; /* appender's view of the memory held */
};

void chunk_init(struct chunk *c, size_t item_bytes, uint32_t cap);
void chunk_fini(struct chunk *c);

/* Appender: the next entry, zeroed, to be filled and then published. NULL: no memory or the cap. */
void *chunk_next(struct chunk *c);
uint32_t chunk_publish(struct chunk *c); /* returns its index */

static inline uint32_t chunk_len(const struct chunk *c)
{
	return atomic_load_explicit(&c->len, memory_order_acquire);
}

/* Any thread: entry @i, which must be below a chunk_len() or published in some other way. */
static inline void *chunk_at(const struct chunk *c, uint32_t i)
{
	uint64_t biased = (uint64_t)i + CHUNK_FIRST;
	unsigned high = 63 - (unsigned)__builtin_clzll(biased);
	unsigned char *block = atomic_load_explicit(&c->blocks[high - CHUNK_FIRST_BITS],
						    memory_order_acquire);
	return block + (size_t)(biased - (1ull << high)) * c->item;
}

/* Any thread: entry @i or NULL when there is none. */
static inline void *chunk_get(const struct chunk *c, uint32_t i)
{
	return i < chunk_len(c) ? chunk_at(c, i) : NULL;
}

#endif
