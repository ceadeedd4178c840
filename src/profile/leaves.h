/*
 * leaves: innermost frames that have no node of their own.
 *
 * A recording can have millions of paths that differ in little but their innermost frame. Where
 * nobody knows when samples were taken, and so no history refers to their paths by node, such a
 * frame is a cell below the node above it (cells.h: leaf), which is found at once, until somebody
 * asks: then all of them get nodes, for which there is always room, and their counts go to the
 * totals. Owned by the engine thread.
 */
#ifndef ALTPTTOP_LEAVES_H
#define ALTPTTOP_LEAVES_H

#include "profile/profile.h"

#define LEAVES_TOGETHER 16 /* that are looked for side by side */

/* Where a path ends. */
struct spot {
	node_id node;
	frame_id leaf; /* below it, without a node of its own; 0: none */
};

/*
 * From the first prune on they and the nodes together are at most so many, of @most nodes that fit:
 * the fewer they are the sooner they are folded, and what is left of paths then is rarely worth
 * more.
 */
static inline uint32_t leaves_most(uint32_t most)
{
	return most / 2;
}

/* Innermost frames have nodes from now on. */
void leaves_end(struct profile *p);

/* Are there as many of them, and of nodes, as there may be? */
static inline bool leaves_full(const struct profile *p)
{
	return p->trie.count + p->leaves.len >= p->leaves_most;
}

#endif
