/*
 * trie: every call path ever seen, keyed by frame id from the outermost frame inwards.
 *
 * A node is (parent, frame); it never moves, and a parent's id is smaller than its children's, so a
 * pass over falling ids sums leaves into roots. Keyed by address, never by function: names that
 * come late rebuild nothing. Memory is capped; paths beyond the cap go to the node NODE_OVERFLOW.
 * Owned by the engine thread.
 */
#ifndef ALTPTTOP_TRIE_H
#define ALTPTTOP_TRIE_H

#include <stddef.h>

#include "frame.h"

typedef uint32_t node_id;
#define NODE_ROOT     0u         /* stands for all threads; has no frame */
#define NODE_OVERFLOW 1u         /* [overflow], child of the root */
#define NODE_NONE     UINT32_MAX /* no stack */

#define TRIE_CHUNK_BITS 14
#define TRIE_CHUNK      (1u << TRIE_CHUNK_BITS)
#define TRIE_DEPTH_MAX  2048 /* deeper paths lose their innermost frames */

struct trie_node {
	node_id parent;
	frame_id frame;
};

#define TRIE_AHEAD       16 /* paths that are looked for together */
#define TRIE_AHEAD_DEPTH 64 /* as far as this */

/* A path that is about to be added: up to TRIE_DEPTH_MAX frames, innermost first, at least one. */
struct trie_path {
	const frame_id *frames;
	uint32_t n;
};

/* Where it may go. */
struct trie_ahead {
	struct trie_path path;
	node_id end;    /* its node, or that of what it is shortened to; 0 not known */
	uint32_t depth; /* of it there are these nodes */
	node_id nodes[TRIE_AHEAD_DEPTH];
};

struct trie {
	struct trie_node **chunks;
	uint32_t nchunks;
	uint32_t count; /* nodes, root and overflow included */
	uint32_t *slots;
	uint32_t mask;
	size_t bytes, cap_bytes;
	bool starved;  /* it was refused memory below its cap */
	bool leafless; /* what is added are paths without their innermost frames (leaves.h) */
	bool refused;  /* the path added last had no room */
	struct trie_memo *memo; /* where whole paths seen lately end; may be NULL */
	uint32_t *missed;       /* by hash of what was missing: hits; NULL: see trie_spare */
	uint32_t missed_mask, rare;
	uint32_t searched;          /* children, since trie_foresee was last called */
	uint32_t ahead_at, ahead_n; /* of those foreseen: the next, and how many */
	struct trie_ahead ahead[TRIE_AHEAD];
	/* The path added last: the next one most often shares its outer part. */
	uint32_t path_len;
	struct trie_node path[TRIE_DEPTH_MAX]; /* .parent is the node of this depth itself */
};

int trie_init(struct trie *t, size_t cap_bytes);  /* -ENOMEM */
void trie_expect(struct trie *t, uint32_t nodes); /* as many as will be there soon, about */
void trie_fini(struct trie *t);

/*
 * The node of a path, innermost frame first. An empty path is that of FRAME_UNKNOWN; where the trie
 * is leafless, and there is a frame below it that is not told, the root.
 */
node_id trie_add(struct trie *t, const frame_id *frames, uint32_t n);

/*
 * The same, @hits times, but of a new path only its [overflow] and its innermost frame (leafless:
 * only its [overflow]) are added, and a node more where about as many hits have missed that as
 * trie_spare says.
 */
node_id trie_add_sparing(struct trie *t, const frame_id *frames, uint32_t n, uint64_t hits);
int trie_spare(struct trie *t, uint64_t rare); /* -ENOMEM: paths will not grow */

/*
 * At most TRIE_AHEAD paths will be added, in this order and from these places: look for them
 * together, which is faster than one after the other. What is known of each, until the next call;
 * NULL: it is not worth it, as the last ones were found without much searching.
 */
const struct trie_ahead *trie_foresee(struct trie *t, const struct trie_path *paths, uint32_t n);

/* How many nodes there may be below the cap. */
uint32_t trie_most(const struct trie *t);

/* The child of @parent in @frame, made if there is room; NODE_OVERFLOW when there is none. */
node_id trie_child(struct trie *t, node_id parent, frame_id frame);

static inline const struct trie_node *trie_at(const struct trie *t, node_id id)
{
	return &t->chunks[id >> TRIE_CHUNK_BITS][id & (TRIE_CHUNK - 1)];
}

#endif
