/*
 * tasks: the threads of the watched processes as /proc shows them, and the CPU time the kernel
 * accounts to them.
 *
 * Owned by the source thread. A thread is one (tid, start time): a reused tid is another one.
 */
#ifndef ALTPTTOP_TASKS_H
#define ALTPTTOP_TASKS_H

#include "err.h"
#include "sink.h"
#include "source.h"

struct proc_task {
	pid_t pid, tid;
	uint64_t start_ticks; /* /proc/PID/stat field 22 */
	char comm[32];
	char state;
	uint64_t cpu_ns; /* schedstat field 1; stat's utime + stime where there is none */
	uint64_t user_ns, system_ns;
};

struct tasks;

struct tasks_ops {
	void (*born)(void *ctx, const struct proc_task *t);
	void (*gone)(void *ctx, const struct proc_task *t); /* last known values */
	void (*renamed)(void *ctx, const struct proc_task *t);
};

/* Watch @target's processes and threads (children too when @children). -ESRCH, -EACCES … with a
 * sentence. */
struct tasks *tasks_new(const struct target *target, bool children, struct err *err);
void tasks_free(struct tasks *t);

/*
 * There are no records: what tasks sees is all there is. Then the account of a process goes on to
 * its last moment as far as tasks_touch saw it (a last one with state 'X' comes when it is gone),
 * and includes children that ended before a scan found them. Before the first scan.
 */
void tasks_sole_witness(struct tasks *t);
/* Cheap, to be called often: how much CPU time a few processes have used by now. */
void tasks_touch(struct tasks *t);

/* Read /proc/PID/task until two readings agree (at most 8 times); report differences to the last
 * scan. */
int tasks_scan(struct tasks *t, const struct tasks_ops *ops, void *ctx);

/*
 * Deliver sink->account for processes (always) and threads, spending at most @budget_ns: threads
 * take turns, the busiest first. Also fills state and what a blocked thread waits on.
 */
void tasks_account(struct tasks *t, const struct sink *sink, uint64_t budget_ns);

/* What of its CPU time was spent in user code and in the kernel, as last read. False: not known. */
bool tasks_times(const struct tasks *t, pid_t tid, uint64_t *ret_user_ns, uint64_t *ret_system_ns);

uint32_t tasks_count(const struct tasks *t);
bool tasks_alive(const struct tasks *t); /* false: every watched process is gone (or a zombie) */

#endif
