/*
 * rate: how often to sample: judges what -F asked for by the rules and by this machine's limit.
 */
#ifndef ALTPTTOP_RATE_H
#define ALTPTTOP_RATE_H

#include "options.h"

struct rate_limits {
	uint64_t max_hz; /* perf_event_max_sample_rate; 0 unknown */
};

void rate_limits_read(struct rate_limits *ret_limits);

/*
 * Fill source.rate_hz and source.rate_auto. -EINVAL with a sentence: refused, the limit named.
 * @ret_warning (size @size, always terminated) is a sentence when the rate is allowed but
 * unusual.
 */
int rate_apply(struct options *o, const struct rate_limits *limits, char *ret_warning, size_t size,
	       struct err *err);

#endif
