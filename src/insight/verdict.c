/*
 * verdict: the table of rules and the two lines that apply it. Thresholds are explained in
 * doc/verdicts.md.
 */
#include "insight/verdict.h"

#include <math.h>

#define EXACT (VERDICT_DURATION | VERDICT_CACHE)

const struct verdict_rule verdict_rules[] = {
	{"hot function", VERDICT_SAMPLES, FACT_SELF_SHARE, false, 0.10, FACTS, 0, 0.10, 30,
	 "%.1f %% of the time in its own code", 100,
	 "a source: see which lines; c callers: see who calls it"},
	{"hot path", VERDICT_EDGE, FACT_PATH_SHARE, false, 0.10, FACTS, 0, 0.10, 5,
	 "%.1f %% of the time on this edge", 100, "a source: the edge is drawn beside it"},
	{"low IPC", VERDICT_SAMPLES | VERDICT_CACHE, FACT_IPC, true, 0.7, FACTS, 0, 0.03, 30,
	 "IPC %.2f", 1, "e memory or topdown: see what it waits for"},
	{"memory bound", VERDICT_SAMPLES, FACT_L1D_MISS, false, 0.05, FACTS, 0, 0.03, 30,
	 "%.1f %% of its L1D accesses miss", 100,
	 "a source: find the load; look at the data's layout"},
	{"memory bound", VERDICT_SAMPLES, FACT_LLC_MISS, false, 0.20, FACTS, 0, 0.03, 30,
	 "%.1f %% of its last level cache accesses miss", 100,
	 "a source: find the load; shrink or block the data"},
	{"branch bound", VERDICT_SAMPLES, FACT_BRANCH_MISS, false, 0.03, FACTS, 0, 0.03, 30,
	 "%.1f %% of its branches are mispredicted", 100,
	 "a source, o assembly: find the branch; make it a table or sort"},
	{"front-end bound", VERDICT_SAMPLES, FACT_FRONTEND, false, 0.30, FACTS, 0, 0.03, 30,
	 "the front end stalls %.0f %%", 100, "e frontend: code size, alignment, virtual calls"},
	{"back-end bound", VERDICT_SAMPLES, FACT_BACKEND, false, 0.40, FACTS, 0, 0.03, 30,
	 "the back end stalls %.0f %%", 100, "e backend or memory: what it waits for"},
	{"lock wait", VERDICT_SAMPLES, FACT_LOCKED, false, 0.05, FACTS, 0, 0.05, 30,
	 "%.1f %% of wall time waiting for a lock", 100,
	 "c callers: the way there; Threads: who waits"},
	{"waiting", VERDICT_SAMPLES, FACT_BLOCKED, false, 0.20, FACTS, 0, 0.20, 30,
	 "%.1f %% of wall time waiting", 100, "Threads: what each waits on"},
	{"off the CPU", VERDICT_TARGET, FACT_WAITING, false, 0.50, FACTS, 0, 0.50, 30,
	 "%.0f %% of the time waiting, which --clock wall shows", 100,
	 "--clock wall: what they wait for, and where"},
	{"no CPU", VERDICT_TARGET, FACT_READY, false, 0.20, FACTS, 0, 0.01, 30,
	 "at least %.0f %% of the time that is not waiting: ready to run, without a CPU", 100,
	 "fewer threads, more CPUs, or see who else runs: altpttop -a"},
	{"short runs", VERDICT_TARGET, FACT_RUN_RATE, false, 5000, FACTS, 0, 0.10, 30,
	 "put on a CPU %.0f times a CPU second; --clock wall shows what is between", 1,
	 "--clock wall: what they wait for between"},
	{"system calls", VERDICT_SAMPLES, FACT_KERNEL, false, 0.60, FACTS, 0, 0.10, 30,
	 "%.0f %% of its time is the kernel's", 100, "Tree: which system call; batch or cache it"},
	{"deep recursion", VERDICT_SAMPLES, FACT_RECURSION, false, 16, FACTS, 0, 0.10, 30,
	 "up to %.0f times in one stack", 1, "Tree: the path; a loop may do"},
	{"called too often", EXACT, FACT_COUNT, false, 10000, FACTS, 0, 0.05, 30, "%.0f calls", 1,
	 "c callers: hoist or batch the calls"},
	{"called too often", VERDICT_COUNTED, FACT_CALL_RATE, false, 1e5, FACTS, 0, 0.05, 30,
	 "at least %.0f calls a CPU second", 1, "c callers: hoist or batch the calls"},
	{"slow per call", VERDICT_DURATION, FACT_SELF_NS, false, 1e6, FACTS, 0, 0.10, 1,
	 "%.2f ms of its own a call", 1e-6, "what it does itself: spans inside it would tell"},
	{"long tail", VERDICT_DURATION, FACT_P99_P50, false, 10, FACT_COUNT, 100, 0.03, 100,
	 "the 99th percentile is %.1f times the median", 1,
	 "find the slow ones: Chrome trace at the longest spans"},
	{"jitter", VERDICT_DURATION, FACT_SD_AVG, false, 1, FACT_COUNT, 30, 0.03, 30,
	 "the deviation is %.1f times the average", 1,
	 "what differs between calls: input size, cache, locks"},
};
const unsigned verdict_rule_count = sizeof verdict_rules / sizeof *verdict_rules;

bool verdict_holds(const struct verdict_rule *r, const struct verdict_facts *f)
{
	double v = f->fact[r->fact];
	if (!(r->sources & f->source) || isnan(v) || f->hits < r->hits ||
	    f->share - f->share_margin < r->share)
		return false;
	bool counter = r->fact >= FACT_IPC && r->fact <= FACT_BACKEND;
	if (counter && f->multiplexed)
		return false;
	if (r->also < FACTS && !(f->fact[r->also] >= r->least))
		return false;
	return r->below ? v < r->threshold : v >= r->threshold;
}

double verdict_gain(double share)
{
	if (!(share > 0))
		return 1;
	return share < 1 ? 1 / (1 - share) : INFINITY;
}
