/*
 * calltree: a snapshot's nodes folded by function: one node for each distinct path of functions.
 *
 * The profile's own nodes are told apart by address; here call sites in one function are one.
 * Inlined functions are nodes of their own. Node 0 is the root above all threads.
 */
#ifndef ALTPTTOP_CALLTREE_H
#define ALTPTTOP_CALLTREE_H

#include "export/namelist.h"

struct calltree_node {
	uint32_t parent;
	uint32_t func; /* index in namelist.funcs; undefined for node 0 */
};

struct calltree {
	struct {
		VEC(struct calltree_node)
	} nodes;
	uint32_t *of;       /* per node of the snapshot: its node here */
	uint32_t stackless; /* the node of samples without a stack, 0: there are none */
};

int calltree_init(struct calltree *t, const struct snapshot *s,
		  const struct namelist *n); /* -ENOMEM: nothing is to be released */
void calltree_fini(struct calltree *t);

#endif
