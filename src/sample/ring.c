/*
 * ring: the consumer's side of perf_event_open(2)'s mmap ring buffer.
 *
 * The kernel publishes data_head with release semantics and reads data_tail to know what it may
 * overwrite; both are only touched here. Source thread.
 */
#include "sample/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codec/perf_record.h"

#define RECORD_MAX 65536

int ring_map(struct ring *r, int fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *base = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (base == MAP_FAILED)
		return -errno;
	ring_over(r, base, (uint8_t *)base + page, bytes);
	r->mapped = true;
	return 0;
}

void ring_over(struct ring *r, struct perf_event_mmap_page *meta, void *data, size_t bytes)
{
	*r = (struct ring){.meta = meta, .data = data, .size = bytes};
	r->head = r->seen = r->tail = meta->data_tail;
}

void ring_unmap(struct ring *r)
{
	if (r->mapped)
		munmap(r->meta, r->size + (size_t)(r->data - (uint8_t *)r->meta));
	free(r->bounce);
	*r = (struct ring){0};
}

size_t ring_look(struct ring *r)
{
	r->head = __atomic_load_n(&r->meta->data_head, __ATOMIC_ACQUIRE);
	return (size_t)(r->head - r->seen);
}

/* Copy a record that starts before and ends after the ring's end. */
static void *ring_bounce(struct ring *r, size_t at, size_t size)
{
	size_t first = r->size - at;

	if (!r->bounce)
		r->bounce = malloc(RECORD_MAX);
	if (!r->bounce)
		return NULL;
	memcpy(r->bounce, r->data + at, first);
	memcpy((uint8_t *)r->bounce + first, r->data, size - first);
	return r->bounce;
}

void *ring_next(struct ring *r, uint64_t *ret_at, bool *ret_bad)
{
	size_t at = (size_t)(r->seen & (r->size - 1));
	size_t available = (size_t)(r->head - r->seen);
	struct record_header h;
	void *record = r->data + at;

	if (!available)
		return NULL;
	/* Records are 8-byte aligned, so that a header never wraps. */
	if (available > r->size || record_header_parse(record, available, false, &h) ||
	    (h.size & 7))
		goto bad;
	if (at + h.size > r->size) {
		record = ring_bounce(r, at, h.size);
		if (!record)
			goto bad;
	}
	*ret_at = r->seen;
	r->seen += h.size;
	return record;
bad:
	r->seen = r->head;
	*ret_bad = true;
	return NULL;
}

void ring_release(struct ring *r, uint64_t at)
{
	r->tail = at;
	__atomic_store_n(&r->meta->data_tail, at, __ATOMIC_RELEASE);
}
