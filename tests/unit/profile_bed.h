/*
 * profile_bed: a profile filled by hand: paths of function names, resolved at once.
 */
#ifndef ALTPTTOP_PROFILE_BED_H
#define ALTPTTOP_PROFILE_BED_H

#include "profile/flat.h"
#include "profile/profile.h"
#include "script_source.h"

#define BED_NS 5000000000ull /* when it begins */

struct profile_bed {
	struct tables *t;
	struct profile p;
	struct flat flat;
	uint64_t now_ns;
};

void pbed_up(struct profile_bed *b);
void pbed_down(struct profile_bed *b);

/*
 * @count samples of @weight ns each of task @task, a millisecond apart, with the path "main>f>g"
 * outermost first. "h<g" is an inlined h in g. A name's frame is always at the same address.
 */
void pbed_add(struct profile_bed *b, task_id task, const char *path, unsigned count,
	      uint64_t weight);
frame_id pbed_frame(struct profile_bed *b, const char *name);
/* Fold everything: flags of enum query_flag, event 0. */
void pbed_flat(struct profile_bed *b, uint32_t flags, task_id task);
struct window pbed_all(const struct profile_bed *b);

#endif
