/*
 * profile: intake of finished samples and accounts, the totals, the mark.
 *
 * Engine thread. A sample costs one trie insertion and one look-up in the open table; totals and
 * history are paid once per bucket. At the caps rare paths are shortened (prune.h); what is refused
 * even then goes to visible places: first a cell loses its thread, then its node.
 */
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/leaves.h"
#include "profile/prune.h"

#define TIME_MAX       (1ull << 62)
#define OPEN_CELLS_MAX (1u << 16) /* recordings without times close by size */
#define SPARE_CELLS    256        /* room kept for cells without thread or node */
#define PRUNE_SHARE    4096       /* bytes of cap a sample between two prunings, at least … */
#define PRUNE_AGAIN    1000000    /* … and samples after one that gained nothing */

int profile_init(struct profile *p, size_t cap_bytes)
{
	memset(p, 0, sizeof *p);
	if (!cap_bytes)
		cap_bytes = PROFILE_BYTES;
	p->totals_cap = cap_bytes / 4;
	p->scope = SCOPE_NONE;
	history_init(&p->history, cap_bytes / 2);
	return trie_init(&p->trie, cap_bytes / 4);
}

int profile_of_recording(struct profile *p, const struct tables *tables)
{
	p->recording = true;
	p->since.by_node = p->base.by_node = true;
	p->trie.cap_bytes /= 4;
	return through_init(&p->through, tables, p->trie.cap_bytes);
}

void profile_fini(struct profile *p)
{
	trie_fini(&p->trie);
	history_fini(&p->history);
	ledger_fini(&p->ledger);
	cells_fini(&p->open);
	cells_fini(&p->since);
	cells_fini(&p->base);
	cells_fini(&p->leaves);
	through_fini(&p->through);
	numbered_fini(&p->numbered);
}

size_t profile_bytes(const struct profile *p)
{
	return p->trie.bytes + p->history.bytes + cells_bytes(&p->open) + cells_bytes(&p->since) +
	       cells_bytes(&p->base) + cells_bytes(&p->leaves) +
	       p->ledger.cap * sizeof *p->ledger.data + through_bytes(&p->through) +
	       numbered_bytes(&p->numbered);
}

/* Has a table that may not grow less than @spare cells left? */
static bool has_less(const struct profile *p, const struct cells *to, uint32_t spare)
{
	size_t bytes = cells_bytes(&p->since) + cells_bytes(&p->base) + cells_bytes(&p->leaves);
	return to->cap && to->len + spare >= to->cap &&
	       bytes - cells_bytes(to) + cells_bytes(to) * 2 > p->totals_cap;
}

static bool totals_full(const struct profile *p, const struct cells *to)
{
	return has_less(p, to, SPARE_CELLS);
}

/* No memory, though no cap was reached. */
static void starve(struct profile *p)
{
	p->overflowed++;
	p->starved = true;
}

/* Add to a total; when it is full, to the node's cell of all threads, else to [overflow]. */
static void total_add(struct profile *p, struct cells *to, const struct cell *c)
{
	struct cell key = *c;
	if (totals_full(p, to) && !cells_find(to, &key)) {
		p->overflowed++;
		key.task = 0;
		if (!cells_find(to, &key) && key.node != NODE_NONE)
			key.node = NODE_OVERFLOW;
	}
	if (cells_add(to, &key))
		starve(p);
}

void profile_total(struct profile *p, const struct cell *c)
{
	total_add(p, &p->since, c);
}

/* Shorten rare paths; when that gains nothing it is not tried again soon. True: there is room. */
static bool make_room(struct profile *p)
{
	if (p->added < p->prune_after)
		return false;
	/* Totals that would be full soon after, when it is not done again, shrink as well. */
	bool totals = has_less(p, &p->since, p->since.cap / 8 + SPARE_CELLS);
	bool made = profile_prune(p, totals) == 0;
	p->coming_n = 0; /* they were in the old trie */
	p->prune_after = p->added + (made ? p->trie.cap_bytes / PRUNE_SHARE : PRUNE_AGAIN);
	return made;
}

static void close_open(struct profile *p)
{
	if (totals_full(p, &p->since))
		make_room(p);
	for (uint32_t i = 0; i < p->open.len; i++)
		total_add(p, &p->since, &p->open.data[i]);
	tally_add(&p->since_tally, &p->open_tally);
	if (history_push(&p->history, p->open_start_ns, p->open_end_ns, &p->open, &p->open_tally))
		starve(p);
	cells_clear(&p->open);
	memset(&p->open_tally, 0, sizeof p->open_tally);
}

static bool open_is_empty(const struct profile *p)
{
	static const struct tally none;
	return !p->open.len && !memcmp(&p->open_tally, &none, sizeof none);
}

/* Make the open bucket the one that holds @time_ns. Costs the same however far time jumps. */
static void advance(struct profile *p, uint64_t time_ns)
{
	if (time_ns > TIME_MAX)
		time_ns = TIME_MAX;
	if (!p->begin_ns)
		p->begin_ns = time_ns ? time_ns : 1;
	if (time_ns > p->newest_ns)
		p->newest_ns = time_ns;
	if (time_ns < p->open_end_ns && p->open.len < OPEN_CELLS_MAX)
		return;
	if (!open_is_empty(p))
		close_open(p);
	if (time_ns >= p->open_end_ns) {
		p->open_start_ns = time_ns - time_ns % HISTORY_STEP_NS;
		p->open_end_ns = p->open_start_ns + HISTORY_STEP_NS;
	}
	if (p->open_start_ns < p->mark_ns && p->mark_ns <= time_ns)
		p->open_start_ns = p->mark_ns;
}

void profile_extent(struct profile *p, uint64_t from_ns, uint64_t until_ns)
{
	advance(p, from_ns);
	if (until_ns > p->newest_ns)
		p->newest_ns = until_ns < TIME_MAX ? until_ns : TIME_MAX;
}

static uint16_t guest_flag(const struct sample *s)
{
	return s->flags & SAMPLE_GUEST ? CELL_GUEST : 0;
}

static uint16_t cell_flags(const struct sample *s)
{
	return (uint16_t)((s->flags & SAMPLE_BLOCKED ? CELL_BLOCKED : 0) | guest_flag(s));
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
	return a->node == b->node && a->leaf == b->leaf && a->task == b->task &&
	       a->event == b->event && a->flags == b->flags;
}

/* As cells_add; the cell is where this stack's last one was, most often. */
static void add_cell(struct profile *p, struct cells *to, const struct cell *c, struct place *place)
{
	struct cell *at = place && place->cell < to->len ? &to->data[place->cell] : NULL;
	if (!at || !same_cell(at, c)) {
		if (to == &p->since && totals_full(p, to)) {
			total_add(p, to, c);
			return;
		}
		at = cells_at(to, c);
		if (place && at)
			place->cell = (uint32_t)(at - to->data);
	}
	if (at)
		cell_sum(at, c);
	else
		starve(p);
}

/* Where cells of nodes go, and those of innermost frames without one. */
static struct cells *table_of(struct profile *p, const struct sample *s, frame_id leaf)
{
	return leaf ? &p->leaves : s->flags & SAMPLE_TIMELESS ? &p->since : &p->open;
}

static void add_values(struct profile *p, const struct sample *s, const struct cell *own,
		       const struct sample_value *values, const uint32_t *lacks, uint32_t nlacks)
{
	for (unsigned i = 0; i < s->nvalues; i++) {
		const struct sample_value *v = &values[i];
		if (v->event >= EVENT_MAX)
			continue;
		p->value_state[v->event] = v->state;
		p->events_read |= 1ull << v->event;
		if (v->state != VALUE_OK && v->state != VALUE_SCALED)
			continue;
		struct cell c = {.node = own->node,
				 .leaf = own->leaf,
				 .task = s->task,
				 .event = v->event,
				 .flags = (uint16_t)(CELL_VALUE | guest_flag(s)),
				 .weight = v->count};
		add_cell(p, table_of(p, s, c.leaf), &c, NULL);
		if (nlacks)
			through_add(&p->through, lacks, nlacks, &c);
		struct cell running = {.node = NODE_NONE,
				       .event = v->event,
				       .flags = CELL_RUNNING,
				       .samples = 1,
				       .weight = (uint64_t)((double)v->running * 1e6)};
		add_cell(p, table_of(p, s, 0), &running, NULL);
	}
}

static struct coming_path try_path(struct profile *p, const struct sample *s,
				   const frame_id *frames)
{
	struct trie *t = &p->trie;
	struct coming_path path = {.frames = frames};
	uint32_t n = s->nframes, skip = 0;
	if (t->leafless) {
		/* The innermost that is kept. */
		skip = n > TRIE_DEPTH_MAX ? n - TRIE_DEPTH_MAX + 1 : n > 0;
		path.leaf = n ? frames[skip - 1] : FRAME_UNKNOWN;
	}
	path.node = p->recording && p->pruned
			    ? trie_add_sparing(t, frames + skip, n - skip, s->hits ? s->hits : 1)
			    : trie_add(t, frames + skip, n - skip);
	path.len = t->path_len;
	path.refused = t->refused;
	return path;
}

static struct coming_path add_path(struct profile *p, const struct sample *s,
				   const frame_id *frames)
{
	/* Of others as their bucket closes; a sample has this many cells at most. */
	if (p->timeless && has_less(p, &p->since, SPARE_CELLS + 2 * UINT8_MAX + 1))
		make_room(p);
	struct coming_path path = try_path(p, s, frames);
	return path.refused && make_room(p) ? try_path(p, s, frames) : path;
}

/* Made as it was foreseen, or now. */
static struct coming_path path_of(struct profile *p, const struct sample *s, const frame_id *frames)
{
	if (p->coming_at < p->coming_n && p->coming[p->coming_at].frames == frames)
		return p->coming[p->coming_at++];
	return add_path(p, s, frames);
}

/*
 * Where a sample's stack ends, and in *ret_lacks, *ret_n what that path lacks: of frames that were
 * delivered, or of the stack with its number.
 */
static struct spot find_path(struct profile *p, const struct sample *s, const frame_id *frames,
			     struct place *place, const uint32_t **ret_lacks, uint32_t *ret_n)
{
	struct through_list *list = &p->list;
	*ret_n = 0;
	if (place && !s->nframes && (place->node || place->leaf)) {
		*ret_lacks = place->lacks ? place->lacks + 1 : NULL;
		*ret_n = place->lacks ? place->lacks[0] : 0;
		p->lost += place->lossy;
		return (struct spot){place->node, place->leaf};
	}
	p->lost += s->stack && !s->nframes; /* its stack was not kept */
	struct coming_path path = path_of(p, s, frames);
	struct spot at = {path.node, path.leaf};
	bool has_leaf = at.leaf || !path.refused;
	list->n = 0;
	if (p->recording && path.len < s->nframes && s->nframes <= TRIE_DEPTH_MAX)
		through_find(&p->through, frames, s->nframes, has_leaf ? path.len : 0, has_leaf,
			     s->flags & SAMPLE_DISTINCT, list);
	p->overflowed_paths += at.leaf && path.refused;
	*ret_lacks = list->keys;
	*ret_n = list->n;
	if (!place)
		return at;
	place->node = at.node;
	place->leaf = at.leaf;
	numbered_lack(&p->numbered, place, list);
	return at;
}

/* From the first sample without a time on. */
static void begin_leaves(struct profile *p)
{
	p->timeless = true;
	p->trie.leafless = p->recording;
	p->leaves_most = trie_most(&p->trie);
}

/*
 * Innermost frames without a node are no more than there may be. Where shortening paths does not
 * make them fewer, as each is there for many threads, they get nodes from now on, which threads
 * share.
 */
static void keep_leaves(struct profile *p)
{
	if (!p->trie.leafless || !(leaves_full(p) || has_less(p, &p->leaves, SPARE_CELLS)) ||
	    make_room(p))
		return;
	p->coming_n = 0;
	p->prune_after = p->added; /* of nodes there may be more */
	leaves_end(p);
}

static struct spot with_node(struct profile *p, struct spot at)
{
	at.node = trie_child(&p->trie, at.node, at.leaf);
	p->overflowed += at.node == NODE_OVERFLOW;
	at.leaf = 0;
	return at;
}

/* Losses that are noticed while counting are told like a source's. */
static void tell_lost(struct profile *p)
{
	uint64_t lost = p->lost + p->through.lost;
	p->open_tally.loss[LOSS_MEMORY] += lost - p->told_lost;
	p->told_lost = lost;
}

static void add_tally(struct profile *p, const struct sample *s, struct tally *t)
{
	t->samples += s->hits;
	t->stacks += s->hits;
	t->cut[s->cut < CUT_REASONS ? s->cut : CUT_NONE] += s->hits;
	if (s->flags & SAMPLE_STITCHED)
		t->stitched += s->hits;
	bool on_cpu = s->event < EVENT_MAX && p->events_on_cpu >> s->event & 1;
	if (on_cpu && !(s->flags & SAMPLE_BLOCKED)) {
		t->cpu_ns += s->weight;
		ledger_sampled(&p->ledger, s->process, s->event, s->weight);
	}
}

void profile_add(struct profile *p, const struct sample *s, const struct sample_value *values,
		 const frame_id *frames)
{
	bool timeless = s->flags & SAMPLE_TIMELESS;
	if (timeless && !p->timeless)
		begin_leaves(p);
	advance(p, s->time_ns);
	struct place *place = numbered_at(&p->numbered, s->stack);
	const uint32_t *lacks;
	uint32_t nlacks;
	keep_leaves(p);
	struct spot at = find_path(p, s, frames, place, &lacks, &nlacks);
	p->overflowed_paths += at.node == NODE_OVERFLOW && !at.leaf;
	if (at.leaf && !timeless)
		at = with_node(p, at);
	p->starved |= p->trie.starved;
	p->added++;
	struct cell c = {
		.node = at.node,
		.leaf = at.leaf,
		.task = s->task,
		.event = s->event,
		.flags = cell_flags(s),
		.samples = s->hits,
		.weight = s->weight,
		.weight_sq = s->hits ? (double)s->weight * (double)s->weight /
					       (s->effective > 0 ? s->effective : (double)s->hits)
				     : 0};
	add_cell(p, table_of(p, s, c.leaf), &c, place);
	if (nlacks)
		through_add(&p->through, lacks, nlacks, &c);
	add_values(p, s, &c, values, lacks, nlacks);
	add_tally(p, s, timeless ? &p->since_tally : &p->open_tally);
	if (p->lost + p->through.lost != p->told_lost)
		tell_lost(p);
}

/* Their paths are made at once, so that their cells come from memory side by side. */
static void make_paths(struct profile *p, const struct sample *const *samples,
		       const struct trie_path *paths, uint32_t n)
{
	struct cell keys[TRIE_AHEAD];
	for (uint32_t i = 0; i < n; i++) {
		const struct sample *s = samples[i];
		p->coming[i] = try_path(p, s, paths[i].frames - 1);
		keys[i] = (struct cell){.node = p->coming[i].node,
					.leaf = p->coming[i].leaf,
					.task = s->task,
					.event = s->event,
					.flags = cell_flags(s)};
	}
	p->coming_n = n;
	cells_foresee_keys(&p->leaves, keys, n);
}

static void foresee_nodes(const struct cells *cells, const struct trie_ahead *ahead, uint32_t n)
{
	uint32_t nodes[TRIE_AHEAD];
	for (uint32_t i = 0; i < n; i++)
		nodes[i] = ahead[i].end;
	cells_foresee(cells, nodes, n);
}

void profile_foresee(struct profile *p, const struct coming *coming, uint32_t n)
{
	const struct cells *cells = p->timeless ? &p->since : &p->open;
	struct trie_path paths[TRIE_AHEAD] = {{0}};
	const struct sample *samples[TRIE_AHEAD];
	const struct place *places[TRIE_AHEAD];
	uint32_t npaths = 0, nplaces = 0, skip = p->trie.leafless;
	for (uint32_t i = 0; i < n; i++) {
		const struct sample *s = coming[i].sample;
		const struct place *place = numbered_at(&p->numbered, s->stack);
		if (place) {
			__builtin_prefetch(place);
			places[nplaces++] = place;
		}
		if (s->nframes > skip && s->nframes <= TRIE_DEPTH_MAX) {
			paths[npaths] = (struct trie_path){coming[i].frames + skip,
							   s->nframes - skip};
			samples[npaths++] = s;
		}
	}
	const struct trie_ahead *ahead = trie_foresee(&p->trie, paths, npaths);
	p->coming_at = p->coming_n = 0;
	if (skip)
		make_paths(p, samples, paths, npaths);
	else if (ahead)
		foresee_nodes(cells, ahead, npaths);
	for (uint32_t i = 0; i < nplaces; i++)
		if (places[i]->cell < cells->len)
			__builtin_prefetch(&cells->data[places[i]->cell], 1);
}

void profile_account(struct profile *p, const struct account *a)
{
	advance(p, a->time_ns);
	ledger_read(&p->ledger, a, p->scope, p->clock, &p->open);
}

void profile_loss(struct profile *p, enum loss_kind kind, uint64_t count)
{
	p->open_tally.loss[kind] += count;
}

void profile_mark(struct profile *p, uint64_t now_ns)
{
	/* Samples that were taken before but arrive later count to the side on which they arrive.
	 */
	p->mark_ns = now_ns > p->open_start_ns ? now_ns : p->open_start_ns + 1;
	if (!open_is_empty(p)) {
		if (p->open_end_ns > p->mark_ns)
			p->open_end_ns = p->mark_ns;
		close_open(p);
	}
	profile_settle(p);
	for (uint32_t i = 0; i < p->since.len; i++)
		total_add(p, &p->base, &p->since.data[i]);
	tally_add(&p->base_tally, &p->since_tally);
	cells_clear(&p->since);
	memset(&p->since_tally, 0, sizeof p->since_tally);
	p->open_start_ns = p->open_end_ns = p->mark_ns;
	p->history.barrier_ns = p->mark_ns;
}

void profile_unmark(struct profile *p)
{
	p->mark_ns = 0;
}
