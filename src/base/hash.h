/* hash: mixing functions and an open-addressing map from 64-bit keys to 32-bit values. Not
 * thread-safe. */
#ifndef ALTPTTOP_HASH_H
#define ALTPTTOP_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t hash_mix(uint64_t x) /* splitmix64 finaliser (Steele et al. 2014) */
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}
static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_mix(a + 0x9e3779b97f4a7c15ULL + hash_mix(b));
}
uint64_t hash_bytes(const void *data, size_t len);

/* Zeros for the slots of a table, NULL: no memory; free() them. All pages are there: a probe that
 * finds nothing would map one of zeros, which the store then exchanges while other CPUs wait. */
void *hash_slots(size_t n, size_t size);

struct map64 {
	uint64_t *keys;
	uint32_t *values;
	uint8_t *used;
	size_t capacity, count;
};
void map64_init(struct map64 *m);
void map64_fini(struct map64 *m);
void map64_clear(struct map64 *m);
bool map64_get(const struct map64 *m, uint64_t key, uint32_t *ret_value);
int map64_put(struct map64 *m, uint64_t key, uint32_t value); /* replaces; -ENOMEM */
bool map64_del(struct map64 *m, uint64_t key);

#endif
