/*
 * durations: all durations of each row of an analysis, and what needs them all: how they spread,
 * and percentiles by nearest rank. Exact, whatever the number.
 *
 * Eight bytes each in memory up to a cap; beyond it all of them go through an external sort.
 */
#ifndef ALTPTTOP_DURATIONS_H
#define ALTPTTOP_DURATIONS_H

#include <stddef.h>
#include <stdint.h>

#define DURATIONS_RANKS 3

struct durations;

struct spread {
	double squares;               /* Σ (duration − average)² */
	double above;                 /* Σ of what those above the average have more than it */
	uint64_t at[DURATIONS_RANKS]; /* the durations at these percentiles: 50, 95, 99 */
};

struct durations *durations_new(size_t cap_bytes);
void durations_free(struct durations *d);

void durations_clear(struct durations *d);                             /* forget all */
int durations_add(struct durations *d, uint32_t row, uint64_t dur_ns); /* 0 or -errno */
/* One of this row will come soon: have its place at hand. */
void durations_expect(const struct durations *d, uint32_t row);

/* After the last one: @got hears of each row that has durations, once. 0 or -errno. */
int durations_spread(struct durations *d,
		     void (*got)(void *ctx, uint32_t row, const struct spread *s), void *ctx);

#endif
