/*
 * coverage: do the samples of a counter stand for what it counted?
 *
 * A counter tells by an interrupt that a period is over. A virtual machine can lose the interrupts
 * and count all the same, and kernels have been seen that deliver more than was counted: then
 * samples, and shares made of them, are of something else. Both figures cover the whole time of the
 * event's set. Engine thread.
 */
#ifndef ALTPTTOP_COVERAGE_H
#define ALTPTTOP_COVERAGE_H

#include <stdint.h>

#include "event.h"

struct count_state;

/*
 * What samples stand for as a share of what was counted, where that is not what chance or the last
 * moment's samples explain; NAN: it is in order, or cannot be told.
 */
double coverage_astray(const struct count_state *c, const struct event_desc *d);

#endif
