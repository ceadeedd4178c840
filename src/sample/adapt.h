/*
 * adapt: how many bytes of user stack to dump with a sample.
 *
 * A bigger dump reaches the root of more stacks, costs the target more and fills the ring sooner.
 * Small ones suffice for shallow stacks, and where cut stacks are completed from the thread's past.
 * The policy is pure; the source calls it about once a second with what it saw since the last call.
 */
#ifndef ALTPTTOP_ADAPT_H
#define ALTPTTOP_ADAPT_H

#include <stdbool.h>
#include <stdint.h>

#define ADAPT_LEAST 4096
#define ADAPT_MOST  65528
#define ADAPT_RUNGS 5 /* 4, 8, 16, 32 KiB and the most */

struct adapt {
	uint32_t bytes;          /* in use */
	uint32_t most;           /* what the ring allows */
	double cut[ADAPT_RUNGS]; /* share of stacks cut when last tried; negative: not known */
	unsigned need;           /* rung that sufficed in all of the last shallow looks */
	uint32_t shallow;        /* looks in a row that needed less */
	uint32_t calm;           /* looks in a row with next to none cut */
	uint32_t rest_up;        /* looks to go before bigger dumps are tried again */
	uint32_t rest_down;      /* likewise smaller ones */
	bool trying;             /* a smaller size, to see whether completing makes up for it */
};

struct adapt_seen {
	uint64_t stacks;            /* user stacks unwound from dumps */
	uint64_t cut;               /* of these, ended at the dump's end and were not completed */
	uint64_t fits[ADAPT_RUNGS]; /* of these, were whole within a dump of that rung */
};

/* @bytes: to start with, 0: ADAPT_MOST; @most: 0: ADAPT_MOST. */
void adapt_init(struct adapt *a, uint32_t bytes, uint32_t most);

/* Count one stack of @stack_bytes in the dump; @whole: it reached the stack's end. */
void adapt_saw(struct adapt_seen *seen, const struct adapt *a, uint32_t stack_bytes, bool whole,
	       bool cut);

/*
 * The size to use from now on; the one in use when it should stay. It begins at the top: the first
 * seconds are whole, and tell what is needed. Down to what holds 99 % of the stacks once two looks
 * agree; a rung down to try after ten looks with at most 0.5 % cut, since completing from the past
 * may make up for it. Up a rung while more than 2 % are cut. At the top with too many still cut:
 * back to the smallest rung that was not much worse. What did not help is not tried again for a
 * minute. Fewer than 100 stacks decide nothing.
 */
uint32_t adapt_next(struct adapt *a, const struct adapt_seen *seen);

#endif
