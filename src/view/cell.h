/*
 * cell: getters that several views share. Each fills one cell from a row; none keeps anything.
 */
#ifndef ALTPTTOP_CELL_H
#define ALTPTTOP_CELL_H

#include "view.h"

void cell_span(struct view_cell *cell, enum look look, const char *text);
enum look cell_number_look(const struct row *row); /* dimmed where few samples stand behind it */
enum look cell_name_look(const struct row *row);

typedef void cell_fn(const struct row *row, const struct view_env *env, struct view_cell *cell);

cell_fn cell_self, cell_self_margin, cell_total, cell_total_margin, cell_samples,
	cell_total_samples;
cell_fn cell_name; /* name and note */
cell_fn cell_tree; /* indent, handle, name, note */
cell_fn cell_module, cell_tag, cell_address, cell_metric, cell_metric_total, cell_cell;
cell_fn cell_spark, cell_note;

/* The columns that the views of code have in common. */
#define COLUMN_SELF_BAR \
	{ \
		COLUMN_SELF, "SELF%", 5, 5, 5, 250, COLUMN_HAS_BAR, cell_self, \
			"share of samples whose innermost frame is this" \
	}
#define COLUMN_SELF_MARGIN \
	{ \
		COLUMN_MARGIN, "\xc2\xb1", 5, 5, 5, 60, COLUMN_UNSORTED, cell_self_margin, \
			"half of its 95 % interval; \xe2\x89\x88 not surely below the row above, ? few samples" \
	}
#define COLUMN_TOTAL_PLAIN \
	{ \
		COLUMN_TOTAL, "TOTAL%", 6, 6, 6, 200, 0, cell_total, \
			"share of samples that have this anywhere in their stack" \
	}
#define COLUMN_SAMPLES_PLAIN \
	{ \
		COLUMN_SAMPLES, "SAMPLES", 7, 8, 10, 50, 0, cell_samples, "samples behind SELF%" \
	}
#define COLUMN_METRICS \
	{ \
		COLUMN_METRIC, "", 6, 6, 10, 90, COLUMN_EACH_METRIC, cell_metric, \
			"metrics of the event set, over self samples" \
	}
#define COLUMN_METRICS_TOTAL \
	{ \
		COLUMN_METRIC_TOTAL, "", 6, 6, 10, 20, COLUMN_EACH_METRIC, cell_metric_total, \
			"the same over total samples" \
	}
#define COLUMN_MODULE_NAME \
	{ \
		COLUMN_MODULE, "MODULE", 8, 14, 28, 120, COLUMN_LEFT, cell_module, \
			"file it lives in" \
	}
#define COLUMN_TAG \
	{ \
		COLUMN_DEFAULT, "", 3, 3, 3, 160, COLUMN_LEFT | COLUMN_UNSORTED, cell_tag, \
			"[k] kernel, [.] user" \
	}
#define COLUMN_RAW_ADDRESS \
	{ \
		COLUMN_ADDRESS, "ADDRESS", 12, 12, 16, 80, COLUMN_ADDRESSES, cell_address, \
			"address in the file" \
	}

#endif
