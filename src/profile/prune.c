/*
 * prune: a new trie of what is seen often, and the old one's cells moved over.
 *
 * Engine thread. How often is often doubles until the new trie is small enough. The new trie and
 * the new tables are made beside the old ones, which are replaced only when all has gone well.
 */
#include "profile/prune.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HITS_MOST (1ull << 40)

struct pruning {
	struct profile *p;
	uint64_t *hits; /* of a node and all below it */
	node_id *to;    /* new node, 0 not yet made */
	struct trie *trie;
	struct cells since, base;
	uint64_t often;
	bool totals; /* the totals are full too */
};

static void count_table(struct pruning *g, const struct cells *cells)
{
	for (uint32_t i = 0; i < cells->len; i++) {
		const struct cell *c = &cells->data[i];
		if (c->node < g->p->trie.count)
			g->hits[c->node] += c->samples;
	}
}

static void count_hits(struct pruning *g)
{
	const struct trie *old = &g->p->trie;
	memset(g->hits, 0, old->count * sizeof *g->hits);
	count_table(g, &g->p->since);
	count_table(g, &g->p->base);
	count_table(g, &g->p->open);
	for (node_id n = old->count; n-- > 1;)
		g->hits[trie_at(old, n)->parent] += g->hits[n];
}

static bool is_kept(const struct pruning *g, node_id n)
{
	return n == NODE_ROOT || n == NODE_OVERFLOW || g->hits[n] >= g->often;
}

static uint32_t count_kept(const struct pruning *g)
{
	uint32_t kept = 0;
	for (node_id n = 0; n < g->p->trie.count; n++)
		kept += is_kept(g, n);
	return kept;
}

/* The new node of an old one. Kept nodes were made before, in the order of their ids. */
static node_id moved(struct pruning *g, node_id n)
{
	const struct trie *old = &g->p->trie;
	if (n >= old->count)
		return n; /* NODE_NONE */
	if (g->to[n])
		return g->to[n];
	node_id up = n;
	while (!is_kept(g, up))
		up = trie_at(old, up)->parent;
	frame_id leaf = trie_at(old, n)->frame;
	node_id bucket = up == NODE_ROOT ? NODE_OVERFLOW : g->to[up];
	if (up != NODE_ROOT && trie_at(old, up)->frame != FRAME_OVERFLOW)
		bucket = trie_child(g->trie, bucket, FRAME_OVERFLOW);
	if (leaf != FRAME_OVERFLOW)
		bucket = trie_child(g->trie, bucket, leaf);
	g->to[n] = bucket;
	return bucket;
}

static void make_kept(struct pruning *g)
{
	const struct trie *old = &g->p->trie;
	memset(g->to, 0, old->count * sizeof *g->to);
	g->to[NODE_OVERFLOW] = NODE_OVERFLOW;
	for (node_id n = NODE_OVERFLOW + 1; n < old->count; n++) {
		const struct trie_node *x = trie_at(old, n);
		if (is_kept(g, n))
			g->to[n] = trie_child(g->trie, g->to[x->parent], x->frame);
	}
}

static int move_table(struct pruning *g, struct cells *to, const struct cells *from)
{
	for (uint32_t i = 0; i < from->len; i++) {
		struct cell c = from->data[i];
		c.node = moved(g, c.node);
		if (cells_add(to, &c))
			return -ENOMEM;
	}
	return 0;
}

static void drop_new(struct pruning *g)
{
	cells_fini(&g->since);
	cells_fini(&g->base);
	trie_fini(g->trie);
}

static bool small_enough(const struct pruning *g)
{
	const struct profile *p = g->p;
	uint32_t cells = p->since.len + p->base.len;
	return g->trie->count <= p->trie.count / 2 &&
	       (!g->totals || g->since.len + g->base.len <= cells / 4 * 3);
}

/* Make the new trie and totals, rarer and rarer paths left out, until they are small enough. */
static int rebuild(struct pruning *g)
{
	struct profile *p = g->p;
	for (g->often = 2; g->often < HITS_MOST; g->often *= 2) {
		if (count_kept(g) > p->trie.count / 4)
			continue;
		if (trie_init(g->trie, p->trie.cap_bytes))
			return -ENOMEM;
		make_kept(g);
		if (move_table(g, &g->since, &p->since) || move_table(g, &g->base, &p->base)) {
			drop_new(g);
			return -ENOMEM;
		}
		if (small_enough(g))
			return 0;
		drop_new(g);
	}
	return -ENOSPC;
}

static int move_history(struct pruning *g)
{
	struct history *h = &g->p->history;
	for (uint32_t i = 0; i < h->len; i++) {
		const struct bucket *b = h->buckets[i];
		struct cellcode_reader r = cellcode_reader(b->data, b->bytes);
		cells_clear(&h->scratch);
		while (cellcode_next(&r)) {
			struct cell c = r.cell;
			c.node = moved(g, c.node);
			if (cells_add(&h->scratch, &c))
				return -ENOMEM;
		}
		if (history_replace(h, i, &h->scratch))
			return -ENOMEM;
	}
	return 0;
}

static void move_places(struct pruning *g)
{
	struct profile_place *places = g->p->places;
	for (uint32_t i = 0; places && i < STACKS_MAX; i++)
		if (places[i].node)
			places[i].node = moved(g, places[i].node);
}

static void move_open(struct pruning *g)
{
	struct cells *open = &g->p->open;
	struct cells moved_cells = {0};
	if (move_table(g, &moved_cells, open)) {
		cells_fini(&moved_cells);
		cells_clear(open); /* no memory for a tenth of a second's cells */
		return;
	}
	cells_fini(open);
	*open = moved_cells;
}

int profile_prune(struct profile *p, bool totals)
{
	struct pruning g = {.p = p, .totals = totals};
	g.hits = malloc(p->trie.count * sizeof *g.hits);
	g.to = malloc(p->trie.count * sizeof *g.to);
	g.trie = malloc(sizeof *g.trie);
	int result = -ENOMEM;
	if (!g.hits || !g.to || !g.trie)
		goto out;
	count_hits(&g);
	result = rebuild(&g);
	if (result)
		goto out;
	/* From here on old node ids vanish one table after the other: there is no way back, and
	 * what cannot be moved is forgotten. */
	if (move_history(&g))
		history_forget(&p->history, p->newest_ns);
	move_open(&g);
	move_places(&g);
	cells_fini(&p->since);
	cells_fini(&p->base);
	p->since = g.since;
	p->base = g.base;
	trie_fini(&p->trie);
	p->trie = *g.trie;
	p->pruned++;
out:
	free(g.hits);
	free(g.to);
	free(g.trie);
	return result;
}
