/*
 * recordorder: a binary heap of copies by (time, arrival).
 */
#include "import/recordorder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct entry {
	uint64_t time_ns, sequence;
	void *record;
	size_t bytes;
};

struct recordorder {
	int (*deliver)(void *ctx, void *record);
	void *ctx;
	struct {
		VEC(struct entry)
	} heap;
	size_t bytes, cap;
	uint64_t sequence, late;
	uint64_t newest, round_limit; /* newest record of this round; of the one before */
	uint64_t delivered;
};

struct recordorder *recordorder_new(size_t cap_bytes, int (*deliver)(void *ctx, void *record),
				    void *ctx)
{
	struct recordorder *o = calloc(1, sizeof *o);
	if (o) {
		o->deliver = deliver;
		o->ctx = ctx;
		o->cap = cap_bytes;
	}
	return o;
}

void recordorder_free(struct recordorder *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->heap.len; i++)
		free(o->heap.data[i].record);
	vec_fini(&o->heap);
	free(o);
}

static bool before(const struct entry *a, const struct entry *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->sequence < b->sequence;
}

static void sift_up(struct entry *heap, size_t i)
{
	struct entry e = heap[i];
	for (; i && before(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = e;
}

static void sift_down(struct entry *heap, size_t n)
{
	struct entry e = heap[0];
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		child += child + 1 < n && before(&heap[child + 1], &heap[child]);
		if (before(&e, &heap[child]))
			break;
		heap[i] = heap[child];
	}
	heap[i] = e;
}

static int deliver_first(struct recordorder *o)
{
	struct entry e = o->heap.data[0];
	o->heap.data[0] = o->heap.data[--o->heap.len];
	if (o->heap.len)
		sift_down(o->heap.data, o->heap.len);
	o->bytes -= e.bytes;
	o->late += e.time_ns && e.time_ns < o->delivered; /* 0: it has no time */
	if (e.time_ns > o->delivered)
		o->delivered = e.time_ns;
	int rc = o->deliver(o->ctx, e.record);
	free(e.record);
	return rc;
}

int recordorder_add(struct recordorder *o, uint64_t time_ns, const void *record, size_t n)
{
	struct entry e = {time_ns, o->sequence++, malloc(n), n + 64};
	if (!e.record)
		return -ENOMEM;
	memcpy(e.record, record, n);
	if (vec_push(&o->heap, e)) {
		free(e.record);
		return -ENOMEM;
	}
	sift_up(o->heap.data, o->heap.len - 1);
	o->bytes += e.bytes;
	if (time_ns > o->newest)
		o->newest = time_ns;
	int rc = 0;
	while (!rc && o->bytes > o->cap)
		rc = deliver_first(o);
	return rc;
}

int recordorder_round(struct recordorder *o)
{
	int rc = 0;
	while (!rc && o->heap.len && o->heap.data[0].time_ns <= o->round_limit)
		rc = deliver_first(o);
	o->round_limit = o->newest;
	return rc;
}

int recordorder_finish(struct recordorder *o)
{
	int rc = 0;
	while (!rc && o->heap.len)
		rc = deliver_first(o);
	return rc;
}

uint64_t recordorder_late(const struct recordorder *o)
{
	return o->late;
}
