/*
 * snap: makes snapshots (include/snapshot.h) of a window of the profile.
 *
 * snap_new runs on the engine thread; references may be dropped on any.
 */
#ifndef ALTPTTOP_SNAP_H
#define ALTPTTOP_SNAP_H

#include "profile/profile.h"
#include "snapshot.h"

/* What [unsampled] of one process weighs in a window, when it stands out of the noise. */
struct unsampled {
	task_id process;
	uint64_t weight;
	double noise; /* half width of a 95 % interval around it */
};

/*
 * Processes of the window whose kernel account exceeds what was sampled by more than chance
 * explains. Returns how many are in *@ret (malloc'ed, NULL when none).
 */
uint32_t unsampled_find(const struct profile *p, const struct tables *t, const struct window *w,
			uint16_t event, struct unsampled **ret);

/* A snapshot with nodes, cells, tallies and @events' totals; the caller fills in the texts and
 * flags through the pointer before it lets anybody see it. @hide: QUERY_NO_KERNEL or QUERY_NO_USER
 * leaves that out as a fold does, and [unsampled] with it. NULL: no memory. */
struct snapshot *snap_new(const struct profile *p, const struct tables *t, const struct window *w,
			  const struct event_desc *events, uint32_t nevents, uint32_t hide);

/* Before anybody sees @s: why event @event has no number. */
void snap_tell_state(struct snapshot *s, uint32_t event, uint8_t state);
void snap_tell_astray(struct snapshot *s, uint32_t event, double share);

/* A copy of @s with the frames that tail calls left out, as far as the tables know them. Any
 * thread. NULL: no memory. */
const struct snapshot *snap_with_tail_calls(const struct snapshot *s);

#endif
