/*
 * codelist: a function's source and instructions, made from its program and kept a while.
 *
 * listing_make runs under the resolver's lock; the shelf has a lock of its own, so that asking
 * never waits for the making.
 */
#ifndef ALTPTTOP_CODELIST_H
#define ALTPTTOP_CODELIST_H

#include <pthread.h>

#include "resolve.h"

#define SHELF_SLOTS 16
#define SHELF_WANTS 8

/* Always one, at worst with a note that says what is missing. NULL: no memory. */
const struct listing *listing_make(struct resolve *r, func_id func);

/* The last few listings, and the functions that are asked for. */
struct shelf {
	pthread_mutex_t lock;
	const struct listing *slot[SHELF_SLOTS]; /* newest first; each a reference */
	func_id want[SHELF_WANTS];
	unsigned nwants;
};

void shelf_init(struct shelf *s);
void shelf_fini(struct shelf *s);
/* With a reference; NULL: not there, and noted as wanted (*ret_new when that is new). */
const struct listing *shelf_get(struct shelf *s, func_id func, bool *ret_new);
void shelf_put(struct shelf *s, const struct listing *l); /* takes the reference */
func_id shelf_next_want(struct shelf *s);                 /* 0: none; stays wanted until put */
void shelf_clear(struct shelf *s);                        /* symbols came late: all are old */

#endif
