/*
 * filter: "count>=10,total>50,avg<200" over the columns of the duration analysis. All parts must
 * hold.
 */
#ifndef ALTPTTOP_FILTER_H
#define ALTPTTOP_FILTER_H

#include <stdbool.h>

#include "err.h"
#include "trace/duration.h"

struct filter;

/* Operators >= <= > < =; numbers in the column's unit (nanoseconds). -EINVAL with a sentence. */
int filter_parse(const char *text, struct filter **ret_filter, struct err *err);
void filter_free(struct filter *f);
bool filter_holds(const struct filter *f,
		  const double cells[DURATION_COLUMNS]); /* NULL filter: always */

#endif
