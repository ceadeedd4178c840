/*
 * leaves: gives nodes to innermost frames that have none.
 *
 * Engine thread. Siblings get theirs one after the other, which is how whoever folds them comes to
 * them; and a few at a time, so that the slots of their nodes come from memory side by side.
 */
#include "profile/leaves.h"

#include <stdlib.h>

#include "profile/trie_impl.h"

static void settle(struct profile *p, const struct cell *const cells[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		__builtin_prefetch(trie_slot(&p->trie, cells[i]->node, cells[i]->leaf));
	for (uint32_t i = 0; i < n; i++) {
		struct cell c = *cells[i];
		c.node = trie_child(&p->trie, c.node, c.leaf);
		c.leaf = 0;
		p->overflowed += c.node ==
				 NODE_OVERFLOW; /* no memory for what there was room for */
		profile_total(p, &c);
	}
}

/* By the node above, in the order of first sight; NULL: no memory. */
static uint32_t *sorted(const struct cells *leaves, uint32_t nodes)
{
	uint32_t *ends = calloc((size_t)nodes + 1, sizeof *ends),
		 *order = malloc(leaves->len * sizeof *order);
	for (uint32_t i = 0; ends && i < leaves->len; i++)
		ends[leaves->data[i].node + 1]++;
	for (uint32_t i = 0; ends && i < nodes; i++)
		ends[i + 1] += ends[i];
	for (uint32_t i = 0; ends && order && i < leaves->len; i++)
		order[ends[leaves->data[i].node]++] = i;
	if (!ends) {
		free(order);
		order = NULL;
	}
	free(ends);
	return order;
}

void profile_settle(const struct profile *p)
{
	struct profile *own = (struct profile *)(uintptr_t)p; /* its value stays the same */
	struct cells leaves = own->leaves;
	if (!leaves.len)
		return;
	own->leaves = (struct cells){0};
	uint32_t *order = sorted(&leaves, own->trie.count);
	trie_expect(&own->trie, own->trie.count + leaves.len);
	for (uint32_t i = 0, n; i < leaves.len; i += n) {
		const struct cell *cells[LEAVES_TOGETHER];
		for (n = 0; n < LEAVES_TOGETHER && i + n < leaves.len; n++)
			cells[n] = &leaves.data[order ? order[i + n] : i + n];
		settle(own, cells, n);
	}
	own->starved |= own->trie.starved;
	free(order);
	cells_fini(&leaves);
}

void leaves_end(struct profile *p)
{
	struct numbered *places = &p->numbered;
	p->trie.leafless = false;
	profile_settle(p);
	for (uint32_t i = 0; places->data && i < STACKS_MAX; i++) {
		struct place *place = &places->data[i];
		if (place->leaf) /* what counted there has a node by now */
			place->node = trie_child(&p->trie, place->node, place->leaf);
		place->leaf = 0;
	}
}
