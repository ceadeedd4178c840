/*
 * spsc: a power-of-two ring of 8-byte aligned records, one producer thread, one consumer thread.
 *
 * head (written by the producer) and tail (by the consumer) only grow; a record is a length word
 * followed by the payload. A record that would cross the ring's end is preceded by a filler record.
 * head, tail and the wish to be woken live on cache lines of their own. The wake handshake needs
 * store-then-load order on both sides, so those four accesses are sequentially consistent.
 */
#include "base/spsc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LINE   64
#define FILLER UINT64_MAX

struct spsc {
	unsigned char *data;
	size_t size;
	int fd;
	_Alignas(LINE) _Atomic uint64_t head;
	uint64_t reserved;    /* producer: head after the commit */
	uint64_t tail_cached; /* producer: last tail seen */
	_Alignas(LINE) _Atomic uint64_t tail;
	uint64_t next;        /* consumer: tail after the release */
	uint64_t head_cached; /* consumer: last head seen */
	_Alignas(LINE) atomic_bool armed;
};

struct spsc *spsc_new(size_t bytes)
{
	size_t size = 4096;
	while (size < bytes && size < SIZE_MAX / 4)
		size *= 2;
	struct spsc *r = aligned_alloc(LINE, sizeof *r);
	unsigned char *data = aligned_alloc(LINE, size);
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!r || !data) {
		free(r);
		free(data);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	*r = (struct spsc){.data = data, .size = size, .fd = fd};
	return r;
}

void spsc_free(struct spsc *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	free(r->data);
	free(r);
}

static uint64_t *word_at(const struct spsc *r, uint64_t position)
{
	return (uint64_t *)(void *)(r->data + (position & (r->size - 1)));
}

/* Is there room up to @end? Looks at the real tail only when the cached one says no. */
static bool has_room(struct spsc *r, uint64_t end)
{
	if (end - r->tail_cached <= r->size)
		return true;
	r->tail_cached = atomic_load_explicit(&r->tail, memory_order_acquire);
	return end - r->tail_cached <= r->size;
}

void *spsc_reserve(struct spsc *r, size_t len)
{
	if (len > r->size - sizeof(uint64_t))
		return NULL;
	uint64_t need = sizeof(uint64_t) + ((len + 7) & ~(size_t)7);
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	uint64_t to_end = r->size - (head & (r->size - 1));
	uint64_t start = need > to_end ? head + to_end : head;

	if (!has_room(r, start + need))
		return NULL;
	if (start != head)
		*word_at(r, head) = FILLER;
	*word_at(r, start) = len;
	r->reserved = start + need;
	return word_at(r, start) + 1;
}

void spsc_commit(struct spsc *r)
{
	atomic_store(&r->head, r->reserved);
	if (atomic_load(&r->armed) && atomic_exchange(&r->armed, false)) {
		uint64_t one = 1;
		if (r->fd >= 0 && write(r->fd, &one, sizeof one) < 0)
			return; /* a full counter is readable already */
	}
}

/* The record at @position. Looks at the real head only when the cached one says there is none: its
 * line is the producer's. */
static const void *look(struct spsc *r, uint64_t position, size_t *ret_len)
{
	if (position == r->head_cached)
		r->head_cached = atomic_load_explicit(&r->head, memory_order_acquire);
	if (position == r->head_cached)
		return NULL;
	if (*word_at(r, position) == FILLER)
		position += r->size - (position & (r->size - 1));
	uint64_t len = *word_at(r, position);
	r->next = position + sizeof(uint64_t) + ((len + 7) & ~(uint64_t)7);
	*ret_len = len;
	return word_at(r, position) + 1;
}

const void *spsc_peek(struct spsc *r, size_t *ret_len)
{
	return look(r, atomic_load_explicit(&r->tail, memory_order_relaxed), ret_len);
}

const void *spsc_peek_next(struct spsc *r, size_t *ret_len)
{
	return look(r, r->next, ret_len);
}

void spsc_release(struct spsc *r)
{
	atomic_store_explicit(&r->tail, r->next, memory_order_release);
}

size_t spsc_size(const struct spsc *r)
{
	return r->size;
}

size_t spsc_used(const struct spsc *r)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	return head > tail ? head - tail : 0;
}

int spsc_fd(const struct spsc *r)
{
	return r->fd;
}

void spsc_arm(struct spsc *r)
{
	uint64_t count;
	if (r->fd >= 0 && read(r->fd, &count, sizeof count) < 0)
		count = 0;
	atomic_store(&r->armed, true);
	/* What was committed before we armed would wake nobody: wake ourselves. */
	if (atomic_load(&r->head) == atomic_load_explicit(&r->tail, memory_order_relaxed))
		return;
	if (atomic_exchange(&r->armed, false)) {
		count = 1;
		if (r->fd >= 0 && write(r->fd, &count, sizeof count) < 0)
			return;
	}
}
