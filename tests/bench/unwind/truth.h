/* truth: who called, found without unwinding: a stopped thread goes on, step by step, to return. */
#ifndef ALTPTTOP_BENCH_TRUTH_H
#define ALTPTTOP_BENCH_TRUTH_H

#include "stacks.h"

#define TRUTH_MOST 32

/* Why the steps ended. */
enum truth_end {
	TRUTH_DONE,    /* as many callers as were asked for */
	TRUTH_STEPS,   /* did not return within the steps */
	TRUTH_LEFT,    /* left without returning: an exception, longjmp, another stack for good */
	TRUTH_CHANGED, /* returned to where no return address of the sample led */
	TRUTH_BLOCKED, /* waited for something */
	TRUTH_FAULT,   /* a fault's signal had to be delivered */
	TRUTH_GONE,    /* exited, or cannot be stepped (not x86-64) */
	TRUTH_ENDS
};
extern const char *const truth_end_names[TRUTH_ENDS];

struct truth {
	enum truth_end end;
	uint32_t n; /* of pcs: the sampled one and its callers, as far as they are known */
	uint64_t pcs[TRUTH_MOST];
	uint64_t steps; /* taken */
};

/*
 * @s was just taken of a thread that the caller traces and that is still stopped: find its next
 * @callers callers (below TRUTH_MOST) in at most @steps steps. The thread is left stopped where it
 * came to; signals that arrived meanwhile are sent to it again. Its other threads run.
 */
void truth_find(pid_t pid, const struct stack_sample *s, uint32_t callers, uint64_t steps,
		struct truth *ret);

#endif
