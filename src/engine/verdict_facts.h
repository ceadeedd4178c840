/*
 * verdict_facts: what the rules of src/insight/verdict.h look at, gathered from folds and trace
 * analyses.
 */
#ifndef ALTPTTOP_VERDICT_FACTS_H
#define ALTPTTOP_VERDICT_FACTS_H

#include "base/hash.h"
#include "base/vec.h"
#include "engine/build.h"
#include "insight/verdict.h"

/* One function's part, over all stacks. Weights in the view's event. */
struct suspect {
	fid_t fid;
	struct sums self;    /* its own code */
	struct sums own;     /* and what the kernel and the C library did directly for it */
	uint64_t kernel;     /* part of own that is the kernel's */
	struct sums waiting; /* wall clock: waiting samples, likewise; who got a lock but no CPU yet
				waits for it still */
	struct sums locked;  /* part of waiting in a lock */
	uint32_t active, recursion;
	uint32_t callers, callees;
};

struct suspects {
	VEC(struct suspect)
	uint32_t *by_func; /* of the first nfuncs functions: index + 1, 0: none */
	uint32_t nfuncs;
	struct map64 by_fid, edges; /* by_fid: others' indexes */
	module_id module;           /* asked for last: does it serve others? */
	bool serves;
	uint32_t deepest;           /* functions in the deepest stack */
	uint32_t recursive, cyclic; /* functions that call themselves; that do so through others */
	uint64_t whole;
	bool wall; /* waiting samples exist or could */
	double whole_n;
	int sign; /* while walking */
	struct build *b;
};

/* Fill from the samples of @b (its fold is made anew when waiting samples exist). -ENOMEM. */
int suspects_gather(struct suspects *s, struct build *b);
void suspects_fini(struct suspects *s);

enum suspect_part { SUSPECT_SELF, SUSPECT_OWN, SUSPECT_WAITS, SUSPECT_LOCKS, SUSPECT_PARTS };
void suspect_facts(const struct suspects *s, const struct suspect *p, enum suspect_part part,
		   struct verdict_facts *ret_facts);
/* Row @index of an analysis. */
void analysis_facts(const struct analysis *a, uint32_t index, bool own,
		    struct verdict_facts *ret_facts);

#endif
