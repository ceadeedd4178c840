/*
 * opentree: the call tree by function, of which only what is looked at is made.
 *
 * As calltree, with sums; but the children of a node are there once it has been opened, and those
 * with too small a share are only counted, so that a report of a few paths does not pay for a
 * million others. Any one thread.
 */
#ifndef ALTPTTOP_OPENTREE_H
#define ALTPTTOP_OPENTREE_H

#include "export/rollup.h"

struct opentree_node {
	uint32_t parent;
	uint32_t func;     /* index in namelist.funcs; undefined for node 0, above all threads */
	uint32_t children; /* once it was opened: the first, 0 none; siblings by falling total */
	uint32_t next;     /* next sibling, 0 none */
	uint32_t small;    /* children that are too small, in no list */
	bool opened;
	uint32_t first, last; /* in members */
	struct rollup_count self, total;
};

/* A snapshot's node that is part of one here: as the function of one of its frame's lines. */
struct opentree_member {
	uint32_t node; /* SNAPSHOT_ROOT: what had no stack */
	uint32_t line; /* 0 innermost */
	uint32_t next; /* 0 none */
};

struct opentree {
	const struct snapshot *s;
	const struct namelist *n;
	const struct rollup *r;
	double least; /* per cent of all, for a child to be listed */
	struct {
		VEC(struct opentree_node)
	} nodes;
	struct {
		VEC(struct opentree_member)
	} members; /* [0] is nobody's */
	struct {
		VEC(uint32_t)
	} order;       /* scratch */
	uint32_t *end; /* per node of the snapshot: behind its subtree */
	uint32_t *at;  /* per function: the newest node of it */
};

int opentree_init(struct opentree *t, const struct snapshot *s, const struct namelist *n,
		  const struct rollup *r, double least); /* -ENOMEM: nothing is to be released */
void opentree_fini(struct opentree *t);
double opentree_percent(const struct opentree *t, const struct rollup_count *c); /* of all */
int opentree_open(struct opentree *t, uint32_t node); /* nodes may move; -ENOMEM */

#endif
