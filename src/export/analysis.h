/*
 * analysis: the tables of the trace analyses as CSV and as text. Names as doc/trace.md gives them.
 */
#ifndef ALTPTTOP_EXPORT_ANALYSIS_H
#define ALTPTTOP_EXPORT_ANALYSIS_H

#include "export/export.h"
#include "trace.h"

/*
 * CSV: a header line, the name first, then every column in full precision; unknown cells are empty.
 * edge has symbol,first_ip,last_ip first, and kind,first_line,last_line behind its columns. 0 or
 * -ENOMEM.
 */
int analysis_csv(const struct analysis *a, const struct tables *t, const struct export_out *out,
		 struct err *err);

/* The first @rows rows (0: all) as an aligned table, with the notes. */
int analysis_text(const struct analysis *a, const struct tables *t, uint32_t rows,
		  const struct export_out *out, struct err *err);

#endif
