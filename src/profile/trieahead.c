/*
 * trieahead: looks for several paths side by side, before they are added.
 *
 * Engine thread. Nearly all of a look-up in a large trie is waiting for memory, for a slot and then
 * for its node. So all paths ask for a slot, then all for a node, and so on. A path that shares its
 * outer part with the one before it waits until that is there. The nodes that come out stay what
 * they are; where a path ends is a guess, which trie_add checks.
 */
#include "profile/trie_impl.h"

#define WORTH 2          /* searches a path, from which on it is */
#define SMALL (1u << 15) /* slots: such a trie is in the nearest caches */

/* What is looked for: a frame of the path; or, of a new path, what it will be shortened to. */
enum part { PATH, BUCKET, LEAF };

struct walk {
	struct trie_ahead *to;
	const frame_id *outermost;
	uint32_t shared; /* with the path before it */
	bool waits, done;
	enum part part;
	node_id node;   /* whose child is looked for … */
	frame_id frame; /* … in this frame */
	uint32_t slot, tag;
	node_id found; /* a child of this tag; 0: none */
};

/* First a slot is asked for … */
static inline void look_for(struct trie *t, struct walk *w)
{
	uint64_t hash = trie_hash(w->node, w->frame);
	w->tag = trie_tag(t, hash);
	w->slot = (uint32_t)hash & t->mask;
	__builtin_prefetch(&t->slots[w->slot]);
	t->searched++;
}

/* … then the node it tells of. */
static inline void look_at_slot(const struct trie *t, struct walk *w)
{
	uint32_t slot = t->slots[w->slot];
	while (slot && (slot & ~t->mask) != w->tag) {
		w->slot = (w->slot + 1) & t->mask;
		slot = t->slots[w->slot];
	}
	w->found = slot & t->mask;
	__builtin_prefetch(trie_at(t, w->found));
}

/* Down from a node that was found, as far as nodes lie one behind the other. */
static inline void go_down(const struct trie *t, struct walk *w)
{
	struct trie_ahead *to = w->to;
	uint32_t end = to->path.n < TRIE_AHEAD_DEPTH ? to->path.n : TRIE_AHEAD_DEPTH;
	while (to->depth < end) {
		node_id child = w->node + 1;
		w->frame = w->outermost[-(ptrdiff_t)to->depth];
		if (child >= t->count || !trie_is_child(t, child, w->node, w->frame))
			return;
		to->nodes[to->depth++] = w->node = child;
	}
	to->end = end == to->path.n ? w->node : 0;
	w->done = true;
}

static inline void found(const struct trie *t, struct walk *w)
{
	w->node = w->found;
	if (w->part == PATH) {
		w->to->nodes[w->to->depth++] = w->found;
		go_down(t, w);
	} else if (w->part == BUCKET && !t->leafless) {
		w->part = LEAF;
		w->frame = w->to->path.frames[0];
	} else {
		w->to->end = w->found;
		w->done = true;
	}
}

static inline void not_found(struct trie *t, struct walk *w)
{
	uint32_t short_most = t->leafless ? 1 : 2; /* as in trie_add_sparing */
	bool middle = w->part == PATH && w->to->depth + short_most < w->to->path.n;
	if (!middle) {
		w->done = true;
		return;
	}
	__builtin_prefetch(trie_missed(t, trie_hash(w->node, w->frame)), 1);
	if (t->leafless && w->node == NODE_ROOT) {
		w->to->end = NODE_OVERFLOW;
		w->done = true;
		return;
	}
	w->part = w->node == NODE_ROOT ? LEAF : BUCKET;
	w->node = w->node == NODE_ROOT ? NODE_OVERFLOW : w->node;
	w->frame = w->part == LEAF ? w->to->path.frames[0] : FRAME_OVERFLOW;
}

/* How many outer frames two paths have in common, of those that are looked at. */
static uint32_t in_common(const struct trie_path *a, const struct trie_path *b)
{
	const frame_id *x = a->frames + a->n - 1, *y = b->frames + b->n - 1;
	uint32_t most = a->n < b->n ? a->n : b->n, d = 0;
	if (most > TRIE_AHEAD_DEPTH)
		most = TRIE_AHEAD_DEPTH;
	while (d < most && x[-(ptrdiff_t)d] == y[-(ptrdiff_t)d])
		d++;
	return d;
}

/* Begin where the path before this one is already; nothing while that is still on its way there. */
static void follow(const struct trie *t, struct walk *w)
{
	const struct walk *before = w - 1;
	const struct trie_ahead *from = before->to;
	uint32_t have = from->depth < w->shared ? from->depth : w->shared;
	if (before->waits || (have < w->shared && !before->done && before->part == PATH))
		return;
	w->waits = false;
	for (uint32_t d = 0; d < have; d++)
		w->to->nodes[d] = from->nodes[d];
	w->to->depth = have;
	w->node = have ? from->nodes[have - 1] : NODE_ROOT;
	go_down(t, w);
}

/* The first begins with what it shares with the path that was added last. */
static void begin(const struct trie *t, struct walk *w)
{
	struct trie_ahead *to = w->to;
	while (to->depth < TRIE_AHEAD_DEPTH && to->depth < to->path.n && to->depth < t->path_len &&
	       t->path[to->depth].frame == w->outermost[-(ptrdiff_t)to->depth]) {
		w->node = to->nodes[to->depth] = t->path[to->depth].parent;
		to->depth++;
	}
	go_down(t, w);
}

/* What is there of it, or that there is nothing. */
static inline void look_at_node(struct trie *t, struct walk *w)
{
	while (w->found && !trie_is_child(t, w->found, w->node, w->frame)) {
		w->slot = (w->slot + 1) & t->mask;
		look_at_slot(t, w);
	}
	if (w->found)
		found(t, w);
	else
		not_found(t, w);
}

/* A step of all that are not done, those that wait left out. */
static uint32_t step(struct trie *t, struct walk *moving[], uint32_t n)
{
	struct walk *now[TRIE_AHEAD];
	uint32_t left = 0, searching = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct walk *w = moving[i];
		if (w->waits)
			follow(t, w);
		if (w->done)
			continue;
		moving[left++] = w;
		if (w->waits)
			continue;
		look_for(t, w);
		now[searching++] = w;
	}
	for (uint32_t i = 0; i < searching; i++)
		look_at_slot(t, now[i]);
	for (uint32_t i = 0; i < searching; i++)
		look_at_node(t, now[i]);
	return left;
}

const struct trie_ahead *trie_foresee(struct trie *t, const struct trie_path *paths, uint32_t n)
{
	struct walk walks[TRIE_AHEAD], *moving[TRIE_AHEAD];
	bool worth = n && t->searched >= WORTH * n && /* as those before needed it */
		     (!t->leafless || t->mask >= SMALL);
	t->searched = 0;
	t->ahead_at = 0;
	t->ahead_n = worth ? n : 0;
	if (!worth)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		struct trie_ahead *to = &t->ahead[i];
		to->path = paths[i];
		to->depth = to->end = 0;
		walks[i] = (struct walk){.to = to,
					 .outermost = paths[i].frames + paths[i].n - 1,
					 .waits = i,
					 .shared = i ? in_common(&paths[i - 1], &paths[i]) : 0};
		moving[i] = &walks[i];
	}
	begin(t, &walks[0]);
	for (uint32_t left = n; left;)
		left = step(t, moving, left);
	return t->ahead;
}
