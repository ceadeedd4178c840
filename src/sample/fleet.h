/*
 * fleet: all open events of one plan, on threads or on whole CPUs, and what their ids mean.
 *
 * On threads: each thread that is opened holds one event per plan entry and CPU, which threads and
 * processes born from it inherit. A thread may both inherit and be opened, when it is born while
 * others are being opened; then only the first id seen of it on a CPU counts (fleet_accepts). An
 * inherited event lives as long as the one it was inherited from is open: a thread that ended keeps
 * its descriptors until the last of its heirs is gone.
 *
 * A fleet delivers only in its window of time: to change how events are opened, a second fleet is
 * built beside the first and the windows meet at one instant.
 *
 * Belongs to the source thread (before it starts: to whoever opens the source).
 */
#ifndef ALTPTTOP_FLEET_H
#define ALTPTTOP_FLEET_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/vec.h"
#include "sample/plan.h"
#include "sample/ringset.h"
#include "sample/tenants.h"

struct fleet;

/* What an event id of the kernel stands for. */
struct opened {
	struct fleet *fleet;
	uint32_t seat;      /* index in fleet->seats */
	uint16_t event;     /* place in the plan */
	uint16_t cpu;       /* index in the ring set */
	uint64_t closed_ns; /* 0 while open; its records may still lie in the rings */
};

/* Ids of all fleets of one source. */
struct fleet_ids {
	struct map64 by_id; /* → index in opened */
	struct {
		VEC(struct opened)
	} opened;
	struct {
		VEC(uint32_t)
	} unused; /* places in opened */
	struct {
		VEC(uint64_t)
	} closed;     /* ids to be forgotten, oldest first */
	uint32_t fds; /* descriptors in use */
	uint32_t fds_max;
};

/* A thread that was opened, or the whole machine. */
struct seat {
	pid_t tid;            /* -1: whole CPUs */
	int *fds;             /* plan × CPUs, -1 none; NULL: the seat is free */
	uint64_t *ids;        /* likewise */
	uint32_t users;       /* itself and its heirs alive */
	uint64_t complete_ns; /* threads born later inherit from it in full */
	bool doubled;         /* its thread inherits from another seat too, which counts it */
};

/* What events of one plan entry counted together, on every thread and CPU that is or was open. */
struct fleet_count {
	uint64_t value, enabled_ns, running_ns; /* times 0: its format tells none */
};

struct fleet_todo {
	pid_t tid;
	uint64_t not_before_ns; /* a record may still tell that it inherits */
};

struct fleet {
	struct plan plan;
	const struct ringset *rings;
	struct fleet_ids *ids;
	bool cpu_wide;
	bool side_ring;             /* its records go to the side-band rings */
	uint64_t from_ns, until_ns; /* its records count in [from, until) */
	struct {
		VEC(struct seat)
	} seats;
	struct map64 by_tid;              /* thread → the seat it is counted in */
	struct map64 accepted;            /* (cpu, event, tid) → low bits of the id that counts */
	uint32_t nseats;                  /* in use */
	bool several;                     /* there was more than one: ids may be duplicates */
	struct map64 last_low, last_high; /* (tid, id) → what a counter read last, in halves */
	struct tenants *tenants;          /* groups on whole CPUs: whose counts they are */
	struct {
		VEC(struct fleet_todo)
	} todo;                              /* threads to be opened */
	struct fleet_count closed[PLAN_MAX]; /* of seats that are closed */
	bool capped;                         /* some could not be opened for want of descriptors */
	uint32_t denied;                     /* threads that may not be watched */
	uint32_t lowered_hz; /* what is opened from now on: the limit fell below the rate; 0 */
};

struct fleet *fleet_new(const struct plan *plan, const struct ringset *rings, struct fleet_ids *ids,
			bool cpu_wide, bool side_ring);
void fleet_free(struct fleet *f); /* closes everything, forgets its ids at once; NULL is fine */

/* Open whole CPUs. 0 or -errno: nothing is left open then. */
int fleet_open_cpus(struct fleet *f, int cgroup_fd);
/* Open thread @tid. -ESRCH: gone; -EMFILE: the budget of descriptors is used up; … */
int fleet_open_thread(struct fleet *f, pid_t tid);
/* Close what @tid holds, its heirs' events too; returns how many other threads lost theirs. */
uint32_t fleet_close_thread(struct fleet *f, pid_t tid);
/* Close seats until about @max descriptors are closed; true when nothing is left open. */
bool fleet_close_some(struct fleet *f, uint32_t max);

/* A thread was born at @time. True: it inherits in full and is watched; false: open it. */
bool fleet_fork(struct fleet *f, pid_t ptid, pid_t tid, uint64_t time);
/* A thread ended (or became another by execve: @heir takes its place, 0 none). */
void fleet_exit(struct fleet *f, pid_t tid, pid_t heir);
bool fleet_watches(const struct fleet *f, pid_t tid);
/* It holds descriptors of its own and nobody inherits from it: closing them takes nothing else. */
bool fleet_alone(const struct fleet *f, pid_t tid);

/*
 * A counter of thread @tid that shows @value now: what it grew by since its reading before (from 0
 * at first: a thread that inherits begins anew under its parent's id). @what tells a group's times
 * from its counts.
 */
enum fleet_reading { FLEET_COUNT, FLEET_RUNNING, FLEET_ENABLED, FLEET_TIME };
/* No event has these ids: what that entry of the plan (times: the group that it leads) showed on
 * all CPUs, and what of its counts was handed on. */
#define FLEET_ALL_CPUS(event) (0x3fffffff00ULL | (event))
#define FLEET_GIVEN(event)    (0x3ffffffe00ULL | (event))
uint64_t fleet_growth(struct fleet *f, enum fleet_reading what, uint64_t id, pid_t tid,
		      uint64_t value);

/* A sum of the same kind: add @more to it; the new total. */
uint64_t fleet_total(struct fleet *f, enum fleet_reading what, uint64_t id, pid_t tid,
		     uint64_t more);
/* The sum is @value from now on. */
void fleet_put(struct fleet *f, enum fleet_reading what, uint64_t id, pid_t tid, uint64_t value);

/* Put a thread on the list of those to be opened. -ENOMEM. */
int fleet_want(struct fleet *f, pid_t tid, uint64_t not_before_ns);

/* Read all counters: sums by plan entry. Some microseconds a descriptor. */
void fleet_counts(const struct fleet *f, struct fleet_count ret[PLAN_MAX]);

/* Does the record of id @id and thread @tid count, or is it a duplicate? @remember: learn. */
bool fleet_accepts(struct fleet *f, const struct opened *o, uint64_t id, pid_t tid, bool remember);

void fleet_ids_init(struct fleet_ids *ids, uint32_t fds_max);
void fleet_ids_fini(struct fleet_ids *ids);
const struct opened *fleet_ids_find(const struct fleet_ids *ids, uint64_t id); /* NULL: unknown */
/* Forget ids closed before @ns: no record of theirs can come any more. */
void fleet_ids_purge(struct fleet_ids *ids, uint64_t ns);

/* Descriptors one thread (or the CPUs) takes. */
static inline uint32_t fleet_seat_fds(const struct plan *plan, const struct ringset *rings)
{
	return plan->n * rings->n;
}

#endif
