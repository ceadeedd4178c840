/*
 * working: the threads that do most of the target's work, and how much of their time they wait, as
 * the kernel accounts it: what a profile of CPU time cannot show.
 */
#ifndef ALTPTTOP_WORKING_H
#define ALTPTTOP_WORKING_H

#include "engine/build.h"

struct working {
	uint32_t threads;
	task_id busiest;
	double waiting;  /* of their time, 0…1: neither on a CPU nor ready for one */
	double run_rate; /* how often they were put on a CPU, for each second of CPU time */
};

/*
 * Of the threads that lived through @b's window, the busiest that together have nine tenths of all
 * CPU time. False: too much of it is of others, or what they waited for is not known. Engine
 * thread.
 */
bool working_find(const struct build *b, struct working *ret);

/*
 * How long all threads were on a CPU in @b's window, and how long ready for one without it, as far
 * as the kernel's readings reach. False: it does not tell of all that ran. Engine thread.
 */
bool working_ready(const struct build *b, uint64_t *ret_cpu_ns, uint64_t *ret_ready_ns);

#endif
