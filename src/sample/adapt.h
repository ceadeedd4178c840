/*
 * adapt: how many bytes of user stack to dump with a sample.
 *
 * A bigger dump reaches the root of more stacks, costs the target more and fills the ring sooner.
 * Small ones suffice for shallow stacks, and where cut stacks are completed from the thread's past.
 * The policy is pure; the source calls it about once a second with what it saw since the last call.
 */
#ifndef ALTPTTOP_ADAPT_H
#define ALTPTTOP_ADAPT_H

#include <stdint.h>

#define ADAPT_LEAST 4096
#define ADAPT_START 16384
#define ADAPT_MOST  65528
#define ADAPT_RUNGS 5 /* 4, 8, 16, 32 KiB and the most */

struct adapt {
	uint32_t bytes;          /* in use */
	uint32_t most;           /* what the ring allows */
	double cut[ADAPT_RUNGS]; /* share of stacks cut when last tried; negative: not known */
	uint32_t calm;           /* looks in a row that asked for less */
	uint32_t rest;           /* looks to go before bigger dumps are tried again */
};

struct adapt_seen {
	uint64_t stacks;  /* user stacks unwound from dumps */
	uint64_t cut;     /* of these, ended at the dump's end and were not completed otherwise */
	uint64_t shallow; /* of these, the dump reached the stack's end in its first half */
};

/* @bytes: to start with, 0: ADAPT_START; @most: 0: ADAPT_MOST. */
void adapt_init(struct adapt *a, uint32_t bytes, uint32_t most);

/*
 * The size to use from now on; the one in use when it should stay. Up a rung while more than 5 % of
 * the stacks are cut. At the top with too many still cut: back to the smallest rung that was not
 * much worse, and no new try for a minute. Down a rung when the stacks of three looks in a row were
 * shallow. Fewer than 100 stacks decide nothing.
 */
uint32_t adapt_next(struct adapt *a, const struct adapt_seen *seen);

#endif
