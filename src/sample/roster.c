/*
 * roster: members and processes in dense arrays, each with a map; what is removed is replaced by
 * the last one. Source thread.
 */
#include "sample/roster.h"

void roster_init(struct roster *r)
{
	*r = (struct roster){0};
}

void roster_fini(struct roster *r)
{
	vec_fini(&r->members);
	vec_fini(&r->processes);
	map64_fini(&r->by_tid);
	map64_fini(&r->by_pid);
}

struct member *roster_find(const struct roster *r, pid_t tid)
{
	uint32_t i;

	return map64_get(&r->by_tid, (uint64_t)tid, &i) ? &r->members.data[i] : NULL;
}

struct roster_process *roster_process(const struct roster *r, pid_t pid)
{
	uint32_t i;

	return map64_get(&r->by_pid, (uint64_t)pid, &i) ? &r->processes.data[i] : NULL;
}

bool roster_watches(const struct roster *r, pid_t pid)
{
	const struct roster_process *p = roster_process(r, pid);

	return p && p->threads;
}

static struct roster_process *process_add(struct roster *r, pid_t pid)
{
	struct roster_process *p = roster_process(r, pid), fresh = {.pid = pid};

	if (p && p->threads)
		return p;
	if (p) { /* the number was given to a new one */
		*p = fresh;
		return p;
	}
	if (vec_push(&r->processes, fresh))
		return NULL;
	if (map64_put(&r->by_pid, (uint64_t)pid, (uint32_t)r->processes.len - 1)) {
		r->processes.len--;
		return NULL;
	}
	return &r->processes.data[r->processes.len - 1];
}

struct member *roster_add(struct roster *r, pid_t pid, pid_t tid, uint64_t time_ns)
{
	struct member m = {.pid = pid, .tid = tid, .since_ns = time_ns};
	struct roster_process *p;

	roster_remove(r, tid, time_ns);
	p = process_add(r, pid);
	if (!p || vec_push(&r->members, m))
		return NULL;
	if (map64_put(&r->by_tid, (uint64_t)tid, (uint32_t)r->members.len - 1)) {
		r->members.len--;
		return NULL;
	}
	p->threads++;
	p->ended_ns = 0;
	return &r->members.data[r->members.len - 1];
}

void roster_remove(struct roster *r, pid_t tid, uint64_t time_ns)
{
	struct member *m = roster_find(r, tid);
	struct roster_process *p = m ? roster_process(r, m->pid) : NULL;

	if (!m)
		return;
	if (p && p->threads && --p->threads == 0)
		p->ended_ns = time_ns ? time_ns : 1;
	map64_del(&r->by_tid, (uint64_t)tid);
	*m = r->members.data[--r->members.len];
	if (m != &r->members.data[r->members.len])
		map64_put(&r->by_tid, (uint64_t)m->tid, (uint32_t)(m - r->members.data));
}

static size_t end_slot(const struct roster *r, pid_t tid)
{
	return (size_t)tid % (sizeof r->ends / sizeof *r->ends);
}

void roster_note_end(struct roster *r, pid_t tid, uint64_t time_ns)
{
	r->ends[end_slot(r, tid)] = (struct roster_end){tid, time_ns};
}

bool roster_ended(const struct roster *r, pid_t tid, uint64_t start_ns)
{
	const struct roster_end *e = &r->ends[end_slot(r, tid)];

	return e->tid == tid && start_ns <= e->time_ns;
}

void roster_sweep(struct roster *r, uint64_t ns,
		  void (*each)(void *ctx, const struct roster_process *p), void *ctx)
{
	for (size_t i = 0; i < r->processes.len;) {
		struct roster_process *p = &r->processes.data[i];

		if (p->threads || p->ended_ns >= ns) {
			i++;
			continue;
		}
		each(ctx, p);
		map64_del(&r->by_pid, (uint64_t)p->pid);
		*p = r->processes.data[--r->processes.len];
		if (i < r->processes.len)
			map64_put(&r->by_pid, (uint64_t)p->pid, (uint32_t)i);
	}
}
