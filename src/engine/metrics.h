/*
 * metrics: derived columns: which metrics of the known event sets the profile's events allow, and
 * their values.
 *
 * A metric is available when every event it needs is in the event set in view. The set that was
 * asked for by name comes first and alone; otherwise all metrics that can be had. A value is the
 * formula of sums, never an average of ratios. Where the question is about the pipeline's slots, it
 * is the set that divides them furthest whose parts are taken. Unknown is never 0: an event that is
 * not supported, not scheduled, or that counts nothing makes its metrics n/a, with the reason.
 * Engine thread.
 */
#ifndef ALTPTTOP_METRICS_H
#define ALTPTTOP_METRICS_H

#include "answer.h"
#include "event/set.h"
#include "profile/flat.h"

struct build;

#define METRIC_EVENTS 32

struct metrics {
	uint32_t n;
	struct {
		const struct set_metric *metric;
		const struct event_set *set;
		/* The formula's values → places in values, bit by place: on hybrid machines a value
		 * is the sum over the PMUs that have all events of the metric. */
		uint32_t slots_of[METRIC_EVENTS];
	} m[METRIC_MAX];
	uint16_t values[FLAT_VALUES_MAX]; /* events whose sums are needed */
	uint32_t nvalues;
	/* Of the whole view, known after the fold: whether there are numbers, and over which share
	 * of the time their events ran. */
	uint8_t state[METRIC_MAX]; /* enum value_state */
	float running[METRIC_MAX];
};

/* After the event in view is known: chooses, asks the fold for sums, titles the answer's columns.
 */
void metrics_choose(struct build *b);
/* After the fold: which metrics can be numbers at all. */
void metrics_weigh(struct build *b);

/* One metric from the sums of its values (nvalues of them); NAN: unknown. */
double metrics_value(const struct metrics *m, uint32_t which, const double *values);
/* How many of the pipeline's slots stand behind the part @which; NAN: unknown. */
double metrics_slots(const struct metrics *m, uint32_t which, const double *values);
/* One metric as a cell shows it. */
struct metric_value metrics_judge(const struct metrics *m, uint32_t which, const double *values);
/* Why the metric has no value, or is a scaled one; "" where neither. Lives as long as the answer.
 */
const char *metrics_reason(struct build *b, uint32_t which);
/* Fill @row's metrics from sums; NULL: there are none. */
void metrics_fill(const struct build *b, struct row *row, const double *self_values,
		  const double *total_values);
/* By what rows sort for COLUMN_METRIC + i and COLUMN_METRIC_TOTAL + i; unknown ones come last. */
double metrics_key(const struct build *b, uint32_t column, const double *self_values,
		   const double *total_values);

/* 1 good, 2 fair, 3 bad, 0: no threshold, or unknown. */
uint8_t metrics_grade(const struct set_metric *m, double v);
/*
 * Equal names of events, modifiers behind a last colon aside. An alias is the same with and without
 * its PMU (cpu/slots/, slots), and libpfm4's spelling that of perf (UOPS_ISSUED:ANY,
 * uops_issued.any).
 */
bool metrics_same_event(const char *a, const char *b);

#endif
