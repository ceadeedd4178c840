/*
 * plan: the events that are opened for each thread and CPU, as perf_event_open(2) takes them.
 *
 * Plain data, made from what the user asked for and what this machine allows. All plans share the
 * leading fields of their records (id, ip, tid, time) and the trailing ones, so that rings can hold
 * records of several plans at once: plan_common.
 */
#ifndef ALTPTTOP_PLAN_H
#define ALTPTTOP_PLAN_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "codec/perf_record.h"
#include "event/spec.h"
#include "source.h"

#define PLAN_EVENTS     24 /* named events at once */
#define PLAN_MAX        80 /* with what is opened beside them */
#define PLAN_STRANDS    4
#define PLAN_SIDE       UINT16_MAX       /* index of an event that only brings side-band records */
#define PLAN_SWITCH     (UINT16_MAX - 1) /* … that only tells of context switches */
#define PLAN_DUMP_MAX   65528            /* what perf_event_open takes */
#define PLAN_DUMP_START 16384            /* where an adapting dump size starts */

struct plan_event {
	struct event_spec spec;
	struct perf_event_attr attr;
	struct record_layout layout;
	uint16_t index;   /* in the profile's event list, or PLAN_SIDE, PLAN_SWITCH */
	uint16_t leader;  /* place in the plan of its group's leader */
	double jitter;    /* by how much of itself the period may differ from CPU to CPU */
	uint16_t strands; /* events that share this one's work: a sample stands for so much less */
	bool software;    /* leader: nothing in its group takes a counter: they never take turns */
};

struct plan {
	struct plan_event e[PLAN_MAX];
	uint32_t n;
	bool inherit; /* children and new threads are watched too */
};

/* What decides how the events of a source are opened; changes while it runs. */
struct plan_setup {
	uint32_t rate_hz;
	uint64_t period; /* -c; 0: by rate */
	enum call_graph call_graph;
	uint32_t stack_bytes; /* of a dump; 0 none */
	uint32_t max_stack;   /* frames of a kernel-made chain; 0: the kernel's default */
	bool no_kernel, no_user;
	bool kernel_allowed;
	bool cpu_wide; /* events of whole CPUs: idle is left out, nothing is inherited */
	bool inherit;
	bool count_exits; /* a record of the CPU time of each thread that ends */
};

/* Is it counted by one of the few counters that a CPU has? */
static inline bool plan_takes_counter(const struct event_spec *s)
{
	return s->type != PERF_TYPE_SOFTWARE && s->type != PERF_TYPE_TRACEPOINT &&
	       s->type != PERF_TYPE_BREAKPOINT;
}

/* What the processor is asked for with CALL_GRAPH_LBR: calls of the program without their returns.
 */
#define PLAN_LBR \
	(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_NO_FLAGS | \
	 PERF_SAMPLE_BRANCH_NO_CYCLES)

/* Do samples of this event come with the processor's own call stack? Only counters' interrupts do.
 */
static inline bool plan_has_lbr(const struct plan_setup *setup, const struct event_spec *s)
{
	return setup->call_graph == CALL_GRAPH_LBR && !setup->no_user && plan_takes_counter(s);
}

extern const struct record_layout plan_common; /* what every record of every plan begins with */

/*
 * One sampling event alone in its group. @index: its place in the profile's event list. A clock on
 * whole CPUs is spun from PLAN_STRANDS slower clocks of unlike periods: a lone timer lets the
 * kernel wake sleepers together with its ticks, and a program that works after each of them for
 * less than a period would never be seen.
 */
int plan_add(struct plan *p, const struct event_spec *spec, uint16_t index,
	     const struct plan_setup *setup);
/*
 * A group, led by the first of @specs: the one at @pick is sampled and reads all of them with each
 * sample, so that the difference between two readings of a thread belongs to the later one's stack.
 * (A leader that cannot be sampled: Intel's slots, before the parts that are read with them.) On
 * whole CPUs a last member reads the group at each context switch too (sample/tenants.h), and the
 * leader is to be enabled once all are open, so that the times of all begin at once.
 */
int plan_add_group(struct plan *p, const struct event_spec *specs, uint32_t n, uint32_t pick,
		   uint16_t index, const struct plan_setup *setup);
/* On whole CPUs: an event outside all groups that tells of each context switch, and when it was. */
int plan_add_switches(struct plan *p, const struct plan_setup *setup);
/* Does this kernel read groups of inherited events (6.12 or so)? Tried once with software events.
 */
bool plan_groups_inherit(void);
/* An event that brings only mappings, names, births and ends. -errno: not even that is allowed. */
int plan_add_side(struct plan *p, const struct plan_setup *setup);
/* Let the first event bring the side-band records too (where descriptors are scarce). */
int plan_fold_side(struct plan *p, const struct plan_setup *setup);

/* The clock's period in nanoseconds for a rate, or the period asked for. */
uint64_t plan_period_ns(const struct plan_setup *setup);

/*
 * The event as opened for one (thread, CPU): its period differs a little from others', so that no
 * two tick in step. @seat: any number that tells them apart; consecutive ones spread
 * evenly.
 */
void plan_attr(const struct plan_event *e, uint32_t seat, struct perf_event_attr *ret_attr);
/* One of the kernel's generic events, on the kind of core whose PMU has type @core. */
void plan_attr_core(struct perf_event_attr *attr, uint32_t core);

#endif
