/*
 * rowcache: a bounded hash from (address, owner) to what one frame there means: its frame id and
 * row.
 *
 * Two ways a set, a set a cache line, the older way replaced. The owner is a generation of a
 * target's maps (run-time addresses) or a module (addresses in the file). Never allocates after
 * cache_init.
 */
#ifndef ALTPTTOP_ROWCACHE_H
#define ALTPTTOP_ROWCACHE_H

#include "base/hash.h"
#include "unwind/row.h"

struct cache_entry {
	uint64_t key;   /* never 0 in an entry that holds something */
	uint32_t owner; /* low bits of it: the hash takes all */
	frame_id frame;
	struct row row;
};

struct cache {
	struct cache_entry *entries;
	size_t sets; /* a power of two */
};

int cache_init(struct cache *c, unsigned log2_sets);
void cache_fini(struct cache *c);
void cache_clear(struct cache *c);

static inline struct cache_entry *cache_set(const struct cache *c, uint64_t key, uint64_t owner)
{
	uint64_t h = (key ^ owner * 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL;
	return &c->entries[(h >> 32 & (c->sets - 1)) * 2];
}

/* Good until the next cache_put. NULL: not there. */
static inline const struct cache_entry *cache_get(const struct cache *c, uint64_t key,
						  uint64_t owner)
{
	const struct cache_entry *e = cache_set(c, key, owner);
	if (e->key == key && e->owner == (uint32_t)owner)
		return e;
	if (e[1].key == key && e[1].owner == (uint32_t)owner)
		return e + 1;
	return NULL;
}

static inline const struct cache_entry *cache_put(struct cache *c, uint64_t key, uint64_t owner,
						  frame_id frame, const struct row *row)
{
	struct cache_entry *e = cache_set(c, key, owner);
	if (e->key)
		e[1] = e[0];
	*e = (struct cache_entry){key, (uint32_t)owner, frame, *row};
	return e;
}

#endif
