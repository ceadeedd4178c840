/*
 * made_snapshot: a small profile built by hand, whose sums can be checked in the head.
 *
 * Two threads of process 100: "main" (tid 100) and "wor;ker\n" (tid 101). Functions of the module
 * "prog": main → outer → (inlined) inner; main → rec → rec (recursion); a hostile name; one frame
 * that never resolved; [truncated]. Weights are 1,000,000 ns a sample.
 */
#ifndef ALTPTTOP_MADE_SNAPSHOT_H
#define ALTPTTOP_MADE_SNAPSHOT_H

#include "export/export.h"

#define MADE_HOSTILE "ev\"il;\\name\n\xff\x01 <T>::f(int)"
#define MADE_WEIGHT  1000000ull

struct made {
	struct tables *tables;
	struct snapshot s;
	struct snapshot_node nodes[16];
	struct snapshot_cell cells[24];
	struct snapshot_event events[2];
};

void made_init(struct made *m);
void made_fini(struct made *m);

/* The export of @format as malloc'ed bytes. */
char *made_export(const struct made *m, enum snapshot_format format, const struct export_options *o,
		  size_t *ret_len);

#endif
