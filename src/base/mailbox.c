/*
 * mailbox: a bounded queue of small messages, and the one-slot exchange of counted objects.
 *
 * Both hold a mutex for a copy or a pointer swap, never while calling out to a destructor, so that
 * posting and taking never wait for anybody's work.
 */
#include "base/mailbox.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct mailbox {
	pthread_mutex_t lock;
	size_t message_bytes, refused;
	unsigned capacity, first, count;
	int fd;
	unsigned char messages[];
};

struct mailbox *mailbox_new(size_t message_bytes, unsigned capacity)
{
	size_t bytes;
	if (__builtin_mul_overflow(message_bytes, capacity, &bytes) || !capacity ||
	    __builtin_add_overflow(bytes, sizeof(struct mailbox), &bytes))
		return NULL;
	struct mailbox *m = calloc(1, bytes);
	if (!m)
		return NULL;
	m->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (m->fd < 0) {
		free(m);
		return NULL;
	}
	pthread_mutex_init(&m->lock, NULL);
	m->message_bytes = message_bytes;
	m->capacity = capacity;
	return m;
}

void mailbox_free(struct mailbox *m)
{
	if (!m)
		return;
	close(m->fd);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static void *message_at(struct mailbox *m, unsigned place)
{
	return m->messages + (size_t)((m->first + place) % m->capacity) * m->message_bytes;
}

bool mailbox_post(struct mailbox *m, const void *message)
{
	pthread_mutex_lock(&m->lock);
	bool fits = m->count < m->capacity;
	if (fits)
		memcpy(message_at(m, m->count++), message, m->message_bytes);
	else
		m->refused++;
	pthread_mutex_unlock(&m->lock);

	uint64_t one = 1;
	if (fits && write(m->fd, &one, sizeof one) < 0)
		return true; /* a full counter is readable already */
	return fits;
}

bool mailbox_take(struct mailbox *m, void *ret_message)
{
	pthread_mutex_lock(&m->lock);
	bool any = m->count > 0;
	if (any) {
		memcpy(ret_message, message_at(m, 0), m->message_bytes);
		m->first = (m->first + 1) % m->capacity;
		m->count--;
	}
	pthread_mutex_unlock(&m->lock);
	return any;
}

size_t mailbox_refused(struct mailbox *m)
{
	pthread_mutex_lock(&m->lock);
	size_t refused = m->refused;
	m->refused = 0;
	pthread_mutex_unlock(&m->lock);
	return refused;
}

int mailbox_fd(const struct mailbox *m)
{
	return m->fd;
}

void mailbox_drain_fd(struct mailbox *m)
{
	uint64_t count;
	if (read(m->fd, &count, sizeof count) < 0)
		return; /* nothing was posted */
}

struct slot {
	pthread_mutex_t lock;
	void (*ref)(void *);
	void (*unref)(void *);
	void *object;
};

struct slot *slot_new(void (*ref)(void *), void (*unref)(void *))
{
	struct slot *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	s->ref = ref;
	s->unref = unref;
	return s;
}

static void *exchange(struct slot *s, void *object)
{
	pthread_mutex_lock(&s->lock);
	void *old = s->object;
	s->object = object;
	pthread_mutex_unlock(&s->lock);
	return old;
}

void slot_free(struct slot *s)
{
	if (!s)
		return;
	slot_put(s, NULL);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void slot_put(struct slot *s, void *object)
{
	void *old = exchange(s, object);
	if (old)
		s->unref(old);
}

void *slot_get(struct slot *s)
{
	pthread_mutex_lock(&s->lock);
	void *object = s->object;
	if (object)
		s->ref(object); /* under the lock: else it could be dropped before we hold it */
	pthread_mutex_unlock(&s->lock);
	return object;
}

void *slot_take(struct slot *s)
{
	return exchange(s, NULL);
}
