/*
 * roster: which processes and threads are watched right now, by records and by scans of /proc.
 *
 * Records and scans tell the same things in either order; each life of a thread is told to the sink
 * once. Belongs to the source thread.
 */
#ifndef ALTPTTOP_ROSTER_H
#define ALTPTTOP_ROSTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/vec.h"

struct member { /* a thread */
	pid_t pid, tid;
	uint64_t since_ns; /* when a record or a scan first told of it */
	uint64_t cpu_ns;   /* as last read, for ranking; 0 never */
	uint64_t busy_ns;  /* CPU time between the last two readings */
	bool announced;    /* the sink knows it */
	bool missing;      /* a scan did not find it: gone, unless a record says otherwise */
};

struct roster_process {
	pid_t pid;
	uint32_t threads;  /* alive */
	bool elsewhere;    /* it runs another program than when it was found */
	bool from_birth;   /* a FORK record told of its beginning */
	uint64_t ended_ns; /* no thread is left: kept for late records; 0 alive */
	uint64_t exits_ns; /* CPU time of its threads that ended, by READ records */
};

struct roster_end {
	pid_t tid;
	uint64_t time_ns;
};

struct roster {
	struct {
		VEC(struct member)
	} members;
	struct {
		VEC(struct roster_process)
	} processes;
	struct map64 by_tid, by_pid;  /* → index */
	struct roster_end ends[1024]; /* the latest, by the low bits of the tid */
};

void roster_init(struct roster *r);
void roster_fini(struct roster *r);

struct member *roster_find(const struct roster *r, pid_t tid); /* good until the next change */
struct roster_process *roster_process(const struct roster *r, pid_t pid);
/* A living process of ours. */
bool roster_watches(const struct roster *r, pid_t pid);

/* A thread (and its process, if new). NULL: no memory. An older life of the same tid is dropped. */
struct member *roster_add(struct roster *r, pid_t pid, pid_t tid, uint64_t time_ns);
void roster_remove(struct roster *r, pid_t tid, uint64_t time_ns);
/*
 * A record told the end of the life that began at @start_ns. The kernel writes that record before
 * the thread is a zombie: until then a scan of /proc still sees it run.
 */
void roster_note_end(struct roster *r, pid_t tid, uint64_t time_ns);
bool roster_ended(const struct roster *r, pid_t tid, uint64_t start_ns);
/* Forget processes that ended before @ns, after telling @each of them. */
void roster_sweep(struct roster *r, uint64_t ns,
		  void (*each)(void *ctx, const struct roster_process *p), void *ctx);

#endif
