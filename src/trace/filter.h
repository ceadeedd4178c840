/*
 * filter: "count>=10,total>50,avg<200" over the columns of an analysis. All parts must hold.
 */
#ifndef ALTPTTOP_FILTER_H
#define ALTPTTOP_FILTER_H

#include <stdbool.h>

#include "answer.h"
#include "err.h"

struct filter;

struct filter_columns {
	const struct snapshot_column *columns;
	uint32_t n;
};

/* Operators >= <= > < =; numbers in the column's unit (nanoseconds). -EINVAL with a sentence. */
int filter_parse(const struct filter_columns *columns, const char *text, struct filter **ret_filter,
		 struct err *err);
void filter_free(struct filter *f);
bool filter_holds(const struct filter *f, const double *cells); /* NULL filter: always */

#endif
