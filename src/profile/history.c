/*
 * history: buckets, their ageing and their cap.
 *
 * Engine thread. The levels table says how wide a bucket of each level is. Because levels fall with
 * time, the buckets of one level are one run of the array, found from the counts.
 */
#include "profile/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS     1000000000ull
#define SECONDS_FRESH 120 /* this many buckets of a second are coalesced last */

static const uint64_t width_ns[HISTORY_LEVELS] = {
	HISTORY_STEP_NS,
	SECOND_NS,
	10 * SECOND_NS,
	60 * SECOND_NS,
};

void tally_add(struct tally *to, const struct tally *more)
{
	to->samples += more->samples;
	to->cpu_ns += more->cpu_ns;
	to->stacks += more->stacks;
	to->stitched += more->stitched;
	for (unsigned i = 0; i < CUT_REASONS; i++)
		to->cut[i] += more->cut[i];
	for (unsigned i = 0; i < LOSS_KINDS; i++)
		to->loss[i] += more->loss[i];
}

void tally_sub(struct tally *from, const struct tally *less)
{
	from->samples -= less->samples;
	from->cpu_ns -= less->cpu_ns;
	from->stacks -= less->stacks;
	from->stitched -= less->stitched;
	for (unsigned i = 0; i < CUT_REASONS; i++)
		from->cut[i] -= less->cut[i];
	for (unsigned i = 0; i < LOSS_KINDS; i++)
		from->loss[i] -= less->loss[i];
}

void history_init(struct history *h, size_t cap_bytes)
{
	*h = (struct history){.cap_bytes = cap_bytes};
}

void history_fini(struct history *h)
{
	for (uint32_t i = 0; i < h->len; i++)
		free(h->buckets[i]);
	free(h->buckets);
	cells_fini(&h->scratch);
	*h = (struct history){0};
}

static size_t bucket_bytes(const struct bucket *b)
{
	return sizeof *b + b->bytes;
}

/* A bucket of what @cells holds; sorts it. NULL: no memory. */
static struct bucket *bucket_new(struct cells *cells, uint32_t level, uint64_t start_ns,
				 uint64_t end_ns)
{
	struct bucket *b = malloc(sizeof *b + (size_t)cells->len * CELLCODE_MAX);
	if (!b)
		return NULL;
	if (cells->len)
		qsort(cells->data, cells->len, sizeof *cells->data, cell_compare);
	*b = (struct bucket){
		.start_ns = start_ns, .end_ns = end_ns, .level = level, .ncells = cells->len};
	b->bytes = (uint32_t)cellcode_pack(cells->data, cells->len, b->data);
	struct bucket *fit = realloc(b, bucket_bytes(b));
	return fit ? fit : b;
}

static void drop_front(struct history *h)
{
	struct bucket *b = h->buckets[0];
	h->bytes -= bucket_bytes(b);
	h->count[b->level]--;
	h->len--;
	memmove(h->buckets, h->buckets + 1, h->len * sizeof *h->buckets);
	h->forgotten_ns = h->len ? h->buckets[0]->start_ns : b->end_ns;
	free(b);
}

/* Put one bucket of the next level in the place of @n buckets from @first, all of one level. */
static int merge(struct history *h, uint32_t first, uint32_t n)
{
	uint32_t level = h->buckets[first]->level;
	struct tally tally = {0};

	if (n > 1) {
		cells_clear(&h->scratch);
		for (uint32_t i = first; i < first + n; i++) {
			const struct bucket *b = h->buckets[i];
			struct cellcode_reader r = cellcode_reader(b->data, b->bytes);
			while (cellcode_next(&r))
				if (cells_add(&h->scratch, &r.cell))
					return -ENOMEM;
			tally_add(&tally, &b->tally);
		}
		struct bucket *b = bucket_new(&h->scratch, level, h->buckets[first]->start_ns,
					      h->buckets[first + n - 1]->end_ns);
		if (!b)
			return -ENOMEM;
		b->tally = tally;
		for (uint32_t i = first; i < first + n; i++) {
			h->bytes -= bucket_bytes(h->buckets[i]);
			free(h->buckets[i]);
		}
		h->bytes += bucket_bytes(b);
		h->buckets[first] = b;
		h->len -= n - 1;
		memmove(h->buckets + first + 1, h->buckets + first + n,
			(h->len - first - 1) * sizeof *h->buckets);
		if (h->scratch.cap > 1u << 16)
			cells_fini(&h->scratch);
	}
	h->buckets[first]->level = level + 1;
	h->count[level] -= n;
	h->count[level + 1]++;
	return 0;
}

/* Coalesce the oldest buckets of @level that fall into one bucket of the next. */
static int merge_oldest(struct history *h, uint32_t level)
{
	uint32_t first = 0;
	for (uint32_t l = HISTORY_LEVELS - 1; l > level; l--)
		first += h->count[l];
	uint64_t width = width_ns[level + 1];
	uint64_t start = h->buckets[first]->start_ns;
	uint32_t n = 1;
	while (n < h->count[level]) {
		uint64_t next = h->buckets[first + n]->start_ns;
		if (next / width != start / width ||
		    (start < h->barrier_ns) != (next < h->barrier_ns))
			break;
		n++;
	}
	return merge(h, first, n);
}

static void age(struct history *h, uint64_t now_ns)
{
	while (h->count[0]) {
		const struct bucket *oldest = h->buckets[h->len - h->count[0]];
		/* A whole second at a time: wait until its last tenth is old enough. */
		uint64_t second_end = (oldest->start_ns / SECOND_NS + 1) * SECOND_NS;
		if (second_end + HISTORY_FINE_NS > now_ns || merge_oldest(h, 0))
			break;
	}
	while (h->len && h->buckets[0]->end_ns + HISTORY_KEEP_NS < now_ns)
		drop_front(h);
}

static void shrink(struct history *h)
{
	while (h->bytes > h->cap_bytes && h->len) {
		int failed = -1;
		if (h->count[1] > SECONDS_FRESH)
			failed = merge_oldest(h, 1);
		else if (h->count[2])
			failed = merge_oldest(h, 2);
		if (failed)
			drop_front(h);
	}
}

int history_push(struct history *h, uint64_t start_ns, uint64_t end_ns, struct cells *cells,
		 const struct tally *t)
{
	if (h->len == h->cap) {
		uint32_t cap = h->cap ? h->cap * 2 : 256;
		struct bucket **buckets = realloc(h->buckets, cap * sizeof *buckets);
		if (!buckets)
			return -ENOMEM;
		h->buckets = buckets;
		h->cap = cap;
	}
	struct bucket *b = bucket_new(cells, 0, start_ns, end_ns);
	if (!b)
		return -ENOMEM;
	b->tally = *t;
	h->buckets[h->len++] = b;
	h->count[0]++;
	h->bytes += bucket_bytes(b);
	age(h, start_ns);
	shrink(h);
	return 0;
}

int history_replace(struct history *h, uint32_t i, struct cells *cells)
{
	struct bucket *old = h->buckets[i];
	struct bucket *b = bucket_new(cells, old->level, old->start_ns, old->end_ns);
	if (!b)
		return -ENOMEM;
	b->tally = old->tally;
	h->bytes += bucket_bytes(b) - bucket_bytes(old);
	h->buckets[i] = b;
	free(old);
	return 0;
}

void history_forget(struct history *h, uint64_t now_ns)
{
	while (h->len)
		drop_front(h);
	h->forgotten_ns = now_ns;
}

uint32_t history_first(const struct history *h, uint64_t from_ns)
{
	uint32_t lo = 0, hi = h->len;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct bucket *b = h->buckets[mid];
		/* The newest level is cut at the start, coarser ones at the middle. */
		uint64_t at = b->level ? b->start_ns + (b->end_ns - b->start_ns) / 2 : b->start_ns;
		if (at < from_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
