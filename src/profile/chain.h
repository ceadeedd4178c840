/*
 * chain: the functions that one frame stands for.
 *
 * A frame is one function, or, where the compiler inlined, several: innermost first, the function
 * that holds the code last. A frame without a name yet stands for itself. Reads the tables; any
 * thread.
 */
#ifndef ALTPTTOP_CHAIN_H
#define ALTPTTOP_CHAIN_H

#include "answer.h"

/*
 * A function as folding knows it: a func_id, or FID_FRAME | frame_id for a frame that has no name
 * yet or whose address is asked for (QUERY_ADDRESSES). It is the key.a of rows.
 */
typedef uint32_t fid_t;
#define FID_FRAME 0x80000000u

struct chain {
	const struct loc_line *lines;
	uint32_t n; /* at least 1 */
	struct loc_line own;
};

/* @flags: QUERY_FOLD_INLINE, QUERY_ADDRESSES. @c->lines may point into @c. */
static inline void chain_get(struct chain *c, const struct tables *t, frame_id frame,
			     uint32_t flags)
{
	const struct loc *loc = flags & QUERY_ADDRESSES ? NULL : tables_loc(t, frame);
	if (!loc) {
		c->own = (struct loc_line){.func = FID_FRAME | frame};
		c->lines = &c->own;
		c->n = 1;
	} else if (flags & QUERY_FOLD_INLINE) {
		c->lines = &loc->lines[loc->n - 1];
		c->n = 1;
	} else {
		c->lines = loc->lines;
		c->n = loc->n;
	}
}

#endif
