/*
 * wants: one mutex, double-ended queues, and a byte a frame that says how far it is.
 *
 * This is a channel between threads (engine → resolver), so the lock lives here. Nobody holds it
 * for longer than it takes to move a few ids.
 */
#include "wants.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/vec.h"

#define NAMES_MAX 65536u     /* power of two */
#define LINES_MAX (1u << 22) /* likewise; grown to on demand */
#define PAIRS_MAX 262144u    /* waiting at a time */
#define SEEN_MAX  2000000u   /* pairs remembered, then forgotten at once */

enum progress { UNSEEN, QUEUED, DEFERRED, NAMED, DONE };

struct queue {
	frame_id *data;
	uint32_t cap, head, len; /* cap is a power of two */
};

struct wants {
	pthread_mutex_t lock;
	pthread_cond_t some, none;
	struct queue names, deferred, lines;
	struct {
		VEC(struct frame_pair)
	} pairs; /* the newest is taken first */
	struct frame_pair pair;
	struct map64 seen;
	uint8_t *progress;
	uint32_t nprogress;
	uint32_t working;
	bool woken;
};

struct wants *wants_new(void)
{
	struct wants *w = calloc(1, sizeof *w);
	pthread_condattr_t attr;

	if (!w)
		return NULL;
	map64_init(&w->seen);
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->some, &attr);
	pthread_cond_init(&w->none, &attr);
	pthread_condattr_destroy(&attr);
	return w;
}

void wants_free(struct wants *w)
{
	if (!w)
		return;
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->some);
	pthread_cond_destroy(&w->none);
	free(w->names.data);
	free(w->deferred.data);
	free(w->lines.data);
	vec_fini(&w->pairs);
	map64_fini(&w->seen);
	free(w->progress);
	free(w);
}

static bool queue_room(struct queue *q, uint32_t max)
{
	uint32_t cap = q->cap ? q->cap * 2 : 1024;
	frame_id *data;

	if (q->len < q->cap)
		return true;
	if (cap > max || !(data = malloc(cap * sizeof *data)))
		return false;
	for (uint32_t i = 0; i < q->len; i++)
		data[i] = q->data[(q->head + i) & (q->cap - 1)];
	free(q->data);
	*q = (struct queue){data, cap, 0, q->len};
	return true;
}

static void push_front(struct queue *q, frame_id frame, uint32_t max)
{
	if (!queue_room(q, max)) {
		if (!q->len)
			return;
		q->len--; /* the oldest goes */
	}
	q->head = (q->head - 1) & (q->cap - 1);
	q->data[q->head] = frame;
	q->len++;
}

static bool push_back(struct queue *q, frame_id frame, uint32_t max)
{
	if (!queue_room(q, max))
		return false;
	q->data[(q->head + q->len++) & (q->cap - 1)] = frame;
	return true;
}

static frame_id pop_front(struct queue *q)
{
	frame_id frame = q->data[q->head];

	q->head = (q->head + 1) & (q->cap - 1);
	q->len--;
	return frame;
}

static uint8_t *progress_of(struct wants *w, frame_id frame)
{
	if (frame >= w->nprogress) {
		uint32_t n = frame < 4096 ? 8192 : frame * 2;
		uint8_t *p = frame < UINT32_MAX / 2 ? realloc(w->progress, n) : NULL;

		if (!p)
			return NULL;
		memset(p + w->nprogress, UNSEEN, n - w->nprogress);
		w->progress = p;
		w->nprogress = n;
	}
	return &w->progress[frame];
}

void wants_add(struct wants *w, const frame_id *frames, uint32_t n)
{
	if (n > NAMES_MAX)
		n = NAMES_MAX;
	pthread_mutex_lock(&w->lock);
	for (uint32_t i = n; i--;) {
		uint8_t *p = frames[i] ? progress_of(w, frames[i]) : NULL;

		if (!p || *p > QUEUED)
			continue;
		*p = QUEUED;
		push_front(&w->names, frames[i], NAMES_MAX);
	}
	if (w->names.len)
		pthread_cond_signal(&w->some);
	pthread_mutex_unlock(&w->lock);
}

void wants_add_pairs(struct wants *w, const struct frame_pair *pairs, uint32_t n)
{
	pthread_mutex_lock(&w->lock);
	for (uint32_t i = 0; i < n && w->pairs.len < PAIRS_MAX; i++) {
		uint64_t key = (uint64_t)pairs[i].caller << 32 | pairs[i].callee;
		uint32_t seen;

		if (map64_get(&w->seen, key, &seen))
			continue;
		if (w->seen.count >= SEEN_MAX)
			map64_clear(&w->seen);
		if (!vec_push(&w->pairs, pairs[i]))
			(void)map64_put(&w->seen, key, 1);
	}
	if (w->pairs.len)
		pthread_cond_signal(&w->some);
	pthread_mutex_unlock(&w->lock);
}

struct frame_pair wants_pair(struct wants *w)
{
	return w->pair;
}

static bool idle(const struct wants *w)
{
	return !w->working && !w->names.len && !w->deferred.len && !w->lines.len && !w->pairs.len;
}

static void settle_one(struct wants *w)
{
	if (w->working)
		w->working--;
	if (idle(w))
		pthread_cond_broadcast(&w->none);
}

void wants_named(struct wants *w, frame_id frame, bool more)
{
	uint8_t *p;

	pthread_mutex_lock(&w->lock);
	p = progress_of(w, frame);
	if (p && more && push_back(&w->lines, frame, LINES_MAX))
		*p = NAMED;
	else if (p)
		*p = DONE;
	settle_one(w);
	pthread_mutex_unlock(&w->lock);
}

void wants_told(struct wants *w)
{
	pthread_mutex_lock(&w->lock);
	settle_one(w);
	pthread_mutex_unlock(&w->lock);
}

void wants_again(struct wants *w, frame_id frame)
{
	uint8_t *p;

	pthread_mutex_lock(&w->lock);
	p = progress_of(w, frame);
	if (p && *p == DONE) {
		*p = QUEUED;
		push_front(&w->names, frame, NAMES_MAX);
		pthread_cond_signal(&w->some);
	}
	pthread_mutex_unlock(&w->lock);
}

void wants_defer(struct wants *w, frame_id frame)
{
	uint8_t *p;

	pthread_mutex_lock(&w->lock);
	p = progress_of(w, frame);
	if (p) /* what finds no room will be asked for again */
		*p = push_back(&w->deferred, frame, NAMES_MAX) ? DEFERRED : UNSEEN;
	settle_one(w);
	pthread_mutex_unlock(&w->lock);
}

/* Skips what has been answered since it was queued. */
static enum want_step take(struct wants *w, frame_id *ret_frame)
{
	while (w->names.len) {
		*ret_frame = pop_front(&w->names);
		if (*progress_of(w, *ret_frame) == QUEUED)
			return WANT_NAME;
	}
	if (w->deferred.len) {
		*ret_frame = pop_front(&w->deferred);
		return WANT_DEFERRED;
	}
	if (w->lines.len) {
		*ret_frame = pop_front(&w->lines);
		return WANT_LINES;
	}
	if (w->pairs.len) {
		w->pair = w->pairs.data[--w->pairs.len];
		*ret_frame = w->pair.caller;
		return WANT_TAIL;
	}
	return WANT_NONE;
}

enum want_step wants_take(struct wants *w, int timeout_ms, frame_id *ret_frame)
{
	struct timespec until = clock_deadline(CLOCK_MONOTONIC, timeout_ms);
	enum want_step step;

	pthread_mutex_lock(&w->lock);
	while (!(step = take(w, ret_frame))) {
		if (!w->working) /* what was skipped may have been all there was */
			pthread_cond_broadcast(&w->none);
		if (w->woken || pthread_cond_timedwait(&w->some, &w->lock, &until))
			break;
	}
	w->woken = false;
	if (step)
		w->working++;
	pthread_mutex_unlock(&w->lock);
	return step;
}

void wants_wake(struct wants *w)
{
	pthread_mutex_lock(&w->lock);
	w->woken = true;
	pthread_cond_broadcast(&w->some);
	pthread_mutex_unlock(&w->lock);
}

bool wants_settle(struct wants *w, int timeout_ms)
{
	struct timespec until = clock_deadline(CLOCK_MONOTONIC, timeout_ms);
	bool settled;

	pthread_mutex_lock(&w->lock);
	while (!(settled = idle(w)) && !pthread_cond_timedwait(&w->none, &w->lock, &until))
		;
	pthread_mutex_unlock(&w->lock);
	return settled;
}
