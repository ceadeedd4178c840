/*
 * numbered: where the stack of a sample with a number is kept, so that it need not come again.
 *
 * A stack's number stands for a node of the call trie, the cell it counted into last, and what its
 * path lacks (through.h). Owned by the engine thread.
 */
#ifndef ALTPTTOP_NUMBERED_H
#define ALTPTTOP_NUMBERED_H

#include "profile/through.h"
#include "profile/trie.h"

struct place {
	node_id node; /* where it ends, and … */
	frame_id leaf; /* … its innermost frame, where that has no node; both 0: nothing is known */
	uint32_t cell;   /* where in the table of cells its newest was */
	uint32_t *lacks; /* what it counts through: n, then keys; NULL: nothing */
	bool lossy;      /* there was no memory for what it lacks */
};

struct numbered {
	struct place *data; /* [STACKS_MAX] by sample.stack; NULL: no sample has such a number */
	size_t lacks_bytes;
};

void numbered_fini(struct numbered *x); /* a zeroed struct is empty; so is it afterwards */
size_t numbered_bytes(const struct numbered *x);

struct place *numbered_at(struct numbered *x, uint32_t stack); /* NULL: no number, or no memory */
/* What @place lacks is @list, or @list more. Where there is no memory it is lossy from then on. */
void numbered_lack(struct numbered *x, struct place *place, const struct through_list *list);
void numbered_lack_more(struct numbered *x, struct place *place, const struct through_list *list);

#endif
