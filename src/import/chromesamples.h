/*
 * chromesamples: what a sampling profiler saw, in a Chrome trace: V8's Profile, ProfileChunk and
 * CpuProfile events, or "samples" and "stackFrames" beside the events. Source thread.
 */
#ifndef ALTPTTOP_CHROMESAMPLES_H
#define ALTPTTOP_CHROMESAMPLES_H

#include "import/stackprofile.h"

struct chrome_samples {
	struct stackprofile profile;
	struct trace_beside beside;
};

int chrome_samples_init(struct chrome_samples *s, struct import *im);
void chrome_samples_fini(struct chrome_samples *s);

/*
 * Read the trace once more, for them alone, and say how many there are. @whole: so far nothing in
 * it was found damaged. 0, also where it cannot be read again, which is said; -ECANCELED; -errno.
 */
int chrome_samples_read(struct chrome_samples *s, bool whole, struct err *err);

/* They themselves, once read; NULL: there are none. */
const struct trace_beside *chrome_samples_beside(const struct chrome_samples *s);

#endif
