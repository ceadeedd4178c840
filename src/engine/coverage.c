/*
 * coverage: compares what the samples of an event weigh with what its counter counted.
 */
#include "engine/coverage.h"

#include <math.h>

#include "engine/core.h"

#define SPAN_NS 1000000000u /* counted for so long */
#define SHARE_OFF \
	0.2 /* what losses that are told elsewhere, and readings a moment apart, may take */
#define SAMPLES_OFF 100

/* How many samples there should be: at the asked rate, or each worth what those that came are. */
static double expected(const struct count_state *c, const struct event_desc *d)
{
	if (d->freq_hz)
		return (double)d->freq_hz * (double)c->last.enabled_ns / 1e9;
	return c->sampled ? (double)c->samples * (double)c->last.value / (double)c->sampled
			  : (double)c->last.value;
}

double coverage_astray(const struct count_state *c, const struct event_desc *d)
{
	double counted = (double)c->last.value, off;

	if (!c->seen || !d->sampled || d->hidden || d->unit == EVENT_NS ||
	    value_unknown(c->state) || c->last.enabled_ns < SPAN_NS || !(counted > 0))
		return NAN;
	off = fabs((double)c->sampled - counted) / counted;
	if (off < SHARE_OFF || off * expected(c, d) < SAMPLES_OFF)
		return NAN;
	return (double)c->sampled / counted;
}
