/*
 * cells: the hash table of counters.
 *
 * Whatever thread owns it. Linear probing at a load of at most one half; a slot has part of the
 * hash beside the index, so that other cells are hardly ever looked at. The array keeps the order
 * of first sight, so that a table can be walked while nothing is added. With by_node a cell is
 * first looked for as its node's newest, and the hash table is only filled once that was not it:
 * new nodes, and those of one thread and event, do not need it.
 */
#include "profile/cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define CELLS_MIN 64
#define NODES_MAX (1u << 28) /* numbers above are no small ones */

void cells_fini(struct cells *c)
{
	free(c->data);
	free(c->slots);
	free(c->newest);
	*c = (struct cells){.by_node = c->by_node};
}

void cells_clear(struct cells *c)
{
	if (c->slots)
		memset(c->slots, 0, ((size_t)c->mask + 1) * sizeof *c->slots);
	if (c->newest)
		memset(c->newest, 0, c->nodes * sizeof *c->newest);
	c->len = c->indexed = 0;
}

static size_t bytes_for(uint32_t cap)
{
	return cap * (sizeof(struct cell) + 2 * sizeof(uint32_t));
}

size_t cells_bytes(const struct cells *c)
{
	return bytes_for(c->cap) + c->nodes * sizeof *c->newest;
}

size_t cells_bytes_next(const struct cells *c)
{
	return bytes_for(c->len < c->cap ? c->cap : c->cap ? c->cap * 2 : CELLS_MIN);
}

static bool same_key(const struct cell *a, const struct cell *b)
{
	return a->node == b->node && a->leaf == b->leaf && a->task == b->task &&
	       a->event == b->event && a->flags == b->flags;
}

static uint64_t hash_of(const struct cell *key)
{
	uint64_t rest = (uint64_t)key->leaf << 32 | (uint32_t)key->event << 16 | key->flags;
	uint64_t product = ((uint64_t)key->node << 32 | key->task) * 0xbf58476d1ce4e5b9ull +
			   (rest ^ rest >> 29) * 0x9e3779b97f4a7c15ull;
	return product ^ product >> 32;
}

/* What a slot has beside its index + 1, which is below the number of slots. */
static uint32_t tag_of(const struct cells *c, uint64_t hash)
{
	return (uint32_t)(hash >> 32) & ~c->mask;
}

static struct cell *cell_in(const struct cells *c, uint32_t slot)
{
	return &c->data[(slot & c->mask) - 1];
}

static void index_all(struct cells *c)
{
	for (; c->indexed < c->len; c->indexed++) {
		uint64_t hash = hash_of(&c->data[c->indexed]);
		uint32_t i = (uint32_t)hash & c->mask;
		while (c->slots[i])
			i = (i + 1) & c->mask;
		c->slots[i] = tag_of(c, hash) | (c->indexed + 1);
	}
}

/* Its slot, or the free one where it belongs. */
static uint32_t slot_of(struct cells *c, const struct cell *key, uint64_t hash)
{
	index_all(c);
	uint32_t i = (uint32_t)hash & c->mask, tag = tag_of(c, hash), slot;
	while ((slot = c->slots[i]) &&
	       ((slot & ~c->mask) != tag || !same_key(cell_in(c, slot), key)))
		i = (i + 1) & c->mask;
	return i;
}

static struct cell *find(struct cells *c, const struct cell *key)
{
	uint32_t slot = c->len ? c->slots[slot_of(c, key, hash_of(key))] : 0;
	return slot ? cell_in(c, slot) : NULL;
}

static int grow(struct cells *c, uint32_t least)
{
	uint32_t cap = c->cap ? c->cap : CELLS_MIN / 2;
	do {
		if (cap > UINT32_MAX / 4)
			return -ENOMEM;
		cap *= 2;
	} while (cap < least);
	uint32_t *slots = hash_slots((size_t)cap * 2, sizeof *slots);
	struct cell *data = realloc(c->data, cap * sizeof *data);
	if (data)
		c->data = data;
	if (!slots || !data) {
		free(slots);
		return -ENOMEM;
	}
	free(c->slots);
	c->slots = slots;
	c->cap = cap;
	c->mask = cap * 2 - 1;
	c->indexed = 0;
	return 0;
}

static struct cell *append(struct cells *c, const struct cell *key)
{
	if (c->len == c->cap && grow(c, 0))
		return NULL;
	struct cell *to = &c->data[c->len++];
	*to = (struct cell){.node = key->node,
			    .leaf = key->leaf,
			    .task = key->task,
			    .event = key->event,
			    .flags = key->flags};
	return to;
}

/* Room to keep the newest cell of @node; without memory they are found as in other tables. */
static bool make_node(struct cells *c, uint32_t node)
{
	if (node < c->nodes)
		return true;
	if (!c->by_node || node >= NODES_MAX)
		return false;
	uint32_t nodes = node + node / 2 + CELLS_MIN;
	uint32_t *newest = realloc(c->newest, nodes * sizeof *newest);
	if (!newest) {
		free(c->newest);
		c->newest = NULL;
		c->nodes = 0;
		c->by_node = false;
		return false;
	}
	memset(newest + c->nodes, 0, (nodes - c->nodes) * sizeof *newest);
	c->newest = newest;
	c->nodes = nodes;
	return true;
}

/* Where no node tells: what is new goes to the slot where it was looked for. */
static struct cell *at_slot(struct cells *c, const struct cell *key)
{
	uint64_t hash = hash_of(key);
	uint32_t i = c->len ? slot_of(c, key, hash) : 0, cap = c->cap;
	if (c->len && c->slots[i])
		return cell_in(c, c->slots[i]);
	struct cell *to = append(c, key);
	if (to && cap && c->cap == cap && c->len > 1)
		c->slots[i] = tag_of(c, hash) | ++c->indexed;
	return to;
}

struct cell *cells_at(struct cells *c, const struct cell *key)
{
	if (!make_node(c, key->node))
		return at_slot(c, key);
	uint32_t at = c->newest[key->node];
	if (at && same_key(&c->data[at - 1], key))
		return &c->data[at - 1];
	struct cell *to = at ? find(c, key) : NULL;
	to = to ? to : append(c, key);
	if (to)
		c->newest[key->node] = (uint32_t)(to - c->data) + 1;
	return to;
}

const struct cell *cells_find(struct cells *c, const struct cell *key)
{
	if (key->node < c->nodes && !c->newest[key->node])
		return NULL;
	return find(c, key);
}

int cells_add(struct cells *c, const struct cell *more)
{
	struct cell *to = cells_at(c, more);
	if (!to)
		return -ENOMEM;
	cell_sum(to, more);
	return 0;
}

void cells_expect(struct cells *c, uint32_t n)
{
	if (n > c->cap)
		(void)grow(c, n); /* else when they come */
}

void cells_foresee(const struct cells *c, const uint32_t *nodes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (nodes[i] < c->nodes)
			__builtin_prefetch(&c->newest[nodes[i]]);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = nodes[i] < c->nodes ? c->newest[nodes[i]] : 0;
		if (at)
			__builtin_prefetch(&c->data[at - 1], 1);
	}
}

void cells_foresee_keys(const struct cells *c, const struct cell *keys, uint32_t n)
{
	if (!c->slots)
		return;
	uint64_t hashes[CELLS_AHEAD];
	for (uint32_t i = 0; i < n; i++) {
		hashes[i] = hash_of(&keys[i]);
		__builtin_prefetch(&c->slots[hashes[i] & c->mask]);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t tag = tag_of(c, hashes[i]), at = (uint32_t)hashes[i] & c->mask, slot;
		while ((slot = c->slots[at]) && (slot & ~c->mask) != tag)
			at = (at + 1) & c->mask;
		if (slot)
			__builtin_prefetch(cell_in(c, slot), 1);
	}
}

int cell_compare(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return (int)x->flags - (int)y->flags;
}
