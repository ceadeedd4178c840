/*
 * perf_toll: measures the cost of a sample beside the running sampler, at the start and when the
 * event set changes, on a thread of its own.
 *
 * The source thread starts and ends it; what it found is in the status. Until then, and where it
 * cannot be measured, the cost is an estimate.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/altstack.h"
#include "sample/perf_impl.h"
#include "sample/perf_setup.h"
#include "sample/toll.h"

struct perf_toll {
	pthread_t thread;
	atomic_bool done, stop;
	struct plan_setup setup;
	struct event_spec specs[PLAN_EVENTS];
	uint32_t n;
	struct source_status *status;
};

static void *measure(void *arg)
{
	struct perf_toll *t = arg;
	struct toll toll;

	altstack_use();
	if (!toll_measure(&t->setup, t->specs, t->n, &t->stop, &toll)) {
		atomic_store_explicit(&t->status->read_cost_ns, toll.read_ns, memory_order_relaxed);
		atomic_store_explicit(&t->status->sample_cost_ns, toll.sample_ns,
				      memory_order_relaxed);
	}
	atomic_store(&t->done, true);
	return NULL;
}

void perf_toll_end(struct perf_source *ps)
{
	if (!ps->toll)
		return;
	atomic_store(&ps->toll->stop, true); /* whoever leaves does not wait for a figure */
	pthread_join(ps->toll->thread, NULL);
	free(ps->toll);
	ps->toll = NULL;
}

void perf_toll_begin(struct perf_source *ps)
{
	struct perf_toll *t;

	if (ps->toll && !atomic_load(&ps->toll->done))
		return; /* the figure of the set before is shown until the next change */
	perf_toll_end(ps);
	t = calloc(1, sizeof *t);
	if (!t)
		return;
	t->setup = ps->setup;
	while (ps->groups && t->n < ps->nevents && !ps->leader[t->n])
		t->n++; /* a sample reads its own group: the first is measured for all */
	memcpy(t->specs, ps->events, t->n * sizeof *ps->events);
	t->status = &ps->status;
	if (pthread_create(&t->thread, NULL, measure, t)) {
		free(t);
		return;
	}
	ps->toll = t;
}
