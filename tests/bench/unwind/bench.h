/* bench: what the files of this bench share: the ways to unwind one sample. */
#ifndef ALTPTTOP_BENCH_UNWIND_H
#define ALTPTTOP_BENCH_UNWIND_H

#include "dwfl.h"
#include "unwind/foreign.h"

struct chain {
	uint32_t n;
	bool end;
	enum cut_reason cut; /* of ours only */
	uint64_t pcs[FRAMES_MAX];
};

/* Whom what does not unwind agrees with, where two chains part. */
enum witness {
	WITNESS_OWN,
	WITNESS_OTHER,
	WITNESS_BOTH, /* ours ends at a root, and who called that is not in doubt either */
	WITNESS_NEITHER,
	WITNESSES
};

enum { WAY_OWN, WAY_LIBUNWIND, WAY_LIBDW, WAYS };

struct bench {
	struct tables *tables;
	struct unwinder *u;
	struct foreign *foreign;
	struct oracle_dw *dw;
	struct stacks stacks;
	unsigned show;
	bool stitch;
	const char *label;       /* one line of a table, NULL: sentences */
	double complete, frames; /* compare's and measure's figures */
	double lacks_one[WAYS];  /* %: identical save for one caller that the oracle leaves out */
	double identical[WAYS], known[WAYS], warm_us[WAYS], warm_ns[WAYS], cold_us[WAYS];
	size_t witness[WAYS][WITNESSES]; /* of chains that differ */
};

struct way {
	const char *name;
	void (*run)(struct bench *b, const struct stack_sample *s, struct chain *c);
};
extern const struct way ways[WAYS];

void print_frame(struct bench *b, const struct stack_sample *s, uint64_t pc);

#endif
