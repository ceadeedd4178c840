/*
 * metrics: derived columns: which metrics of the known event sets the profile's events allow, and
 * their values.
 *
 * A metric is available when every event it needs is in the event set in view. The set that was
 * asked for by name comes first and alone; otherwise all metrics that can be had. Engine thread.
 */
#ifndef ALTPTTOP_METRICS_H
#define ALTPTTOP_METRICS_H

#include "answer.h"
#include "event/set.h"
#include "profile/flat.h"

struct build;

#define METRIC_SAMPLED 0xff /* the value is the weight of the samples themselves */
#define METRIC_EVENTS  32

struct metrics {
	uint32_t n;
	struct {
		const struct set_metric *metric;
		uint8_t slot_of[METRIC_EVENTS]; /* the formula's values → place in values, or
						   METRIC_SAMPLED */
	} m[METRIC_MAX];
	uint16_t values[FLAT_VALUES_MAX]; /* events read along whose sums are needed */
	uint32_t nvalues;
};

/* After the event in view is known: chooses, and titles the answer's columns. */
void metrics_choose(struct build *b);

/* One metric from a row's weight and the sums of its values (nvalues of them; NULL none). */
double metrics_value(const struct metrics *m, uint32_t which, const struct sums *sums,
		     const double *values);

/* Fill @row's metrics; @total_values may be NULL where self is all there is. */
void metrics_fill(struct build *b, struct row *row, const struct sums *self,
		  const double *self_values, const struct sums *total, const double *total_values);

#endif
