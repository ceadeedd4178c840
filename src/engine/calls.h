/*
 * calls: how often functions are called, counted on demand (sample/callcount.h), and what that says
 * beside samples.
 *
 * Counted on the jobs thread, read on the engine thread; kept for CALLS_KEPT functions, the oldest
 * goes first.
 */
#ifndef ALTPTTOP_ENGINE_CALLS_H
#define ALTPTTOP_ENGINE_CALLS_H

#include <pthread.h>
#include <stdbool.h>

#include "frame.h"

#define CALLS_KEPT 64

struct build;

struct call_rate {
	func_id func;
	double per_cpu_s; /* calls for each second of the target's CPU time */
	double error;     /* of that, relative */
	bool partial;     /* of some of its processes or threads: shares are of more */
	uint64_t at_ns;   /* CLOCK_MONOTONIC */
};

struct calls_box {
	pthread_mutex_t lock;
	struct call_rate data[CALLS_KEPT];
	uint32_t n; /* ever counted: the newest is at n - 1, modulo CALLS_KEPT */
};

bool calls_any(struct calls_box *box); /* was anything counted? */
bool calls_known(struct calls_box *box, func_id func, struct call_rate *ret);
/* What is certain of the rate: chance and the cost of counting taken off. */
double calls_least(const struct call_rate *rate);
/* A sentence for the function's row, "" when nothing was counted; in the answer's arena. */
const char *calls_text(struct build *b, func_id func, double share, double margin);

#endif
