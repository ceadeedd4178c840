/*
 * chromeevent: what one Chrome Trace event means, once its keys are known.
 *
 * Format: "Trace Event Format" (Google). ts and dur are microseconds as decimal text, kept as exact
 * nanoseconds. Names and threads become numbers here, while their texts are in the caches; what is
 * handed to the source thread is a small record. The parse thread; new, finish and free: the source
 * thread, while there is no other.
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
	bool average;    /* its args have an average, "avg ms" */
	struct chrome_text text[CHROME_KEYS];
};

/* An event that is part of a span. */
struct chrome_record {
	enum { CHROME_SPAN, CHROME_BEGIN, CHROME_END } kind;
	struct trace_span span; /* a begin or end: dur_ns 0; an end's name 0: none given */
};

struct chrome_events;

struct chrome_events *chrome_events_new(struct tables *tables); /* NULL: no memory */
void chrome_events_free(struct chrome_events *c);

/* 1: *ret_record is what it says; 0: it is no part of a span, and counted; -ENOMEM. */
int chrome_events_read(struct chrome_events *c, const struct chrome_event *e,
		       struct chrome_record *ret_record);

/* Events that carry what a sampling profiler saw (import/chromesamples.h); these are not left out.
 */
uint64_t chrome_events_profiles(const struct chrome_events *c);

/* Tell @trace all threads, before its end. */
void chrome_events_threads(const struct chrome_events *c, const struct trace_sink *trace);
/* What was left out, for the person, and how many ends without begin and begins without end there
 * were; "" nothing. */
#define CHROME_SUMMARY 512
void chrome_events_summary(const struct chrome_events *c, uint64_t unopened, uint64_t unclosed,
			   char ret_text[CHROME_SUMMARY]);

/* "12.3456" µs → 12346 ns, half up. False: not a number, or too large. */
bool chrome_ns(const char *s, size_t n, int64_t *ret_ns);

#endif
