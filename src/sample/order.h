/*
 * order: the records of many rings in one order of time.
 *
 * Contract: order_collect takes what is in the rings now and remembers, per record, its time and
 * where it lies. order_next hands them out, earliest first across all rings, as long as their time
 * is not beyond @horizon: a record of an earlier time may still be on its way into some ring. Of
 * equal times, lower ring numbers come first (side-band rings are added first), then the order in
 * the ring. A record older than one already handed out is handed out at once and flagged late.
 *
 * A record's memory stays good until the next call of order_next or order_flush. Space goes back to
 * the kernel as its records are handed out. Bounded: what is remembered fits the rings.
 *
 * Belongs to the source thread.
 */
#ifndef ALTPTTOP_ORDER_H
#define ALTPTTOP_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/perf_record.h"

struct ring;
struct order;

struct ordered {
	uint64_t time;
	void *record;
	uint32_t ring; /* number from order_add */
	bool late;     /* its time lies before that of one handed out earlier */
};

/* @layout: shared leading fields and trailing ids of all records; must hold a time. */
struct order *order_new(const struct record_layout *layout);
void order_free(struct order *o);

/* Read from @ring (borrowed) too. Its number, or -ENOMEM. */
int order_add(struct order *o, struct ring *ring);

/* Records now in the rings, in all; *ret_bad counts headers or times that make no sense. */
size_t order_collect(struct order *o, uint64_t *ret_bad);

bool order_next(struct order *o, uint64_t horizon, struct ordered *ret);
/* Give back the space of the record handed out last. */
void order_flush(struct order *o);

/* Time of the newest record handed out. */
uint64_t order_now(const struct order *o);
/* Largest share of a ring in use, in per cent: near 100 the kernel begins to lose records. */
unsigned order_fill(const struct order *o);

#endif
