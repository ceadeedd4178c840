/*
 * callcount: how often a function of a running process is called, counted for a moment.
 *
 * A hardware breakpoint (perf_event_open(2), PERF_TYPE_BREAKPOINT) on the function's first
 * instruction counts in every thread, beside its CPU time. Each call costs the target an exception,
 * measured here beforehand and taken off its CPU time; what is counted is therefore bounded. Any
 * thread; waits for as long as it counts.
 */
#ifndef ALTPTTOP_CALLCOUNT_H
#define ALTPTTOP_CALLCOUNT_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"

#define CALLS_MOST_NS 1000000000ULL /* counts no longer than that */
#define CALLS_ENOUGH  20000         /* and no more calls, or little more */

struct calls_place {
	pid_t pid;
	uint64_t addr; /* of the first instruction, in that process */
};

struct calls_result {
	uint64_t calls;
	uint64_t cpu_ns;     /* of the threads watched, what counting cost taken off */
	uint64_t elapsed_ns; /* how long it was counted */
	uint64_t cost_ns;    /* of one call that is counted */
	double error;        /* of calls / cpu_ns, relative: by the cost, and by chance */
	uint32_t threads, unwatched;
};

/*
 * Counts until there are CALLS_ENOUGH calls, CALLS_MOST_NS are over or @stop is set. -ESRCH: no
 * thread is left; -ENOSPC: the debug registers are in use; else as perf_event_open refuses, with a
 * sentence.
 */
int calls_count(const struct calls_place *places, uint32_t n, const atomic_bool *stop,
		struct calls_result *ret, struct err *err);

#endif
