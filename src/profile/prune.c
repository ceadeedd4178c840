/*
 * prune: a new trie of what is seen often, and the old one's cells moved over.
 *
 * Engine thread. How often is often is the least of some steps that makes the new trie small
 * enough, which is estimated before it is made: distinct keys by how many bits of a map they leave
 * unset (linear counting, Whang et al. 1990). So much is freed at once that pruning costs a bounded
 * time a node. The new trie and the new tables are made beside the old ones, which are replaced
 * only when all has gone well.
 */
#include "profile/prune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/leaves.h"
#include "profile/trie_impl.h"

#define STEPS    80 /* of what is often: 1, 1, 2, 3, 4, 6, 8, 12, … */
#define MAP_BITS (1u << 21)
#define AHEAD    8 /* cells */

/* Looked at to guess by, at least. */
#define LOOK_FRAMES 1024
#define LOOK_CELLS  16384

struct pruning {
	struct profile *p;
	uint64_t *hits; /* of a node and all below it */
	node_id *to;    /* new node, 0 not yet made */
	node_id *up; /* the nearest node above that is kept, or itself; once the new trie is being
			made, of what is kept its [overflow] there, 0 none yet */
	struct trie *trie;
	struct cells since, base, leaves;
	uint64_t often;
	bool totals;                  /* the totals are full too */
	bool leafless;                /* rare innermost frames need no nodes (leaves.h) */
	uint32_t size, most;          /* nodes and leaves: how many there are, may be */
	frame_id path[THROUGH_DEPTH]; /* at hand */
};

/* What is moved to leaves is one already, or is seen as one: where its path is without it. */
static inline struct spot leaf_of(const struct pruning *g, const struct cell *c)
{
	if (c->leaf)
		return (struct spot){c->node, c->leaf};
	const struct trie_node *n = trie_at(&g->p->trie, c->node);
	return (struct spot){n->parent, n->frame};
}

static void count_table(struct pruning *g, const struct cells *cells, bool to_leaves)
{
	for (uint32_t i = 0; i < cells->len; i++) {
		const struct cell *c = &cells->data[i];
		if (c->node < g->p->trie.count)
			g->hits[to_leaves ? leaf_of(g, c).node : c->node] += c->samples;
	}
}

static void count_hits(struct pruning *g)
{
	const struct trie *old = &g->p->trie;
	memset(g->hits, 0, old->count * sizeof *g->hits);
	count_table(g, &g->p->since, g->leafless);
	count_table(g, &g->p->leaves, true);
	count_table(g, &g->p->base, false);
	count_table(g, &g->p->open, false);
	for (node_id n = old->count; n-- > 1;)
		g->hits[trie_at(old, n)->parent] += g->hits[n];
}

static bool is_kept(const struct pruning *g, node_id n)
{
	return n == NODE_ROOT || n == NODE_OVERFLOW || g->hits[n] >= g->often;
}

/* Distinct keys met. */
struct distinct {
	uint64_t bits[MAP_BITS / 64];
	uint32_t set;
};

static void meet(struct distinct *d, uint64_t hash)
{
	uint64_t bit = 1ull << (hash & 63), *word = &d->bits[hash / 64 % (MAP_BITS / 64)];
	d->set += !(*word & bit);
	*word |= bit;
}

static uint64_t met(const struct distinct *d)
{
	uint32_t unset = MAP_BITS - d->set;
	return (uint64_t)(MAP_BITS * log((double)MAP_BITS / (unset ? unset : 1)));
}

/* A leaf as it is looked at again and again. */
struct looked {
	node_id node;
	uint32_t rest; /* hash of what else tells it from others */
};

struct guess {
	struct distinct nodes, cells;
	struct looked *leaves; /* of one in so many innermost frames */
	uint32_t nleaves, one_in;
};

/* What is left out below [overflow] goes to it, as what is left out below the node above it does.
 */
static node_id above_bucket(const struct trie *t, node_id n)
{
	const struct trie_node *x = trie_at(t, n);
	return x->frame == FRAME_OVERFLOW ? x->parent : n;
}

static void guess_table(struct pruning *g, const struct cells *cells, uint64_t salt,
			struct guess *io_guess)
{
	const struct trie *old = &g->p->trie;
	for (uint32_t i = 0; i < cells->len; i++) {
		const struct cell *c = &cells->data[i];
		uint64_t place = c->node;
		if (c->node < old->count && g->up[c->node] != c->node) {
			uint64_t up = above_bucket(old, g->up[c->node]);
			meet(&io_guess->nodes, hash_mix(up));
			place = hash_pair(up, trie_at(old, c->node)->frame);
			meet(&io_guess->nodes, place);
		}
		if (g->totals)
			meet(&io_guess->cells,
			     hash_pair(place + salt, (uint64_t)c->task << 32 |
							     (uint32_t)c->event << 16 | c->flags));
	}
}

/* Cells that are moved to leaves, of some of the innermost frames. */
static void look_at_leaves(const struct pruning *g, const struct cells *cells,
			   struct guess *io_guess)
{
	uint32_t count = g->p->trie.count;
	for (uint32_t i = 0; i < cells->len; i++) {
		const struct cell *c = &cells->data[i];
		if (c->node >= count)
			continue;
		struct spot at = leaf_of(g, c);
		uint32_t frame = at.leaf * 0x9e3779b1u;
		if (frame >> 16 & (io_guess->one_in - 1))
			continue;
		uint64_t who = (uint64_t)c->task << 32 | (uint32_t)c->event << 16 | c->flags;
		uint32_t rest = frame ^ (uint32_t)(who * 0x9e3779b97f4a7c15ull >> 32);
		io_guess->leaves[io_guess->nleaves++] = (struct looked){at.node, rest};
	}
}

/* How many leaves there would be, about; meets the nodes above them. */
static uint64_t guess_leaves(struct pruning *g, struct guess *io_guess)
{
	struct distinct *d = &io_guess->cells;
	for (uint32_t i = 0; i < io_guess->nleaves; i++) {
		struct looked x = io_guess->leaves[i];
		uint64_t kept = g->up[x.node], up = above_bucket(&g->p->trie, (node_id)kept);
		uint64_t direct = kept == x.node && kept == up;
		if (!direct)
			meet(&io_guess->nodes, hash_mix(up));
		meet(d, hash_mix((up << 1 | direct) << 32 | x.rest));
	}
	return met(d) * io_guess->one_in;
}

/* What is often from @step on, 2 at least. */
static uint64_t often_of(unsigned step)
{
	return (2ull + step % 2) << step / 2 >> 1;
}

static unsigned step_of(uint64_t hits)
{
	unsigned bits = 63 - (unsigned)__builtin_clzll(hits | 1);
	return bits ? 2 * bits + (hits >> (bits - 1) & 1) : 0;
}

/* How many nodes would be kept, by step. */
static void count_kept(const struct pruning *g, uint32_t ret_kept[STEPS + 1])
{
	uint32_t count = g->p->trie.count, by_step[128] = {0}, kept = NODE_OVERFLOW + 1;
	for (node_id n = NODE_OVERFLOW + 1; n < count; n++)
		by_step[step_of(g->hits[n])]++;
	for (unsigned step = 128; step-- > 0;) {
		kept += by_step[step];
		if (step <= STEPS)
			ret_kept[step] = kept;
	}
}

/* Would keeping what is often make the trie, and the totals, a good deal smaller? */
static bool looks_small_enough(struct pruning *g, uint32_t kept, struct guess *guess,
			       uint32_t *ret_nodes)
{
	const struct profile *p = g->p;
	const struct trie *old = &p->trie;
	uint32_t size = g->size < g->most ? g->size : g->most, most = size / 8 * 5;
	if (kept > size / 4)
		return false;
	for (node_id n = 0; n < old->count; n++) /* parents come first */
		g->up[n] = is_kept(g, n) ? n : g->up[trie_at(old, n)->parent];
	memset(&guess->nodes, 0, sizeof guess->nodes);
	memset(&guess->cells, 0, sizeof guess->cells);
	uint64_t leaves = guess_leaves(g, guess);
	memset(&guess->cells, 0, sizeof guess->cells);
	if (!g->leafless)
		guess_table(g, &p->since, 0, guess);
	guess_table(g, &p->base, 1, guess);
	guess_table(g, &p->open, 2, guess);
	*ret_nodes = kept + (uint32_t)met(&guess->nodes);
	return *ret_nodes + leaves <= most &&
	       (!g->totals ||
		met(&guess->cells) + leaves <=
			(p->since.len + p->leaves.len + p->base.len) / 8 * 5 + p->open.len);
}

/* Where what is left out below the kept node @up goes. */
static node_id bucket_of(struct pruning *g, node_id up)
{
	if (up == NODE_ROOT)
		return NODE_OVERFLOW;
	if (trie_at(&g->p->trie, up)->frame == FRAME_OVERFLOW)
		return g->to[up];
	if (!g->up[up])
		g->up[up] = trie_child(g->trie, g->to[up], FRAME_OVERFLOW);
	return g->up[up];
}

/* The new node of an old one. Kept nodes were made before, in the order of their ids. */
static node_id moved(struct pruning *g, node_id n)
{
	const struct trie *old = &g->p->trie;
	if (n >= old->count)
		return n; /* NODE_NONE */
	if (g->to[n])
		return g->to[n];
	frame_id leaf = trie_at(old, n)->frame;
	node_id bucket = bucket_of(g, g->up[n]);
	g->to[n] = leaf == FRAME_OVERFLOW ? bucket : trie_child(g->trie, bucket, leaf);
	return g->to[n];
}

/* The same of what is moved to leaves. */
static struct spot spot_of(struct pruning *g, const struct cell *c)
{
	if (c->node >= g->p->trie.count)
		return (struct spot){c->node, 0};
	struct spot at = leaf_of(g, c);
	bool lost = at.leaf == FRAME_OVERFLOW; /* the innermost frame is */
	if (is_kept(g, at.node) && !lost)
		return (struct spot){g->to[at.node], at.leaf};
	node_id up = is_kept(g, at.node) ? at.node : g->up[at.node];
	return (struct spot){bucket_of(g, up), lost ? 0 : at.leaf};
}

static void make_kept(struct pruning *g)
{
	const struct trie *old = &g->p->trie;
	memset(g->to, 0, old->count * sizeof *g->to);
	g->to[NODE_OVERFLOW] = NODE_OVERFLOW;
	g->up[NODE_ROOT] = g->up[NODE_OVERFLOW] = 0;
	for (node_id n = NODE_OVERFLOW + 1; n < old->count; n++) {
		const struct trie_node *x = trie_at(old, n);
		if (is_kept(g, n)) {
			g->to[n] = trie_child(g->trie, g->to[x->parent], x->frame);
			g->up[n] = 0;
		} else {
			g->up[n] = is_kept(g, x->parent) ? x->parent : g->up[x->parent];
		}
	}
}

/*
 * What moving the cells after @i will read is wanted soon: the slots of their new nodes, then these
 * nodes and their cells.
 */
static void foresee(const struct pruning *g, const struct cells *from, uint32_t i,
		    const struct cells *to)
{
	for (uint32_t stage = 1; stage <= 2 && i + stage * AHEAD < from->len; stage++) {
		node_id n = from->data[i + stage * AHEAD].node;
		if (n >= g->p->trie.count || g->to[n])
			continue;
		node_id up = g->up[n], bucket = g->up[up] ? g->up[up] : g->to[up];
		frame_id frame = trie_at(&g->p->trie, n)->frame;
		if (stage == 2) {
			__builtin_prefetch(trie_slot(g->trie, bucket, frame));
			continue;
		}
		node_id at = trie_slot_node(g->trie, bucket, frame);
		__builtin_prefetch(trie_at(g->trie, at));
		cells_foresee(to, &at, 1);
	}
}

static int move_table(struct pruning *g, struct cells *to, const struct cells *from)
{
	for (uint32_t i = 0; i < from->len; i++) {
		struct cell c = from->data[i];
		foresee(g, from, i, to);
		c.node = moved(g, c.node);
		if (cells_add(to, &c))
			return -ENOMEM;
	}
	return 0;
}

/* To the totals, or to leaves. */
static int move_spots(struct pruning *g, const struct cells *from)
{
	struct cell cells[LEAVES_TOGETHER];
	for (uint32_t i = 0; i < from->len; i += LEAVES_TOGETHER) {
		uint32_t left = from->len - i, n = left < LEAVES_TOGETHER ? left : LEAVES_TOGETHER;
		for (uint32_t k = 0; k < n; k++) {
			cells[k] = from->data[i + k];
			struct spot at = spot_of(g, &cells[k]);
			cells[k].node = at.node;
			cells[k].leaf = at.leaf;
		}
		cells_foresee_keys(&g->leaves, cells, n);
		for (uint32_t k = 0; k < n; k++)
			if (cells_add(cells[k].leaf ? &g->leaves : &g->since, &cells[k]))
				return -ENOMEM;
	}
	return 0;
}

/*
 * The frames from @n, which is not kept, outwards, those below what is kept @ret_inner of them.
 * Before them comes @leaf, if it is not 0. False: from @first of these on all are [overflow], so
 * that nothing more is lost.
 */
static bool find_frames(struct pruning *g, node_id n, frame_id leaf, uint32_t first,
			uint32_t *ret_inner, uint32_t *ret_depth)
{
	const struct trie *old = &g->p->trie;
	node_id up = g->up[n];
	uint32_t depth = 0;
	bool lacks = false;
	if (leaf)
		g->path[depth++] = leaf;
	for (; n != up && depth < THROUGH_DEPTH; n = trie_at(old, n)->parent) {
		frame_id frame = trie_at(old, n)->frame;
		lacks |= depth >= first && frame != FRAME_OVERFLOW;
		g->path[depth++] = frame;
	}
	*ret_inner = depth;
	for (; lacks && n > NODE_OVERFLOW && depth < THROUGH_DEPTH; n = trie_at(old, n)->parent)
		g->path[depth++] = trie_at(old, n)->frame;
	*ret_depth = depth;
	return lacks;
}

/* What the path to @c lacks from now on; mostly nothing, since it was shortened before. */
static void find_lacks(struct pruning *g, const struct cell *c, struct through_list *ret_list)
{
	uint32_t inner, depth;
	ret_list->n = 0;
	/* A path that ends in [overflow] has no innermost frame to keep. */
	if (c->node < g->p->trie.count && !is_kept(g, c->node) &&
	    find_frames(g, c->node, c->leaf, 1, &inner, &depth))
		through_find(&g->p->through, g->path, depth, depth - inner, true, false, ret_list);
}

/* Paths that end below one node mostly lack the same: so cells are looked at by the node above. */
struct leaf {
	uint32_t cell;
	frame_id frame;
};

static void count_alone(struct pruning *g, const struct cell *c)
{
	struct through_list *list = &g->p->list;
	find_lacks(g, c, list);
	through_add(&g->p->through, list->keys, list->n, c);
}

/* What all paths lack that end below @up, summed as long as cells are of one kind. */
static void count_below(struct pruning *g, const struct cell *cells, node_id up,
			struct leaf *leaves, uint32_t n)
{
	struct through_list *list = &g->p->list;
	struct cell sum = {0};
	uint32_t inner, depth, alone = 0, summed = 0;
	if (n == 1) {
		count_alone(g, &cells[leaves[0].cell]);
		return;
	}
	if (!find_frames(g, up, 0, 0, &inner, &depth))
		return;
	through_find_common(&g->p->through, g->path, depth, depth - inner, list);
	for (uint32_t i = 0; i < n; i++) {
		const struct cell *c = &cells[leaves[i].cell];
		if (i + AHEAD < n)
			__builtin_prefetch(&cells[leaves[i + AHEAD].cell]);
		if (through_shares(&g->p->through, leaves[i].frame)) {
			leaves[alone++] = leaves[i];
			continue;
		}
		if (summed++ && c->task == sum.task && c->event == sum.event &&
		    c->flags == sum.flags) {
			cell_sum(&sum, c);
			continue;
		}
		if (summed > 1)
			through_add(&g->p->through, list->keys, list->n, &sum);
		sum = *c;
	}
	if (summed)
		through_add(&g->p->through, list->keys, list->n, &sum);
	for (uint32_t i = 0; i < alone; i++)
		count_alone(g, &cells[leaves[i].cell]);
}

/* The node above a cell's, below which its path may lack something; NODE_ROOT: it lacks nothing. */
static node_id above(const struct pruning *g, const struct cell *c)
{
	const struct trie *old = &g->p->trie;
	if (c->flags & (CELL_ACCOUNT | CELL_RUNNING) || c->node >= old->count ||
	    is_kept(g, c->node))
		return NODE_ROOT;
	node_id up = c->leaf ? c->node : trie_at(old, c->node)->parent;
	return is_kept(g, up) ? NODE_ROOT : up;
}

/* Keep what the paths of cells that move went through. */
static void count_through(struct pruning *g, const struct cells *cells)
{
	const struct trie *old = &g->p->trie;
	uint32_t *ends = calloc(old->count + 1, sizeof *ends); /* by node above: in leaves */
	struct leaf *leaves = malloc((cells->len + 1) * sizeof *leaves);
	bool sorted = ends && leaves;
	for (uint32_t i = 0; i < cells->len; i++) {
		const struct cell *c = &cells->data[i];
		node_id up = above(g, c);
		if (up != NODE_ROOT && sorted)
			ends[up + 1]++;
		else if (up != NODE_ROOT)
			count_alone(g, c);
	}
	for (node_id up = 0; sorted && up < old->count; up++)
		ends[up + 1] += ends[up];
	for (uint32_t i = 0; sorted && i < cells->len; i++) {
		node_id up = above(g, &cells->data[i]);
		if (up != NODE_ROOT)
			leaves[ends[up]++] = (struct leaf){
				.cell = i, .frame = leaf_of(g, &cells->data[i]).leaf};
	}
	for (node_id up = 1; sorted && up < old->count; up++)
		if (ends[up] > ends[up - 1])
			count_below(g, cells->data, up, leaves + ends[up - 1],
				    ends[up] - ends[up - 1]);
	free(ends);
	free(leaves);
}

static void drop_new(struct pruning *g)
{
	cells_fini(&g->since);
	cells_fini(&g->base);
	cells_fini(&g->leaves);
	trie_fini(g->trie);
}

static bool small_enough(const struct pruning *g)
{
	const struct profile *p = g->p;
	uint32_t cells = p->since.len + p->leaves.len + p->base.len;
	uint32_t size = g->size < g->most ? g->size : g->most;
	return g->trie->count + g->leaves.len <= size / 4 * 3 &&
	       (!g->totals || g->since.len + g->leaves.len + g->base.len <= cells / 4 * 3);
}

/* The first step that looks as if it were often enough: rarer is never smaller. About how many
 * nodes there will be, 0: nobody knows. */
static uint64_t find_often(struct pruning *g, struct guess *guess, uint32_t *ret_nodes)
{
	*ret_nodes = 0;
	unsigned low = 2, high = STEPS;
	uint32_t nodes, kept[STEPS + 1];
	count_kept(g, kept);
	if (g->leafless) {
		look_at_leaves(g, &g->p->since, guess);
		look_at_leaves(g, &g->p->leaves, guess);
	}
	while (low < high) {
		unsigned middle = (low + high) / 2;
		g->often = often_of(middle);
		if (looks_small_enough(g, kept[middle], guess, &nodes)) {
			high = middle;
			*ret_nodes = nodes;
		} else {
			low = middle + 1;
		}
	}
	return often_of(low);
}

/* Make the new trie and totals, rarer and rarer paths left out, until they are small enough. */
static int rebuild(struct pruning *g, struct guess *guess)
{
	struct profile *p = g->p;
	uint32_t nodes;
	for (g->often = find_often(g, guess, &nodes); g->often < often_of(STEPS); g->often *= 2) {
		if (trie_init(g->trie, p->trie.cap_bytes))
			return -ENOMEM;
		if (g->leafless)
			cells_expect(&g->leaves, g->most);
		else
			trie_expect(g->trie, nodes);
		make_kept(g);
		if ((g->leafless ? move_spots(g, &p->since) || move_spots(g, &p->leaves)
				 : move_table(g, &g->since, &p->since)) ||
		    move_table(g, &g->base, &p->base)) {
			drop_new(g);
			return -ENOMEM;
		}
		for (uint32_t i = 0; i < p->open.len; i++)
			moved(g, p->open.data[i].node);
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
	struct numbered *places = &g->p->numbered;
	struct through_list *list = &g->p->list;
	for (uint32_t i = 0; places->data && i < STACKS_MAX; i++) {
		struct place *place = &places->data[i];
		if (!place->node && !place->leaf)
			continue;
		struct cell c = {.node = place->node, .leaf = place->leaf};
		find_lacks(g, &c, list);
		struct spot at = g->leafless ? spot_of(g, &c) : (struct spot){moved(g, c.node), 0};
		place->node = at.node;
		place->leaf = at.leaf;
		numbered_lack_more(places, place, list);
	}
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

/*
 * How many hits must miss a node before it is made. What is rarer than what was kept would go with
 * the next prune; without leaves, prunes come that much later. A few miss it by chance, as counters
 * are shared.
 */
static uint64_t rare_of(const struct pruning *g)
{
	uint64_t rare = g->leafless ? g->often : g->often / 4, least = g->leafless ? 8 : 2;
	return rare > least ? rare : least;
}

/* One in so many innermost frames is enough to guess by, where there are many of them and many
 * cells; a power of two. */
static uint32_t one_in(const struct profile *p, uint32_t cells)
{
	uint32_t frames = p->through.tables ? tables_frame_count(p->through.tables) : 0, n = 1;
	while (n < 16 && frames / n >= LOOK_FRAMES * 2 && cells / n >= LOOK_CELLS * 2)
		n *= 2;
	return n;
}

int profile_prune(struct profile *p, bool totals)
{
	struct pruning g = {.p = p, .totals = totals};
	g.leafless = p->trie.leafless;
	if (!g.leafless)
		profile_settle(p);
	uint32_t cells = p->since.len + p->leaves.len;
	g.size = p->trie.count + p->leaves.len;
	g.most = g.leafless ? leaves_most(trie_most(&p->trie)) : g.size;
	g.since.by_node = p->since.by_node;
	g.base.by_node = p->base.by_node;
	g.hits = malloc(p->trie.count * sizeof *g.hits);
	g.to = malloc(p->trie.count * sizeof *g.to);
	g.up = malloc(p->trie.count * sizeof *g.up);
	g.trie = malloc(sizeof *g.trie);
	struct guess *guess = calloc(1, sizeof *guess);
	struct looked *looked = g.leafless ? malloc((cells + 1) * sizeof *looked) : NULL;
	int result = -ENOMEM;
	if (!g.hits || !g.to || !g.up || !g.trie || !guess || (g.leafless && !looked))
		goto out;
	guess->leaves = looked;
	guess->one_in = one_in(p, cells);
	count_hits(&g);
	result = rebuild(&g, guess);
	if (result)
		goto out;
	if (p->recording) /* without memory for it, paths do not grow */
		(void)trie_spare(g.trie, rare_of(&g));
	const struct cells *const tables[] = {&p->since, &p->base, &p->open, &p->leaves};
	for (size_t i = 0; p->through.tables && i < sizeof tables / sizeof *tables; i++)
		count_through(&g, tables[i]);
	/* From here on old node ids vanish one table after the other: there is no way back, and
	 * what cannot be moved is forgotten. */
	if (move_history(&g))
		history_forget(&p->history, p->newest_ns);
	move_open(&g);
	move_places(&g);
	cells_fini(&p->since);
	cells_fini(&p->base);
	cells_fini(&p->leaves);
	p->since = g.since;
	p->base = g.base;
	p->leaves = g.leaves;
	p->leaves_most = g.most;
	trie_fini(&p->trie);
	p->trie = *g.trie;
	p->trie.leafless = g.leafless;
	p->pruned++;
out:
	free(g.hits);
	free(g.to);
	free(g.up);
	free(g.trie);
	free(guess);
	free(looked);
	return result;
}
