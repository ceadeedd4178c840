/*
 * coverage: compares what the samples of an event weigh with what its counter counted.
 */
#include "engine/coverage.h"

#include <math.h>

#include "engine/core.h"

#define SPAN_NS 1000000000u /* counted for so long */
#define SHARE_OFF \
	0.2 /* what losses that are told elsewhere, and readings a moment apart, may take */
#define PERIODS_OFF 100 /* so many samples' worth, at the asked rate */

double coverage_astray(const struct count_state *c, const struct event_desc *d)
{
	double counted = (double)c->last.value, sampled = (double)c->sampled, expected;

	if (!c->seen || !d->sampled || d->hidden || d->unit == EVENT_NS || !d->freq_hz ||
	    value_unknown(c->state) || c->last.enabled_ns < SPAN_NS || !(counted > 0))
		return NAN;
	expected = (double)d->freq_hz * (double)c->last.enabled_ns / 1e9;
	if (fabs(sampled - counted) < SHARE_OFF * counted ||
	    expected * fabs(sampled - counted) / counted < PERIODS_OFF)
		return NAN;
	return sampled / counted;
}
