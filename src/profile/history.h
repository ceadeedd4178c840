/*
 * history: what happened when: packed cell lists by time, for the last hour.
 *
 * A bucket covers a tenth of a second while it is younger than a minute (so that windows of 1, 10
 * and 60 s are sharp), then a second; when the byte cap is reached the oldest seconds become 10 s,
 * then 60 s, and in the end the oldest are dropped. Buckets are in time order and their levels fall
 * with time. Nothing is ever merged across the barrier (the mark). Owned by the engine thread.
 */
#ifndef ALTPTTOP_HISTORY_H
#define ALTPTTOP_HISTORY_H

#include "profile/cellcode.h"
#include "sink.h"

#define HISTORY_STEP_NS 100000000ull     /* width of the newest buckets */
#define HISTORY_FINE_NS 61000000000ull   /* how long they stay so */
#define HISTORY_KEEP_NS 3600000000000ull /* the last hour */
#define HISTORY_LEVELS  4

/* What a span of time saw beside stacks. */
struct tally {
	uint64_t samples;
	uint64_t cpu_ns;   /* on-CPU time that samples stand for */
	uint64_t stacks;   /* samples that had a user stack to unwind */
	uint64_t stitched; /* of them completed from the past */
	uint64_t cut[CUT_REASONS];
	uint64_t loss[LOSS_KINDS];
};
void tally_add(struct tally *to, const struct tally *more);
void tally_sub(struct tally *from, const struct tally *less);

struct bucket {
	uint64_t start_ns, end_ns; /* what it holds lies in [start, end) */
	uint32_t level, ncells, bytes;
	struct tally tally;
	uint8_t data[];
};

struct history {
	struct bucket **buckets;
	uint32_t len, cap;
	uint32_t count[HISTORY_LEVELS]; /* buckets by level */
	size_t bytes, cap_bytes;
	uint64_t barrier_ns;
	uint64_t forgotten_ns; /* nothing before this is held any more; 0: all is */
	struct cells scratch;
};

void history_init(struct history *h, size_t cap_bytes);
void history_fini(struct history *h);

/*
 * Append what the table @cells gathered from @start_ns to @end_ns (not before the last bucket's),
 * then coalesce and drop as time and bytes ask. Sorts @cells in place: clear it afterwards.
 * -ENOMEM: the list is not held.
 */
int history_push(struct history *h, uint64_t start_ns, uint64_t end_ns, struct cells *cells,
		 const struct tally *t);

/* Put @cells in the place of what bucket @i holds. Sorts @cells. */
int history_replace(struct history *h, uint32_t i, struct cells *cells);
/* Drop everything: nothing before @now_ns is held any more. */
void history_forget(struct history *h, uint64_t now_ns);

/* First bucket that belongs to a window from @from_ns (by its middle), len when none does. */
uint32_t history_first(const struct history *h, uint64_t from_ns);

#endif
