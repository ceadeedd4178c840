/*
 * chromeevent: what one Chrome Trace event means, once its keys are known. Feeds spans and thread
 * names.
 *
 * Format: "Trace Event Format" (Google). ts and dur are microseconds as decimal text, kept as exact
 * nanoseconds. Source thread.
 */
#ifndef ALTPTTOP_CHROMEEVENT_H
#define ALTPTTOP_CHROMEEVENT_H

#include "import/importer.h"

struct chrome_text { /* of a number or string, without quotes; borrowed */
	const char *s;
	size_t n;
};

enum chrome_key { CHROME_TS, CHROME_DUR, CHROME_PID, CHROME_TID, CHROME_NAME, CHROME_ARGS_NAME };
#define CHROME_KEYS (CHROME_ARGS_NAME + 1)

struct chrome_event {
	char phase;      /* 0 none */
	uint8_t present; /* bit by enum chrome_key: the text is there */
	struct chrome_text text[CHROME_KEYS];
};

struct chrome_events;

struct chrome_events *chrome_events_new(struct import *im);
void chrome_events_free(struct chrome_events *c);
int chrome_events_add(struct chrome_events *c, const struct chrome_event *e); /* 0 or -errno */
int chrome_events_finish(struct chrome_events *c); /* deliver what waits, say what was left out */

/* "12.3456" µs → 12346 ns, half up. False: not a number, or too large. */
bool chrome_ns(const char *s, size_t n, int64_t *ret_ns);

#endif
