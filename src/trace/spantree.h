/*
 * spantree: the different paths of spans, a node each, and what their spans weigh by the tenth of a
 * second: the samples of a duration analysis before they go to the sink.
 *
 * A node is one name below another in one thread. Spans of one path that close within a tenth of a
 * second become one cell, so that ten million spans are some ten thousand samples. Bounded: cells
 * are sorted with the help of a temporary file where they are many, and who adds asks
 * spantree_is_full before, and then flushes and clears it. Source thread.
 */
#ifndef ALTPTTOP_SPANTREE_H
#define ALTPTTOP_SPANTREE_H

#include <stdbool.h>

#include "base/extsort.h"
#include "base/vec.h"
#include "tables.h"

#define SPANTREE_PATH_MAX 512          /* longer paths are cut at their outer end */
#define SPANTREE_STEP_NS  100000000ull /* as fine as a profile's history is */
#define SPANTREE_NO_ROW   UINT32_MAX

struct span_node {
	uint32_t parent; /* 0: outermost */
	str_id name;
	uint32_t thread, depth;
	uint32_t row; /* the caller's, SPANTREE_NO_ROW at first */
	/* What came last: of its children, and of its siblings right after it. 0 none. */
	uint32_t child, next;
	bool recurs; /* its name stands further out in its path too */
	/* Of the cell that is open: when its tenth of a second begins, observations, time, weight.
	 */
	uint64_t step_ns, hits, time_ns, weight;
};

struct span_cell {
	uint64_t time_ns; /* when the last of its spans closed */
	uint64_t node;
	uint64_t weight, hits;
};

struct spantree {
	struct {
		VEC(struct span_node)
	} nodes;               /* the first one is none */
	struct extsort *cells; /* struct span_cell, by time and node */
	struct {
		VEC(uint32_t)
	} outermost;     /* by thread: the node that came last, 0 none */
	uint32_t *slots; /* node by hash of (parent or thread, name), 0 free */
	uint32_t mask;
	size_t nodes_most; /* full from here on */
	uint64_t step_ns;  /* when the tenth of a second at hand begins */
};

int spantree_init(struct spantree *t); /* -ENOMEM */
void spantree_fini(struct spantree *t);
void spantree_clear(struct spantree *t); /* forget everything */
/* These nodes had to be there: more room than that is needed before it is full. */
void spantree_settle(struct spantree *t);

bool spantree_is_full(const struct spantree *t);

/* The node of @name below @parent, or outermost in @thread when that is 0. -ENOMEM. */
int spantree_child(struct spantree *t, uint32_t parent, uint32_t thread, str_id name,
		   uint32_t *ret_node);
/* A span of @node closed at @time_ns. -ENOMEM, or what extsort.h says. */
int spantree_add(struct spantree *t, uint32_t node, uint64_t time_ns, uint64_t weight);
/* Hand out all cells in order of time, and forget them. As spantree_add, or what cell() returns. */
int spantree_flush(struct spantree *t, int (*cell)(void *ctx, const struct span_cell *c),
		   void *ctx);

#endif
