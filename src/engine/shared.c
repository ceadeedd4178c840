/*
 * shared: publication of events and counters, and the wait for room.
 *
 * Source and engine thread. The wait is a Dekker handshake: the producer sets `waiting` before it
 * looks at the ring again, the consumer releases records before it looks at `waiting`.
 */
#include "engine/shared.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STOP_CHECK_MS 20

static void ref_analysis(void *a)
{
	analysis_ref(a);
}

static void unref_analysis(void *a)
{
	analysis_unref(a);
}

int shared_init(struct shared *s)
{
	memset(s, 0, sizeof *s);
	s->room_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->room_fd < 0)
		return -errno;
	for (unsigned i = 0; i < ANALYSIS_KINDS; i++)
		if (!(s->analyses[i] = slot_new(ref_analysis, unref_analysis)))
			return -ENOMEM;
	return 0;
}

void shared_fini(struct shared *s)
{
	if (s->room_fd >= 0)
		close(s->room_fd);
	s->room_fd = -1;
	for (unsigned i = 0; i < ANALYSIS_KINDS; i++)
		slot_free(s->analyses[i]);
}

void shared_announce(struct shared *s, uint16_t index, const struct event_desc *desc)
{
	uint64_t bit = 1ull << (index & (EVENT_MAX - 1));
	if (index >= EVENT_MAX || atomic_load_explicit(&s->announced, memory_order_relaxed) & bit)
		return;
	s->events[index] = *desc;
	s->events[index].name[sizeof desc->name - 1] = '\0';
	atomic_fetch_or_explicit(&s->announced, bit, memory_order_release);
}

const struct event_desc *shared_event(const struct shared *s, uint16_t index)
{
	uint64_t announced = atomic_load_explicit(&s->announced, memory_order_acquire);
	return index < EVENT_MAX && announced >> index & 1 ? &s->events[index] : NULL;
}

uint32_t shared_event_count(const struct shared *s)
{
	uint64_t announced = atomic_load_explicit(&s->announced, memory_order_acquire);
	return announced ? 64 - (uint32_t)__builtin_clzll(announced) : 0;
}

void shared_loss(struct shared *s, enum loss_kind kind, uint64_t count)
{
	if ((unsigned)kind < LOSS_KINDS)
		atomic_fetch_add_explicit(&s->loss[kind], count, memory_order_relaxed);
}

void *shared_wait_room(struct shared *s, struct spsc *ring, size_t len)
{
	struct pollfd p = {.fd = s->room_fd, .events = POLLIN};
	uint64_t count;

	while (!atomic_load_explicit(&s->stopping, memory_order_relaxed)) {
		atomic_store(&s->waiting, true);
		atomic_thread_fence(memory_order_seq_cst);
		void *room = spsc_reserve(ring, len);
		if (room) {
			atomic_store(&s->waiting, false);
			return room;
		}
		if (poll(&p, 1, STOP_CHECK_MS) > 0 && read(s->room_fd, &count, sizeof count) < 0)
			continue;
	}
	return NULL;
}

void shared_made_room(struct shared *s)
{
	uint64_t one = 1;
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&s->waiting) && atomic_exchange(&s->waiting, false) &&
	    write(s->room_fd, &one, sizeof one) < 0)
		return; /* a full counter is readable already */
}

void shared_put_analysis(struct shared *s, struct analysis *a)
{
	unsigned kind = (unsigned)(a->view - VIEW_DURATION);
	if (kind < ANALYSIS_KINDS)
		slot_put(s->analyses[kind], a);
	else
		analysis_unref(a);
}

struct analysis *shared_analysis(const struct shared *s, enum view_kind view)
{
	unsigned kind = (unsigned)(view - VIEW_DURATION);
	return kind < ANALYSIS_KINDS ? slot_get(s->analyses[kind]) : NULL;
}
