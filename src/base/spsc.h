/*
 * spsc: single-producer single-consumer byte ring for variable-size records.
 *
 * One thread writes, one reads. A record is written whole or not at all: a full ring drops it and
 * the caller counts. Positions are published with release and read with acquire.
 */
#ifndef ALTPTTOP_SPSC_H
#define ALTPTTOP_SPSC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spsc;

struct spsc *spsc_new(size_t bytes); /* rounded up to a power of two; NULL: no memory */
void spsc_free(struct spsc *r);

/* Producer: room for a record of @len bytes, 8-byte aligned and contiguous; NULL: full. Then
 * commit. */
void *spsc_reserve(struct spsc *r, size_t len);
void spsc_commit(struct spsc *r);

/* Consumer: the oldest record, NULL when empty. It stays good until spsc_release. */
const void *spsc_peek(struct spsc *r, size_t *ret_len);
/* The one behind the last that was peeked at, NULL when there is none (yet). */
const void *spsc_peek_next(struct spsc *r, size_t *ret_len);
void spsc_release(struct spsc *r); /* all that were peeked at */

size_t spsc_size(const struct spsc *r);
size_t spsc_used(const struct spsc *r); /* bytes waiting, any thread, a hint */

/* Readable once the producer committed into a ring whose consumer asked to be woken. -1: none. */
int spsc_fd(const struct spsc *r);
/* Consumer: reset spsc_fd and wake me at the next commit, or at once when something waits already.
 */
void spsc_arm(struct spsc *r);

#endif
