/*
 * perf_case: runs the perf sampler in a process of its own, on a program that is a function here,
 * and counts what its sink gets. For test_perf.c.
 */
#ifndef ALTPTTOP_PERF_CASE_H
#define ALTPTTOP_PERF_CASE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "source.h"

#define MS      1000000ULL
#define S       1000000000ULL
#define NOBODY  65534
#define SAY_MAX 8

/* What a case sees. Lives in memory shared with the process that ran it. */
struct outcome {
	int probe, open, run;
	char sentence[512], arrangement[96], said[SAY_MAX][512];
	unsigned nsaid;
	bool finished, done;
	uint64_t samples, weight_ns, kernel, dumped, with_user_chain, with_kernel_chain;
	uint64_t unordered, longest_gap_ns, strangers;
	uint64_t forks, comms, exits, mmaps, accounts;
	uint64_t target_ns, exited_ns; /* accounts of the target; of processes that ended */
	uint64_t second_event;         /* sum of the values of event 1 */
	uint64_t counted[4];           /* last reading of the whole target, by event */
	uint64_t counts, count_backwards;
	uint64_t loss[LOSS_KINDS];
	uint32_t threads, unwatched_most, events;
	double target_s;   /* CPU time by wait4, children it waited for included */
	uint64_t switches; /* times it was taken off a CPU */
	double stolen_s;   /* what the host of a virtual machine took meanwhile, on all its CPUs */
	uint64_t last_ns;
	pid_t target;
	int target_status; /* as of wait4 */
};

struct setting {
	const char *events; /* -e, NULL: the clock */
	const char *more;   /* -e once more, NULL none */
	void (*work)(void); /* the target */
	uint32_t rate_hz, stack_bytes;
	enum call_graph call_graph;
	bool unprivileged, no_perf, no_kernel;
	bool all; /* the whole machine, not the target */
	rlim_t nofile;
	bool attach;                                /* open when it already runs */
	void (*meddle)(struct source *s, int step); /* every 100 ms */
	double seconds;                             /* 0: until the target ends */
};

/* Run one case to its end. What it saw is good until the next. */
const struct outcome *perf_case(const struct setting *set);
/*
 * How much of the CPU time that the kernel accounts may be seen: 3 % more, and what an event's
 * clock has beyond it: what the host stole, and each switch of threads (up to 8 us); never more
 * than 5 %.
 */
double perf_case_most(const struct outcome *o);

#endif
