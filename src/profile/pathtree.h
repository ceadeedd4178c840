/*
 * pathtree: call paths by function, opened where they are looked at.
 *
 * A tree node gathers every place (flat node, inlined function) that is reached by the same path of
 * functions. Children are made when a node is opened, so that a tree costs what is open of it.
 * Top-down it starts at all outermost frames; bottom-up at every innermost occurrence of the
 * focused function (or of any function that was sampled) and goes towards the callers. Engine
 * thread.
 */
#ifndef ALTPTTOP_PATHTREE_H
#define ALTPTTOP_PATHTREE_H

#include "base/vec.h"
#include "profile/chain.h"
#include "profile/flat.h"

#define PATHTREE_ROOT 0u

/* A function instance: place @k (0 innermost) in the chain of flat node @node. */
struct tree_place {
	uint32_t node, k;
	uint32_t origin; /* bottom-up: where it started */
};

struct tree_node {
	fid_t fid;     /* 0: the root, made up */
	uint64_t hash; /* of the path of functions */
	struct sums self, total;
	uint32_t places, nplaces;     /* in pathtree.places */
	uint32_t children, nchildren; /* in pathtree.nodes, by falling total */
	bool opened;
	bool inlined;  /* into its caller, at its heaviest place */
	uint32_t node; /* flat node of its heaviest place … */
	uint32_t k;    /* … and where in its chain */
};

struct tree_origin {
	struct sums self, total;
};

struct pathtree {
	const struct flat *flat;
	const struct tables *tables;
	uint32_t flags; /* enum query_flag */
	bool failed;    /* no memory: parts are missing */
	struct {
		VEC(struct tree_node)
	} nodes;
	struct {
		VEC(struct tree_place)
	} places;
	struct {
		VEC(struct tree_origin)
	} origins;
	struct {
		VEC(double)
	} origin_values; /* [origins × flat.nvalues]: total's */
};

/* The root, unopened. @focus 0: every function. Only with QUERY_BOTTOM_UP in @flags has it a
 * meaning. */
int pathtree_init(struct pathtree *c, const struct flat *f, const struct tables *t, uint32_t flags,
		  fid_t focus);
void pathtree_fini(struct pathtree *c);
/* Make the children of @node; idempotent. Pointers into nodes move. */
void pathtree_open(struct pathtree *c, uint32_t node);

/* Sums of the flat's values over @node: room for flat.nvalues each. */
void pathtree_values(const struct pathtree *c, uint32_t node, double *ret_self, double *ret_total);

/* Flat node and chain place of the caller of a place; false: it is outermost. */
bool pathtree_caller(const struct pathtree *c, uint32_t node, uint32_t k, uint32_t *ret_node,
		     uint32_t *ret_k);

#endif
