/* judge: chains held against where the sampled thread really returned to. */
#ifndef ALTPTTOP_BENCH_JUDGE_H
#define ALTPTTOP_BENCH_JUDGE_H

#include "bench.h"

struct judge_config {
	uint32_t callers; /* looked for where all chains agree, */
	int every;        /* of one in so many samples */
	uint64_t steps;   /* at most for one sample */
	bool break_own;   /* spoil our chains, to see that it is noticed */
};

/* Takes @n samples of @pid as stacks_take does, and prints who was right. 0 or -errno. */
int judge_run(struct bench *b, const struct judge_config *config, pid_t pid, size_t n, unsigned hz,
	      size_t cap);

#endif
