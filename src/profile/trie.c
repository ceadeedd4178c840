/*
 * trie: insertion of call paths.
 *
 * Engine thread. Children are found through one hash table over (parent, frame) instead of lists in
 * the nodes: eight bytes a node, and a wide fan-out costs nothing. A slot has the node's id in as
 * many bits as that needs, and part of the hash in the others, so that other nodes are hardly ever
 * looked at. The nodes of a path were mostly made one after the other: the next id is tried before
 * the table is. The outer part that a path shares with the one before is taken from memory without
 * a look-up, and a whole path seen lately is found at once and compared.
 */
#include "profile/trie.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/trie_impl.h"

#define SLOTS_MIN   (1u << 12)
#define FORESEEN    32 /* new nodes */
#define MEMO_PLACES (1u << 17)
#define MEMO_WAYS   4
#define MEMO_LEAST  4                  /* frames still to be looked up, for which it is worth it */
#define MEMO_ROOM   ((size_t)16 << 20) /* smaller tries do without */
#define MISSED_PART 256 /* bytes of cap for each number that counts what was missed */

struct trie_memo {
	uint32_t tag; /* of the path's hash */
	node_id leaf; /* 0: free */
};

static int add_chunk(struct trie *t)
{
	struct trie_node **chunks = realloc(t->chunks, (t->nchunks + 1) * sizeof *chunks);
	if (!chunks)
		return -ENOMEM;
	t->chunks = chunks;
	chunks[t->nchunks] = malloc(TRIE_CHUNK * sizeof **chunks);
	if (!chunks[t->nchunks])
		return -ENOMEM;
	t->nchunks++;
	t->bytes += TRIE_CHUNK * sizeof **chunks;
	return 0;
}

static void node_write(struct trie *t, node_id id, node_id parent, frame_id frame)
{
	t->chunks[id >> TRIE_CHUNK_BITS][id & (TRIE_CHUNK - 1)] = (struct trie_node){
		.parent = parent, .frame = frame};
}

/* Where a child is, or belongs. */
static uint32_t slot_of(const struct trie *t, uint64_t hash, node_id parent, frame_id frame)
{
	uint32_t tag = trie_tag(t, hash), i = (uint32_t)hash & t->mask;
	for (;; i = (i + 1) & t->mask) {
		uint32_t slot = t->slots[i];
		if (!slot ||
		    ((slot & ~t->mask) == tag && trie_is_child(t, slot & t->mask, parent, frame)))
			return i;
	}
}

/* An id that is not in the table yet. */
static void enter_slot(struct trie *t, node_id id)
{
	const struct trie_node *n = trie_at(t, id);
	uint64_t hash = trie_hash(n->parent, n->frame);
	uint32_t i = (uint32_t)hash & t->mask;
	while (t->slots[i])
		i = (i + 1) & t->mask;
	t->slots[i] = trie_tag(t, hash) | id;
}

/* Double the table. The old one goes first into the byte count, so the cap holds at the peak. */
static int grow_slots(struct trie *t)
{
	uint32_t *old = t->slots;
	uint32_t old_size = old ? t->mask + 1 : 0;
	uint32_t size = old ? old_size * 2 : SLOTS_MIN;
	if (t->bytes + size * sizeof *old > t->cap_bytes)
		return -ENOSPC;
	uint32_t *slots = hash_slots(size, sizeof *slots);
	if (!slots) {
		t->starved = true;
		return -ENOMEM;
	}
	t->slots = slots;
	t->mask = size - 1;
	t->bytes += size * sizeof *slots - old_size * sizeof *old;
	for (node_id id = 1; id < t->count; id++)
		enter_slot(t, id);
	free(old);
	return 0;
}

int trie_init(struct trie *t, size_t cap_bytes)
{
	memset(t, 0, offsetof(struct trie, ahead));
	t->path_len = 0;
	t->cap_bytes = SIZE_MAX;
	if (add_chunk(t) || grow_slots(t)) {
		trie_fini(t);
		return -ENOMEM;
	}
	t->cap_bytes = cap_bytes;
	if (cap_bytes >= MEMO_ROOM && (t->memo = calloc(MEMO_PLACES, sizeof *t->memo)))
		t->bytes += MEMO_PLACES * sizeof *t->memo;
	node_write(t, NODE_ROOT, NODE_ROOT, FRAME_NONE);
	node_write(t, NODE_OVERFLOW, NODE_ROOT, FRAME_OVERFLOW);
	t->count = 2;
	enter_slot(t, NODE_OVERFLOW);
	return 0;
}

void trie_expect(struct trie *t, uint32_t nodes)
{
	while ((uint64_t)nodes * 5 >= (uint64_t)t->mask * 3 && !grow_slots(t))
		;
}

void trie_fini(struct trie *t)
{
	for (uint32_t i = 0; i < t->nchunks; i++)
		free(t->chunks[i]);
	free(t->chunks);
	free(t->slots);
	free(t->memo);
	free(t->missed);
	t->memo = NULL;
	t->missed = NULL;
	t->chunks = NULL;
	t->slots = NULL;
	t->nchunks = t->count = 0;
}

uint32_t trie_most(const struct trie *t)
{
	size_t chunk = TRIE_CHUNK * sizeof **t->chunks, slots = (size_t)t->mask + 1;
	size_t other = t->bytes - t->nchunks * chunk - slots * sizeof *t->slots;
	size_t in_slots = slots * 3 / 5; /* when it grows, the old table is there as well */
	while (other + (in_slots / TRIE_CHUNK + 1) * chunk + slots * 3 * sizeof *t->slots <=
	       t->cap_bytes) {
		slots *= 2;
		in_slots = slots * 3 / 5;
	}
	size_t rest = other + slots * sizeof *t->slots;
	size_t in_chunks = rest < t->cap_bytes ? (t->cap_bytes - rest) / chunk * TRIE_CHUNK : 0;
	in_slots = slots / 4 * 3; /* see add_child */
	return (uint32_t)(in_slots < in_chunks ? in_slots : in_chunks);
}

/* A new child of @parent; NODE_OVERFLOW: no room. */
static node_id add_child(struct trie *t, node_id parent, frame_id frame)
{
	/* At the cap the table gets a little fuller than is good for it. */
	if ((uint64_t)t->count * 5 >= (uint64_t)t->mask * 3 && grow_slots(t) &&
	    (uint64_t)t->count * 4 >= (uint64_t)t->mask * 3)
		return NODE_OVERFLOW;
	if (t->count >> TRIE_CHUNK_BITS == t->nchunks) {
		if (t->bytes + TRIE_CHUNK * sizeof(struct trie_node) > t->cap_bytes)
			return NODE_OVERFLOW;
		if (add_chunk(t)) {
			t->starved = true;
			return NODE_OVERFLOW;
		}
	}
	node_id id = t->count++;
	node_write(t, id, parent, frame);
	enter_slot(t, id);
	return id;
}

/* The child of @parent in @frame, 0: there is none. */
static node_id find_child(const struct trie *t, node_id parent, frame_id frame, uint64_t hash)
{
	return t->slots[slot_of(t, hash, parent, frame)] & t->mask;
}

node_id trie_child(struct trie *t, node_id parent, frame_id frame)
{
	node_id id = find_child(t, parent, frame, trie_hash(parent, frame));
	return id ? id : add_child(t, parent, frame);
}

/* --- whole paths seen lately --- */

static struct trie_memo *memo_of(const struct trie *t, const frame_id *frames, uint32_t n,
				 uint32_t *ret_tag)
{
	uint64_t hash = hash_bytes(frames, n * sizeof *frames);
	*ret_tag = (uint32_t)(hash >> 32);
	return &t->memo[hash & (MEMO_PLACES - MEMO_WAYS)];
}

/*
 * Does the path to @leaf consist of these frames, the outermost @known of which are those of the
 * path added last? Then it is the path added last; else nothing is known of that any more.
 */
static bool memo_holds(struct trie *t, node_id leaf, const frame_id *frames, uint32_t n,
		       uint32_t known)
{
	node_id node = leaf, stem = known ? t->path[known - 1].parent : NODE_ROOT;
	for (uint32_t d = n; d-- > known;) {
		const struct trie_node *x = trie_at(t, node);
		if (node <= NODE_OVERFLOW || x->frame != frames[n - 1 - d]) {
			t->path_len = known;
			return false;
		}
		t->path[d] = (struct trie_node){.parent = node, .frame = x->frame};
		node = x->parent;
	}
	t->path_len = node == stem ? n : known;
	return node == stem;
}

/* Where what is left out below @node goes. @guess: it may be this one; 0: nobody knows. */
static node_id bucket_of(struct trie *t, node_id node, node_id guess)
{
	if (node == NODE_ROOT)
		return NODE_OVERFLOW;
	return guess && trie_is_child(t, guess, node, FRAME_OVERFLOW)
		       ? guess
		       : trie_child(t, node, FRAME_OVERFLOW);
}

/*
 * The innermost @frame of a path whose outer part ends at @node, the frames between left out; if
 * leafless, what would be above it. @guess: it may be this one; 0: nobody knows.
 */
static node_id add_shortened(struct trie *t, node_id node, frame_id frame, node_id guess)
{
	if (t->leafless)
		guess = bucket_of(t, node, guess);
	else {
		node_id bucket = bucket_of(t, node, guess ? trie_at(t, guess)->parent : 0);
		if (node != NODE_ROOT && bucket == NODE_OVERFLOW)
			guess = bucket;
		else if (!guess || !trie_is_child(t, guess, bucket, frame))
			guess = trie_child(t, bucket, frame);
	}
	t->refused = guess == NODE_OVERFLOW && !(t->leafless && node == NODE_ROOT);
	return guess;
}

int trie_spare(struct trie *t, uint64_t rare)
{
	size_t places = 1;
	while (places * MISSED_PART * 2 <= t->cap_bytes && places < 1u << 20)
		places *= 2;
	if (!t->missed && (t->missed = calloc(places, sizeof *t->missed))) {
		t->missed_mask = (uint32_t)places - 1;
		t->bytes += places * sizeof *t->missed;
	}
	t->rare = rare < UINT32_MAX ? (uint32_t)rare : UINT32_MAX;
	return t->missed ? 0 : -ENOMEM;
}

/* Has what is missing here been missed often enough to be added? */
static bool is_missed(struct trie *t, uint64_t hash, uint64_t hits)
{
	uint32_t *missed = trie_missed(t, hash);
	if (!missed)
		return false;
	if (hits < t->rare - *missed) {
		*missed += (uint32_t)hits;
		return false;
	}
	*missed = 0;
	return true;
}

/* What trie_foresee says of this path, if it did. */
static const struct trie_ahead *foreseen(struct trie *t, const frame_id *frames, uint32_t n)
{
	const struct trie_ahead *a = &t->ahead[t->ahead_at];
	if (t->ahead_at == t->ahead_n || a->path.frames != frames || a->path.n != n)
		return NULL;
	t->ahead_at++;
	return a;
}

/* All of these frames, outermost first, will be new nodes, one below the other. */
static void foresee_slots(const struct trie *t, const frame_id *outermost, uint32_t n)
{
	n = n < FORESEEN ? n : FORESEEN;
	for (uint32_t i = 1; i < n; i++) /* the first has been looked for */
		__builtin_prefetch(trie_slot(t, t->count + i - 1, outermost[-(ptrdiff_t)i]), 1);
}

static node_id add_path(struct trie *t, const frame_id *frames, uint32_t n, bool sparing,
			uint64_t hits)
{
	static const frame_id unknown = FRAME_UNKNOWN;
	t->refused = false;
	if (!n && t->leafless) {
		t->path_len = 0;
		return NODE_ROOT;
	}
	if (!n) {
		frames = &unknown;
		n = 1;
	}
	uint32_t skip = n > TRIE_DEPTH_MAX ? n - TRIE_DEPTH_MAX : 0;
	const frame_id *outermost = frames + n - 1;
	uint32_t depth = n - skip, d = 0;

	while (d < depth && d < t->path_len && t->path[d].frame == outermost[-(ptrdiff_t)d])
		d++;
	node_id node = d ? t->path[d - 1].parent : NODE_ROOT;
	struct trie_memo *memo = NULL;
	uint32_t tag = 0;
	if (t->memo && !skip && !sparing && depth - d >= MEMO_LEAST) {
		memo = memo_of(t, frames, n, &tag);
		for (uint32_t i = 0; i < MEMO_WAYS; i++)
			if (memo[i].leaf && memo[i].tag == tag &&
			    memo_holds(t, memo[i].leaf, frames, n, d))
				return memo[i].leaf;
	}
	const struct trie_ahead *ahead = foreseen(t, frames, n);
	uint32_t short_most = t->leafless ? 1 : 2; /* shortening what lacks no more saves nothing */
	bool fresh = false;                        /* nothing is below a node that is new */
	for (; ahead && d < ahead->depth; d++) {
		node = ahead->nodes[d];
		t->path[d] = (struct trie_node){node, outermost[-(ptrdiff_t)d]};
	}
	for (; d < depth; d++) {
		frame_id frame = outermost[-(ptrdiff_t)d];
		node_id child = node + 1;
		if (child >= t->count || !trie_is_child(t, child, node, frame)) {
			uint64_t hash = trie_hash(node, frame);
			t->searched++;
			child = fresh ? 0 : find_child(t, node, frame, hash);
			if (!child && sparing && d + short_most < depth &&
			    !is_missed(t, hash, hits)) {
				t->path_len = d;
				return add_shortened(t, node, frames[skip], ahead ? ahead->end : 0);
			}
			if (!child) {
				if (!fresh && !sparing)
					foresee_slots(t, outermost - d, depth - d);
				child = add_child(t, node, frame);
				fresh = true;
			}
		}
		if (child == NODE_OVERFLOW) {
			t->refused = true;
			t->path_len = t->leafless ? 0 : d;
			return NODE_OVERFLOW;
		}
		node = child;
		t->path[d] = (struct trie_node){.parent = node, .frame = frame};
	}
	t->path_len = depth;
	if (memo) { /* the newest comes first */
		memmove(memo + 1, memo, (MEMO_WAYS - 1) * sizeof *memo);
		*memo = (struct trie_memo){.tag = tag, .leaf = node};
	}
	return node;
}

node_id trie_add(struct trie *t, const frame_id *frames, uint32_t n)
{
	return add_path(t, frames, n, false, 0);
}

node_id trie_add_sparing(struct trie *t, const frame_id *frames, uint32_t n, uint64_t hits)
{
	return add_path(t, frames, n, true, hits);
}
