/*
 * unwind: from one raw observation to frame ids.
 *
 * An unwinder belongs to the source thread: it holds the modules' CFI, the pc → row cache, and each
 * thread's past stacks. Nothing here allocates, locks or calls the system per frame once warm.
 */
#ifndef ALTPTTOP_UNWIND_H
#define ALTPTTOP_UNWIND_H

#include "sample.h"
#include "tables.h"

struct space;
struct unwinder;

struct unwind_config {
	const char *symfs; /* --symfs DIR, NULL */
	bool stitch; /* complete cut stacks from the thread's past; if live, from its memory */
	bool live;   /* /proc/PID files may be opened */
	uint32_t max_frames; /* 1024 */
	size_t past_bytes;   /* cap of the memory of past stacks, all threads together */
};

struct unwind_result {
	uint32_t nframes;
	enum cut_reason cut; /* CUT_NONE: complete */
	uint32_t stitched;   /* frames taken from the past or from memory; 0 none */
};

struct unwinder *unwinder_new(struct tables *tables, const struct unwind_config *config);
void unwinder_free(struct unwinder *u);

/*
 * Fill @frames (room for @max) innermost first: kernel part, then user part; FRAME_TRUNCATED is
 * appended by the callee when the user part did not reach a root. @space may be NULL (kernel-only
 * sample). @task keys the memory of past stacks. Never fails: at worst one frame of FRAME_UNKNOWN.
 */
void unwinder_stack(struct unwinder *u, struct space *space, task_id task,
		    const struct raw_sample *s, frame_id *frames, uint32_t max,
		    struct unwind_result *ret_result);

void unwinder_task_gone(struct unwinder *u, task_id task); /* its past may be dropped */
size_t unwinder_bytes(const struct unwinder *u);

#endif
