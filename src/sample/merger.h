/*
 * merger: the records of many rings in one order of time.
 *
 * Contract: merger_collect takes what is in the rings now and remembers, per record, its time and
 * where it lies. merger_next hands them out, earliest first across all rings, as long as their time
 * is not beyond @horizon: a record of an earlier time may still be on its way into some ring. Of
 * equal times, lower ring numbers come first (side-band rings are added first), then the order in
 * the ring. A record older than one already handed out is handed out at once and flagged late.
 *
 * A record's memory stays good until the next call of merger_next or merger_flush. Space goes back
 * to the kernel as its records are handed out. Bounded: what is remembered fits the rings.
 *
 * Belongs to the source thread.
 */
#ifndef ALTPTTOP_MERGER_H
#define ALTPTTOP_MERGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/perf_record.h"

struct ring;
struct merger;

struct ordered {
	uint64_t time;
	void *record;
	uint32_t ring; /* number from merger_add */
	bool late;     /* its time lies before that of one handed out earlier */
};

/* @layout: shared leading fields and trailing ids of all records; must hold a time. */
struct merger *merger_new(const struct record_layout *layout);
void merger_free(struct merger *o);

/* Read from @ring (borrowed) too. Its number, or -ENOMEM. */
int merger_add(struct merger *o, struct ring *ring);

/* Records now in the rings, in all; *ret_bad counts headers or times that make no sense. */
size_t merger_collect(struct merger *o, uint64_t *ret_bad);

bool merger_next(struct merger *o, uint64_t horizon, struct ordered *ret);
/* Give back the space of the record handed out last. */
void merger_flush(struct merger *o);

/* Time of the newest record handed out. */
uint64_t merger_now(const struct merger *o);
/* Largest share of a ring in use, in per cent: near 100 the kernel begins to lose records. */
unsigned merger_fill(const struct merger *o);

#endif
