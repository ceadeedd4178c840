/*
 * wants: the frames that somebody wants named, in the order they should be.
 *
 * Lists: names first, then lines, then pairs of frames. The newest request goes before older ones,
 * in its own order, since whoever asks puts what is on the screen first. Any thread may add; one
 * takes. A full list drops its oldest entries: whoever still wants them asks again.
 */
#ifndef ALTPTTOP_WANTS_H
#define ALTPTTOP_WANTS_H

#include <stdbool.h>

#include "frame.h"

enum want_step { WANT_NONE, WANT_NAME, WANT_DEFERRED, WANT_LINES, WANT_TAIL };

struct wants;

struct wants *wants_new(void);
void wants_free(struct wants *w);

void wants_add(struct wants *w, const frame_id *frames, uint32_t n);
/* Once named: lines are wanted too (@more), or the frame is done with. */
void wants_named(struct wants *w, frame_id frame, bool more);
/* Resolve this one again, lines and all (its module's symbols came late). */
void wants_again(struct wants *w, frame_id frame);

/* Pairs come last, as WANT_TAIL; what was added once is not added again. */
void wants_add_pairs(struct wants *w, const struct frame_pair *pairs, uint32_t n);
struct frame_pair wants_pair(struct wants *w); /* the one that wants_take told of */
void wants_told(struct wants *w);              /* that one is done */

/* Put a frame that was taken for its name behind all others: it comes again as WANT_DEFERRED. */
void wants_defer(struct wants *w, frame_id frame);

/* The next one, and what is wanted of it; waits up to @timeout_ms. WANT_NONE: nothing, or woken. */
enum want_step wants_take(struct wants *w, int timeout_ms, frame_id *ret_frame);
void wants_wake(struct wants *w);

/* Wait until nothing is wanted and nothing is being worked on. False: timed out. */
bool wants_settle(struct wants *w, int timeout_ms);

#endif
