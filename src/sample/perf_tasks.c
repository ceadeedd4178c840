/*
 * perf_tasks: births, names and ends of threads, from records and from /proc, told to the sink
 * once.
 *
 * Records are exact but may be lost, or come from before a thread was watched; scans of /proc see
 * only who lives at that moment, and may see a thread before the record of its birth was read. The
 * roster and the times of both tell what is news. Source thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "proc/procfs.h"
#include "proc/tasks.h"
#include "sample/perf_impl.h"

#define BRIEF_NS (100 * MS)
#define DOUBT_NS (30 * MS) /* how long a record may take to explain a thread that a scan found */

/* The time of what a scan tells. Not its own: records from before it may still be on their way. */
static uint64_t told_ns(const struct perf_source *ps)
{
	uint64_t now = merger_now(ps->merger);

	return now > ps->opened_ns ? now : ps->opened_ns;
}

void perf_announce(struct perf_source *ps, struct member *m, const char *comm)
{
	const struct raw_task t = {
		.time_ns = told_ns(ps),
		.pid = m->pid,
		.tid = m->tid,
		.comm = comm,
	};

	if (m->announced)
		return;
	m->announced = true;
	ps->sink->ops->comm(ps->sink->ctx, &t);
}

/* A thread to be watched by every fleet that does not see it already. */
static void want_everywhere(struct perf_source *ps, pid_t tid, uint64_t not_before)
{
	for (unsigned i = 0; i < PERF_FLEETS; i++) {
		struct fleet *f = *perf_fleets(ps, i);

		if (f && !fleet_watches(f, tid))
			fleet_want(f, tid, not_before);
	}
}

static void tell_fork(struct perf_source *ps, const struct record_side *r, uint64_t time)
{
	const struct raw_task t = {
		.time_ns = time,
		.pid = r->task.pid,
		.tid = r->task.tid,
		.ppid = r->task.ppid,
		.ptid = r->task.ptid,
	};

	ps->sink->ops->fork(ps->sink->ctx, &t);
}

void perf_take_fork(struct perf_source *ps, const struct record_side *r, uint64_t time)
{
	pid_t tid = r->task.tid;
	struct member *m;
	bool known;

	if (ps->listed_only)
		return;
	m = roster_find(&ps->roster, tid);
	known = m && m->since_ns >= time; /* a scan saw it first */
	if (!known) {
		struct roster_process *p;

		ps->births++;
		for (unsigned i = 0; m && i < PERF_FLEETS; i++)
			if (*perf_fleets(ps, i)) /* an end that was lost */
				fleet_exit(*perf_fleets(ps, i), tid, 0);
		m = roster_add(&ps->roster, r->task.pid, tid, time);
		p = roster_process(&ps->roster, r->task.pid);
		if (m && p && r->task.pid == tid) {
			const struct roster_process *parent = roster_process(&ps->roster,
									     r->task.ppid);

			p->from_birth = true;
			p->elsewhere = parent && parent->elsewhere;
		}
	}
	if (!m)
		return;
	for (unsigned i = 0; i < PERF_FLEETS; i++) {
		struct fleet *f = *perf_fleets(ps, i);

		if (f && !fleet_watches(f, tid) && !fleet_fork(f, r->task.ptid, tid, time))
			fleet_want(f, tid, 0);
	}
	if (!m->announced)
		tell_fork(ps, r, time);
	m->announced = true;
}

/* Who calls execve becomes the only thread and takes its process's first number. */
static void exec_others(struct perf_source *ps, pid_t pid, uint64_t time)
{
	for (size_t i = 0; i < ps->roster.members.len;) {
		struct member m = ps->roster.members.data[i];

		if (m.pid != pid || m.tid == pid) {
			i++;
			continue;
		}
		for (unsigned k = 0; k < PERF_FLEETS; k++)
			if (*perf_fleets(ps, k))
				fleet_exit(*perf_fleets(ps, k), m.tid, pid);
		if (!roster_find(&ps->roster, pid)) {
			struct member *first = roster_add(&ps->roster, pid, pid, time);

			if (first)
				first->announced = true;
		}
		roster_remove(&ps->roster, m.tid, time);
	}
	if (roster_find(&ps->roster,
			pid)) /* it may have no events yet, or its first ones are gone */
		want_everywhere(ps, pid, 0);
}

void perf_take_comm(struct perf_source *ps, const struct record_side *r, uint64_t time)
{
	const struct raw_task t = {
		.time_ns = time,
		.pid = r->comm.pid,
		.tid = r->comm.tid,
		.comm = r->comm.name,
		.exec = r->comm.exec,
	};
	struct member *m;

	if (r->comm.exec && !ps->listed_only) {
		const struct roster_process *p = roster_process(&ps->roster, r->comm.pid);

		if (p && (p->threads != 1 || !roster_find(&ps->roster, r->comm.pid)))
			exec_others(ps, r->comm.pid, time);
	}
	if (r->comm.exec)
		perf_places_exec(ps, r->comm.pid);
	m = roster_find(&ps->roster, r->comm.tid);
	if (m)
		m->announced = true;
	ps->sink->ops->comm(ps->sink->ctx, &t);
}

static void tell_exit(struct perf_source *ps, pid_t pid, pid_t tid, uint64_t time)
{
	const struct raw_task t = {.time_ns = time, .pid = pid, .tid = tid};

	ps->sink->ops->exit(ps->sink->ctx, &t);
}

static void member_end(struct perf_source *ps, const struct member *m, uint64_t time)
{
	pid_t pid = m->pid, tid = m->tid;
	bool announced = m->announced;

	for (unsigned i = 0; i < PERF_FLEETS; i++)
		if (*perf_fleets(ps, i))
			fleet_exit(*perf_fleets(ps, i), tid, 0);
	roster_remove(&ps->roster, tid, time);
	if (announced)
		tell_exit(ps, pid, tid, time);
	if (!ps->roster.members.len)
		ps->ended = true;
}

void perf_take_exit(struct perf_source *ps, const struct record_side *r, uint64_t time)
{
	const struct member *m = roster_find(&ps->roster, r->task.tid);

	/* Found by a scan after this end: another life of the same number. */
	if (!m || m->since_ns > time)
		return;
	roster_note_end(&ps->roster, r->task.tid, time);
	if (m->since_ns > ps->opened_ns && time - m->since_ns < BRIEF_NS)
		ps->brief++;
	member_end(ps, m, time);
}

/* When a thread was born, to a clock tick at the latest; /proc counts the time of suspension too.
 */
static uint64_t started_ns(const struct proc_task *t)
{
	uint64_t asleep_ns = clock_asleep_ns(), start_ns = t->start_ticks * proc_tick_ns();

	return start_ns > asleep_ns ? start_ns - asleep_ns : 0;
}

static void scan_born(void *ctx, const struct proc_task *t)
{
	struct perf_source *ps = ctx;
	struct member *m = roster_find(&ps->roster, t->tid);
	uint64_t now = clock_mono_ns();

	if (t->pid == ps->self || t->state == 'Z' || t->state == 'X')
		return; /* its end was told, or nothing of it will ever be */
	if (m && m->pid == t->pid) {
		m->missing = false;
		m->cpu_ns = t->cpu_ns;
		want_everywhere(ps, t->tid, now + DOUBT_NS);
		return;
	}
	if (roster_ended(&ps->roster, t->tid, started_ns(t)))
		return;
	if (m)
		member_end(ps, m, told_ns(ps)); /* another life of the number: its end was lost */
	m = roster_add(&ps->roster, t->pid, t->tid, ps->starting ? ps->opened_ns : now);
	if (!m)
		return;
	ps->found++;
	m->cpu_ns = t->cpu_ns;
	if (ps->starting || ps->everything)
		perf_announce(ps, m, t->comm);
	want_everywhere(ps, t->tid, ps->starting ? 0 : now + DOUBT_NS);
}

static void scan_gone(void *ctx, const struct proc_task *t)
{
	struct perf_source *ps = ctx;
	struct member *m = roster_find(&ps->roster, t->tid);

	if (m && m->pid == t->pid)
		m->missing = true;
}

static void scan_renamed(void *ctx, const struct proc_task *t)
{
	struct perf_source *ps = ctx;
	const struct raw_task raw = {
		.time_ns = told_ns(ps),
		.pid = t->pid,
		.tid = t->tid,
		.comm = t->comm,
	};

	if (roster_find(&ps->roster, t->tid))
		ps->sink->ops->comm(ps->sink->ctx, &raw);
}

static bool task_exists(pid_t pid, pid_t tid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d/task/%d", pid, tid);
	return stat(path, &st) == 0;
}

/* Members that two scans in a row did not find, and of whose end no record told. */
static void drop_missing(struct perf_source *ps)
{
	for (size_t i = 0; i < ps->roster.members.len;) {
		struct member *m = &ps->roster.members.data[i];

		if (!m->missing) {
			i++;
		} else if (task_exists(m->pid, m->tid)) {
			m->missing = false;
			i++;
		} else {
			member_end(ps, m, told_ns(ps));
		}
	}
}

/* -u: who is the user's no more is watched no more. False: it is, or nobody can tell. */
static bool left_user(const struct perf_source *ps, pid_t pid)
{
	char text[64];

	return !proc_status_field(pid, 0, "Uid", text, sizeof text) &&
	       (uid_t)strtoul(text, NULL, 10) != ps->target->user;
}

static void drop_strangers(struct perf_source *ps)
{
	pid_t known = 0;
	bool left = false;

	for (size_t i = 0; i < ps->roster.members.len;) {
		struct member *m = &ps->roster.members.data[i];

		if (m->pid != known)
			left = left_user(ps, m->pid);
		known = m->pid;
		if (left)
			member_end(ps, m, told_ns(ps)); /* another takes its place */
		else
			i++;
	}
}

int perf_scan(struct perf_source *ps)
{
	static const struct tasks_ops ops = {
		.born = scan_born,
		.gone = scan_gone,
		.renamed = scan_renamed,
	};

	drop_missing(ps);
	if (ps->target->by_user)
		drop_strangers(ps);
	return tasks_scan(ps->tasks, &ops, ps);
}

static void tell_end(void *ctx, const struct roster_process *p)
{
	struct perf_source *ps = ctx;
	const struct raw_account a = {
		.time_ns = p->ended_ns,
		.pid = p->pid,
		.cpu_ns = p->exits_ns,
		.state = 'X',
	};

	if (p->from_birth && p->exits_ns)
		ps->sink->ops->account(ps->sink->ctx, &a);
}

void perf_sweep(struct perf_source *ps, uint64_t before_ns)
{
	roster_sweep(&ps->roster, before_ns, tell_end, ps);
}
