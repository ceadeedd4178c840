/*
 * duration: per name of a span, how often, how long, how unevenly. The columns of the analysis.
 */
#ifndef ALTPTTOP_DURATION_H
#define ALTPTTOP_DURATION_H

#include "answer.h"
#include "trace/filter.h"

enum duration_column {
	DURATION_COUNT,
	DURATION_AVG,
	DURATION_MAX,
	DURATION_MIN,
	DURATION_TOTAL,
	DURATION_MAX_AVG,
	DURATION_SD_AVG,
	DURATION_CACHEMISS,
	DURATION_AVG_CHILD_NB,
	DURATION_AVG_LOOP_SIZE,
	DURATION_P50,
	DURATION_P95,
	DURATION_P99,
	DURATION_SCORE,
	DURATION_COLUMNS
};

extern const struct snapshot_column duration_columns[DURATION_COLUMNS];
extern const struct filter_columns duration_filter;

#endif
