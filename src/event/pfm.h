/*
 * pfm: libpfm4's tables of events, for the CPUs that are here. Any thread (one at a time inside).
 */
#ifndef ALTPTTOP_PFM_H
#define ALTPTTOP_PFM_H

#include <stdbool.h>

/*
 * Call @each for every event of the tables that fit this machine's CPUs, and for each of its unit
 * masks ("skl::UOPS_ISSUED:ANY"), until it returns false. @pmu is the table's name.
 */
void pfm_each(bool (*each)(void *ctx, const char *pmu, const char *name, const char *description),
	      void *ctx);

/* Name of the table of this machine's cores ("skl", "arm_n1"), NULL: libpfm4 knows none. Static. */
const char *pfm_core(void);

#endif
