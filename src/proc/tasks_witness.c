/*
 * tasks_witness: the account of processes that nobody else tells of.
 *
 * Between two scans a process may end, and children may begin, work, end and be waited for. The
 * first is met by reading CPU clocks often; the second by what the kernel adds up for children that
 * were waited for, less what was accounted to those that scans did find. Source thread.
 */
#include <stdio.h>
#include <unistd.h>

#include "proc/procfs.h"
#include "proc/tasks.h"
#include "proc/tasks_impl.h"

#define TOUCH_MOST 8 /* processes */

void tasks_sole_witness(struct tasks *t)
{
	t->sole_witness = true;
	for (size_t i = 0; i < t->processes.len; i++) {
		struct process *p = &t->processes.data[i];
		struct proc_stat st;

		if (proc_stat_read(p->pid, 0, &st))
			continue;
		witness_read(p, &st);
		p->known_ns = p->children_ns;
	}
}

void tasks_touch(struct tasks *t)
{
	for (size_t i = 0; i < t->processes.len && i < TOUCH_MOST; i++)
		if (!t->processes.data[i].gone)
			proc_cpu_process(t->processes.data[i].pid, &t->processes.data[i].cpu_ns);
}

void witness_read(struct process *p, const struct proc_stat *st)
{
	p->children_ns = (st->children_user_ticks + st->children_system_ticks) * proc_tick_ns();
	p->user_ticks = st->user_ticks + st->children_user_ticks;
	p->system_ticks = st->system_ticks + st->children_system_ticks;
	proc_cpu_process(p->pid, &p->cpu_ns);
}

static bool exists(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d", pid);
	return access(path, F_OK) == 0;
}

/*
 * A child that was waited for after its parent was read and before it was itself found gone would
 * be counted twice for a while: so look again now, after the parents were read.
 */
static void find_gone(struct tasks *t)
{
	for (size_t i = 0; i < t->processes.len; i++) {
		struct process *p = &t->processes.data[i];

		if (p->gone || !process_find(t, p->ppid) || exists(p->pid))
			continue;
		p->gone = true;
		p->last_due = true;
	}
}

void witness_settle(struct tasks *t)
{
	find_gone(t);
	for (size_t i = 0; i < t->processes.len; i++) {
		struct process *p = &t->processes.data[i], *parent = process_find(t, p->ppid);

		/* ppid 0: its parent was told already */
		if (!p->gone || !p->ppid || !parent)
			continue;
		parent->known_ns += p->cpu_ns + p->extra_ns;
		p->ppid = 0;
	}
	for (size_t i = 0; i < t->processes.len; i++) {
		struct process *p = &t->processes.data[i];
		uint64_t extra = p->children_ns > p->known_ns ? p->children_ns - p->known_ns : 0;

		if (extra > p->extra_ns)
			p->extra_ns = extra;
	}
}
