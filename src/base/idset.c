/*
 * idset: the adding side. Linear probing at a load of at most 1/2, positions from the tag, so that
 * a table can be rebuilt from its slots alone.
 */
#include "base/idset.h"

#include <errno.h>
#include <stdlib.h>

#define IDSET_MIN 1024

void idset_init(struct idset *s)
{
	*s = (struct idset){.count = 0};
}

void idset_fini(struct idset *s)
{
	struct idset_table *t = atomic_load_explicit(&s->table, memory_order_relaxed);
	while (t) {
		struct idset_table *older = t->older;
		free(t);
		t = older;
	}
	idset_init(s);
}

static void place(struct idset_table *t, uint64_t slot)
{
	uint64_t i = slot >> 32;
	while (atomic_load_explicit(&t->slots[i & t->mask], memory_order_relaxed))
		i++;
	atomic_store_explicit(&t->slots[i & t->mask], slot, memory_order_release);
}

static struct idset_table *grow(struct idset *s, struct idset_table *old)
{
	size_t slots = old ? (old->mask + 1) * 2 : IDSET_MIN;
	size_t bytes = sizeof(struct idset_table) + slots * sizeof(uint64_t);
	struct idset_table *t = calloc(1, bytes);
	if (!t)
		return NULL;
	t->mask = slots - 1;
	t->older = old;
	for (uint64_t i = 0; old && i <= old->mask; i++) {
		uint64_t slot = atomic_load_explicit(&old->slots[i], memory_order_relaxed);
		if (slot)
			place(t, slot);
	}
	s->bytes += bytes;
	atomic_store_explicit(&s->table, t, memory_order_release);
	return t;
}

int idset_add(struct idset *s, uint64_t hash, uint32_t id)
{
	struct idset_table *t = atomic_load_explicit(&s->table, memory_order_relaxed);
	if (!t || ((uint64_t)s->count + 1) * 2 > t->mask) {
		t = grow(s, t);
		if (!t)
			return -ENOMEM;
	}
	place(t, hash << 32 | id);
	s->count++;
	return 0;
}
