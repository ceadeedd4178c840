/*
 * cells: the hash table of counters.
 *
 * Whatever thread owns it. Linear probing at a load of at most one half; the array keeps the order
 * of first sight, so that a table can be walked while nothing is added.
 */
#include "profile/cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define CELLS_MIN 64

void cells_fini(struct cells *c)
{
	free(c->data);
	free(c->slots);
	*c = (struct cells){0};
}

void cells_clear(struct cells *c)
{
	if (c->slots)
		memset(c->slots, 0, ((size_t)c->mask + 1) * sizeof *c->slots);
	c->len = 0;
}

static size_t bytes_for(uint32_t cap)
{
	return cap * (sizeof(struct cell) + 2 * sizeof(uint32_t));
}

size_t cells_bytes(const struct cells *c)
{
	return bytes_for(c->cap);
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

static uint32_t slot_of(const struct cells *c, const struct cell *key)
{
	uint64_t h = hash_pair((uint64_t)key->node << 32 | key->task,
			       (uint64_t)key->event << 16 | key->flags);
	uint32_t i = (uint32_t)h & c->mask;
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
	for (uint32_t i = 0; i < c->len; i++)
		slots[slot_of(c, &data[i])] = i + 1;
	return 0;
}

struct cell *cells_at(struct cells *c, const struct cell *key)
{
	if (!c->cap && grow(c))
		return NULL;
	uint32_t slot = slot_of(c, key);
	if (c->slots[slot])
		return &c->data[c->slots[slot] - 1];
	if (c->len == c->cap) {
		if (grow(c))
			return NULL;
		slot = slot_of(c, key);
	}
	c->data[c->len] = (struct cell){
		.node = key->node, .task = key->task, .event = key->event, .flags = key->flags};
	c->slots[slot] = ++c->len;
	return &c->data[c->len - 1];
}

const struct cell *cells_find(const struct cells *c, const struct cell *key)
{
	if (!c->len)
		return NULL;
	uint32_t slot = slot_of(c, key);
	return c->slots[slot] ? &c->data[c->slots[slot] - 1] : NULL;
}

int cells_add(struct cells *c, const struct cell *more)
{
	struct cell *to = cells_at(c, more);
	if (!to)
		return -ENOMEM;
	cell_sum(to, more);
	return 0;
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
