/*
 * timer_look: sees what a thread does without stopping it.
 *
 * /proc/PID/task/TID/syscall says "running", or the system call with stack pointer and program
 * counter of a thread that waits. A waiting thread's stack is read while it waits, and counts only
 * if the thread did the same before and after: same call, not scheduled meanwhile. The two files
 * are kept open for as many threads as descriptors allow. Sampler thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc/procfs.h"
#include "sample/timer_impl.h"

#define LAG_NS (20 * MS) /* what runs is accounted at the clock's ticks */

static int open_file(const struct timer_thread *t, const char *file)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/%s", t->pid, t->tid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Read a thread's file, through the kept descriptor when there is one or may be one. */
static ssize_t read_file(struct timer_source *ts, struct timer_thread *t, int *kept,
			 const char *file, char *buf, size_t size)
{
	int fd = *kept >= 0 ? *kept : open_file(t, file);
	ssize_t n;
	int no;

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	do
		n = pread(fd, buf, size - 1, 0);
	while (n < 0 && errno == EINTR);
	no = errno;
	if (*kept < 0) {
		if (n > 0 && t->hot_at != SIZE_MAX && ts->kept_fds < ts->kept_fds_most) {
			*kept = fd;
			ts->kept_fds++;
		} else {
			close(fd);
		}
	}
	if (n < 0)
		return -no;
	buf[n] = '\0';
	return n ? n : -ESRCH;
}

/* "running", "-1 SP PC" (blocked outside of system calls), "NR A0 … A5 SP PC". */
static void parse_look(struct timer_look *l)
{
	char *end = l->line + strcspn(l->line, "\n"), *sp, *pc;

	*end = '\0';
	if (strcmp(l->line, "running") == 0) {
		l->state = TIMER_RUNNING;
		return;
	}
	pc = strrchr(l->line, ' ');
	for (sp = pc; sp && sp > l->line && sp[-1] != ' '; sp--)
		;
	if (!pc || sp == l->line) {
		l->state = TIMER_GONE; /* a zombie's is empty, or "0 0x0 …" cut short */
		return;
	}
	l->pc = strtoull(pc, NULL, 16);
	l->sp = strtoull(sp, NULL, 16);
	l->state = l->sp ? TIMER_BLOCKED : TIMER_GONE;
}

void timer_look(struct timer_source *ts, struct timer_thread *t, struct timer_look *ret)
{
	ssize_t n = read_file(ts, t, &t->syscall_fd, "syscall", ret->line, sizeof ret->line);

	ret->sp = ret->pc = 0;
	if (n > 0)
		parse_look(ret);
	else
		ret->state = n == -EPERM || n == -EACCES ? TIMER_HIDDEN : TIMER_GONE;
}

/* A kernel without schedstat: coarse times, exact counts. */
static int ran_by_status(const struct timer_thread *t, struct timer_ran *ret)
{
	static const char *const keys[] = {"voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"};
	struct proc_stat st;
	char value[32];
	int rc = proc_stat_read(t->pid, t->tid, &st);

	if (rc)
		return rc;
	ret->ns = (st.user_ticks + st.system_ticks) * proc_tick_ns();
	ret->times = ret->ready_ns = 0; /* not told */
	for (size_t i = 0; i < 2; i++)
		if (proc_status_field(t->pid, t->tid, keys[i], value, sizeof value) == 0)
			ret->times += strtoull(value, NULL, 10);
	return 0;
}

static int read_ran(struct timer_source *ts, struct timer_thread *t, struct timer_ran *ret)
{
	char buf[96], *end;
	ssize_t n;

	if (ts->no_schedstat)
		return ran_by_status(t, ret);
	n = read_file(ts, t, &t->schedstat_fd, "schedstat", buf, sizeof buf);
	if (n < 0)
		return -ESRCH;
	ret->ns = strtoull(buf, &end, 10);
	ret->ready_ns = strtoull(end, &end, 10);
	ret->times = strtoull(end, NULL, 10);
	return 0;
}

/*
 * A thread that execs takes the number of its process's first thread, and brings its own account
 * along: one that is lower, or higher by more than there was time for.
 */
static bool is_other(const struct timer_source *ts, const struct timer_thread *t,
		     const struct timer_ran *ran)
{
	uint64_t most = t->read.ns + clock_mono_ns() - t->read_ns + LAG_NS;

	if (t->tid != t->pid || !t->read_ns)
		return false;
	return ran->ns < t->read.ns ||
	       (ran->ns > most && timer_process_execed(ts, t->pid, t->read_ns));
}

int timer_ran(struct timer_source *ts, struct timer_thread *t, struct timer_ran *ret)
{
	uint64_t begin_ns = clock_mono_ns();
	int rc = read_ran(ts, t, ret);

	if (rc)
		return rc;
	if (is_other(ts, t, ret))
		t->sampled = *ret; /* what it ran before is told, but for its last moment */
	t->read = *ret;
	t->read_ns = begin_ns;
	return 0;
}

bool timer_take_blocked(struct timer_source *ts, struct timer_thread *t,
			const struct timer_look *look, const struct timer_ran *before)
{
	struct timer_capture *c = timer_capture(ts);
	struct timer_look again;
	struct timer_ran ran;

	timer_regs_blocked(look->sp, look->pc, &c->regs);
	timer_read_stack(ts, t, c);
	timer_look(ts, t, &again);
	if (again.state != TIMER_BLOCKED || strcmp(again.line, look->line) != 0 ||
	    timer_ran(ts, t, &ran) || ran.ns != before->ns || ran.times != before->times) {
		timer_loss(ts, LOSS_TORN, 1);
		return false;
	}
	c->s.time_ns = clock_mono_ns();
	c->s.flags = SAMPLE_BLOCKED;
	timer_finish(ts, t, c, &ran);
	return true;
}
