/*
 * set: named groups of events with derived metrics, read from files that people write.
 *
 *	about   Instructions per cycle
 *	cpu     skl* icl*                 (tables of libpfm4 it is for; left out: any)
 *	event   cycles = cycles           (a short name for formulas, and the event)
 *	event   instructions = instructions
 *	metric  IPC = instructions / cycles
 *	unit    ...  decimals 2  good > 1.5  bad < 0.7
 *	meaning What it tells.
 *	next    What to do then.
 *
 * One file a set: its name is the file's without .set. The events of a file are one group, read
 * together, the first of them sampled (or the one that `sample` names); `group` begins another
 * group. # begins a comment.
 *
 * Sets that tell where the pipeline's slots go (Top-down) have beside that:
 *
 *	let     total = 4 * cycles        (a name for a part of later formulas)
 *	slots   total                     (how many slots there were)
 *	part    back-end bound            (the metric before is this share of them, in percent …)
 *	of      BACK%                     (… and belongs to that metric's part)
 *	rest    retiring or bad speculation (what the parts leave over, where they tell no more)
 *	rare    clears                    (counting nothing of these is no sign of trouble)
 */
#ifndef ALTPTTOP_SET_H
#define ALTPTTOP_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "event/formula.h"
#include "event/spec.h"

#define SET_EVENTS 24

struct set_event {
	char alias[32], name[96];
	uint8_t group; /* counted from 0 */
	bool sampled;  /* one of each group */
};

struct set_metric {
	char name[32], unit[16], meaning[200], next[160];
	char part[40]; /* of the slots, "" none */
	int8_t of;     /* place of the metric whose part it divides, -1: of all slots */
	uint8_t decimals;
	struct formula formula; /* over the set's events by place */
	bool has_good, has_bad, high_is_good;
	double good, bad;
};

struct event_set {
	char name[32], about[160], cpus[128];
	struct set_event events[SET_EVENTS];
	uint32_t nevents;
	struct set_metric metrics[METRIC_MAX];
	uint32_t nmetrics;
	uint64_t period; /* of the sampled events, 0: by rate */
	bool has_slots;
	struct formula slots;
	char rest[40];
	uint32_t rare; /* bit by event */
};

/* @text ends in NUL. -EINVAL with a sentence that names the line. Pure. */
int event_set_parse(const char *name, const char *text, struct event_set *ret, struct err *err);
int event_set_read(const char *path, struct event_set *ret, struct err *err);

/* Every event of it can be opened here. Else why not: the first that fails, and its reason. */
enum value_state event_set_try(const struct event_set *s, struct err *err);

/*
 * Of @sets the one that can be opened here and tells most of what @wanted tells (parts of the
 * slots, metrics of the same name). NULL: none tells anything of it.
 */
const struct event_set *event_set_nearest(const struct event_set *sets, size_t n,
					  const struct event_set *wanted);

/* How much of what @wanted tells @s tells too. */
uint32_t event_set_common(const struct event_set *s, const struct event_set *wanted);

/*
 * Do all its groups get counters now, beside what others hold? Tried on the calling thread, which
 * works for some milliseconds a group.
 */
bool event_set_runs(const struct event_set *s);
/* The one that tells most of what @wanted tells (NULL: of nothing) among those that run, or the
 * clock. NULL: not even that. */
const struct event_set *event_set_running(const struct event_set *sets, size_t n,
					  const struct event_set *wanted);

/*
 * All sets: built-in ones, then the user's of $XDG_CONFIG_HOME/altpttop/events, which replace those
 * of equal name. Sorted by name; malloc'ed. A file that is wrong is told by @bad and left out.
 */
int event_sets_load(struct event_set **ret_sets, size_t *ret_n,
		    void (*bad)(void *ctx, const char *sentence), void *ctx);

#endif
