/*
 * merger: merges rings by time with a binary heap of rings.
 *
 * Each ring keeps a queue of its records sorted by time. Records of one CPU come nearly sorted (an
 * interrupt can write between another record's time stamp and its place), so that a new one is
 * inserted from the end. The heap holds the rings whose queue is not empty, keyed by their first
 * record. Source thread.
 */
#include "sample/merger.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "sample/ring.h"

struct item {
	uint64_t time;
	uint64_t at; /* position in the ring */
	void *record;
};

struct lane {
	struct ring *ring;
	struct {
		VEC(struct item)
	} queue;
	size_t next; /* first item not handed out */
	bool mixed;  /* queue order differs from ring order */
};

struct merger {
	struct record_layout layout;
	struct {
		VEC(struct lane)
	} lanes;
	struct {
		VEC(uint32_t)
	} heap;
	uint64_t now;
	uint32_t last; /* lane of the record handed out last */
	bool pending;  /* its space is still to be given back */
};

struct merger *merger_new(const struct record_layout *layout)
{
	struct merger *o = calloc(1, sizeof *o);

	if (o)
		o->layout = *layout;
	return o;
}

void merger_free(struct merger *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->lanes.len; i++)
		vec_fini(&o->lanes.data[i].queue);
	vec_fini(&o->lanes);
	vec_fini(&o->heap);
	free(o);
}

int merger_add(struct merger *o, struct ring *ring)
{
	struct lane lane = {.ring = ring};

	if (vec_reserve(&o->heap, o->lanes.len + 1) || vec_push(&o->lanes, lane))
		return -ENOMEM;
	return (int)o->lanes.len - 1;
}

static bool lane_before(const struct merger *o, uint32_t a, uint32_t b)
{
	const struct lane *x = &o->lanes.data[a], *y = &o->lanes.data[b];
	uint64_t s = x->queue.data[x->next].time, t = y->queue.data[y->next].time;

	return s < t || (s == t && a < b);
}

static void heap_down(struct merger *o, size_t i)
{
	uint32_t *h = o->heap.data, lane = h[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= o->heap.len)
			break;
		if (child + 1 < o->heap.len && lane_before(o, h[child + 1], h[child]))
			child++;
		if (!lane_before(o, h[child], lane))
			break;
		h[i] = h[child];
		i = child;
	}
	h[i] = lane;
}

/* Put a record where its time belongs, from the end. */
static int lane_insert(struct lane *l, struct item item)
{
	size_t i = l->queue.len;

	if (vec_push(&l->queue, item))
		return -ENOMEM;
	for (; i > l->next && l->queue.data[i - 1].time > item.time; i--)
		l->queue.data[i] = l->queue.data[i - 1];
	if (i != l->queue.len - 1) {
		l->queue.data[i] = item;
		l->mixed = true;
	}
	return 0;
}

/* The space before the first record still waiting is free. */
static void lane_release(struct lane *l)
{
	uint64_t at = l->ring->seen;

	if (l->next < l->queue.len) {
		at = l->queue.data[l->next].at;
		for (size_t i = l->next + 1; l->mixed && i < l->queue.len; i++)
			if (l->queue.data[i].at < at)
				at = l->queue.data[i].at;
	} else {
		l->queue.len = l->next = 0;
		l->mixed = false;
	}
	ring_release(l->ring, at);
}

/* Forget what was handed out, so that the queue does not grow for ever. */
static void lane_compact(struct lane *l)
{
	size_t left = l->queue.len - l->next;

	for (size_t i = 0; i < left; i++)
		l->queue.data[i] = l->queue.data[l->next + i];
	l->queue.len = left;
	l->next = 0;
}

static void lane_collect(struct merger *o, struct lane *l, uint64_t *ret_bad)
{
	struct record_ident who;
	struct item item;
	bool bad = false;

	lane_compact(l);
	ring_look(l->ring);
	while ((item.record = ring_next(l->ring, &item.at, &bad))) {
		if (record_ident_parse(&o->layout, item.record, &who) ||
		    !(who.fields & FIELD_TIME)) {
			++*ret_bad;
			continue;
		}
		item.time = who.time;
		if (lane_insert(l, item))
			++*ret_bad;
	}
	*ret_bad += bad;
	if (l->next == l->queue.len && l->ring->tail != l->ring->seen)
		lane_release(l);
}

size_t merger_collect(struct merger *o, uint64_t *ret_bad)
{
	size_t waiting = 0;

	merger_flush(o);
	o->heap.len = 0;
	for (size_t i = 0; i < o->lanes.len; i++) {
		struct lane *l = &o->lanes.data[i];

		lane_collect(o, l, ret_bad);
		waiting += l->queue.len - l->next;
		if (l->next < l->queue.len)
			o->heap.data[o->heap.len++] = (uint32_t)i;
	}
	for (size_t i = o->heap.len / 2; i-- > 0;)
		heap_down(o, i);
	return waiting;
}

bool merger_next(struct merger *o, uint64_t horizon, struct ordered *ret)
{
	struct lane *l;
	struct item *item;

	merger_flush(o);
	if (!o->heap.len)
		return false;
	l = &o->lanes.data[o->heap.data[0]];
	item = &l->queue.data[l->next];
	if (item->time > horizon)
		return false;
	ret->time = item->time;
	ret->record = item->record;
	ret->ring = o->last = o->heap.data[0];
	ret->late = item->time < o->now;
	if (!ret->late)
		o->now = item->time;
	o->pending = true;
	l->next++;
	if (l->next == l->queue.len)
		o->heap.data[0] = o->heap.data[--o->heap.len];
	if (o->heap.len)
		heap_down(o, 0);
	return true;
}

void merger_flush(struct merger *o)
{
	if (o->pending)
		lane_release(&o->lanes.data[o->last]);
	o->pending = false;
}

uint64_t merger_now(const struct merger *o)
{
	return o->now;
}

unsigned merger_fill(const struct merger *o)
{
	unsigned most = 0;

	for (size_t i = 0; i < o->lanes.len; i++) {
		const struct ring *r = o->lanes.data[i].ring;
		unsigned fill = (unsigned)(ring_used(r) * 100 / r->size);

		if (fill > most)
			most = fill;
	}
	return most;
}
