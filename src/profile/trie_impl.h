/*
 * trie_impl: how a trie finds a child, shared by the files that walk it. Engine thread.
 */
#ifndef ALTPTTOP_TRIE_IMPL_H
#define ALTPTTOP_TRIE_IMPL_H

#include "base/hash.h"
#include "profile/trie.h"

static inline bool trie_is_child(const struct trie *t, node_id id, node_id parent, frame_id frame)
{
	const struct trie_node *n = trie_at(t, id);
	return n->frame == frame && n->parent == parent;
}

static inline uint64_t trie_hash(node_id parent, frame_id frame)
{
	/* Fibonacci hashing (Knuth): both are small numbers, and a path waits for one after
	 * another. */
	uint64_t product = ((uint64_t)parent << 32 | frame) * 0x9e3779b97f4a7c15ull;
	return product ^ product >> 32;
}

/* What a slot has beside its id, which is below the number of slots. */
static inline uint32_t trie_tag(const struct trie *t, uint64_t hash)
{
	return (uint32_t)(hash >> 32) & ~t->mask;
}

/* Where hits are counted that missed a child of this hash; NULL: nowhere. */
static inline uint32_t *trie_missed(const struct trie *t, uint64_t hash)
{
	return t->missed ? &t->missed[hash >> 40 & t->missed_mask] : NULL;
}

/*
 * Where looking for a child begins, to be prefetched; and the node that the slot there tells of, 0
 * none. A compiler takes functions that do nothing but prefetch for nothing at all.
 */
static inline const uint32_t *trie_slot(const struct trie *t, node_id parent, frame_id frame)
{
	return &t->slots[(uint32_t)trie_hash(parent, frame) & t->mask];
}
static inline node_id trie_slot_node(const struct trie *t, node_id parent, frame_id frame)
{
	return *trie_slot(t, parent, frame) & t->mask;
}

#endif
