/*
 * toll: see toll.h. The kernel's interrupts are part of the interrupted thread's CPU time, so that
 * the thread's clock shows them whatever else the machine does.
 */
#include "sample/toll.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/perf_open.h"
#include "sample/ring.h"

#define ROUNDS     6
#define ROUND_NS   6000000ULL
#define PERIOD_NS  250000ULL /* 4 kHz: far from where the kernel begins to throttle */
#define RING_BYTES ((size_t)256 << 10)

#define QUICK_NS 100000ULL /* without stacks: readings are small beside what else interrupts */

enum { BARE, SAMPLED, LIGHT, READ, WAYS };

struct open_plan {
	int fds[PLAN_MAX];
	uint32_t n;
	struct ring ring;
};

static void plan_close(struct open_plan *o)
{
	ring_unmap(&o->ring);
	while (o->n-- > 0) /* members before their leader */
		close(o->fds[o->n]);
}

/* On this thread, wherever it runs. */
static int plan_open(const struct plan *plan, struct open_plan *o)
{
	int rc = 0;

	*o = (struct open_plan){0};
	for (uint32_t i = 0; !rc && i < plan->n; i++) {
		const struct plan_event *e = &plan->e[i];
		int fd = perf_open(&e->attr, 0, -1, e->leader == i ? -1 : o->fds[e->leader], 0);

		if (fd < 0)
			rc = fd;
		else
			o->fds[o->n++] = fd;
	}
	if (!rc)
		rc = ring_map(&o->ring, o->fds[0], RING_BYTES);
	if (rc)
		plan_close(o);
	return rc;
}

static uint64_t work(uint64_t turns, struct ring *ring)
{
	uint64_t start = clock_thread_cpu_ns();
	volatile uint64_t x = 1;

	for (uint64_t part = 0; part < 16; part++) {
		for (uint64_t i = 0; i < turns / 16; i++)
			x = x * 6364136223846793005ULL + 1;
		if (ring && ring_look(ring)) /* a full ring would make the later samples cheap */
			ring_release(ring, ring->head);
	}
	return clock_thread_cpu_ns() - start;
}

static uint64_t turns_of_a_round(void)
{
	uint64_t turns = 160000, took = work(turns, NULL);

	took = work(turns, NULL); /* the first warms up */
	return took ? turns * ROUND_NS / took : turns;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static uint32_t middle(double *v)
{
	qsort(v, ROUNDS, sizeof *v, by_value);
	double m = (v[ROUNDS / 2 - 1] + v[ROUNDS / 2]) / 2;
	return m > 0 ? (uint32_t)m : 0;
}

static int one_round(const struct plan *plan, uint64_t turns, double *ret_ns)
{
	struct open_plan o;
	int rc = plan_open(plan, &o);

	if (rc)
		return rc;
	*ret_ns = (double)work(turns, &o.ring);
	plan_close(&o);
	return 0;
}

/* The clock as the target has it, and without stacks alone and with the set's counters behind it.
 */
static int make_plans(const struct plan_setup *from, const struct event_spec *specs, uint32_t n,
		      struct plan plans[WAYS])
{
	struct plan_setup setup = *from;
	struct event_spec clock = {.type = PERF_TYPE_SOFTWARE,
				   .config = PERF_COUNT_SW_CPU_CLOCK,
				   .unit = EVENT_NS,
				   .clock = true,
				   .name = "cpu-clock"};
	struct event_spec group[PLAN_EVENTS];
	uint32_t k = 0;
	int rc;

	setup.period = PERIOD_NS;
	setup.cpu_wide = setup.inherit = setup.count_exits = false;
	group[k++] = clock;
	for (uint32_t i = 0; i < n && k < PLAN_EVENTS; i++)
		if (!specs[i].clock && specs[i].type != PERF_TYPE_BREAKPOINT)
			group[k++] = specs[i];
	rc = plan_add(&plans[SAMPLED], &clock, 0, &setup);
	setup.period = QUICK_NS;
	setup.call_graph = CALL_GRAPH_NONE;
	if (!rc && k > 1)
		rc = plan_add(&plans[LIGHT], &clock, 0, &setup);
	if (!rc && k > 1)
		rc = plan_add_group(&plans[READ], group, k, 0, 0, &setup);
	return rc;
}

static bool stopped(const atomic_bool *stop)
{
	return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

int toll_measure(const struct plan_setup *setup, const struct event_spec *specs, uint32_t n,
		 const atomic_bool *stop, struct toll *ret)
{
	double sample[ROUNDS] = {0}, reading[ROUNDS] = {0};
	struct plan *plans = calloc(WAYS, sizeof *plans);
	uint64_t turns = turns_of_a_round();
	int rc = plans ? make_plans(setup, specs, n, plans) : -ENOMEM;

	for (int i = 0; !rc && i < ROUNDS; i++) {
		double bare, with = 0, light = 0, read = 0;

		if (stopped(stop)) {
			rc = -ECANCELED;
			break;
		}
		bare = (double)work(turns, NULL);
		rc = one_round(&plans[SAMPLED], turns, &with);
		if (rc)
			break;
		sample[i] = (with - bare) / (with / (double)PERIOD_NS);
		if (plans[READ].n && !stopped(stop) && !one_round(&plans[LIGHT], turns, &light) &&
		    !one_round(&plans[READ], turns, &read))
			reading[i] = (read - light) / (read / (double)QUICK_NS);
	}
	free(plans);
	if (rc)
		return rc;
	ret->sample_ns = middle(sample);
	ret->read_ns = middle(reading);
	return 0;
}
