/*
 * chunk: the appending side. Blocks come from calloc: big ones are untouched pages until used.
 *
 * Runs on whatever thread appends, under its owner's mutex.
 */
#include "base/chunk.h"

#include <stdlib.h>

void chunk_init(struct chunk *c, size_t item_bytes, uint32_t cap)
{
	const uint32_t most = UINT32_MAX - 2 * CHUNK_FIRST;
	*c = (struct chunk){.item = item_bytes, .cap = cap < most ? cap : most};
}

void chunk_fini(struct chunk *c)
{
	for (unsigned i = 0; i < CHUNK_BLOCKS; i++)
		free(atomic_load_explicit(&c->blocks[i], memory_order_relaxed));
	chunk_init(c, c->item, c->cap);
}

void *chunk_next(struct chunk *c)
{
	uint32_t i = atomic_load_explicit(&c->len, memory_order_relaxed);
	if (i >= c->cap)
		return NULL;
	unsigned high = 31 - (unsigned)__builtin_clz(i + CHUNK_FIRST);
	unsigned block = high - CHUNK_FIRST_BITS;
	if (!atomic_load_explicit(&c->blocks[block], memory_order_relaxed)) {
		unsigned char *fresh = calloc((size_t)1 << high, c->item);
		if (!fresh)
			return NULL;
		c->bytes += ((size_t)1 << high) * c->item;
		atomic_store_explicit(&c->blocks[block], fresh, memory_order_release);
	}
	return chunk_at(c, i);
}

uint32_t chunk_publish(struct chunk *c)
{
	uint32_t i = atomic_load_explicit(&c->len, memory_order_relaxed);
	atomic_store_explicit(&c->len, i + 1, memory_order_release);
	return i;
}
