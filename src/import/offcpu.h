/*
 * offcpu: samples of `perf record --off-cpu`: how long a thread was off its CPU, where.
 *
 * What is left when recording ends is summed up by stack and has no time of its own: perf puts a
 * number there that is no time. Pure functions, any thread.
 */
#ifndef ALTPTTOP_OFFCPU_H
#define ALTPTTOP_OFFCPU_H

#include "codec/perf_record.h"

#define OFFCPU_EVENT   "offcpu-time"       /* counts nanoseconds */
#define OFFCPU_NO_TIME 0xffffffff00000000u /* perf's mark */
#define OFFCPU_UNTIMED \
	"samples are sums of the whole recording, without a time of their own: they stand at its " \
	"end"

enum { OFFCPU_CHAIN_MAX = 256 };

/*
 * perf 6.15 and later put thread, duration and stack into the sample's raw data: take them from
 * there into @io_sample. @chain: room for the stack. False: there is nothing of the kind.
 */
bool offcpu_from_raw(const struct record_layout *l, struct record_sample *io_sample,
		     uint64_t chain[OFFCPU_CHAIN_MAX]);

#endif
