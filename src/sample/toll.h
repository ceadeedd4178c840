/*
 * toll: what taking a sample costs the thread that is sampled, measured on a thread of our own.
 *
 * A fixed piece of work is done without events, with a clock sampled as the target's is (same stack
 * dump, same chains), and with the set's counters read at each sample. What it takes longer,
 * divided by the samples, is the cost; of the counters, beside a clock without stacks. Any thread;
 * takes about TOLL_MS of its CPU time.
 */
#ifndef ALTPTTOP_TOLL_H
#define ALTPTTOP_TOLL_H

#include <stdatomic.h>

#include "sample/plan.h"

#define TOLL_MS 150

struct toll {
	uint32_t sample_ns; /* of a sample without its readings; 0: too little to be measured */
	uint32_t read_ns;   /* what reading @n events along adds; likewise */
};

/*
 * @setup, @specs: as for the target. 0 or -errno: not to be measured here. -ECANCELED soon after
 * @stop was set (NULL: never).
 */
int toll_measure(const struct plan_setup *setup, const struct event_spec *specs, uint32_t n,
		 const atomic_bool *stop, struct toll *ret);

#endif
