/*
 * fold: functions, modules, callers and callees, summed over a flat trie by query.
 *
 * Self: samples whose innermost frame is the function. Total: samples that have it anywhere, once
 * however often it recurs. Edges likewise: a sample counts once for each different (caller,
 * callee). Owned by the engine thread.
 */
#ifndef ALTPTTOP_FOLD_H
#define ALTPTTOP_FOLD_H

#include "base/hash.h"
#include "profile/chain.h"
#include "profile/flat.h"

/* One function on the path that a walk is at. */
struct visit {
	uint32_t node; /* flat index */
	fid_t fid;
	uint32_t k, n; /* place in the frame's chain: 0 innermost, n - 1 holds the code */
	const struct loc_line *line;
	uint32_t slot; /* the visitor's own */
};

struct visitor {
	/* @path[depth - 1] is entered or left; what is before it are its callers. */
	void (*enter)(void *ctx, struct visit *path, uint32_t depth);
	void (*leave)(void *ctx, struct visit *path, uint32_t depth);
	void *ctx;
};
/* Every function instance of the flat trie, outermost first, entered and left like calls. */
int fold_walk(const struct flat *f, const struct tables *t, uint32_t flags,
	      const struct visitor *v); /* -ENOMEM */

struct fold_row {
	fid_t fid; /* or a module_id */
	struct sums self, total;
	uint32_t active;         /* while walking: instances on the path */
	uint64_t inlined_weight; /* part of total in which it was inlined */
	func_id outer;           /* what it is most often inlined into */
	uint64_t outer_weight;
	uint64_t told_weight; /* part of total that only DWARF's call sites tell of */
	uint32_t node;        /* a flat node of it, the heaviest by self seen */
};

/* Rows by fid, in order of first sight. */
struct fold_rows {
	struct fold_row *data;
	uint32_t len, cap;
	uint32_t *by_func; /* func_id → index + 1 */
	uint32_t by_func_cap;
	struct map64 by_frame; /* other fids → index */
	uint32_t nvalues;
	double *self_values, *total_values; /* [cap × nvalues] */
};
void fold_rows_fini(struct fold_rows *r); /* a zeroed struct is empty */
/* Empty it for @t as it is now. -ENOMEM. */
int fold_rows_reset(struct fold_rows *r, const struct tables *t, uint32_t nvalues);
struct fold_row *fold_rows_at(struct fold_rows *r, fid_t fid);         /* made; NULL: no memory */
struct fold_row *fold_rows_find(const struct fold_rows *r, fid_t fid); /* NULL: none */

int fold_functions(struct fold_rows *r, const struct flat *f, const struct tables *t,
		   uint32_t flags);
int fold_modules(struct fold_rows *r, const struct flat *f, const struct tables *t);

struct fold_edges {
	struct fold_rows callers, callees; /* self: what ends in the callee of that edge */
	struct fold_row focus;
	double focus_self[FLAT_VALUES_MAX], focus_total[FLAT_VALUES_MAX];
};
void fold_edges_fini(struct fold_edges *e);
int fold_edges(struct fold_edges *e, const struct flat *f, const struct tables *t, uint32_t flags,
	       fid_t focus);

#endif
