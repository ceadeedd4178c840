/*
 * rollup: self and total of functions, modules and threads, summed over a snapshot for one event.
 *
 * Self: the innermost frame is in the function (or module). Total: it is anywhere in the stack,
 * counted once however often it recurs. Samples are hits, weights nanoseconds or counts.
 */
#ifndef ALTPTTOP_ROLLUP_H
#define ALTPTTOP_ROLLUP_H

#include "export/namelist.h"

struct rollup_count {
	uint64_t samples, weight;
	double weight_sq;
};

struct rollup_row {
	uint32_t id; /* index in namelist.funcs, or module_id, or task_id */
	struct rollup_count self, total;
};

struct rollup {
	struct rollup_count all, stackless;          /* and of it what had no stack */
	bool exact;                                  /* the event has no sampling error */
	struct rollup_count *node_self, *node_total; /* nnodes of each */
	struct rollup_row *funcs;                    /* namelist.funcs.len rows, by index */
	struct {
		VEC(struct rollup_row)
	} modules, tasks; /* tasks: self and total are equal */
};

/* Cells of SAMPLE_BLOCKED (waiting threads of the wall clock) count too. -ENOMEM: nothing is to be
 * released. */
int rollup_init(struct rollup *r, const struct snapshot *s, const struct namelist *n,
		uint16_t event);
void rollup_fini(struct rollup *r);

#endif
