/*
 * ring: reading one kernel ring buffer of perf records, in place.
 *
 * Belongs to the source thread. The kernel writes at head, we read from `seen` on and give space
 * back up to `tail`; what lies between tail and seen is still in use. A record that wraps round the
 * ring's end is copied into a bounce buffer: at most one such record can be in use at a time,
 * because the ring's end lies once between tail and head.
 */
#ifndef ALTPTTOP_RING_H
#define ALTPTTOP_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct ring {
	struct perf_event_mmap_page *meta;
	uint8_t *data;
	size_t size;      /* of data, a power of two */
	uint64_t head;    /* as last read from the kernel */
	uint64_t seen;    /* next record to be handed out */
	uint64_t tail;    /* as last given back */
	uint64_t *bounce; /* 64 KiB, made at the first wrap */
	bool mapped;
};

/* Map the ring of @fd with @bytes of data (a power of two of at least a page). 0 or -errno. */
int ring_map(struct ring *r, int fd, size_t bytes);
/* Over other memory: tests. @meta and @data outlive the ring. */
void ring_over(struct ring *r, struct perf_event_mmap_page *meta, void *data, size_t bytes);
void ring_unmap(struct ring *r); /* a zeroed or unmapped ring is fine */

/* Learn how far the kernel has written. Bytes that wait to be handed out. */
size_t ring_look(struct ring *r);

/*
 * The next whole record, in place or bounced, its header checked; NULL: none left. @ret_at is its
 * position. A header that makes no sense drops everything up to head and sets *ret_bad.
 */
void *ring_next(struct ring *r, uint64_t *ret_at, bool *ret_bad);

/* Everything before position @at is done with: the kernel may write there. */
void ring_release(struct ring *r, uint64_t at);

static inline size_t ring_used(const struct ring *r)
{
	return (size_t)(r->head - r->tail);
}

#endif
