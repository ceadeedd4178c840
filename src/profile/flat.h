/*
 * flat: the part of the trie that a window of time touched, in depth-first preorder, with sums.
 *
 * What every fold starts from. User frames that the query hides are spliced out: their children
 * hang under the next visible ancestor. With QUERY_TAIL_CALLS functions that left no frame are put
 * in, as far as the tables know them. Memory is reused from build to build. Owned by the engine
 * thread.
 */
#ifndef ALTPTTOP_FLAT_H
#define ALTPTTOP_FLAT_H

#include "answer.h"
#include "base/vec.h"
#include "profile/profile.h"

#define FLAT_NONE       UINT32_MAX
#define FLAT_VALUES_MAX 24 /* events whose sums go along, of one set */

struct sums {
	uint64_t samples, weight;
	double weight_sq;
};
static inline void sums_add(struct sums *to, const struct sums *more)
{
	to->samples += more->samples;
	to->weight += more->weight;
	to->weight_sq += more->weight_sq;
}

struct fold_query {
	struct window window;
	uint16_t event;           /* whose samples are folded */
	uint32_t flags;           /* enum query_flag */
	task_id task;             /* 0: all */
	const uint8_t *task_mask; /* tasks to count, by id (ids beyond ntasks are not); NULL: all */
	uint32_t ntasks;
	const uint16_t *values; /* events whose sums are wanted too, FLAT_VALUES_MAX at most … */
	uint32_t nvalues;
	uint32_t by_weight; /* … bit by place: not read along, Σ weight of its own samples stands
			       for it */
};

struct flat_node {
	node_id node;
	frame_id frame;
	uint32_t parent; /* index, FLAT_NONE for an outermost frame */
	uint32_t end;    /* index behind its subtree */
	struct sums self, total;
};

struct flat {
	struct flat_node *nodes;
	uint32_t n, cap;
	struct sums all;
	uint64_t kernel_weight; /* of samples whose innermost frame is in the kernel */
	uint32_t nvalues;
	double *self_values, *total_values; /* [n × nvalues] */
	double all_values[FLAT_VALUES_MAX];
	/* What shortened paths lack, NULL: nothing of this window; and what was asked. */
	const struct cells *through;
	struct fold_query query;
	double running[FLAT_VALUES_MAX]; /* share of the time on the hardware; 1 where nobody tells
					  */
	/* QUERY_TAIL_CALLS: frames between which nobody has looked for tail calls yet; some of them
	 */
	struct {
		VEC(struct frame_pair)
	} tails_wanted;
	/* scratch */
	struct flat_leaf *leaves;
	uint32_t nleaves, leaves_cap;
	struct flat_touched *touched;
	uint32_t *place;
	uint32_t place_cap, touched_cap;
	double *leaf_values;
	size_t leaf_values_cap, values_cap;
};

void flat_fini(struct flat *f); /* a zeroed struct is empty; so is it afterwards */
int flat_build(struct flat *f, const struct profile *p, const struct tables *t,
	       const struct fold_query *q);                        /* -ENOMEM: nothing is in it */
bool fold_takes(const struct fold_query *q, const struct cell *c); /* is @c a sample of @q? */
/* Is the innermost frame at @node of the part that QUERY_NO_KERNEL or QUERY_NO_USER hides? */
bool fold_hides_mode(const struct tables *t, const struct profile *p, node_id node, uint32_t flags);
/* Guests' cells, or all others, as the query hides them. */
static inline bool fold_hides(const struct fold_query *q, const struct cell *c)
{
	return q->flags & (c->flags & CELL_GUEST ? QUERY_NO_GUEST : QUERY_NO_HOST);
}
/* Is @c part of one of @q's values? Of which. */
bool fold_takes_value(const struct fold_query *q, const struct cell *c, uint32_t *ret_i);

#endif
