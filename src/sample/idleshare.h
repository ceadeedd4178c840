/*
 * idleshare: how much of the machine's CPU time nobody uses, as /proc/stat tells. One thread.
 */
#ifndef ALTPTTOP_IDLESHARE_H
#define ALTPTTOP_IDLESHARE_H

#include <stdint.h>

struct idleshare { /* clock ticks at the last look; all zero before the first */
	uint64_t idle, all;
};

/* Share of all CPUs' time since the last call, 0 to 1; 0 also where it is not known. */
double idleshare_look(struct idleshare *s);

#endif
