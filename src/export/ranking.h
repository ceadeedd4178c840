/*
 * ranking: the rows of a report in order, with shares, intervals and what may be claimed of them.
 *
 * Shares are of the event's weights. Rows with fewer than 5 hits are not ranked and stand at the
 * end, by name. Pure functions over a rollup.
 */
#ifndef ALTPTTOP_RANKING_H
#define ALTPTTOP_RANKING_H

#include "export/rollup.h"
#include "insight/confidence.h"

struct ranked {
	uint32_t id; /* as rollup_row.id */
	const struct rollup_row *row;
	const char *name;
	struct interval self, total;
	uint32_t self_flags, total_flags; /* confidence_flags of each column's own hits */
	bool unranked;                    /* too few hits in both */
	bool tied; /* in the sort column not to be told apart from the row above */
};

enum ranking_kind { RANK_FUNCS, RANK_MODULES, RANK_TASKS };

/*
 * malloc'ed rows that have any sample or weight, sorted by @sort (enum column_id; COLUMN_DEFAULT:
 * self). -ENOMEM.
 */
int ranking_make(const struct rollup *r, const struct namelist *n, enum ranking_kind kind,
		 uint32_t sort, struct ranked **ret_rows, uint32_t *ret_n);

#endif
