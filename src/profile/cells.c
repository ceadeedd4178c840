/*
 * cells: the hash table of counters.
 *
 * Whatever thread owns it. Linear probing at a load of at most one half; the array keeps the order
 * of first sight, so that a table can be walked while nothing is added. With by_node a
 * cell is first looked for as its node's newest, and the hash table is only filled once that was
 * not it: new nodes, and those of one thread and event, do not need it.
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
	return a->node == b->node && a->task == b->task && a->event == b->event &&
	       a->flags == b->flags;
}

static uint32_t first_slot(const struct cells *c, const struct cell *key)
{
	uint64_t h = hash_pair((uint64_t)key->node << 32 | key->task,
			       (uint64_t)key->event << 16 | key->flags);
	return (uint32_t)h & c->mask;
}

static void index_all(struct cells *c)
{
	for (; c->indexed < c->len; c->indexed++) {
		uint32_t i = first_slot(c, &c->data[c->indexed]);
		while (c->slots[i])
			i = (i + 1) & c->mask;
		c->slots[i] = c->indexed + 1;
	}
}

static uint32_t slot_of(struct cells *c, const struct cell *key)
{
	index_all(c);
	uint32_t i = first_slot(c, key);
	while (c->slots[i] && !same_key(&c->data[c->slots[i] - 1], key))
		i = (i + 1) & c->mask;
	return i;
}

static int grow(struct cells *c)
{
	if (c->cap > UINT32_MAX / 4)
		return -ENOMEM;
	uint32_t cap = c->cap ? c->cap * 2 : CELLS_MIN;
	uint32_t *slots = calloc((size_t)cap * 2, sizeof *slots);
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
	if (c->len == c->cap && grow(c))
		return NULL;
	struct cell *to = &c->data[c->len++];
	*to = (struct cell){
		.node = key->node, .task = key->task, .event = key->event, .flags = key->flags};
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

struct cell *cells_at(struct cells *c, const struct cell *key)
{
	bool known = make_node(c, key->node);
	uint32_t at = known ? c->newest[key->node] : 0;
	if (at && same_key(&c->data[at - 1], key))
		return &c->data[at - 1];
	at = c->len && (at || !known) ? c->slots[slot_of(c, key)] : 0;
	struct cell *to = at ? &c->data[at - 1] : append(c, key);
	if (known && to)
		c->newest[key->node] = (uint32_t)(to - c->data) + 1;
	return to;
}

const struct cell *cells_find(struct cells *c, const struct cell *key)
{
	if (key->node < c->nodes && !c->newest[key->node])
		return NULL;
	uint32_t at = c->len ? c->slots[slot_of(c, key)] : 0;
	return at ? &c->data[at - 1] : NULL;
}

int cells_add(struct cells *c, const struct cell *more)
{
	struct cell *to = cells_at(c, more);
	if (!to)
		return -ENOMEM;
	cell_sum(to, more);
	return 0;
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
