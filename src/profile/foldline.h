/*
 * foldline: where inside one function the time goes: lines, inlined callees, addresses.
 *
 * Self of a line or address is every sample whose innermost frame's code lies there, inlined code
 * included: it is the function's own machine code. Total: samples that have it anywhere, once.
 * Engine thread.
 */
#ifndef ALTPTTOP_FOLDLINE_H
#define ALTPTTOP_FOLDLINE_H

#include "base/hash.h"
#include "base/vec.h"
#include "profile/chain.h"
#include "profile/flat.h"

struct line_fold {
	str_id file;
	uint32_t line;
	fid_t callee;  /* of an inlined call: what was inlined; 0: the line itself */
	uint64_t addr; /* an address of it; of an address row: that */
	struct sums self, total;
	uint32_t active;
	str_id callee_file; /* where the inlined callee's heaviest line is … */
	uint32_t callee_line;
	uint64_t callee_weight;
	double self_values[FLAT_VALUES_MAX], total_values[FLAT_VALUES_MAX];
};

struct line_folds {
	VEC(struct line_fold)
	struct map64 index;
};

struct code_fold {
	struct line_folds lines, inlines, addrs;
	struct sums self; /* of the function itself */
	struct sums code; /* with inlined code */
	struct sums total;
	uint32_t active;
	module_id module; /* of its heaviest frame */
	bool failed;
};
void code_fold_fini(struct code_fold *c); /* a zeroed struct is empty */
int fold_code(struct code_fold *c, const struct flat *f, const struct tables *t, uint32_t flags,
	      fid_t focus); /* -ENOMEM */
const struct line_fold *line_folds_find(const struct line_folds *l, uint64_t key);
uint64_t line_key(str_id file, uint32_t line, fid_t callee);

#endif
