/*
 * idset: a hash index from a 64-bit hash to ids of append-only entries, read without a lock.
 *
 * It stores no keys: a look-up walks the ids whose 32-bit tag matches, and the caller compares the
 * entries themselves. One thread adds at a time (the caller's mutex). A table that grows is
 * replaced; the old one stays readable until idset_fini, which at most doubles the memory.
 *
 *	struct idset_walk w = idset_walk(s, hash);
 *	while ((id = idset_next(&w)))
 *		if (same(entry(id), key))
 *			return id;
 *
 * A reader that races with an add may miss the new id; it then takes the mutex and looks again.
 */
#ifndef ALTPTTOP_IDSET_H
#define ALTPTTOP_IDSET_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct idset_table {
	struct idset_table *older;
	uint64_t mask;
	_Atomic uint64_t slots[]; /* tag << 32 | id, 0 empty */
};

struct idset {
	_Atomic(struct idset_table *) table;
	uint32_t count; /* appender's */
	size_t bytes;   /* appender's view of the memory held, old tables included */
};

struct idset_walk {
	const struct idset_table *table;
	uint64_t at, tag;
};

void idset_init(struct idset *s);
void idset_fini(struct idset *s);
int idset_add(struct idset *s, uint64_t hash, uint32_t id); /* appender; id not 0; -ENOMEM */

static inline struct idset_walk idset_walk(const struct idset *s, uint64_t hash)
{
	const struct idset_table *t = atomic_load_explicit(&s->table, memory_order_acquire);
	return (struct idset_walk){.table = t, .at = hash & UINT32_MAX, .tag = hash & UINT32_MAX};
}

/* The next id whose tag matches, 0 when there is none. */
static inline uint32_t idset_next(struct idset_walk *w)
{
	if (!w->table)
		return 0;
	for (;;) {
		uint64_t slot = atomic_load_explicit(&w->table->slots[w->at & w->table->mask],
						     memory_order_acquire);
		w->at++;
		if (!slot)
			return 0;
		if (slot >> 32 == w->tag)
			return (uint32_t)slot;
	}
}

#endif
