/*
 * cut: what to do about stacks that are cut.
 *
 * Code built without frame pointers leaves a chain of them with one or two frames. Stacks copied
 * whole are unwound without. Pure functions, any thread.
 */
#include "insight/cut.h"

#include <stdio.h>

#define WORTH 10 /* a sentence: one stack in so many */

void cut_advice(const uint64_t cut[CUT_REASONS], bool recorded, char *ret_text, size_t size)
{
	double all = 0, chains = (double)cut[CUT_FP_CHAIN];

	for (int i = 0; i < CUT_REASONS; i++)
		all += (double)cut[i];
	ret_text[0] = '\0';
	if (chains * WORTH > all)
		snprintf(ret_text, size,
			 "frame pointers do not lead to the root of %.2f %% of the stacks: %s",
			 100 * chains / all,
			 recorded ? "record with perf record --call-graph dwarf, or watch live "
				    "without --call-graph fp"
				  : "watch without --call-graph fp");
}
