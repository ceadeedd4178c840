/*
 * tenants: whose a CPU's counts are.
 *
 * Counters of whole CPUs go on counting when one task follows another. So each group has a member
 * that interrupts at every context switch and reads all of it while the task that leaves is still
 * there: what was counted since the reading before is that task's, and is kept until its next
 * sample. A task has the same counts then as with counters of its own, and what the idle task or
 * anybody who is not watched counted is nobody's.
 *
 * Groups that take turns on the hardware miss switches while they are off it. A stretch between two
 * readings that holds such a pause belongs to a task only if both readings are its own, or if
 * nobody left the CPU meanwhile, as a switch event outside all groups tells; else it is dropped,
 * and the task's counts are scaled by the time that they lack: time on CPUs over time counted.
 *
 * Pure: no system calls. Source thread. Readings of one CPU come in order of time.
 */
#ifndef ALTPTTOP_TENANTS_H
#define ALTPTTOP_TENANTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tenants;

/*
 * Events that take turns are scaled by the time they could have counted over that they did. A long
 * stretch with next to nothing counted is no turn: somebody else held the counters, and nothing is
 * known of it. What of @passed_ns is to be scaled over, when it counted for @ran_ns of it.
 */
#define TENANTS_LONG_NS 100000000ULL
#define TENANTS_LEAST   50
static inline uint64_t tenants_shared(uint64_t passed_ns, uint64_t ran_ns)
{
	return passed_ns > TENANTS_LONG_NS && ran_ns < passed_ns / TENANTS_LEAST ? ran_ns
										 : passed_ns;
}

/*
 * A share is that of the last two to four seconds of a task's time: what it was before says nothing
 * of now, and would be made up for in one sample.
 */
#define TENANTS_MEMORY_NS 4000000000ULL

/*
 * What of an event is to be handed on with a sample: @grown since the one before, scaled, and a
 * part of what scaling lacks over the whole of @all so far, of which @given was handed on. That
 * part is in proportion to @grown, so that code that counted nothing is given nothing of others'
 * counts.
 */
#define TENANTS_PAY 32
static inline uint64_t tenants_due(uint64_t all, uint64_t given, uint64_t grown, double share)
{
	double own = (double)grown / share, lacks = (double)all / share - (double)given - own;
	double part = all ? TENANTS_PAY * (double)grown / (double)all : 0;
	double due = own + lacks * (part < 1 ? part : 1);

	return due > 0 ? (uint64_t)(due + 0.5) : 0;
}

/* When half of @all is forgotten: what was handed on for the rest, so that it lacks what it did. */
static inline uint64_t tenants_kept(uint64_t all, uint64_t given, double share)
{
	uint64_t forgotten = all - all / 2;
	double gone = (double)forgotten / share;

	return (double)given > gone ? given - (uint64_t)gone : 0;
}

/* For @ncpus CPUs and the @nevents events of a plan. NULL: no memory. */
struct tenants *tenants_new(uint32_t ncpus, uint32_t nevents);
void tenants_free(struct tenants *t); /* NULL is fine */

/* One reading of a group, while @tid ran on @cpu. */
struct tenant_reading {
	uint64_t time_ns;
	uint32_t cpu;    /* index in the ring set */
	uint16_t leader; /* place in the plan of the group's leader */
	pid_t tid;
	bool watched;                    /* its counts matter; else they are dropped */
	bool leaves;                     /* read at a switch: somebody else runs from now on */
	bool software;                   /* the group never leaves the hardware */
	uint64_t enabled_ns, running_ns; /* since the group was opened */
	uint32_t n;
	const uint16_t *events; /* places in the plan */
	const uint64_t *values; /* since the group was opened */
};

/* False: the stretch since the reading before could not be told whose it is, and was dropped. */
bool tenants_read(struct tenants *t, const struct tenant_reading *r);

/* @r->tid left the CPU, by the event outside all groups: its values are of no interest. */
void tenants_switch(struct tenants *t, const struct tenant_reading *r);

/* Records of @cpu were lost: what comes next has nothing to begin from. */
void tenants_lost(struct tenants *t, uint32_t cpu);

/*
 * After the reading @r of a task's sample: what the task's events counted since its sample before,
 * in @counts, in the order of @r->events, scaled where their group was off the hardware or readings
 * were dropped. Returns in which share of the task's last seconds on CPUs its group counted, 0…1;
 * counts are scaled where it is below TENANTS_ALL.
 */
#define TENANTS_ALL 0.99F
float tenants_take(struct tenants *t, const struct tenant_reading *r, uint64_t *counts);

/* The number @tid is free again. */
void tenants_forget(struct tenants *t, pid_t tid);

/* Stretches that were dropped so far. */
uint64_t tenants_dropped(const struct tenants *t);

#endif
