/*
 * hash: mixing of byte strings, and the open-addressing map.
 *
 * The map probes linearly at a load of at most 7/8 and closes gaps on deletion (Knuth, TAOCP 6.4,
 * algorithm R), so that it needs no tombstones.
 */
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_LEAST 4096
#define MAP_MIN    16

static inline uint64_t step(uint64_t h, const unsigned char *p)
{
	uint64_t word;
	memcpy(&word, p, 8);
	h = (h ^ word) * 0xbf58476d1ce4e5b9ULL;
	return h ^ h >> 29;
}

uint64_t hash_bytes(const void *data, size_t len)
{
	const unsigned char *p = data, *end = p + len;
	uint64_t h = 0x9e3779b97f4a7c15ULL ^ len, other = 0x94d049bb133111ebULL, word = 0;

	/* Two sums side by side: each waits for its own multiplications only. */
	for (; end - p >= 16; p += 16) {
		h = step(h, p);
		other = step(other, p + 8);
	}
	if (end - p >= 8) {
		h = step(h, p);
		p += 8;
	}
	if (p < end && len >= 8) { /* the last eight, some of them again */
		memcpy(&word, end - 8, 8);
	} else {
		for (unsigned shift = 0; p < end; shift += 8)
			word |= (uint64_t)*p++ << shift;
	}
	return hash_mix(h ^ word ^ (other << 32 | other >> 32));
}

void map64_init(struct map64 *m)
{
	*m = (struct map64){0};
}

void map64_fini(struct map64 *m)
{
	free(m->keys);
	free(m->values);
	free(m->used);
	map64_init(m);
}

void map64_clear(struct map64 *m)
{
	if (m->capacity)
		memset(m->used, 0, m->capacity);
	m->count = 0;
}

/* The slot that holds @key, or the empty one where it belongs. The map is never full. */
static size_t find_slot(const struct map64 *m, uint64_t key)
{
	size_t mask = m->capacity - 1;
	size_t i = hash_mix(key) & mask;
	while (m->used[i] && m->keys[i] != key)
		i = (i + 1) & mask;
	return i;
}

bool map64_get(const struct map64 *m, uint64_t key, uint32_t *ret_value)
{
	if (!m->count)
		return false;
	size_t i = find_slot(m, key);
	if (!m->used[i])
		return false;
	if (ret_value)
		*ret_value = m->values[i];
	return true;
}

void *hash_slots(size_t n, size_t size)
{
	volatile char *slots = calloc(n, size);

	for (size_t at = 0; slots && at < n * size; at += PAGE_LEAST)
		slots[at] = 0;
	return (void *)slots;
}

static int grow(struct map64 *m)
{
	size_t capacity = m->capacity ? m->capacity * 2 : MAP_MIN;
	struct map64 bigger = {
		.keys = calloc(capacity, sizeof *bigger.keys),
		.values = calloc(capacity, sizeof *bigger.values),
		.used = hash_slots(capacity, sizeof *bigger.used),
		.capacity = capacity,
		.count = m->count,
	};
	if (!bigger.keys || !bigger.values || !bigger.used) {
		map64_fini(&bigger);
		return -ENOMEM;
	}
	for (size_t i = 0; i < m->capacity; i++) {
		if (!m->used[i])
			continue;
		size_t to = find_slot(&bigger, m->keys[i]);
		bigger.used[to] = 1;
		bigger.keys[to] = m->keys[i];
		bigger.values[to] = m->values[i];
	}
	struct map64 old = *m;
	*m = bigger;
	map64_fini(&old);
	return 0;
}

int map64_put(struct map64 *m, uint64_t key, uint32_t value)
{
	if (m->capacity) {
		size_t i = find_slot(m, key);
		if (m->used[i]) {
			m->values[i] = value;
			return 0;
		}
	}
	if ((m->count + 1) * 8 > m->capacity * 7 && grow(m))
		return -ENOMEM;
	size_t i = find_slot(m, key);
	m->used[i] = 1;
	m->keys[i] = key;
	m->values[i] = value;
	m->count++;
	return 0;
}

bool map64_del(struct map64 *m, uint64_t key)
{
	if (!m->count)
		return false;
	size_t mask = m->capacity - 1;
	size_t gap = find_slot(m, key);
	if (!m->used[gap])
		return false;
	for (size_t i = (gap + 1) & mask; m->used[i]; i = (i + 1) & mask) {
		size_t home = hash_mix(m->keys[i]) & mask;
		/* An entry may move back into the gap unless its home lies between gap and itself.
		 */
		if (((i - home) & mask) < ((i - gap) & mask))
			continue;
		m->keys[gap] = m->keys[i];
		m->values[gap] = m->values[i];
		gap = i;
	}
	m->used[gap] = 0;
	m->count--;
	return true;
}
