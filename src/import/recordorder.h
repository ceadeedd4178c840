/*
 * recordorder: perf.data records put in time order, in bounded memory.
 *
 * perf writes what each CPU's ring held, round after round: when a round ends, everything older
 * than the newest record of the round before it can be delivered. Without rounds the memory cap
 * decides. Records are copied.
 */
#ifndef ALTPTTOP_RECORDORDER_H
#define ALTPTTOP_RECORDORDER_H

#include <stddef.h>
#include <stdint.h>

struct recordorder;

/* @deliver gets records in order (8-byte aligned, writable, good until it returns). */
struct recordorder *recordorder_new(size_t cap_bytes, int (*deliver)(void *ctx, void *record),
				    void *ctx);
void recordorder_free(struct recordorder *o);

int recordorder_add(struct recordorder *o, uint64_t time_ns, const void *record,
		    size_t n); /* 0 or -errno */
int recordorder_round(struct recordorder *o);
int recordorder_finish(struct recordorder *o);
/* Records that came after a newer one was delivered; those without a time (0) are not late. */
uint64_t recordorder_late(const struct recordorder *o);

#endif
