/*
 * verdict: what kind of slowness the numbers of one function, span or edge show.
 *
 * A rule is a row of a table (verdict.c, explained in doc/verdicts.md): the fact it looks at, its
 * threshold, the share of the time and the hits it needs before it says anything. A fact that is
 * not known is NAN and no rule holds for it. Pure functions.
 */
#ifndef ALTPTTOP_VERDICT_H
#define ALTPTTOP_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

enum fact {
	FACT_SELF_SHARE,  /* of the time, 0…1: samples whose innermost frame it is */
	FACT_IPC,         /* instructions per cycle */
	FACT_L1D_MISS,    /* L1 data cache misses per access */
	FACT_LLC_MISS,    /* last level cache misses per access */
	FACT_BRANCH_MISS, /* mispredicted per branch */
	FACT_FRONTEND,    /* share of slots or cycles stalled by the front end */
	FACT_BACKEND,     /* … by the back end */
	FACT_BLOCKED,     /* share of wall time spent waiting in it */
	FACT_LOCKED,      /* … waiting for a lock */
	FACT_KERNEL,      /* share of its time spent in the kernel below it */
	FACT_RECURSION,   /* deepest recursion seen in a stack */
	FACT_COUNT,       /* exact calls */
	FACT_SELF_NS,     /* exact time a call, without callees; its share is its own too */
	FACT_MAX_AVG,     /* longest over average */
	FACT_SD_AVG,      /* standard deviation over average */
	FACT_P99_P50,     /* 99th percentile over median */
	FACT_PATH_SHARE,  /* edge: of the time */
	FACT_CALL_RATE,   /* calls for each second of CPU time, counted for a moment */
	FACT_WAITING,     /* of the time of the threads that do the work, by the kernel's account */
	FACT_READY,       /* of the time that threads do not wait, what they had no CPU: at least */
	FACT_RUN_RATE,    /* how often those were put on a CPU, for each second of CPU time */
	FACTS
};

enum verdict_source {
	VERDICT_SAMPLES = 1,
	VERDICT_DURATION = 2,
	VERDICT_CACHE = 4,
	VERDICT_EDGE = 8,
	VERDICT_COUNTED = 16, /* samples, and calls that were counted on demand */
	VERDICT_TARGET = 32   /* the kernel's account of the target, beside its samples */
};

struct verdict_facts {
	enum verdict_source source;
	double share; /* of the whole time that it has, callees included: what could be gained at
			 most */
	double share_margin; /* half width of its 95 % interval; 0 for exact sources */
	double hits;         /* observations behind it, of equal weight; exact sources: its calls */
	uint64_t samples;    /* observations behind it, as other screens count them */
	bool multiplexed; /* counters did not run all the time: rules on them say nothing below 50 %
			     running */
	double fact[FACTS];
};

struct verdict_rule {
	const char *kind; /* "low IPC" */
	unsigned sources; /* enum verdict_source */
	enum fact fact;
	bool below; /* holds below the threshold, else at it and above */
	double threshold;
	enum fact also; /* a second fact that must reach `least`; FACTS: none */
	double least;
	double share;         /* the least share of the time, its interval's lower end counted */
	double hits;          /* the least observations */
	const char *evidence; /* how the fact is told: printf format for one double, scaled by
				 `scale` */
	double scale;
	const char *next; /* what to do next: one sentence */
};

extern const struct verdict_rule verdict_rules[];
extern const unsigned verdict_rule_count;

/* Does @rule hold for these facts? */
bool verdict_holds(const struct verdict_rule *rule, const struct verdict_facts *facts);

/* Amdahl: how many times faster the whole would be if this took no time at all; INFINITY when this
 * is all there is. */
double verdict_gain(double share);

#endif
