/*
 * foldtask: what each thread did in a window: samples, kernel share, waiting, its top function.
 *
 * Engine thread.
 */
#ifndef ALTPTTOP_FOLDTASK_H
#define ALTPTTOP_FOLDTASK_H

#include "base/hash.h"
#include "base/vec.h"
#include "profile/chain.h"
#include "profile/flat.h"

#define TASK_SPARK 16 /* seconds */

struct task_fold {
	task_id task;
	struct sums sums; /* as the query counts */
	uint64_t running_weight, kernel_weight, blocked_weight;
	fid_t top; /* 0: none */
	uint64_t top_weight;
	uint64_t spark_ns[TASK_SPARK]; /* on-CPU time by second, newest last */
	double values[FLAT_VALUES_MAX];
};

struct task_folds {
	VEC(struct task_fold)
	struct map64 by_task;
	struct {
		VEC(uint64_t)
	} tops; /* weight by (task, function) */
	struct map64 by_top;
};
void task_folds_fini(struct task_folds *r); /* a zeroed struct is empty */

/* @q's task is ignored. @end_ns: where sparks end. -ENOMEM. */
int fold_tasks(struct task_folds *r, const struct profile *p, const struct tables *t,
	       const struct fold_query *q, uint64_t end_ns);
struct task_fold *task_folds_at(struct task_folds *r, task_id task); /* made; NULL: no memory */
/*
 * Fill @ret's rows, whose task is a group's number, with the top functions of groups of threads
 * together: @group_of[task] for each of @n tasks, UINT32_MAX none. -ENOMEM.
 */
int task_folds_group_tops(struct task_folds *ret, const struct task_folds *r,
			  const uint32_t *group_of, uint32_t n);

#endif
