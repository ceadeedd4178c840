/*
 * topdown_offer: what the Top-down screen says where the events in view tell nothing of slots.
 */
#ifndef ALTPTTOP_TOPDOWN_OFFER_H
#define ALTPTTOP_TOPDOWN_OFFER_H

#include "engine/build.h"

/* Whether each set that tells fits this machine, tried once: kept by the engine, free()d with it.
 */
struct topdown_fit {
	bool fits;
	char reason[200]; /* why not */
};

/* Fills rows: why there is nothing, which set to switch to, or why none fits. Engine thread. */
void topdown_offer(struct build *b);

#endif
