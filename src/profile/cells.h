/*
 * cells: counters by (node, leaf, task, event, flags): what thread @task gathered of @event with
 * its innermost frame at @node; or, where that frame has no node yet (leaves.h), in @leaf below
 * @node.
 *
 * A hash table over a dense array: iterate cells.data[0 … len). Pointers into it are good until the
 * next cells_at. Owned by one thread.
 */
#ifndef ALTPTTOP_CELLS_H
#define ALTPTTOP_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "event.h"
#include "frame.h"

enum cell_flag {
	CELL_BLOCKED = 1 << 0, /* wall clock: the thread was waiting */
	CELL_VALUE =
		1 << 1, /* Σ of a counter read along with samples: samples and weight_sq are 0 */
	CELL_ACCOUNT = 1 << 2, /* a kernel account: node is NODE_NONE, event an enum account_kind */
	CELL_RUNNING =
		1 << 3,      /* NODE_NONE: Σ ppm of time on the hardware, over @samples readings */
	CELL_GUEST = 1 << 4, /* the CPU ran a guest */
};

struct cell {
	uint32_t node;
	task_id task;
	uint16_t event;
	uint16_t flags;
	frame_id leaf; /* 0: none */
	uint64_t samples;
	uint64_t weight; /* Σ ns or Σ counts; enum account_kind may go below 0: read as int64_t */
	double weight_sq;
};

struct cells {
	struct cell *data;
	uint32_t *slots; /* tag and index + 1 into data, 0 empty */
	uint32_t len, cap, mask;
	uint32_t indexed; /* of them are in slots: the others when somebody looks */
	bool by_node;     /* nodes are small numbers, and most have one cell only … */
	uint32_t *newest; /* … so by node, below nodes: index + 1 of its newest, 0 none */
	uint32_t nodes;
};

/* A zeroed struct is empty; so is it afterwards. by_node may be set in an empty one. */
void cells_fini(struct cells *c);
void cells_clear(struct cells *c);
size_t cells_bytes(const struct cells *c);
size_t cells_bytes_next(const struct cells *c); /* after the next cells_at, if it must grow */

/* The cell of @key's (node, leaf, task, event, flags), made with zero counters when it is new.
 * NULL: no memory. */
struct cell *cells_at(struct cells *c, const struct cell *key);
const struct cell *cells_find(struct cells *c, const struct cell *key); /* NULL: none */
int cells_add(struct cells *c, const struct cell *more); /* adds its counters; -ENOMEM */
void cells_expect(struct cells *c, uint32_t n);          /* as many will come, about */

/* Cells of these nodes will be asked for: their memory is wanted soon. By node only. */
void cells_foresee(const struct cells *c, const uint32_t *nodes, uint32_t n);
/* The same of cells with these keys, CELLS_AHEAD at most, in a table that is not by node. */
#define CELLS_AHEAD 16
void cells_foresee_keys(const struct cells *c, const struct cell *keys, uint32_t n);

int cell_compare(const void *a, const void *b); /* by node, task, event, flags: for qsort */

static inline void cell_sum(struct cell *to, const struct cell *more)
{
	to->samples += more->samples;
	to->weight += more->weight;
	to->weight_sq += more->weight_sq;
}

#endif
