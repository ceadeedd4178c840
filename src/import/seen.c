/*
 * seen: a cache of sets of four, by a hash of the bytes, whose tags lie together.
 *
 * Whatever thread owns it. Who comes first takes a free place or that of a stack seen once; a stack
 * that has been used since gets a second chance, as pages do (Corbató 1968).
 */
#include "import/seen.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sample.h"

#define WAYS           4
#define KEPT           1u /* bit of a tag: its stack has frames */
#define SETS           (STACKS_MAX / 2 / WAYS)
#define SEEN_BYTES_MAX (SEEN_FRAMES_MAX * 10u) /* as long as varints can be */

void seen_fini(struct seen *s)
{
	for (uint32_t i = 0; s->entries && i < SETS * WAYS; i++)
		free(s->entries[i].frames);
	free(s->entries);
	free(s->tags);
	*s = (struct seen){0};
}

/* Whose place of the set the newcomer takes; WAYS: nobody's this time. */
static uint32_t victim(struct seen *s, uint32_t first)
{
	uint32_t hand = s->hand++ % WAYS;
	for (uint32_t i = hand; i < hand + WAYS; i++)
		if (!(s->tags[first + i % WAYS] & KEPT))
			return i % WAYS;
	struct seen_stack *e = &s->entries[first + hand];
	if (!e->used)
		return hand;
	e->used = false;
	return WAYS;
}

static bool make_room(struct seen *s)
{
	if (!s->entries)
		s->entries = calloc(SETS * WAYS, sizeof *s->entries);
	if (!s->tags)
		s->tags = calloc(SETS * WAYS, sizeof *s->tags);
	return s->entries && s->tags;
}

void seen_foresee(struct seen *s, const uint8_t *key, size_t len)
{
	s->key = key;
	s->hash = hash_bytes(key, len);
	if (s->tags)
		__builtin_prefetch(&s->tags[s->hash % SETS * WAYS], 1);
}

struct seen_stack *seen_find(struct seen *s, const uint8_t *key, size_t len, bool *ret_learn)
{
	*ret_learn = false;
	if ((!s->tags && !make_room(s)) || !len || len > UINT32_MAX)
		return NULL;
	uint64_t hash = s->key == key ? s->hash : hash_bytes(key, len);
	s->key = NULL;
	uint32_t tag = (uint32_t)(hash >> 32) & ~KEPT, first = hash % SETS * WAYS;
	for (uint32_t i = first; i < first + WAYS; i++) {
		struct seen_stack *e = &s->entries[i];
		bool kept = s->tags[i] & KEPT;
		if ((s->tags[i] & ~KEPT) != tag ||
		    (kept && (e->len != len || memcmp(e->frames + e->nframes, key, len) != 0)))
			continue;
		e->used = kept;
		e->len = (uint32_t)len;
		e->number = i + 1;
		*ret_learn = !kept;
		return e;
	}
	uint32_t way = victim(s, first);
	if (way == WAYS)
		return NULL;
	s->tags[first + way] = tag;
	return NULL;
}

bool seen_learn(struct seen *s, struct seen_stack *e, const uint8_t *key, const frame_id *frames,
		uint32_t n)
{
	if (!n || n > SEEN_FRAMES_MAX || e->len > SEEN_BYTES_MAX)
		return false;
	size_t bytes = n * sizeof *frames + e->len;
	if (bytes > e->cap) {
		frame_id *more = realloc(e->frames, bytes);
		if (!more)
			return false;
		e->frames = more;
		e->cap = (uint32_t)bytes;
	}
	memcpy(e->frames, frames, n * sizeof *frames);
	memcpy(e->frames + n, key, e->len);
	e->nframes = n;
	e->fresh = true;
	s->tags[e - s->entries] |= KEPT;
	return true;
}
