/*
 * trieahead: looks for several paths side by side, before they are added.
 *
 * Engine thread. Nearly all of a look-up in a large trie is waiting for memory, for a slot and then
 * for its node. So each path takes a step in turn, and what its next step will read is asked for
 * now. A path that shares its outer part with the one before it waits until that is there. What
 * comes out is a guess, which trie_add checks.
 */
#include "profile/trie_impl.h"

#define WORTH 2 /* searches a path, from which on it is */

/* What is looked for: a frame of the path; or, of a new path, what it will be shortened to. */
enum part { PATH, BUCKET, LEAF };

enum state { WAITS, AT_SLOT, AT_NODE, DONE };

struct walk {
	struct trie_ahead *to;
	const frame_id *outermost;
	uint32_t shared; /* with the path before it */
	enum state state;
	enum part part;
	node_id node;   /* whose child is looked for … */
	frame_id frame; /* … in this frame */
	uint32_t slot, tag;
};

static void look_for(struct trie *t, struct walk *w, frame_id frame)
{
	t->searched++;
	uint64_t hash = trie_hash(w->node, frame);
	w->frame = frame;
	w->tag = trie_tag(t, hash);
	w->slot = (uint32_t)hash & t->mask;
	w->state = AT_SLOT;
	__builtin_prefetch(&t->slots[w->slot]);
}

/* Down from a node that was found, as far as nodes lie one behind the other. */
static void go_down(struct trie *t, struct walk *w)
{
	struct trie_ahead *to = w->to;
	uint32_t end = to->path.n < TRIE_AHEAD_DEPTH ? to->path.n : TRIE_AHEAD_DEPTH;
	while (to->depth < end) {
		frame_id frame = w->outermost[-(ptrdiff_t)to->depth];
		node_id child = w->node + 1;
		if (child >= t->count || !trie_is_child(t, child, w->node, frame)) {
			look_for(t, w, frame);
			return;
		}
		to->nodes[to->depth++] = w->node = child;
	}
	to->end = end == to->path.n ? w->node : 0;
	w->state = DONE;
}

static void found(struct trie *t, struct walk *w, node_id child)
{
	w->node = child;
	switch (w->part) {
	case PATH:
		w->to->nodes[w->to->depth++] = child;
		go_down(t, w);
		break;
	case BUCKET:
		w->part = LEAF;
		look_for(t, w, w->to->path.frames[0]);
		break;
	case LEAF:
		w->to->end = child;
		w->state = DONE;
		break;
	}
}

static void not_found(struct trie *t, struct walk *w)
{
	bool middle = w->part == PATH && w->to->depth + 2 < w->to->path.n;
	if (!middle) {
		w->state = DONE;
		return;
	}
	__builtin_prefetch(trie_missed(t, trie_hash(w->node, w->frame)), 1);
	w->part = w->node == NODE_ROOT ? LEAF : BUCKET;
	w->node = w->node == NODE_ROOT ? NODE_OVERFLOW : w->node;
	look_for(t, w, w->part == LEAF ? w->to->path.frames[0] : FRAME_OVERFLOW);
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
static void follow(struct trie *t, struct walk *w)
{
	const struct walk *before = w - 1;
	const struct trie_ahead *from = before->to;
	uint32_t have = from->depth < w->shared ? from->depth : w->shared;
	if (have < w->shared && before->state != DONE && before->part == PATH)
		return;
	for (uint32_t d = 0; d < have; d++)
		w->to->nodes[d] = from->nodes[d];
	w->to->depth = have;
	w->node = have ? from->nodes[have - 1] : NODE_ROOT;
	go_down(t, w);
}

/* The first begins with what it shares with the path that was added last. */
static void begin(struct trie *t, struct walk *w)
{
	struct trie_ahead *to = w->to;
	while (to->depth < TRIE_AHEAD_DEPTH && to->depth < to->path.n && to->depth < t->path_len &&
	       t->path[to->depth].frame == w->outermost[-(ptrdiff_t)to->depth]) {
		w->node = to->nodes[to->depth] = t->path[to->depth].parent;
		to->depth++;
	}
	go_down(t, w);
}

static void look_at_slot(struct trie *t, struct walk *w)
{
	uint32_t slot = t->slots[w->slot];
	if (!slot) {
		not_found(t, w);
	} else if ((slot & ~t->mask) == w->tag) {
		__builtin_prefetch(trie_at(t, slot & t->mask));
		w->state = AT_NODE;
	} else {
		w->slot = (w->slot + 1) & t->mask;
	}
}

static void look_at_node(struct trie *t, struct walk *w)
{
	node_id id = t->slots[w->slot] & t->mask;
	if (trie_is_child(t, id, w->node, w->frame)) {
		found(t, w, id);
	} else {
		w->slot = (w->slot + 1) & t->mask;
		w->state = AT_SLOT;
	}
}

/* The next step. True: it was the last. */
static inline bool step(struct trie *t, struct walk *w)
{
	if (w->state == AT_SLOT)
		look_at_slot(t, w);
	else if (w->state == AT_NODE)
		look_at_node(t, w);
	else if (w->state == WAITS)
		follow(t, w);
	return w->state == DONE;
}

const struct trie_ahead *trie_foresee(struct trie *t, const struct trie_path *paths, uint32_t n)
{
	struct walk walks[TRIE_AHEAD], *moving[TRIE_AHEAD];
	bool worth = n && t->searched >= WORTH * n; /* as those before needed it */
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
					 .shared = i ? in_common(&paths[i - 1], &paths[i]) : 0};
		moving[i] = &walks[i];
	}
	begin(t, &walks[0]);
	for (uint32_t left = n; left;)
		for (uint32_t i = 0; i < left;)
			if (step(t, moving[i]))
				moving[i] = moving[--left];
			else
				i++;
	return t->ahead;
}
