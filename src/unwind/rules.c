/*
 * rules: the store of interned register rules, one block of bytes up to a cap.
 *
 * Places in it are 32-bit offsets, never 0, so that a row stays small; the hash that finds equal
 * rules may miss one (two contents of equal hash), which costs a copy, not an error. Owned by the
 * source thread.
 */
#include "unwind/row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct rules_store {
	uint8_t *bytes;
	size_t len, room, cap;
	struct map64 places; /* content hash → place */
};

struct rules_store *rules_new(size_t cap_bytes)
{
	struct rules_store *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->cap = cap_bytes;
	s->len = 8; /* place 0 means none */
	map64_init(&s->places);
	return s;
}

void rules_free(struct rules_store *s)
{
	if (!s)
		return;
	map64_fini(&s->places);
	free(s->bytes);
	free(s);
}

void rules_clear(struct rules_store *s)
{
	map64_clear(&s->places);
	s->len = 8;
}

size_t rules_bytes(const struct rules_store *s)
{
	return s->room + s->places.capacity * 13;
}

const struct rules *rules_get(const struct rules_store *s, uint32_t at)
{
	return (const struct rules *)(s->bytes + at);
}

static int reserve(struct rules_store *s, size_t bytes)
{
	if (s->len + bytes > s->cap)
		return -ENOSPC;
	if (s->len + bytes <= s->room)
		return 0;
	size_t room = s->room ? s->room * 2 : 16384;
	while (room < s->len + bytes)
		room *= 2;
	void *grown = realloc(s->bytes, room);
	if (!grown)
		return -ENOSPC;
	s->bytes = grown;
	s->room = room;
	return 0;
}

int row_finish(struct rules_store *s, const struct draft *d, struct row *ret_row)
{
	struct row row = d->row;
	row.rules = 0;
	if (d->n == 0 || row.cfa == ROW_END || row.cfa == ROW_FOREIGN) {
		*ret_row = row;
		return 0;
	}
	size_t head = sizeof(struct rules) + d->n * sizeof(struct rule);
	size_t bytes = (head + d->expr_bytes + 7) & ~(size_t)7;
	int rc = reserve(s, bytes);
	if (rc)
		return rc;
	struct rules *r = (struct rules *)(s->bytes + s->len);
	memset(r, 0, bytes);
	r->bytes = (uint32_t)bytes;
	r->n = d->n;
	memcpy(r->r, d->rules, d->n * sizeof *r->r);
	memcpy((uint8_t *)r + head, d->expr, d->expr_bytes);
	for (uint32_t k = 0; k < r->n; k++)
		if (r->r[k].len)
			r->r[k].off += (int32_t)head;
	uint64_t key = hash_bytes(r, bytes);
	uint32_t place = 0;
	if (map64_get(&s->places, key, &place)) {
		const struct rules *old = rules_get(s, place);
		if (old->bytes != bytes || memcmp(old, r, bytes) != 0)
			place = 0;
	}
	if (!place) {
		place = (uint32_t)s->len;
		s->len += bytes;
		map64_put(&s->places, key, place);
	}
	row.rules = place;
	*ret_row = row;
	return 0;
}
