/*
 * tasks_impl: what tasks.c (who is watched, scanning) and tasks_account.c (CPU time) share. Private
 * to the two.
 */
#ifndef ALTPTTOP_TASKS_IMPL_H
#define ALTPTTOP_TASKS_IMPL_H

#include "base/hash.h"
#include "base/vec.h"
#include "proc/procfs.h"
#include "proc/tasks.h"

struct entry {
	struct proc_task t;
	uint64_t delta;   /* CPU time between the last two accounts */
	uint64_t counted; /* cpu_ns at the last account */
	uint32_t seen;    /* serial of the listing that last showed it */
	uint32_t process; /* index in tasks.processes */
	bool accounted;
	bool renamed;  /* to be reported by the next scan */
	char wait[32]; /* what it waits on, when that is not static text */
	const char *waits_on;
};

struct process {
	pid_t pid, ppid;
	uint64_t start_ticks;
	uint64_t user_ns, system_ns; /* as last reported: they never go back */
	/* For the sole witness. */
	uint64_t cpu_ns;      /* of its own threads, as last read */
	uint64_t children_ns; /* of children it waited for, as the kernel adds it up */
	uint64_t known_ns;    /* what of that was accounted to them, or was before us */
	uint64_t extra_ns;    /* the rest: children that nobody saw; never shrinks */
	uint64_t user_ticks, system_ticks; /* all that together */
	uint32_t ntasks;
	uint32_t seen; /* scope: serial of the list that last held it */
	char state;    /* of its leader */
	bool gone;
	bool last_due; /* its last account is still to be delivered */
};

struct tasks {
	const struct target *target;
	bool children, sole_witness;
	bool listed_only;    /* -t: only the threads the target names */
	struct scope *scope; /* -a, -u, -G: new processes may come any time; else NULL */
	struct {
		VEC(struct process)
	} processes;
	struct {
		VEC(struct entry)
	} entries;
	struct map64 by_tid; /* → index in entries */
	struct map64 by_pid; /* → index in processes */
	struct map64 others; /* pids that are not ours → serial of the listing that showed them */
	uint32_t serial;
	long newest;       /* number given to the newest thread of the whole system */
	size_t refresh_at; /* whose turn it is to be read again in a scan */
	size_t account_at; /* … in an account */
	struct {
		VEC(uint32_t)
	} order; /* scratch of tasks_account */
};

/* Read stat into @e->t (not its CPU time from schedstat). -ESRCH: gone, or another thread now. */
int entry_refresh(struct entry *e);

struct process *process_find(struct tasks *t, pid_t pid);
/* Sole witness: read what it used; find who is gone; add up. In this order, in a scan. */
void witness_read(struct process *p, const struct proc_stat *st);
void witness_settle(struct tasks *t);

#endif
