/*
 * snap: freezes a window of the profile into a snapshot.
 *
 * Engine thread. Nodes are numbered depth first over what any event of the window touched, so that
 * one numbering serves all cells; [unsampled] becomes one more outermost node.
 */
#include "profile/snap.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "profile/flat.h"
#include "profile/usage.h"

struct snap_box {
	struct snapshot snapshot; /* first: references cast */
	_Atomic unsigned refs;
	struct snapshot_node *nodes;
	struct cells own;          /* summed */
	const struct cells *cells; /* these, or the profile's */
	struct snapshot_cell *out;
	struct snapshot_event *events;
	struct snapshot_through *through;
	struct snapshot_usage *usages;
};

const struct snapshot *snapshot_ref(const struct snapshot *s)
{
	struct snap_box *box = (struct snap_box *)(uintptr_t)s;
	atomic_fetch_add_explicit(&box->refs, 1, memory_order_relaxed);
	return s;
}

void snapshot_unref(const struct snapshot *s)
{
	struct snap_box *box = (struct snap_box *)(uintptr_t)s;
	if (!box || atomic_fetch_sub_explicit(&box->refs, 1, memory_order_acq_rel) != 1)
		return;
	free(box->nodes);
	cells_fini(&box->own);
	free(box->out);
	free(box->events);
	free(box->through);
	free(box->usages);
	free(box);
}

static bool is_bookkeeping(const struct cell *c)
{
	return c->flags & (CELL_ACCOUNT | CELL_RUNNING) || c->event >= EVENT_MAX;
}

/* Every cell of the window that is not bookkeeping nor hidden, summed; false: no memory. */
static bool gather(struct snap_box *box, const struct profile *p, const struct tables *t,
		   const struct window *w, uint32_t hide)
{
	struct profile_walk walk = profile_walk(p, w);
	if (w->all && w->until_ns == UINT64_MAX && !p->mark_ns && !p->base.len && !p->open.len &&
	    !hide) { /* there is one table, and each of its cells is the sum already */
		box->cells = &p->since;
		return true;
	}
	while (profile_next(&walk)) {
		const struct cell *c = walk.cell;
		if (is_bookkeeping(c))
			continue;
		if (hide && (c->node >= p->trie.count || fold_hides_mode(t, p, c->node, hide)))
			continue;
		if (cells_add(&box->own, c))
			return false;
	}
	box->cells = &box->own;
	return true;
}

/* Number of @n's nearest ancestor that has one: the user's code below the kernel's may be hidden.
 */
static uint32_t parent_number(const struct trie *trie, const uint32_t *numbers, node_id n)
{
	do
		n = trie_at(trie, n)->parent;
	while (n != NODE_ROOT && numbers[n] < 2);
	return n == NODE_ROOT ? SNAPSHOT_ROOT : numbers[n] - 2;
}

/* Depth-first numbers for all nodes that have cells, and their ancestors that are not hidden. */
static bool number_nodes(struct snap_box *box, const struct profile *p, const struct tables *t,
			 uint32_t hide, uint32_t **ret_numbers)
{
	const struct trie *trie = &p->trie;
	uint32_t count = trie->count;
	uint32_t *numbers = calloc(count, sizeof *numbers); /* 1: touched, later number + 2 */
	uint32_t *first = malloc(count * sizeof *first), *next = malloc(count * sizeof *next);
	uint32_t touched = 0;
	bool ok = numbers && first && next;

	for (uint32_t i = 0; ok && i < box->cells->len; i++) {
		node_id n = box->cells->data[i].node;
		for (; n < count && n != NODE_ROOT && !numbers[n]; n = trie_at(trie, n)->parent) {
			numbers[n] = 1;
			touched++;
		}
	}
	if (ok)
		box->nodes = malloc((touched + 1) * sizeof *box->nodes);
	ok = ok && box->nodes;
	if (ok)
		memset(first, 0, count * sizeof *first);
	for (node_id n = count; ok && n-- > 1;) {
		if (!numbers[n])
			continue;
		node_id parent = trie_at(trie, n)->parent;
		next[n] = first[parent];
		first[parent] = n;
	}
	uint32_t at = ok ? first[NODE_ROOT] : 0, made = 0;
	while (at) {
		const struct trie_node *n = trie_at(trie, at);
		if (!(hide & QUERY_NO_USER) || !fold_hides_mode(t, p, at, hide)) {
			box->nodes[made] = (struct snapshot_node){
				.parent = parent_number(trie, numbers, at), .frame = n->frame};
			numbers[at] = made++ + 2;
		}
		if (first[at]) {
			at = first[at];
			continue;
		}
		while (at != NODE_ROOT && !next[at])
			at = trie_at(trie, at)->parent;
		if (at != NODE_ROOT)
			at = next[at];
	}
	box->snapshot.nnodes = made;
	free(first);
	free(next);
	*ret_numbers = numbers;
	return ok;
}

static int compare_cells(const void *a, const void *b)
{
	const struct snapshot_cell *x = a, *y = b;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return (int)x->flags - (int)y->flags;
}

static bool counts(const struct cell *c)
{
	return !is_bookkeeping(c) && (c->samples || c->weight);
}

/* The number of a cell's node; what has none comes last. */
static uint32_t number_of(const struct snap_box *box, const struct cell *c, const uint32_t *numbers,
			  uint32_t count)
{
	return c->node < count && numbers[c->node] > 1 ? numbers[c->node] - 2
						       : box->snapshot.nnodes;
}

/* Where the cells of each node begin, in the order of their numbers. */
static uint32_t *find_places(const struct snap_box *box, const uint32_t *numbers, uint32_t count)
{
	uint32_t nodes = box->snapshot.nnodes;
	uint32_t *places = calloc((size_t)nodes + 2, sizeof *places);
	for (uint32_t i = 0; places && i < box->cells->len; i++)
		if (counts(&box->cells->data[i]))
			places[1 + number_of(box, &box->cells->data[i], numbers, count)]++;
	for (uint32_t i = 0; places && i <= nodes; i++)
		places[i + 1] += places[i];
	return places;
}

static void fill_cell(struct snap_box *box, const struct cell *c, uint32_t number,
		      struct snapshot_cell *ret_cell)
{
	struct snapshot_event *event = &box->events[c->event];
	bool value = c->flags & CELL_VALUE;
	if (!value || !event->desc.sampled) {
		event->samples += c->samples;
		event->weight += c->weight;
	}
	*ret_cell = (struct snapshot_cell){
		.node = number < box->snapshot.nnodes ? number : SNAPSHOT_ROOT,
		.task = c->task,
		.event = c->event,
		.flags = (uint16_t)((c->flags & CELL_BLOCKED ? SAMPLE_BLOCKED : 0) |
				    (value ? SNAPSHOT_VALUE : 0)),
		.samples = c->samples,
		.weight = c->weight,
		.weight_sq = c->weight_sq};
}

/* By node, each node's sorted. False: no memory. */
static bool fill_cells(struct snap_box *box, const uint32_t *numbers, uint32_t count)
{
	uint32_t *places = find_places(box, numbers, count);
	uint32_t nodes = box->snapshot.nnodes, from = 0;
	if (!places)
		return false;
	for (uint32_t i = 0; i < box->cells->len; i++) {
		const struct cell *c = &box->cells->data[i];
		uint32_t number = number_of(box, c, numbers, count);
		if (counts(c))
			fill_cell(box, c, number, &box->out[places[number]++]);
	}
	for (uint32_t i = 0; i <= nodes; from = places[i++]) /* where the next begins by now */
		if (places[i] > from + 1)
			qsort(box->out + from, places[i] - from, sizeof *box->out, compare_cells);
	box->snapshot.ncells = from;
	free(places);
	return true;
}

static bool fill_through(struct snap_box *box, const struct profile *p)
{
	const struct cells *cells = through_cells(&p->through);
	box->through = malloc(cells->len * sizeof *box->through);
	if (!box->through)
		return false;
	for (uint32_t i = 0; i < cells->len; i++) {
		const struct cell *c = &cells->data[i];
		bool module = c->node & THROUGH_MODULE;
		box->through[i] = (struct snapshot_through){
			.frame = module ? 0 : c->node,
			.module = module ? c->node & ~THROUGH_MODULE : 0,
			.task = c->task,
			.event = c->event,
			.flags = (uint16_t)((c->flags & CELL_BLOCKED ? SAMPLE_BLOCKED : 0) |
					    (c->flags & CELL_VALUE ? SNAPSHOT_VALUE : 0)),
			.samples = c->samples,
			.weight = c->weight,
			.weight_sq = c->weight_sq};
	}
	box->snapshot.through = box->through;
	box->snapshot.nthrough = cells->len;
	return true;
}

static void add_unsampled(struct snap_box *box, const struct profile *p, const struct tables *t,
			  const struct window *w, uint16_t event)
{
	struct unsampled *found;
	uint32_t n = unsampled_find(p, t, w, event, &found);
	if (!n)
		return;
	uint32_t cells = box->snapshot.ncells;
	struct snapshot_cell *out = realloc(box->out, (cells + n) * sizeof *out);
	if (out) {
		box->out = out;
		uint32_t node = box->snapshot.nnodes++; /* there is room for one more */
		box->nodes[node] = (struct snapshot_node){SNAPSHOT_ROOT, FRAME_UNSAMPLED};
		for (uint32_t i = 0; i < n; i++) {
			out[cells + i] = (struct snapshot_cell){.node = node,
								.task = found[i].process,
								.event = event,
								.weight = found[i].weight};
			box->events[event].weight += found[i].weight;
		}
		box->snapshot.ncells += n;
		qsort(out, box->snapshot.ncells, sizeof *out, compare_cells);
	}
	free(found);
}

static void add_running(struct snap_box *box, const struct profile *p, const struct window *w)
{
	uint64_t readings[EVENT_MAX] = {0}, ppm[EVENT_MAX] = {0};
	struct profile_walk walk = profile_walk(p, w);
	while (profile_next(&walk)) {
		const struct cell *c = walk.cell;
		if (c->flags != CELL_RUNNING || c->event >= EVENT_MAX)
			continue;
		readings[c->event] += c->samples;
		ppm[c->event] += c->weight;
	}
	for (uint32_t i = 0; i < box->snapshot.nevents; i++) {
		struct snapshot_event *event = &box->events[i];
		event->running = readings[i] ? (double)ppm[i] / 1e6 / (double)readings[i] : 1;
		if (event->running < 0.9999)
			event->state = VALUE_SCALED;
	}
}

/* What looks met waiting, by task; of no thread where nothing tells. */
static bool sum_waiting(const struct snap_box *box, uint64_t *ret_by_task, uint32_t ntasks)
{
	bool told = false;

	for (uint32_t i = 0; i < box->snapshot.nevents; i++)
		told |= box->events[i].desc.states;
	for (uint32_t i = 0; i < box->snapshot.ncells; i++) {
		const struct snapshot_cell *c = &box->out[i];
		if (c->flags & SAMPLE_BLOCKED && c->task < ntasks &&
		    box->events[c->event].desc.states)
			ret_by_task[c->task] += c->weight;
	}
	return told;
}

/* What is known of each thread's time. With code hidden, waiting is not seen whole. */
static bool fill_usages(struct snap_box *box, const struct profile *p, const struct tables *t,
			const struct window *w, bool hide)
{
	uint32_t ntasks = tables_task_count(t) + 1, n = 0;
	uint64_t *blocked = calloc(ntasks, sizeof *blocked);
	struct usages u = {0};

	box->usages = calloc(ntasks, sizeof *box->usages);
	bool ok = blocked && box->usages && !usages_gather(&u, p, w);
	bool told = ok && sum_waiting(box, blocked, ntasks) && !hide;
	for (task_id id = 1; ok && id < ntasks; id++) {
		struct usage_shares s;
		if (!tables_task_get(t, id)->tid)
			continue;
		bool known = usage_shares(&u, p, w, id, &s);
		double waiting = told ? usage_waiting(w, blocked[id], known ? &s : NULL) : -1;
		if (known || waiting >= 0)
			box->usages[n++] = (struct snapshot_usage){id, known ? s.cpu : -1,
								   known ? s.ready : -1, waiting};
	}
	box->snapshot.usages = box->usages;
	box->snapshot.nusages = n;
	usages_fini(&u);
	free(blocked);
	return ok;
}

void snap_tell_state(struct snapshot *s, uint32_t event, uint8_t state)
{
	struct snap_box *box = (struct snap_box *)(void *)s; /* its first member */

	if (event < s->nevents)
		box->events[event].state = state;
}

void snap_tell_astray(struct snapshot *s, uint32_t event, double share)
{
	struct snap_box *box = (struct snap_box *)(void *)s; /* its first member */

	if (event < s->nevents)
		box->events[event].astray = share;
}

/* What is missing above node @i of @s, NULL: nothing, or not known. */
static const struct tail_calls *missing_above(const struct snapshot *s, uint32_t i)
{
	uint32_t up = s->nodes[i].parent;
	return up == SNAPSHOT_ROOT
		       ? NULL
		       : tables_tail_get(s->tables, s->nodes[up].frame, s->nodes[i].frame);
}

/* Preorder stays: what is missing above a node comes right before it. @moved: old index → new. */
static void copy_nodes(struct snap_box *box, const struct snapshot *s, uint32_t *moved,
		       uint64_t cap)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->nnodes; i++) {
		uint32_t up = s->nodes[i].parent;
		uint32_t parent = up == SNAPSHOT_ROOT ? up : moved[up];
		const struct tail_calls *c = missing_above(s, i);
		/* More may be known by now than was counted. */
		bool fits = c && n + c->n + (uint64_t)(s->nnodes - i) <= cap;
		for (uint32_t k = 0; fits && k < c->n; k++) {
			box->nodes[n] = (struct snapshot_node){parent, c->frames[k]};
			parent = n++;
		}
		box->nodes[n] = (struct snapshot_node){parent, s->nodes[i].frame};
		moved[i] = n++;
	}
	box->snapshot.nnodes = n;
}

const struct snapshot *snap_with_tail_calls(const struct snapshot *s)
{
	struct snap_box *box = calloc(1, sizeof *box);
	uint32_t *moved = malloc((s->nnodes + 1) * sizeof *moved);
	uint64_t cap = s->nnodes;
	if (!box || !moved)
		goto fail;
	for (uint32_t i = 0; i < s->nnodes; i++)
		cap += missing_above(s, i) ? missing_above(s, i)->n : 0;
	atomic_init(&box->refs, 1);
	box->snapshot = *s;
	box->nodes = cap < SNAPSHOT_ROOT ? malloc((cap + 1) * sizeof *box->nodes) : NULL;
	box->out = malloc((s->ncells + 1) * sizeof *box->out);
	box->events = malloc((s->nevents + 1) * sizeof *box->events);
	if (!box->nodes || !box->out || !box->events)
		goto fail;
	copy_nodes(box, s, moved, cap);
	for (uint32_t i = 0; i < s->ncells; i++) {
		box->out[i] = s->cells[i];
		if (s->cells[i].node < s->nnodes)
			box->out[i].node = moved[s->cells[i].node];
	}
	memcpy(box->events, s->events, s->nevents * sizeof *box->events);
	box->through = s->nthrough ? malloc(s->nthrough * sizeof *box->through) : NULL;
	if (box->through)
		memcpy(box->through, s->through, s->nthrough * sizeof *box->through);
	box->snapshot.through = box->through;
	box->snapshot.nthrough = box->through ? s->nthrough : 0;
	box->usages = s->nusages ? malloc(s->nusages * sizeof *box->usages) : NULL;
	if (box->usages)
		memcpy(box->usages, s->usages, s->nusages * sizeof *box->usages);
	box->snapshot.usages = box->usages;
	box->snapshot.nusages = box->usages ? s->nusages : 0;
	box->snapshot.nodes = box->nodes;
	box->snapshot.cells = box->out;
	box->snapshot.events = box->events;
	free(moved);
	return &box->snapshot;
fail:
	free(moved);
	if (box) {
		free(box->nodes);
		free(box->out);
		free(box->events);
	}
	free(box);
	return NULL;
}

struct snapshot *snap_new(const struct profile *p, const struct tables *t, const struct window *w,
			  const struct event_desc *events, uint32_t nevents, uint32_t hide)
{
	struct snap_box *box = calloc(1, sizeof *box);
	uint32_t *numbers = NULL;
	if (!box)
		return NULL;
	atomic_init(&box->refs, 1);
	box->own.by_node = true;
	box->events = calloc(EVENT_MAX, sizeof *box->events);
	if (!box->events || !gather(box, p, t, w, hide) || !number_nodes(box, p, t, hide, &numbers))
		goto fail;
	box->out = malloc((box->cells->len + 1) * sizeof *box->out);
	if (!box->out)
		goto fail;
	struct snapshot *s = &box->snapshot;
	s->nevents = nevents < EVENT_MAX ? nevents : EVENT_MAX;
	for (uint32_t i = 0; i < s->nevents; i++)
		box->events[i].desc = events[i];
	if (!fill_cells(box, numbers, p->trie.count))
		goto fail;
	if (!hide && profile_has_through(p, w) && !fill_through(box, p))
		goto fail;
	for (uint16_t i = 0; i < s->nevents && !hide; i++)
		add_unsampled(box, p, t, w, i);
	add_running(box, p, w);
	if (!fill_usages(box, p, t, w, hide != 0))
		goto fail;
	cells_fini(&box->own);
	box->cells = NULL;
	free(numbers);

	struct tally tally;
	profile_tally(p, w, &tally);
	memcpy(s->loss, tally.loss, sizeof s->loss);
	s->shortened = p->pruned || p->overflowed || p->overflowed_paths;
	s->totals_low = p->through.cells.len && !s->nthrough;
	memcpy(s->cut, tally.cut, sizeof s->cut);
	s->tables = t;
	s->nodes = box->nodes;
	s->cells = box->out;
	s->events = box->events;
	return s;
fail:
	free(numbers);
	snapshot_unref(&box->snapshot);
	return NULL;
}
