/*
 * stitch: a ring of recent complete stacks per thread, least recently used thread out first.
 *
 * A ring is two parallel arrays of 32-bit words, point hashes and frame ids, in which stacks lie
 * end to end, the oldest overwritten. Looking for a point is a scan over a few thousand hashes,
 * which the compiler turns into vector compares; it happens for cut stacks only.
 */
#include "unwind/stitch.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define WORDS_FIRST 256  /* frames a new ring has room for */
#define WORDS_MAX   8192 /* 64 stacks of 128 frames, 64 KiB */
#define NO_RING     UINT32_MAX

struct ring {
	task_id task;
	uint32_t newer, older; /* rings by use */
	uint32_t *hashes;      /* room of them, the frames follow */
	uint32_t room;
	uint32_t at; /* where the next stack goes */
	uint32_t first, nstacks;
	uint64_t last; /* hash over the stack learned last */
	struct {
		uint32_t start, n;
	} stacks[STITCH_STACKS]; /* a ring as well: stacks[first] is the oldest */
};

struct stitch {
	struct ring **rings;
	uint32_t nrings, room;
	uint32_t newest, oldest;
	struct map64 by_task;
	size_t bytes, cap;
};

struct stitch *stitch_new(size_t cap_bytes)
{
	struct stitch *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->cap = cap_bytes;
	s->newest = s->oldest = NO_RING;
	map64_init(&s->by_task);
	return s;
}

static size_t ring_bytes(const struct ring *r)
{
	return sizeof *r + (size_t)r->room * 2 * sizeof *r->hashes;
}

void stitch_free(struct stitch *s)
{
	if (!s)
		return;
	for (uint32_t k = 0; k < s->nrings; k++) {
		if (s->rings[k])
			free(s->rings[k]->hashes);
		free(s->rings[k]);
	}
	free(s->rings);
	map64_fini(&s->by_task);
	free(s);
}

size_t stitch_bytes(const struct stitch *s)
{
	return sizeof *s + s->bytes + s->room * sizeof *s->rings + s->by_task.capacity * 13;
}

static void unlink_ring(struct stitch *s, const struct ring *r)
{
	if (r->newer == NO_RING)
		s->newest = r->older;
	else
		s->rings[r->newer]->older = r->older;
	if (r->older == NO_RING)
		s->oldest = r->newer;
	else
		s->rings[r->older]->newer = r->newer;
}

static void link_newest(struct stitch *s, uint32_t index)
{
	struct ring *r = s->rings[index];
	r->newer = NO_RING;
	r->older = s->newest;
	if (s->newest != NO_RING)
		s->rings[s->newest]->newer = index;
	s->newest = index;
	if (s->oldest == NO_RING)
		s->oldest = index;
}

static void drop(struct stitch *s, uint32_t index)
{
	struct ring *r = s->rings[index];
	unlink_ring(s, r);
	map64_del(&s->by_task, r->task);
	s->bytes -= ring_bytes(r);
	free(r->hashes);
	free(r);
	s->rings[index] = NULL;
	/* The last one moves here, so that the array stays dense. */
	uint32_t last = --s->nrings;
	if (last == index)
		return;
	struct ring *moved = s->rings[last];
	s->rings[index] = moved;
	s->rings[last] = NULL;
	*(moved->newer == NO_RING ? &s->newest : &s->rings[moved->newer]->older) = index;
	*(moved->older == NO_RING ? &s->oldest : &s->rings[moved->older]->newer) = index;
	map64_put(&s->by_task, moved->task, index);
}

static struct ring *find(struct stitch *s, task_id task)
{
	uint32_t index;
	if (!map64_get(&s->by_task, task, &index))
		return NULL;
	if (s->newest != index) {
		unlink_ring(s, s->rings[index]);
		link_newest(s, index);
	}
	return s->rings[index];
}

static struct ring *add(struct stitch *s, task_id task)
{
	if (s->nrings == s->room) {
		uint32_t room = s->room ? s->room * 2 : 64;
		void *grown = realloc(s->rings, room * sizeof *s->rings);
		if (!grown)
			return NULL;
		s->rings = grown;
		s->room = room;
	}
	struct ring *r = calloc(1, sizeof *r);
	if (!r || map64_put(&s->by_task, task, s->nrings)) {
		free(r);
		return NULL;
	}
	r->task = task;
	s->rings[s->nrings] = r;
	link_newest(s, s->nrings++);
	s->bytes += sizeof *r;
	return r;
}

/* Make the ring hold @words, keeping nothing but its place among the others; other threads' rings
 * give way to it. False: it may not grow. */
static bool resize(struct stitch *s, struct ring *r, uint32_t words)
{
	uint32_t *hashes = malloc((size_t)words * 2 * sizeof *hashes);
	if (!hashes)
		return false;
	if (r->room) {
		memcpy(hashes, r->hashes, r->room * sizeof *hashes);
		memcpy(hashes + words, r->hashes + r->room, r->room * sizeof *hashes);
	}
	s->bytes += (size_t)(words - r->room) * 2 * sizeof *hashes;
	free(r->hashes);
	r->hashes = hashes;
	r->room = words;
	while (s->bytes > s->cap && s->oldest != s->newest)
		drop(s, s->oldest);
	return true;
}

static void forget_oldest(struct ring *r)
{
	r->first = (r->first + 1) % STITCH_STACKS;
	r->nstacks--;
}

/* Room for a stack of @n at r->at, the stacks that lay there forgotten. */
static void make_room(struct ring *r, uint32_t n)
{
	if (r->at + n > r->room) { /* what is behind us at the end is the oldest */
		while (r->nstacks && r->stacks[r->first].start >= r->at)
			forget_oldest(r);
		r->at = 0;
	}
	while (r->nstacks &&
	       (r->nstacks == STITCH_STACKS ||
		(r->stacks[r->first].start >= r->at && r->stacks[r->first].start < r->at + n)))
		forget_oldest(r);
}

void stitch_learn(struct stitch *s, task_id task, const frame_id *frames, const uint32_t *points,
		  uint32_t n)
{
	struct ring *r = find(s, task);
	uint64_t all = n;
	if (n < 2 || n > WORDS_MAX / 4)
		return;
	/* The frame that runs has no callee to be cut above it by; its pc changes all the time. */
	for (uint32_t k = 1; k < n; k++)
		all = (all ^ points[k]) * 0x9e3779b97f4a7c15ULL;
	if (r && r->last == all)
		return;
	if (!r)
		r = add(s, task);
	if (!r)
		return;
	uint32_t want = r->room ? r->room : WORDS_FIRST;
	while (want < WORDS_MAX && (want < n * 4 || (r->nstacks < STITCH_STACKS &&
						     want == r->room && r->at + n > r->room)))
		want *= 2;
	if (want != r->room && !resize(s, r, want))
		return;
	make_room(r, n);
	memcpy(r->hashes + r->at, points, n * sizeof *points);
	memcpy(r->hashes + r->room + r->at, frames, n * sizeof *frames);
	uint32_t slot = (r->first + r->nstacks++) % STITCH_STACKS;
	r->stacks[slot].start = r->at;
	r->stacks[slot].n = n;
	r->at += n;
	r->last = all;
}

/* Index of the last of @n words that is @wanted, n: none. */
static uint32_t find_word(const uint32_t *words, uint32_t n, uint32_t wanted)
{
	for (uint32_t k = n; k-- > 0;)
		if (words[k] == wanted)
			return k;
	return n;
}

uint32_t stitch_callers(struct stitch *s, task_id task, uint32_t point, frame_id *ret_frames,
			uint32_t *ret_points, uint32_t max)
{
	struct ring *r = find(s, task);
	if (!r)
		return 0;
	for (uint32_t k = r->nstacks; k-- > 0;) { /* the newest first */
		uint32_t slot = (r->first + k) % STITCH_STACKS;
		uint32_t start = r->stacks[slot].start, n = r->stacks[slot].n;
		uint32_t at = find_word(r->hashes + start, n, point);
		if (at + 1 >= n)
			continue;
		uint32_t callers = n - at - 1;
		if (callers > max)
			callers = max;
		memcpy(ret_points, r->hashes + start + at + 1, callers * sizeof *ret_points);
		memcpy(ret_frames, r->hashes + r->room + start + at + 1,
		       callers * sizeof *ret_frames);
		return callers;
	}
	return 0;
}

void stitch_forget(struct stitch *s, task_id task)
{
	uint32_t index;
	if (map64_get(&s->by_task, task, &index))
		drop(s, index);
}
