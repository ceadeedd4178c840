/*
 * result: gathers the rows of an analysis, sorts them, and hands them to the sink as one immutable
 * table.
 */
#ifndef ALTPTTOP_RESULT_H
#define ALTPTTOP_RESULT_H

#include "trace.h"

struct result;

/* @columns must outlive the analysis (a static table). NULL: no memory. */
struct result *result_new(enum view_kind view, const struct snapshot_column *columns,
			  uint32_t ncolumns);
void result_free(struct result *r); /* NULL is fine */
int result_add(struct result *r, const struct analysis_row *row, const double *cells); /* copies */
void result_note(struct result *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3))); /* appends */
/* Sort by column @sort, falling, deliver to the sink. Frees @r. */
void result_deliver(struct result *r, const struct sink *sink, uint32_t sort);

#endif
