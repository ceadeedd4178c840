/*
 * pace: the rules of rate control (-F auto). Pure.
 */
#include "sample/pace.h"

#define BUSY_MOST   0.05
#define BUSY_LITTLE 0.01
#define FEW_SAMPLES 5

uint32_t pace_rate(uint32_t rate_hz, uint32_t limit_hz, uint32_t cpus, const struct pace_seen *s)
{
	uint32_t most = limit_hz && limit_hz < PACE_MOST_HZ ? limit_hz : PACE_MOST_HZ;
	double rate = rate_hz;

	if (s->busy > BUSY_MOST || s->lost) {
		/* Straight to where it would take 4 %, but not below a quarter at once. */
		double fit = s->busy > BUSY_MOST ? rate * 0.04 / s->busy : rate / 2;

		rate = fit < rate / 4 ? rate / 4 : fit;
	} else if (s->busy < BUSY_LITTLE && s->samples >= FEW_SAMPLES && s->idle * cpus >= 1) {
		rate *= 1.5;
	}
	if (rate < PACE_LEAST_HZ)
		rate = PACE_LEAST_HZ;
	return rate > most ? most : (uint32_t)rate;
}
