/*
 * tasks: keeps the set of watched processes and threads in step with /proc.
 *
 * A scan lists each process's threads until two listings agree, reads the new ones, tells apart a
 * reused tid by its start time, and reads a share of the known ones again for new names. Children
 * are found by their parent's pid; a process once found to be somebody else's is not read again.
 * The processes of -a, -G and -u come from scope.h.
 * Runs on the source thread.
 */
#include "proc/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc/procfs.h"
#include "proc/scope.h"
#include "proc/tasks_impl.h"

#define SCAN_READINGS 8

int entry_refresh(struct entry *e)
{
	struct proc_stat st;
	int rc = proc_stat_read(e->t.pid, e->t.tid, &st);
	uint64_t tick = proc_tick_ns();

	if (rc)
		return rc;
	if (e->t.start_ticks && e->t.start_ticks != st.start_ticks)
		return -ESRCH;
	e->t.start_ticks = st.start_ticks;
	e->t.state = st.state;
	e->t.user_ns = st.user_ticks * tick;
	e->t.system_ns = st.system_ticks * tick;
	if (strcmp(e->t.comm, st.comm) != 0) {
		e->renamed = e->t.comm[0] != '\0';
		snprintf(e->t.comm, sizeof e->t.comm, "%s", st.comm);
	}
	return 0;
}

static struct entry *entry_find(struct tasks *t, pid_t tid)
{
	uint32_t i;

	return map64_get(&t->by_tid, (uint64_t)tid, &i) ? &t->entries.data[i] : NULL;
}

struct process *process_find(struct tasks *t, pid_t pid)
{
	uint32_t i;

	return map64_get(&t->by_pid, (uint64_t)pid, &i) ? &t->processes.data[i] : NULL;
}

/* A thread that is there now; NULL when it is already gone or there is no memory. */
static struct entry *entry_add(struct tasks *t, uint32_t process, pid_t tid)
{
	struct entry e = {.t = {.pid = t->processes.data[process].pid, .tid = tid},
			  .process = process};

	if (entry_refresh(&e) || proc_cpu_read(e.t.pid, tid, &e.t.cpu_ns) ||
	    vec_push(&t->entries, e))
		return NULL;
	if (map64_put(&t->by_tid, (uint64_t)tid, (uint32_t)t->entries.len - 1)) {
		t->entries.len--;
		return NULL;
	}
	t->processes.data[process].ntasks++;
	return &t->entries.data[t->entries.len - 1];
}

/* The last entry moves into its place. */
static void entry_drop(struct tasks *t, size_t i)
{
	struct entry *e = &t->entries.data[i];
	struct entry *last = &t->entries.data[t->entries.len - 1];

	map64_del(&t->by_tid, (uint64_t)e->t.tid);
	t->processes.data[e->process].ntasks--;
	if (e != last) {
		*e = *last;
		map64_put(&t->by_tid, (uint64_t)e->t.tid, (uint32_t)i);
	}
	t->entries.len--;
}

static struct process *process_add(struct tasks *t, pid_t pid, const struct proc_stat *st)
{
	struct process p = {
		.pid = pid, .ppid = st->ppid, .start_ticks = st->start_ticks, .state = st->state};

	if (t->sole_witness)
		witness_read(&p, st);
	if (!t->serial || t->scope) /* what its children used before is not for us to tell */
		p.known_ns = p.children_ns;

	if (vec_push(&t->processes, p))
		return NULL;
	if (map64_put(&t->by_pid, (uint64_t)pid, (uint32_t)t->processes.len - 1)) {
		t->processes.len--;
		return NULL;
	}
	map64_del(&t->others, (uint64_t)pid);
	return &t->processes.data[t->processes.len - 1];
}

/* Processes without threads leave the list; the entries learn the new places. */
static void drop_gone_processes(struct tasks *t)
{
	for (size_t i = 0; i < t->processes.len;) {
		struct process *p = &t->processes.data[i];

		if (!p->gone || p->ntasks || p->last_due) {
			i++;
			continue;
		}
		map64_del(&t->by_pid, (uint64_t)p->pid);
		*p = t->processes.data[--t->processes.len];
		if (i == t->processes.len)
			break;
		map64_put(&t->by_pid, (uint64_t)p->pid, (uint32_t)i);
		for (size_t k = 0; k < t->entries.len; k++)
			if (t->entries.data[k].process == t->processes.len)
				t->entries.data[k].process = (uint32_t)i;
	}
}

static bool is_listed(const struct target *target, pid_t tid)
{
	for (uint32_t i = 0; i < target->ntids; i++)
		if (target->tids[i] == tid)
			return true;
	return false;
}

static int list_threads(pid_t pid, pid_t **ret_ids, size_t *ret_n)
{
	char dir[48];

	snprintf(dir, sizeof dir, "/proc/%d/task", pid);
	return procfs_list(dir, ret_ids, ret_n);
}

/* List a process's threads until two readings agree: one reading may miss some while others end. */
static int list_stable(pid_t pid, pid_t **ret_ids, size_t *ret_n)
{
	pid_t *ids, *again;
	size_t n, m;
	int rc = list_threads(pid, &ids, &n);

	for (int i = 1; !rc && i < SCAN_READINGS; i++) {
		bool same;

		rc = list_threads(pid, &again, &m);
		if (rc) {
			free(ids);
			return rc;
		}
		same = n == m && memcmp(ids, again, n * sizeof *ids) == 0;
		free(ids);
		ids = again;
		n = m;
		if (same)
			break;
	}
	if (!rc) {
		*ret_ids = ids;
		*ret_n = n;
	}
	return rc;
}

static void scan_threads(struct tasks *t, uint32_t process, const struct tasks_ops *ops, void *ctx)
{
	pid_t pid = t->processes.data[process].pid;
	pid_t *ids;
	size_t n;

	if (list_stable(pid, &ids, &n)) /* the next scan finds it gone */
		return;
	for (size_t i = 0; i < n; i++) {
		struct entry *e;

		if (t->listed_only && !is_listed(t->target, ids[i]))
			continue;
		e = entry_find(t, ids[i]);
		if (!e) {
			e = entry_add(t, process, ids[i]);
			if (e && ops->born)
				ops->born(ctx, &e->t);
			e = entry_find(t, ids[i]);
		}
		if (e)
			e->seen = t->serial;
	}
	free(ids);
}

static void drop_unseen(struct tasks *t, const struct tasks_ops *ops, void *ctx)
{
	for (size_t i = 0; i < t->entries.len;) {
		struct entry *e = &t->entries.data[i];
		struct proc_task last;

		if (e->seen == t->serial) {
			i++;
			continue;
		}
		last = e->t;
		entry_drop(t, i);
		if (ops->gone)
			ops->gone(ctx, &last);
	}
}

/* Read entry @i again: a new name is told; a reused tid is one thread gone and another born. */
static void refresh(struct tasks *t, size_t i, const struct tasks_ops *ops, void *ctx)
{
	struct entry *e = &t->entries.data[i];
	uint32_t process = e->process;
	struct proc_task last = e->t;

	if (entry_refresh(e)) {
		entry_drop(t, i);
		if (ops->gone)
			ops->gone(ctx, &last);
		e = entry_add(t, process, last.tid);
		if (e) {
			e->seen = t->serial;
			if (ops->born)
				ops->born(ctx, &e->t);
		}
	} else if (e->renamed) {
		e->renamed = false;
		if (ops->renamed)
			ops->renamed(ctx, &e->t);
	}
}

static void refresh_some(struct tasks *t, const struct tasks_ops *ops, void *ctx)
{
	size_t n = t->entries.len / 16 > 32 ? t->entries.len / 16 : 32;

	for (; n && t->entries.len; n--) {
		if (t->refresh_at >= t->entries.len)
			t->refresh_at = 0;
		refresh(t, t->refresh_at++, ops, ctx);
		if (n > t->entries.len)
			n = t->entries.len;
	}
}

static bool is_ours(struct tasks *t, pid_t pid, const struct proc_stat *st)
{
	const struct process *parent = process_find(t, st->ppid);

	return pid != getpid() && parent && !parent->gone;
}

/* Bring the processes in step with the set: some came into it, some left it. */
static int follow_scope(struct tasks *t)
{
	struct proc_stat st;
	pid_t *pids;
	size_t n;
	int rc = scope_list(t->scope, &pids, &n);

	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		struct process *p = process_find(t, pids[i]);

		if (!p && proc_stat_read(pids[i], 0, &st) == 0)
			p = process_add(t, pids[i], &st);
		if (p)
			p->seen = t->serial;
	}
	for (size_t i = 0; i < t->processes.len; i++)
		if (t->processes.data[i].seen != t->serial)
			t->processes.data[i].gone = true;
	free(pids);
	return 0;
}

/* One look for children among the processes not known yet. How many were added, or -errno. */
static int find_children(struct tasks *t)
{
	struct proc_stat st;
	pid_t *ids;
	size_t n;
	int added = 0, rc = procfs_list("/proc", &ids, &n);

	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		uint32_t seen;
		bool known = map64_get(&t->others, (uint64_t)ids[i], &seen);

		if (process_find(t, ids[i]))
			continue;
		if (!known && proc_stat_read(ids[i], 0, &st) == 0 && is_ours(t, ids[i], &st)) {
			added += process_add(t, ids[i], &st) != NULL;
			continue;
		}
		map64_put(&t->others, (uint64_t)ids[i], t->serial);
	}
	free(ids);
	return added;
}

/* Pids that vanished may come back as ours. */
static void forget_old_others(struct tasks *t)
{
	for (size_t i = 0; i < t->others.capacity; i++)
		if (t->others.used[i] == 1 && t->others.values[i] != t->serial) {
			map64_del(&t->others, t->others.keys[i]);
			i--; /* deletion may move another one here */
		}
}

/* A pid whose start time changed is another process: the old one is gone, the new one not ours. */
static void check_processes(struct tasks *t)
{
	for (size_t i = 0; i < t->processes.len; i++) {
		struct process *p = &t->processes.data[i];
		struct proc_stat st;

		if (p->gone)
			continue;
		if (proc_stat_read(p->pid, 0, &st) || st.start_ticks != p->start_ticks) {
			p->gone = true;
			p->last_due = t->sole_witness;
			continue;
		}
		p->state = st.state;
		if (t->sole_witness)
			witness_read(p, &st);
	}
	if (t->sole_witness)
		witness_settle(t);
}

/* Did any thread of the system begin since the last call? /proc/loadavg ends in the last number
 * that was given, so most scans need not list all processes. */
static bool any_birth(struct tasks *t)
{
	char text[128];
	const char *last;
	long newest;

	if (procfs_read_at(-1, "/proc/loadavg", text, sizeof text) <= 0 ||
	    !(last = strrchr(text, ' ')))
		return true;
	newest = strtol(last, NULL, 10);
	if (newest == t->newest)
		return false;
	t->newest = newest;
	return true;
}

int tasks_scan(struct tasks *t, const struct tasks_ops *ops, void *ctx)
{
	int rc = 0;

	t->serial++;
	check_processes(t);
	if (t->scope) {
		rc = follow_scope(t);
	} else if (t->children && any_birth(t)) {
		do
			rc = find_children(t);
		while (rc > 0);
		forget_old_others(t);
	}
	for (size_t i = 0; i < t->processes.len; i++)
		if (!t->processes.data[i].gone)
			scan_threads(t, (uint32_t)i, ops, ctx);
	drop_unseen(t, ops, ctx);
	refresh_some(t, ops, ctx);
	drop_gone_processes(t);
	return rc;
}

static int watch(struct tasks *t, pid_t pid, struct err *err)
{
	struct proc_stat st;
	int rc;

	if (process_find(t, pid))
		return 0;
	rc = proc_stat_read(pid, 0, &st);
	if (rc == -ESRCH)
		return err_set(err, ESRCH, "there is no process %d", pid);
	if (rc)
		return err_set(err, -rc, "/proc/%d/stat cannot be read: %s", pid, strerror(-rc));
	return process_add(t, pid, &st) ? 0 : err_set(err, ENOMEM, "no memory");
}

static int watch_target(struct tasks *t, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < t->target->npids; i++)
		rc = watch(t, t->target->pids[i], err);
	for (uint32_t i = 0; !rc && i < t->target->ntids; i++) {
		pid_t pid = proc_tgid(t->target->tids[i]);

		if (pid < 0)
			return err_set(err, -pid, "there is no thread %d", t->target->tids[i]);
		rc = watch(t, pid, err);
	}
	return rc;
}

struct tasks *tasks_new(const struct target *target, bool children, struct err *err)
{
	struct tasks *t = calloc(1, sizeof *t);

	if (!t) {
		err_set(err, ENOMEM, "no memory");
		return NULL;
	}
	t->target = target;
	t->children = children && !target->ntids;
	t->listed_only = target->ntids > 0;
	map64_init(&t->by_tid);
	map64_init(&t->by_pid);
	map64_init(&t->others);
	if (scope_wanted(target))
		t->scope = scope_new(target, err);
	if ((scope_wanted(target) && !t->scope) || watch_target(t, err)) {
		tasks_free(t);
		return NULL;
	}
	return t;
}

void tasks_free(struct tasks *t)
{
	if (!t)
		return;
	scope_free(t->scope);
	map64_fini(&t->by_tid);
	map64_fini(&t->by_pid);
	map64_fini(&t->others);
	vec_fini(&t->entries);
	vec_fini(&t->processes);
	vec_fini(&t->order);
	free(t);
}

uint32_t tasks_count(const struct tasks *t)
{
	return (uint32_t)t->entries.len;
}

bool tasks_alive(const struct tasks *t)
{
	if (t->scope)
		return true;
	for (size_t i = 0; i < t->processes.len; i++) {
		const struct process *p = &t->processes.data[i];

		/* A leader that ended before its threads is a zombie with company. */
		if (!p->gone && ((p->state != 'Z' && p->state != 'X') || p->ntasks > 1))
			return !t->listed_only || t->entries.len > 0 || !t->serial;
	}
	return false;
}
