/*
 * addrchain: stacks that arrive as addresses: the kernel's walk along frame pointers, or LBR.
 */
#ifndef ALTPTTOP_ADDRCHAIN_H
#define ALTPTTOP_ADDRCHAIN_H

#include "unwind/inner.h"

/* The whole user chain of @s as frames. CUT_NONE when it reached a root. */
enum cut_reason chain_frames(struct unwinder *u, struct space *space, const struct raw_sample *s,
			     frame_id *frames, uint32_t max, uint32_t *ret_n);

/*
 * A walk of @n frames ended with its dump: go on with what the chain has beyond the same frames.
 * Appends guessed frames to @frames, *ret_n is the new length, only if the chain agrees with the
 * walk in its last frames and leads to a root; else nothing changes and @why comes back.
 */
enum cut_reason chain_continue(struct walk *w, const struct raw_sample *s, frame_id *frames,
			       uint32_t max, uint32_t *ret_n, enum cut_reason why);

#endif
