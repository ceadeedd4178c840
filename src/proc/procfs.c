/*
 * procfs: reads and parses the small files of /proc/PID.
 *
 * Nothing is kept open: the files of a thread that ended must not hold descriptors. A process that
 * vanished reads as -ESRCH whatever the kernel called it. Any thread.
 */
#include "proc/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "proc/syscalls.h"

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h: I am a kernel thread */

ssize_t procfs_read_at(int dirfd, const char *path, char *buf, size_t size)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	int rc = 0;

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while (len + 1 < size) {
		ssize_t n = read(fd, buf + len, size - 1 - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = -errno;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	close(fd);
	buf[len] = '\0';
	return rc ? rc : (ssize_t)len;
}

ssize_t procfs_read(pid_t pid, pid_t tid, const char *file, char *buf, size_t size)
{
	char path[96];

	if (tid)
		snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, tid, file);
	else
		snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
	return procfs_read_at(AT_FDCWD, path, buf, size);
}

/* stat escapes a newline as \n and a backslash as \\ (proc_task_name). */
static void copy_comm(char *dst, size_t size, const char *src, const char *end)
{
	size_t n = 0;

	while (src < end && n + 1 < size) {
		if (src[0] == '\\' && end - src >= 2 && (src[1] == 'n' || src[1] == '\\')) {
			dst[n++] = src[1] == 'n' ? '\n' : '\\';
			src += 2;
		} else {
			dst[n++] = *src++;
		}
	}
	dst[n] = '\0';
}

/* The text after the @n-th blank, "" when there are fewer. */
static const char *nth_field(const char *p, int n)
{
	while (n-- > 0) {
		p = strchr(p, ' ');
		if (!p)
			return "";
		p++;
	}
	return p;
}

int proc_stat_parse(const char *text, struct proc_stat *ret)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	struct proc_stat s = {0};
	uint64_t major;
	int n;

	/* The name may hold anything, ") R 1" too: only the last parenthesis ends it. */
	if (!open || !close || close < open)
		return -EBADMSG;
	n = sscanf(close + 1,
		   " %c %d %*d %*d %*d %*d %" SCNu64 " %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %*d %*d %" SCNu32 " %*d %" SCNu64,
		   &s.state, &s.ppid, &s.flags, &s.faults, &major, &s.user_ticks, &s.system_ticks,
		   &s.children_user_ticks, &s.children_system_ticks, &s.threads, &s.start_ticks);
	if (n != 11)
		return -EBADMSG;
	s.faults += major;
	copy_comm(s.comm, sizeof s.comm, open + 1, close);
	s.cpu = (uint32_t)strtoul(nth_field(close + 1, 39 - 2), NULL, 10);
	s.start_stack = strtoull(nth_field(close + 1, 28 - 2), NULL, 10);
	*ret = s;
	return 0;
}

int proc_stat_read(pid_t pid, pid_t tid, struct proc_stat *ret)
{
	char buf[1024];
	ssize_t n = procfs_read(pid, tid, "stat", buf, sizeof buf);

	return n < 0 ? (int)n : proc_stat_parse(buf, ret);
}

bool proc_stat_is_kernel(const struct proc_stat *s)
{
	return s->flags & PF_KTHREAD;
}

uint64_t proc_tick_ns(void)
{
	static uint64_t tick; /* every thread writes the same value */
	long hz;

	if (!__atomic_load_n(&tick, __ATOMIC_RELAXED)) {
		hz = sysconf(_SC_CLK_TCK);
		__atomic_store_n(&tick, 1000000000ull / (uint64_t)(hz > 0 ? hz : 100),
				 __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&tick, __ATOMIC_RELAXED);
}

int proc_ran_read(pid_t pid, pid_t tid, struct proc_ran *ret)
{
	char buf[128];
	struct proc_stat st;
	int rc;

	/* "0 0 0" is what a kernel without CONFIG_SCHED_INFO writes. */
	*ret = (struct proc_ran){.detailed = true};
	if (procfs_read(pid, tid, "schedstat", buf, sizeof buf) > 0 &&
	    sscanf(buf, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ret->cpu_ns, &ret->ready_ns,
		   &ret->runs) == 3 &&
	    ret->cpu_ns)
		return 0;
	*ret = (struct proc_ran){0};
	rc = proc_stat_read(pid, tid, &st);
	if (!rc)
		ret->cpu_ns = (st.user_ticks + st.system_ticks) * proc_tick_ns();
	return rc;
}

int proc_cpu_read(pid_t pid, pid_t tid, uint64_t *ret_ns)
{
	struct proc_ran ran;
	int rc = proc_ran_read(pid, tid, &ran);

	if (!rc)
		*ret_ns = ran.cpu_ns;
	return rc;
}

int proc_cpu_process(pid_t pid, uint64_t *ret_ns)
{
	struct proc_stat st;
	struct timespec ts;
	clockid_t clock;
	int rc = clock_getcpuclockid(pid, &clock);

	if (!rc && clock_gettime(clock, &ts) == 0) {
		*ret_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
		return 0;
	}
	rc = proc_stat_read(pid, 0, &st);
	if (!rc)
		*ret_ns = (st.user_ticks + st.system_ticks) * proc_tick_ns();
	return rc;
}

int proc_status_field(pid_t pid, pid_t tid, const char *key, char *buf, size_t size)
{
	char text[16384]; /* lists of groups and of CPUs may be long */
	size_t len = strlen(key);
	ssize_t n = procfs_read(pid, tid, "status", text, sizeof text);

	if (n < 0)
		return (int)n;
	for (char *line = text; line && *line;
	     line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		char *value = line + len + 1;

		if (strncmp(line, key, len) != 0 || line[len] != ':')
			continue;
		value += strspn(value, " \t");
		snprintf(buf, size, "%.*s", (int)strcspn(value, "\n"), value);
		return 0;
	}
	return -ENODATA;
}

pid_t proc_tgid(pid_t tid)
{
	char value[32];
	int rc = proc_status_field(tid, 0, "Tgid", value, sizeof value);

	return rc ? rc : (pid_t)atoi(value);
}

static int compare_ids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

int procfs_list(const char *dir, pid_t **ret_ids, size_t *ret_n)
{
	struct {
		VEC(pid_t)
	} v = {0};
	struct dirent *e;
	bool sorted = true;
	DIR *d = opendir(dir);
	int rc = 0;

	if (!d)
		return errno == ENOENT ? -ESRCH : -errno;
	for (errno = 0; (e = readdir(d)) && !rc; errno = 0) {
		long id = isdigit((unsigned char)e->d_name[0]) ? strtol(e->d_name, NULL, 10) : 0;

		if (id <= 0 || id > INT32_MAX)
			continue;
		sorted = sorted && (!v.len || v.data[v.len - 1] < (pid_t)id);
		rc = vec_push(&v, (pid_t)id);
	}
	if (!rc && errno)
		rc = errno == ENOENT ? -ESRCH : -errno;
	closedir(d);
	if (rc) {
		vec_fini(&v);
		return rc;
	}
	if (!sorted)
		qsort(v.data, v.len, sizeof *v.data, compare_ids);
	*ret_ids = v.data;
	*ret_n = v.len;
	return 0;
}

const char *proc_waits_on(pid_t pid, pid_t tid, char *buf, size_t size)
{
	char line[256];
	const char *name;
	char *end;
	long nr;

	if (procfs_read(pid, tid, "syscall", line, sizeof line) > 0) {
		nr = strtol(line, &end, 10);
		name = end > line && nr >= 0 ? syscall_name(nr) : NULL;
		if (name)
			return name;
	}
	if (procfs_read(pid, tid, "wchan", buf, size) <= 0 || strcmp(buf, "0") == 0)
		return NULL;
	return buf;
}
