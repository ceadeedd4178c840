/*
 * prune: shortens rare call paths when the memory cap is reached.
 *
 * A path seen seldom keeps its outer part (as far as that is seen often) and its innermost frame;
 * what lay between becomes one [overflow]. So self times, the totals of outer functions and every
 * sum stay right, and what is missing can be seen. Cells of the totals and the whole history move
 * to the new nodes. Engine thread; takes a while (about a tenth of a microsecond a cell).
 */
#ifndef ALTPTTOP_PRUNE_H
#define ALTPTTOP_PRUNE_H

#include "profile/profile.h"

/* Make the trie half as big at least, with @totals the totals smaller by a quarter too. -ENOSPC:
 * that cannot be; -ENOMEM. On failure nothing has changed. */
int profile_prune(struct profile *p, bool totals);

#endif
