/*
 * rate: the rules for sampling rates, on numbers that a test can choose.
 *
 * 10 to 100 Hz suit production, 100 to 1,000 development, above that short and close looks. Above
 * 4,000 a warning, above 10,000 and above the kernel's own limit a refusal. Main thread only.
 */
#include "rate.h"

#include <errno.h>
#include <inttypes.h>

void rate_limits_read(struct rate_limits *ret_limits)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");

	ret_limits->max_hz = 0;
	if (!f)
		return;
	if (fscanf(f, "%" SCNu64, &ret_limits->max_hz) != 1)
		ret_limits->max_hz = 0;
	fclose(f);
}

static int judge_number(const struct options *o, const struct rate_limits *limits, struct err *err)
{
	if (o->rate_asked > RATE_MAX_HZ)
		return err_set(err, EINVAL, "-F %" PRIu64 ": the highest rate is %d Hz (-F max)",
			       o->rate_asked, RATE_MAX_HZ);
	if (limits->max_hz && o->rate_asked > limits->max_hz)
		return err_set(err, EINVAL,
			       "-F %" PRIu64 ": kernel.perf_event_max_sample_rate allows %" PRIu64
			       " Hz; raise it with sysctl, or use -F max",
			       o->rate_asked, limits->max_hz);
	return 0;
}

int rate_apply(struct options *o, const struct rate_limits *limits, char *ret_warning, size_t size,
	       struct err *err)
{
	uint64_t top = RATE_MAX_HZ;
	uint64_t hz = RATE_DEFAULT_HZ;
	int rc = 0;

	ret_warning[0] = '\0';
	if (limits->max_hz && limits->max_hz < top)
		top = limits->max_hz;
	switch (o->rate_kind) {
	case RATE_DEFAULT:
		if (hz > top) {
			hz = top;
			snprintf(ret_warning, size,
				 "sampling at %" PRIu64
				 " Hz: kernel.perf_event_max_sample_rate allows no more",
				 hz);
		}
		break;
	case RATE_NUMBER:
		rc = judge_number(o, limits, err);
		if (rc)
			return rc;
		hz = o->rate_asked;
		break;
	case RATE_LIMIT: hz = top; break;
	case RATE_CONTROL: hz = RATE_AUTO_HZ < top ? RATE_AUTO_HZ : top; break;
	}
	if (hz > RATE_WARN_HZ)
		snprintf(ret_warning, size,
			 "sampling at %" PRIu64
			 " Hz slows the target down: above %d Hz is for short, "
			 "close looks",
			 hz, RATE_WARN_HZ);
	o->source.rate_hz = (uint32_t)hz;
	o->source.rate_auto = o->rate_kind == RATE_CONTROL;
	return 0;
}
