/*
 * seen: a cache of sets of four, by a hash of the bytes.
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
#define SETS           (STACKS_MAX / 2 / WAYS)
#define SEEN_BYTES_MAX (SEEN_FRAMES_MAX * 10u) /* as long as varints can be */

void seen_fini(struct seen *s)
{
	for (uint32_t i = 0; s->entries && i < SETS * WAYS; i++)
		free(s->entries[i].frames);
	free(s->entries);
	*s = (struct seen){0};
}

/* Whose place of the four the newcomer takes; NULL: nobody's this time. */
static struct seen_stack *victim(struct seen *s, struct seen_stack *set)
{
	uint32_t hand = s->hand++;
	for (uint32_t i = 0; i < WAYS; i++)
		if (!set[(hand + i) % WAYS].nframes)
			return &set[(hand + i) % WAYS];
	struct seen_stack *e = &set[hand % WAYS];
	if (!e->used)
		return e;
	e->used = false;
	return NULL;
}

struct seen_stack *seen_find(struct seen *s, const uint8_t *key, size_t len, bool *ret_learn)
{
	*ret_learn = false;
	if (!s->entries && !(s->entries = calloc(SETS * WAYS, sizeof *s->entries)))
		return NULL;
	if (!len || len > UINT32_MAX)
		return NULL;
	uint64_t hash = hash_bytes(key, len);
	uint32_t tag = (uint32_t)(hash >> 32);
	struct seen_stack *set = &s->entries[hash % SETS * WAYS];
	for (uint32_t i = 0; i < WAYS; i++) {
		struct seen_stack *e = &set[i];
		if (e->tag != tag || e->len != len ||
		    (e->nframes && memcmp(e->frames + e->nframes, key, len) != 0))
			continue;
		e->used = true;
		*ret_learn = !e->nframes;
		return e;
	}
	struct seen_stack *e = victim(s, set);
	if (e) {
		e->len = (uint32_t)len;
		e->tag = tag;
		e->nframes = 0;
		e->used = false;
		e->number = (uint32_t)(e - s->entries) + 1;
	}
	return NULL;
}

bool seen_learn(struct seen_stack *e, const uint8_t *key, const frame_id *frames, uint32_t n)
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
	return true;
}
