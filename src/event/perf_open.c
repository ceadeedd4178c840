/*
 * perf_open: the system call, and telling apart why it was refused.
 *
 * EACCES and EPERM have several causes (paranoid level, someone else's process, a seccomp filter, a
 * missing capability); trying a harmless event on ourselves and reading the sysctls tells which.
 * Any thread.
 */
#include "event/perf_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event/spec.h"
#include "proc/permit.h"

static perf_opener *instead;

void perf_open_set(perf_opener *opener)
{
	instead = opener;
}

int perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
	      unsigned long flags)
{
	if (instead)
		return instead(attr, pid, cpu, group, flags);

	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int try_open(bool exclude_kernel, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000,
		.disabled = 1,
		.exclude_kernel = exclude_kernel,
		.exclude_hv = 1,
	};
	int fd = perf_open(&attr, pid, cpu, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

void perf_allowed_read(struct perf_allowed *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->rc = try_open(true, 0, -1);
	ret->self = !ret->rc;
	ret->kernel = ret->self && !try_open(false, 0, -1);
	for (int cpu = 0; ret->self && cpu < 64; cpu++) {
		int rc = try_open(!ret->kernel, -1, cpu);

		if (rc == -ENODEV) /* offline */
			continue;
		ret->cpu_wide = !rc;
		break;
	}
}

/* Nothing of ours can be opened either: the machine, not the target, is the reason. */
static int explain_machine(int rc, const struct permit *p, struct err *err)
{
	if (p->paranoid == PERMIT_UNKNOWN)
		return err_set(err, -rc,
			       "perf_event_open is refused (%s): this kernel has no perf events; "
			       "use --sampler timer",
			       strerrorname_np(-rc));
	if (p->paranoid > 2)
		return err_set(err, -rc,
			       "perf_event_open is refused (%s): kernel.perf_event_paranoid is %d; "
			       "type: sudo sysctl kernel.perf_event_paranoid=1",
			       strerrorname_np(-rc), p->paranoid);
	if (p->seccomp)
		return err_set(err, -rc,
			       "perf_event_open is refused (%s) by a seccomp filter, as containers "
			       "have; start the container with --cap-add PERFMON or --security-opt "
			       "seccomp=unconfined, or use --sampler timer",
			       strerrorname_np(-rc));
	return err_set(err, -rc,
		       "perf_event_open is refused (%s), even for this program itself, by a "
		       "security policy; use --sampler timer",
		       strerrorname_np(-rc));
}

static int explain_denied(int rc, const char *name, pid_t pid, int cpu, struct err *err)
{
	struct perf_allowed allowed;
	struct event_spec spec;
	struct permit p;

	permit_read(&p);
	perf_allowed_read(&allowed);
	if (!allowed.self)
		return explain_machine(rc, &p, err);
	if (pid == -1 && !allowed.cpu_wide)
		return err_set(err, -rc,
			       "watching whole CPUs is refused (%s): kernel.perf_event_paranoid is "
			       "%d; run as root, or type: sudo sysctl kernel.perf_event_paranoid=0",
			       strerrorname_np(-rc), p.paranoid);
	if (event_spec_parse(name, &spec, NULL) == 0 && spec.type == PERF_TYPE_TRACEPOINT &&
	    (pid == -1 || try_open(true, pid, cpu) == 0))
		return err_set(err, -rc,
			       "tracepoint %s is refused (%s): it takes CAP_PERFMON, or "
			       "kernel.perf_event_paranoid -1 (it is %d); run as root, or type: "
			       "sudo sysctl kernel.perf_event_paranoid=-1",
			       name, strerrorname_np(-rc), p.paranoid);
	if (!allowed.kernel && try_open(true, pid, cpu) == 0)
		return err_set(err, -rc,
			       "%s in kernel mode is refused (%s): kernel.perf_event_paranoid is "
			       "%d; use %s:u, or type: sudo sysctl kernel.perf_event_paranoid=1",
			       name, strerrorname_np(-rc), p.paranoid, name);
	return err_set(err, -rc,
		       "process %d may not be watched (%s): it belongs to someone else or gave up "
		       "being traced; run as its user or as root",
		       pid, strerrorname_np(-rc));
}

int perf_open_explain(int rc, const char *name, pid_t pid, int cpu, struct err *err)
{
	struct permit p;

	switch (-rc) {
	case EACCES:
	case EPERM: return explain_denied(rc, name, pid, cpu, err);
	case ENOSYS: permit_read(&p); return explain_machine(rc, &p, err);
	case ESRCH: return err_set(err, ESRCH, "there is no thread %d (ESRCH)", pid);
	case EMFILE:
		permit_read(&p);
		return err_set(err, EMFILE,
			       "too many open files (EMFILE): every thread needs one for each CPU, "
			       "and the hard limit is %llu; type: ulimit -Hn 65536 as root, then "
			       "start again",
			       (unsigned long long)p.nofile_hard);
	case ENFILE:
		return err_set(err, ENFILE,
			       "the system has too many open files (ENFILE); type: sudo sysctl "
			       "fs.file-max=1000000");
	case ENOENT:
	case ENODEV:
		return err_set(err, -rc, "%s is not counted by this machine (%s); see --doctor",
			       name, strerrorname_np(-rc));
	case EOPNOTSUPP:
		return err_set(err, -rc,
			       "%s cannot be sampled here (EOPNOTSUPP): its counter raises no "
			       "interrupt or has not what was asked; use it beside cpu-clock",
			       name);
	case EBADF: /* only what is given to PERF_FLAG_PID_CGROUP can be meant */
		return err_set(
			err, -rc,
			"events cannot be bound to that cgroup (EBADF): it is of a hierarchy "
			"without perf events; name one of the unified hierarchy (cgroup2)");
	case EBUSY:
		return err_set(err, -rc,
			       "%s: its counter is held by someone else (EBUSY), for instance the "
			       "NMI watchdog; type: sudo sysctl kernel.nmi_watchdog=0",
			       name);
	case ENOSPC:
		return err_set(err, -rc,
			       "%s: all debug registers of a thread are in use (ENOSPC): x86 and "
			       "most arm64 processors have four",
			       name);
	case EINVAL:
		if (!strncmp(name, "mem:", 4))
			return err_set(
				err, -rc,
				"%s is refused by this kernel (EINVAL): x86 watches :w, :rw "
				"or :x, never reads alone, and an address that LENGTH divides",
				name);
		return err_set(err, -rc, "%s is refused by this kernel as asked (EINVAL)", name);
	default:
		return err_set(err, -rc, "%s cannot be opened: %s (%s)", name, strerror(-rc),
			       strerrorname_np(-rc));
	}
}

int perf_open_fit(struct perf_event_attr *attr)
{
	for (int step = 0;; step++) {
		struct perf_event_attr quiet = *attr;
		int fd;

		quiet.disabled = 1;
		fd = perf_open(&quiet, 0, -1, -1, 0);
		if (fd >= 0) {
			close(fd);
			return 0;
		}
		if (fd != -EINVAL && fd != -E2BIG)
			return fd;
		switch (step) { /* newest first */
		case 0: attr->build_id = 0; break;
		case 1: attr->ksymbol = attr->bpf_event = 0; break;
		case 2: attr->mmap2 = attr->comm_exec = 0; break;
		default: return fd;
		}
	}
}

static bool has_procs(int dir)
{
	return faccessat(dir, "cgroup.procs", F_OK, 0) == 0;
}

int perf_open_cgroup(const char *name, struct err *err)
{
	/* The hierarchy that events follow: perf_event of version 1 where there is one, else 2. */
	static const char *const roots[] = {
		"/sys/fs/cgroup/perf_event/", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/",
		"", /* a whole path */
	};
	int first = 0;

	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		char path[4096];
		int fd;

		if (!*roots[i] && name[0] != '/')
			continue;
		snprintf(path, sizeof path, "%s%s", roots[i], name);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && has_procs(fd))
			return fd;
		if (fd >= 0)
			close(fd);
		else if (!first)
			first = errno;
	}
	return err_set(err, first ? first : ENOENT,
		       "there is no cgroup %.200s (%s); see: ls /sys/fs/cgroup", name,
		       strerrorname_np(first ? first : ENOENT));
}
