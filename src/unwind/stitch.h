/*
 * stitch: completing cut stacks from what the same thread's stacks looked like a moment ago.
 *
 * A stack whose dump ended early is known up to some frame. If one of the thread's last 64 complete
 * stacks had a frame at the same pc with the same CFA, its callers are taken from there: a frame
 * that has not returned still has the callers it had. What is kept is two integers a frame, in a
 * ring per thread; all rings together keep to a cap in bytes, the thread unused for longest gives
 * way. Owned by the source thread.
 */
#ifndef ALTPTTOP_STITCH_H
#define ALTPTTOP_STITCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"
#include "frame.h"

#define STITCH_STACKS 64 /* complete stacks remembered of a thread */

struct stitch;

/* What a frame is known by: a hash of its pc and CFA. */
static inline uint32_t stitch_point(uint64_t pc, uint64_t cfa)
{
	return (uint32_t)(hash_pair(pc, cfa) >> 16);
}

struct stitch *stitch_new(size_t cap_bytes);
void stitch_free(struct stitch *s);
size_t stitch_bytes(const struct stitch *s);

/* Remember a complete stack, innermost frame first. A stack that @points say is the one learned
 * last costs nothing. */
void stitch_learn(struct stitch *s, task_id task, const frame_id *frames, const uint32_t *points,
		  uint32_t n);

/* The callers of the frame known by @point, as far as they fit; their points too; how many, 0: not
 * known. */
uint32_t stitch_callers(struct stitch *s, task_id task, uint32_t point, frame_id *ret_frames,
			uint32_t *ret_points, uint32_t max);

void stitch_forget(struct stitch *s, task_id task);

#endif
