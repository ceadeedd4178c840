/*
 * target_check: looks at each process and thread a person named and says in one sentence why it
 * cannot be watched.
 *
 * Whether ptrace works is tried: a thread seizes the process and ends, which lets go of it without
 * stopping it. Only when that is refused are the kernel's reasons looked up, because EPERM alone
 * names none of them.
 */
#include "base/living.h"
#include "proc/target_check.h"

#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/permit.h"
#include "proc/procfs.h"
#include "proc/scope.h"

const char *proc_label(pid_t pid, char *buf, size_t size)
{
	struct proc_stat st;

	if (proc_stat_read(pid, 0, &st) == 0 && st.comm[0])
		snprintf(buf, size, "%d (%s)", pid, st.comm);
	else
		snprintf(buf, size, "%d", pid);
	for (char *p = buf; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = '?';
	return buf;
}

enum proc_kind proc_kind(pid_t pid)
{
	struct proc_stat st;
	pid_t tgid;

	if (pid <= 0 || proc_stat_read(pid, 0, &st))
		return PROC_NONE;
	tgid = proc_tgid(pid);
	if (tgid == getpid())
		return PROC_SELF;
	if (proc_stat_is_kernel(&st))
		return PROC_KERNEL;
	if ((st.state == 'Z' || st.state == 'X') && st.threads <= 1)
		return PROC_ZOMBIE;
	return tgid > 0 && tgid != pid ? PROC_THREAD : PROC_PROGRAM;
}

static int refuse_none(pid_t pid, bool thread, struct err *err)
{
	if (pid > 0 && kill(pid, 0) != 0 && errno == EPERM)
		return err_set(
			err, EPERM,
			"process %d belongs to someone else and /proc hides it (mounted with "
			"hidepid): run as its user or as root",
			pid);
	struct proc_stat st;
	int rc = proc_stat_read(pid, 0, &st);
	if (rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM || rc == -EACCES)
		return err_set(err, -rc, "process %d cannot be looked at: %s", pid, strerror(-rc));
	return err_set(err, ESRCH, "there is no %s %d", thread ? "thread" : "process", pid);
}

static int refuse_zombie(pid_t pid, struct err *err)
{
	struct proc_stat st = {0};
	char label[64], parent[64];

	proc_stat_read(pid, 0, &st);
	return err_set(
		err, ESRCH,
		"process %s is a zombie: it has ended and waits for its parent %s to collect "
		"its status",
		proc_label(pid, label, sizeof label), proc_label(st.ppid, parent, sizeof parent));
}

static int check_one(pid_t pid, bool thread, struct err *err)
{
	char label[64];
	pid_t tgid;

	switch (proc_kind(pid)) {
	case PROC_NONE: return refuse_none(pid, thread, err);
	case PROC_ZOMBIE: return refuse_zombie(pid, err);
	case PROC_SELF:
		return err_set(err, EINVAL,
			       "process %d is this profiler itself, which it never counts", pid);
	case PROC_THREAD:
		tgid = proc_tgid(pid);
		if (thread)
			return 0;
		return err_set(err, EINVAL, "%d is a thread of process %s: use -t %d, or -p %d",
			       pid, proc_label(tgid, label, sizeof label), pid, tgid);
	case PROC_PROGRAM:
	case PROC_KERNEL: break;
	}
	return 0;
}

int target_check(const struct target *target, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < target->npids; i++)
		rc = check_one(target->pids[i], false, err);
	for (uint32_t i = 0; !rc && i < target->ntids; i++)
		rc = check_one(target->tids[i], true, err);
	return rc;
}

struct attempt {
	pid_t pid;
	int rc;
};

static void *seize_and_end(void *arg)
{
	struct attempt *a = arg;

	a->rc = ptrace(PTRACE_SEIZE, a->pid, 0, 0) == 0 ? 0 : -errno;
	return NULL; /* the thread's end lets go */
}

static int try_seize(pid_t pid)
{
	struct attempt a = {.pid = pid};
	pthread_t thread;

	if (pthread_create(&thread, NULL, seize_and_end, &a))
		return -EAGAIN;
	pthread_join(thread, NULL);
	return a.rc;
}

/* Does ptrace work at all, on a child of our own? */
static int try_own_child(void)
{
	pid_t pid = fork();
	int rc;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		for (;;)
			pause();
	}
	rc = try_seize(living_thread(pid));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
	return rc;
}

static void user_name(uid_t uid, char *buf, size_t size)
{
	struct passwd pw, *found = NULL;
	char text[1024];

	if (getpwuid_r(uid, &pw, text, sizeof text, &found) == 0 && found)
		snprintf(buf, size, "%s", pw.pw_name);
	else
		snprintf(buf, size, "user %u", uid);
}

static bool someone_elses(pid_t pid, uid_t *ret_uid)
{
	char text[64];

	if (proc_status_field(pid, 0, "Uid", text, sizeof text))
		return false;
	*ret_uid = (uid_t)strtoul(text, NULL, 10);
	return *ret_uid != geteuid();
}

/* Why did ptrace say @no? */
static int refuse_trace(pid_t pid, int no, struct err *err)
{
	struct permit permit;
	char label[64], user[64];
	uid_t uid;
	int own;

	proc_label(pid, label, sizeof label);
	permit_read(&permit);
	own = try_own_child();
	if (own)
		return err_set(err, -own,
			       "ptrace is refused here even on a child of our own (%s)%s",
			       strerror(-own),
			       permit.seccomp ? ": a seccomp filter forbids it, as in a container; "
						"start that with --cap-add SYS_PTRACE"
					      : "");
	if (someone_elses(pid, &uid) && !permit.cap_sys_ptrace) {
		user_name(uid, user, sizeof user);
		return err_set(err, no, "process %s belongs to %s: run as %s%s", label, user,
			       uid ? user : "root", uid ? " or as root" : "");
	}
	if (permit.ptrace_scope > 0 && !permit.cap_sys_ptrace)
		return err_set(
			err, no,
			"kernel.yama.ptrace_scope is %d, so process %s cannot be traced: %s",
			permit.ptrace_scope, label,
			permit.ptrace_scope == 1   ? "sysctl kernel.yama.ptrace_scope=0, or run as "
						     "root"
			: permit.ptrace_scope == 2 ? "run as root"
						   : "it is switched off until the next boot");
	return err_set(err, no,
		       "process %s cannot be traced (%s): it is protected (set-user-ID, or holds "
		       "capabilities that this program lacks)%s",
		       label, strerror(no), geteuid() ? "; run as root" : "");
}

int target_check_trace(pid_t pid, struct err *err)
{
	char label[64], tracer[64], text[32];
	int rc = check_one(pid, true, err);

	if (rc)
		return rc;
	proc_label(pid, label, sizeof label);
	if (proc_kind(pid) == PROC_KERNEL)
		return err_set(
			err, EPERM,
			"%s is a kernel thread: it has no user stack, only perf events can watch "
			"it",
			label);
	if (proc_status_field(pid, 0, "TracerPid", text, sizeof text) == 0 && atoi(text) > 0)
		return err_set(
			err, EPERM,
			"process %s is already traced by %s, and there can be only one tracer: "
			"end that one, or use --sampler perf",
			label, proc_label(atoi(text), tracer, sizeof tracer));
	rc = try_seize(living_thread(pid));
	if (rc == -ESRCH)
		return err_set(err, ESRCH, "process %s has just ended", label);
	return rc ? refuse_trace(pid, -rc, err) : 0;
}

/* Programs count; kernel threads have nothing to trace, and what ends meanwhile is not missed. */
static bool may_trace(pid_t pid, uint32_t *programs)
{
	if (proc_kind(pid) != PROC_PROGRAM)
		return false;
	int rc = try_seize(living_thread(pid));
	*programs += rc && rc != -ESRCH;
	return !rc;
}

int target_check_trace_any(const struct target *target, struct err *err)
{
	struct scope *scope = scope_new(target, err);
	struct err why = {0};
	uint32_t programs = 0;
	pid_t *pids = NULL, refused = 0;
	size_t n = 0;
	bool any = false;

	if (!scope)
		return err->no ? -err->no : -ENOENT;
	if (scope_list(scope, &pids, &n))
		n = 0;
	for (size_t i = 0; i < n && !any; i++) {
		uint32_t before = programs;
		any = may_trace(pids[i], &programs);
		if (programs > before && !refused)
			refused = pids[i];
	}
	free(pids);
	scope_free(scope);
	if (any || !programs || !target_check_trace(refused, &why))
		return 0;
	return err_set(err, EPERM, "none of %u process%s may be traced: %s", programs,
		       programs == 1 ? "" : "es", why.msg);
}
