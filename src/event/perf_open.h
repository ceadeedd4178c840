/*
 * perf_open: perf_event_open(2), and what a refusal of it means in words.
 *
 * Any thread.
 */
#ifndef ALTPTTOP_PERF_OPEN_H
#define ALTPTTOP_PERF_OPEN_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

#include "err.h"

/* An fd (close-on-exec) or -errno. @group: the leader's fd, -1 none; @flags: PERF_FLAG_*. */
int perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
	      unsigned long flags);

/* Tests: what is called instead, NULL: the system call. Before any thread. */
typedef int perf_opener(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
			unsigned long flags);
void perf_open_set(perf_opener *opener);

/*
 * Put the sentence for a refused perf_open into @err: what was refused, why, what to type. @rc: its
 * -errno; @name: the event; @pid, @cpu: as passed. Looks at the machine to tell causes apart
 * (paranoid level, seccomp, whose process it is). Returns @rc.
 */
int perf_open_explain(int rc, const char *name, pid_t pid, int cpu, struct err *err);

/* What this process may open here, each tried once with a software event. */
struct perf_allowed {
	bool self;     /* anything at all */
	bool kernel;   /* samples in kernel mode */
	bool cpu_wide; /* events of a whole CPU (pid -1) */
	int rc;        /* -errno of the first refusal of self, else 0 */
};
void perf_allowed_read(struct perf_allowed *ret);

/*
 * Clear the bits that tell of side effects (build ids, kernel symbols, …) and that this kernel does
 * not know: opens @attr on the calling process until it is taken. 0 or -errno.
 */
int perf_open_fit(struct perf_event_attr *attr);

/* The directory of a cgroup by its name or path, for PERF_FLAG_PID_CGROUP. An fd, or -errno with a
 * sentence. */
int perf_open_cgroup(const char *name, struct err *err);

#endif
