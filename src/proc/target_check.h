/*
 * target_check: can what the user named be watched at all? One clear sentence when not.
 *
 * Any thread; nothing in a target is changed.
 */
#ifndef ALTPTTOP_TARGET_CHECK_H
#define ALTPTTOP_TARGET_CHECK_H

#include "err.h"
#include "source.h"

enum proc_kind {
	PROC_PROGRAM,
	PROC_KERNEL, /* a kernel thread */
	PROC_ZOMBIE, /* ended, its parent has not collected it */
	PROC_THREAD, /* the number names a thread, not a process */
	PROC_SELF,   /* this program */
	PROC_NONE,   /* no such thing */
};
enum proc_kind proc_kind(pid_t pid);

/*
 * Every process and thread the target names exists, lives and is not this program. Kernel threads
 * pass. -ESRCH no such process or zombie, -EINVAL a thread under -p, or the program itself.
 */
int target_check(const struct target *target, struct err *err);

/*
 * Can its memory and registers be read by ptrace (the timer sampler)? Beyond target_check: -EPERM
 * for kernel threads, someone else's, already traced, or ptrace refused here (seccomp, Yama).
 */
int target_check_trace(pid_t pid, struct err *err);

/*
 * The same for a set to which processes may come any time (scope_wanted): is there any among those
 * of now that may be traced? -EPERM when there are some, and none may.
 */
int target_check_trace_any(const struct target *target, struct err *err);

/* "4242 (mysqld)" for sentences; just the number when the name cannot be read. Returns buf. */
const char *proc_label(pid_t pid, char *buf, size_t size);

#endif
