/*
 * text: what the parts of the text report share. Used by text*.c only.
 */
#ifndef ALTPTTOP_TEXT_H
#define ALTPTTOP_TEXT_H

#include "export/escape.h"
#include "export/export.h"
#include "export/ranking.h"

#define TEXT_ROWS 50 /* processes, threads and modules; functions are all shown */

struct text_report {
	const struct snapshot *s;
	const struct export_options *o;
	const struct export_out *out;
	struct err *err;
	struct namelist names;
	struct rollup roll;
	struct ranked *rows; /* functions */
	uint32_t nrows;
	uint16_t event;
	double limit; /* per cent */
	struct strbuf b;
};

void text_head(struct text_report *t); /* what was watched, how, and what is missing */
int text_tasks(struct text_report *t); /* processes where there are several, and threads */
int text_tree(struct text_report *t);  /* the paths where most time goes */

void text_share(struct strbuf *b, const struct interval *i); /* share and margin, two columns */
int text_flush(struct text_report *t, bool all);

#endif
