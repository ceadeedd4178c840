/*
 * event: what is counted or sampled, named as perf names it, and sets of events with derived
 * metrics.
 */
#ifndef ALTPTTOP_EVENT_H
#define ALTPTTOP_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define EVENT_MAX  64  /* events alive in one profile, all sets ever used together */
#define METRIC_MAX 16  /* derived columns of one set */
#define SET_NAME   128 /* bytes of the name of an event set, or of a list of events */

enum event_unit {
	EVENT_COUNT, /* a count of occurrences */
	EVENT_NS,    /* a time: weights are nanoseconds */
};

/* One event as a profile sees it. `index` is its place in the profile's event list, never reused.
 */
struct event_desc {
	char name[96]; /* "cpu-clock", "cycles:u", "wall" */
	enum event_unit unit;
	bool sampled;    /* stacks arrive for it; else it is only read along with a leader */
	bool cpu_time;   /* EVENT_NS only: on-CPU time (else wall or off-CPU time) */
	bool states;     /* wall time whose samples tell who waited (SAMPLE_BLOCKED) */
	uint16_t leader; /* index of its group leader; its own index when alone */
	uint16_t set;    /* which event set of this profile, counted from 0 */
	char set_name[SET_NAME]; /* as it was asked for, "" unknown */
	uint64_t period;         /* fixed period, or 0 with freq_hz set */
	uint32_t freq_hz;
	bool exact;  /* recordings: every occurrence is there, so that shares have no sampling error
		      */
	bool hidden; /* it happens in the kernel alone, whose code is left out: never counted */
	double scale; /* what one unit of weight stands for in recordings with fractions; 0 means 1
		       */
};

/* Is the event of this name the one that was asked for as @asked? Where the kernel's code is not
 * sampled, a 'u' was put behind the name. src/base/tables.c */
bool event_is_called(const char *name, const char *asked);

/* Why a value is not there. Unknown is never 0. */
enum value_state {
	VALUE_OK,
	VALUE_SCALED,      /* multiplexed: scaled by enabled/running */
	VALUE_UNSUPPORTED, /* this CPU or kernel has no such event */
	VALUE_REFUSED,     /* not allowed */
	VALUE_HIDDEN,      /* it happens in the kernel, whose code is left out */
	VALUE_NOT_RUNNING, /* opened but never scheduled */
	VALUE_NOTHING,     /* counted nothing at all over the whole run */
	VALUE_NONE,        /* does not apply here: shown as a dash */
};
const char *value_reason(uint8_t state); /* in words, "" none; static; src/base/tables.c */
/* Is there no number? */
static inline bool value_unknown(uint8_t state)
{
	return state >= VALUE_UNSUPPORTED && state <= VALUE_NOTHING;
}

#endif
