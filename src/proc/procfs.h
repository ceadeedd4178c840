/*
 * procfs: the small files of /proc/PID and /proc/PID/task/TID as plain data.
 *
 * Any thread. A tid of 0 reads the process's own file (for stat: the whole process's times; see
 * proc_pid_stat(5)). All return 0 or -errno, -ESRCH when it is gone.
 */
#ifndef ALTPTTOP_PROCFS_H
#define ALTPTTOP_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A whole small file into @buf, always terminated. Returns its length (at most size - 1) or -errno.
 */
ssize_t procfs_read_at(int dirfd, const char *path, char *buf, size_t size);
/* The same for /proc/PID[/task/TID]/@file. */
ssize_t procfs_read(pid_t pid, pid_t tid, const char *file, char *buf, size_t size);

struct proc_stat {
	char comm[32]; /* as the thread calls itself: unescaped, cut */
	char state;
	pid_t ppid;
	uint64_t flags;  /* PF_* of the kernel */
	uint64_t faults; /* page faults so far, minor and major */
	uint64_t user_ticks, system_ticks;
	uint64_t children_user_ticks, children_system_ticks; /* of children it waited for */
	uint64_t start_ticks;
	uint32_t threads;
	uint32_t cpu;         /* last run on */
	uint64_t start_stack; /* where its stack began; 0 when we may not know */
};

/* Parse the text of a stat file. -EBADMSG when it does not look like one. */
int proc_stat_parse(const char *text, struct proc_stat *ret);
int proc_stat_read(pid_t pid, pid_t tid, struct proc_stat *ret);
bool proc_stat_is_kernel(const struct proc_stat *s); /* a kernel thread */

/* What one thread had of the CPUs, since it began. */
struct proc_ran {
	uint64_t cpu_ns;
	uint64_t ready_ns; /* waiting for a CPU */
	uint64_t runs;     /* how often it was put on one */
	bool detailed;     /* schedstat; else stat's ticks, and the latter two are not known */
};
int proc_ran_read(pid_t pid, pid_t tid, struct proc_ran *ret);
/* Its CPU time alone. */
int proc_cpu_read(pid_t pid, pid_t tid, uint64_t *ret_ns);
/* CPU time of a whole process in ns, exited threads included (its CPU clock). */
int proc_cpu_process(pid_t pid, uint64_t *ret_ns);

/* Value of "@key:" in /proc/PID/task/TID/status, as text without leading blanks. -ENODATA: not
 * there. */
int proc_status_field(pid_t pid, pid_t tid, const char *key, char *buf, size_t size);
/* The process a thread belongs to, or -errno. */
pid_t proc_tgid(pid_t tid);

uint64_t proc_tick_ns(void); /* length of a clock tick of stat's times */

/*
 * Read the numeric names of a /proc directory ("/proc", "/proc/PID/task") into a malloc'ed, sorted
 * array. 0 or -errno.
 */
int procfs_list(const char *dir, pid_t **ret_ids, size_t *ret_n);

/* What a blocked thread waits on: the name of its system call, else its wait channel; NULL unknown.
 * Static text, or written to @buf. */
const char *proc_waits_on(pid_t pid, pid_t tid, char *buf, size_t size);

#endif
