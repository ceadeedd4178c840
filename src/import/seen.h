/*
 * seen: stacks that a recording told lately, by how it writes them.
 *
 * A stack that comes again is found by its bytes in the file, and need not be translated into
 * frames anew. Only what comes a second time (or looks so by its hash) is kept, and what comes
 * often is not driven out by what comes once; memory is bounded. Owned by one thread.
 */
#ifndef ALTPTTOP_SEEN_H
#define ALTPTTOP_SEEN_H

#include <stdbool.h>
#include <stddef.h>

#include "frame.h"

#define SEEN_FRAMES_MAX 256 /* deeper stacks are not kept */

struct seen_stack {   /* what a tag says is not kept has none of it yet */
	uint32_t len; /* of the bytes */
	uint32_t nframes;
	uint32_t cap;
	frame_id *frames; /* and the bytes behind them */
	uint32_t number;  /* from 1, below STACKS_MAX; an entry that is used anew keeps it */
	bool used;        /* since it was last looked at for eviction */
	bool fresh;       /* its frames are new: clear it once that is told */
};

struct seen {
	struct seen_stack *entries; /* NULL until the first look-up */
	uint32_t *tags; /* by entry: a part of the hash, and whether its frames are kept */
	uint32_t hand;
	const uint8_t *key; /* foreseen, of this hash; NULL: nothing is */
	uint64_t hash;
};

void seen_fini(struct seen *s); /* a zeroed struct is empty; so is it afterwards */

/*
 * The stack written as @key. NULL: not seen, or no room. *ret_learn: seen before but without
 * frames: seen_learn may give them to the entry returned.
 */
struct seen_stack *seen_find(struct seen *s, const uint8_t *key, size_t len, bool *ret_learn);
/* It will be looked for next, as it is there. */
void seen_foresee(struct seen *s, const uint8_t *key, size_t len);
/* @key: what it was found by. False: no memory, or too deep. */
bool seen_learn(struct seen *s, struct seen_stack *e, const uint8_t *key, const frame_id *frames,
		uint32_t n);

#endif
