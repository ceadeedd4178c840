/*
 * durations: one growing array a row; the spread in whole numbers, so that it does not depend on
 * the order in which durations come; percentiles by selection, bit by bit from the top.
 *
 * The newest few of each row gather in one place: the ends of so many arrays are in no cache.
 *
 * Beyond the cap the arrays are emptied into an extsort by (row, duration), which is read in order.
 */
#include "trace/durations.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/extsort.h"
#include "base/vec.h"

#define RECENT 7

struct recent {
	uint64_t n, dur_ns[RECENT];
};

struct list {
	VEC(uint64_t)
	uint64_t count; /* beyond the cap: of all, else as many as are in the array */
	unsigned __int128 total;
};

struct by_duration {
	uint64_t row, dur_ns;
};

struct durations {
	size_t cap, used; /* bytes of the arrays */
	struct {
		VEC(struct list)
	} rows;
	struct {
		VEC(struct recent)
	} recent;               /* by row */
	struct extsort *sorted; /* NULL: all are in the arrays */
};

/* Sums of squares of up to 2^64 differences of 64 bits: in halves, so that nothing is lost. */
struct sums {
	uint64_t average; /* rounded down */
	double rest;      /* what it lacks */
	unsigned __int128 low, high, above;
	uint64_t count, above_count;
};

static const unsigned percents[DURATIONS_RANKS] = {50, 95, 99};

struct durations *durations_new(size_t cap_bytes)
{
	struct durations *d = calloc(1, sizeof *d);
	if (d)
		d->cap = cap_bytes;
	return d;
}

void durations_clear(struct durations *d)
{
	for (size_t i = 0; i < d->rows.len; i++)
		vec_fini(&d->rows.data[i]);
	vec_fini(&d->rows);
	vec_fini(&d->recent);
	extsort_free(d->sorted);
	d->sorted = NULL;
	d->used = 0;
}

void durations_free(struct durations *d)
{
	if (!d)
		return;
	durations_clear(d);
	free(d);
}

static int compare(const void *pa, const void *pb)
{
	(void)pa, (void)pb; /* the words say it all */
	return 0;
}

static int add_sorted(struct durations *d, uint64_t row, const uint64_t *dur_ns, size_t n)
{
	struct list *l = &d->rows.data[row];
	int rc = 0;
	l->count += n;
	for (size_t i = 0; i < n && !rc; i++) {
		l->total += dur_ns[i];
		rc = extsort_add(d->sorted, &(struct by_duration){row, dur_ns[i]});
	}
	return rc;
}

/* The cap is reached: from now on through the sort. */
static int give_up_arrays(struct durations *d)
{
	d->sorted = extsort_new_words(sizeof(struct by_duration), d->cap, compare, 2);
	int rc = d->sorted ? 0 : -ENOMEM;
	for (size_t row = 0; row < d->rows.len; row++) {
		struct list *l = &d->rows.data[row];
		l->count = 0;
		rc = rc ? rc : add_sorted(d, row, l->data, l->len);
		vec_fini(l);
	}
	return rc;
}

/* Room for RECENT more, as far as the cap goes. */
static int make_room(struct durations *d, struct list *l)
{
	size_t before = l->cap, more = (l->cap ? l->cap : 8) * sizeof *l->data;
	if (l->len + RECENT <= l->cap)
		return 0;
	if (d->used + more > d->cap)
		return give_up_arrays(d);
	int rc = vec_reserve(l, l->len + RECENT);
	d->used += (l->cap - before) * sizeof *l->data;
	return rc;
}

/* The newest ones of a row to the others. */
static int put_away(struct durations *d, uint32_t row)
{
	struct recent *r = &d->recent.data[row];
	struct list *l = &d->rows.data[row];
	size_t n = r->n;
	int rc = d->sorted ? 0 : make_room(d, l);
	r->n = 0;
	if (rc || d->sorted)
		return rc ? rc : add_sorted(d, row, r->dur_ns, n);
	memcpy(l->data + l->len, r->dur_ns, n * sizeof *l->data);
	l->count = l->len += n;
	return 0;
}

static int new_rows(struct durations *d, uint32_t row)
{
	struct list none = {0};
	struct recent empty = {0};
	int rc = 0;
	while (d->rows.len <= row && !rc)
		rc = vec_push(&d->rows, none);
	while (d->recent.len <= row && !rc)
		rc = vec_push(&d->recent, empty);
	return rc;
}

int durations_add(struct durations *d, uint32_t row, uint64_t dur_ns)
{
	int rc = row < d->recent.len ? 0 : new_rows(d, row);
	if (rc)
		return rc;
	struct recent *r = &d->recent.data[row];
	r->dur_ns[r->n++] = dur_ns;
	return r->n < RECENT ? 0 : put_away(d, row);
}

void durations_expect(const struct durations *d, uint32_t row)
{
	if (row < d->recent.len)
		__builtin_prefetch(&d->recent.data[row], 1);
}

/* --- how they spread --- */

static struct sums sums_of(const struct list *l)
{
	return (struct sums){.average = (uint64_t)(l->total / l->count),
			     .rest = (double)(uint64_t)(l->total % l->count) / (double)l->count,
			     .count = l->count};
}

static inline void sums_add(struct sums *s, uint64_t dur)
{
	bool above = dur > s->average;
	uint64_t delta = above ? dur - s->average : s->average - dur;
	unsigned __int128 square = (unsigned __int128)delta * delta;
	s->low += (uint64_t)square;
	s->high += square >> 64;
	s->above += above ? delta : 0;
	s->above_count += above;
}

/* Around the average as it is: Σ(d−a)² with a = average + rest, and Σ(d−average) = n·rest. */
static void sums_end(const struct sums *s, struct spread *ret_spread)
{
	double n = (double)s->count;
	double squares = (double)s->high * 0x1p64 + (double)s->low - n * s->rest * s->rest;
	ret_spread->squares = squares > 0 ? squares : 0;
	ret_spread->above = (double)s->above - (double)s->above_count * s->rest;
}

static uint64_t rank_of(uint64_t n, unsigned percent) /* from 0 */
{
	return (uint64_t)(((unsigned __int128)n * percent + 99) / 100) - 1;
}

/*
 * The value of rank @k among @v[lo…hi), parted so that nothing before it is more and nothing behind
 * it less. Each step parts by the highest bit in which any two still differ.
 */
static uint64_t select_rank(uint64_t *v, size_t lo, size_t hi, size_t k)
{
	while (hi - lo > 1) {
		uint64_t all = v[lo], any = v[lo];
		for (size_t i = lo + 1; i < hi; i++) {
			all &= v[i];
			any |= v[i];
		}
		if (all == any)
			break;
		unsigned bit = 63 - (unsigned)__builtin_clzll(all ^ any);
		size_t middle = lo;
		for (size_t i = lo; i < hi; i++) {
			uint64_t x = v[i];
			v[i] = v[middle];
			v[middle] = x;
			middle += !(x >> bit & 1);
		}
		if (k < middle)
			hi = middle;
		else
			lo = middle;
	}
	return v[k];
}

static void spread_array(struct list *l, struct spread *ret_spread)
{
	l->total = 0;
	for (size_t i = 0; i < l->len; i++)
		l->total += l->data[i];
	struct sums sums = sums_of(l);
	for (size_t i = 0; i < l->len; i++)
		sums_add(&sums, l->data[i]);
	sums_end(&sums, ret_spread);
	size_t from = 0;
	for (int i = 0; i < DURATIONS_RANKS; i++) {
		size_t k = (size_t)rank_of(l->len, percents[i]);
		ret_spread->at[i] = select_rank(l->data, from, l->len, k);
		from = k;
	}
}

static int spread_sorted(struct durations *d,
			 void (*got)(void *ctx, uint32_t row, const struct spread *s), void *ctx)
{
	struct sums sums = {0};
	struct spread spread = {0};
	uint64_t rank = 0;
	const struct by_duration *e;
	int rc = extsort_finish(d->sorted);
	while (!rc && (e = extsort_next(d->sorted))) {
		if (!rank)
			sums = sums_of(&d->rows.data[e->row]);
		sums_add(&sums, e->dur_ns);
		for (int i = 0; i < DURATIONS_RANKS; i++)
			if (rank == rank_of(sums.count, percents[i]))
				spread.at[i] = e->dur_ns;
		if (++rank < sums.count)
			continue;
		sums_end(&sums, &spread);
		got(ctx, (uint32_t)e->row, &spread);
		rank = 0;
	}
	return rc ? rc : extsort_error(d->sorted);
}

int durations_spread(struct durations *d,
		     void (*got)(void *ctx, uint32_t row, const struct spread *s), void *ctx)
{
	int rc = 0;
	for (uint32_t row = 0; row < d->recent.len && !rc; row++)
		rc = d->recent.data[row].n ? put_away(d, row) : 0;
	if (rc)
		return rc;
	if (d->sorted)
		return spread_sorted(d, got, ctx);
	for (uint32_t row = 0; row < d->rows.len; row++) {
		struct spread spread;
		if (!d->rows.data[row].count)
			continue;
		spread_array(&d->rows.data[row], &spread);
		got(ctx, row, &spread);
	}
	return 0;
}
