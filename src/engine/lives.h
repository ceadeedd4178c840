/*
 * lives: which process and which life of a thread an observation belongs to.
 *
 * Ids of the kernel are reused; a fork record begins a new life, whatever was known of the id. What
 * is gone is remembered for a short while, because samples taken before can come after. Threads
 * beyond LIVES_MAX share their process's task. Owned by the source thread.
 */
#ifndef ALTPTTOP_LIVES_H
#define ALTPTTOP_LIVES_H

#include "base/hash.h"
#include "engine/twins.h"
#include "sink.h"
#include "tables.h"

#define LIVES_MAX 50000 /* threads told apart over a whole run */

struct space;
struct unwinder;

struct process {
	pid_t pid;
	task_id task; /* with tid 0 */
	struct space *space;
	uint32_t threads; /* known lives that are not over */
	uint64_t born_ns, gone_ns;
	bool whole_life; /* born while we watched */
	uint64_t reread_ns, reread_wait_ns;
};

struct life {
	pid_t pid, tid;
	task_id task;
	bool whole_life;
	uint64_t born_ns, gone_ns; /* gone 0: it lives */
	frame_id *last;            /* its last stack, for SAMPLE_REPEATED */
	uint32_t nlast, last_cap;
	uint8_t last_cut;
	bool last_stitched;
};

struct lives {
	struct tables *tables;
	struct unwinder *unwinder;   /* told of what is gone; may be NULL */
	struct twins twins;          /* asked when a live process maps a file */
	bool live;                   /* /proc may be asked */
	bool any_gone;               /* something ended so far */
	struct map64 by_pid, by_tid; /* by_tid: of recordings by pid and tid */
	struct process **processes;  /* by_pid's values; NULL: free place */
	struct life **lives;         /* by_tid's values */
	uint32_t nprocesses, processes_cap, nlives, lives_cap;
	uint32_t made; /* threads given a task of their own */
	uint64_t swept_ns;
	struct life *latest; /* asked for last: most often it is the next one too; NULL none */
	struct process *latest_process;
};

/* @symfs, where program files are looked for first, may be NULL, and outlives it. */
void lives_init(struct lives *l, struct tables *tables, struct unwinder *unwinder, bool live,
		const char *symfs);
void lives_fini(struct lives *l);

/* The process, met for the first time perhaps: its space is then read from /proc. NULL: no memory.
 */
struct process *lives_process(struct lives *l, pid_t pid, uint64_t time_ns);
struct life *lives_thread(struct lives *l, pid_t pid, pid_t tid, uint64_t time_ns);

void lives_fork(struct lives *l, const struct raw_task *t);
void lives_comm(struct lives *l, const struct raw_task *t);
void lives_exit(struct lives *l, const struct raw_task *t);
/* Forget what has been gone for a while; cheap to call often. */
void lives_sweep(struct lives *l, uint64_t time_ns);
size_t lives_bytes(const struct lives *l);

#endif
