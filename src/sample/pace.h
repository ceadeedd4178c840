/*
 * pace: how fast to sample and how much of a stack to take, decided from what was seen.
 *
 * Pure functions on plain numbers; whoever sees the numbers calls them about once a second.
 */
#ifndef ALTPTTOP_PACE_H
#define ALTPTTOP_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_START_HZ 100
#define PACE_LEAST_HZ 10
#define PACE_MOST_HZ  10000

/* One look at how the source is doing. */
struct pace_seen {
	double busy; /* share of the time the source's thread works: cost of a sample × samples/s */
	double idle;      /* share of the machine's CPU time that nobody uses */
	uint64_t samples; /* in this look; too few decide nothing */
	bool lost;        /* the kernel lost or held back samples */
};

/*
 * -F auto: the next rate. Down when handling samples takes more than 5 % of the time between them
 * or some are lost; up when it takes less than 1 % and a CPU is idle. Within 10 and @limit_hz.
 */
uint32_t pace_rate(uint32_t rate_hz, uint32_t limit_hz, uint32_t cpus, const struct pace_seen *s);

#endif
