/*
 * lives: the maps from pid and tid to processes and thread lives.
 *
 * Source thread. A thread that was never announced is made when it is first met; its name and its
 * process's mappings then come from /proc, if the process is a live one. Freed places of the arrays
 * are used again, so that a program that forks for hours costs no more than its living threads.
 */
#include "engine/lives.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "proc/space.h"
#include "unwind/unwind.h"

#define GRACE_NS 2000000000ull /* how long what is gone is remembered */
#define SWEEP_NS 500000000ull

void lives_init(struct lives *l, struct tables *tables, struct unwinder *unwinder, bool live,
		const char *symfs)
{
	*l = (struct lives){.tables = tables, .unwinder = unwinder, .live = live};
	twins_init(&l->twins, tables, symfs);
	map64_init(&l->by_pid);
	map64_init(&l->by_tid);
}

static void process_free(struct process *p)
{
	if (p)
		space_free(p->space);
	free(p);
}

static void life_free(struct lives *l, struct life *life)
{
	if (!life)
		return;
	if (l->unwinder && tables_task_get(l->tables, life->task)->tid)
		unwinder_task_gone(l->unwinder, life->task);
	free(life->last);
	free(life);
}

void lives_fini(struct lives *l)
{
	for (uint32_t i = 0; i < l->nprocesses; i++)
		process_free(l->processes[i]);
	for (uint32_t i = 0; i < l->nlives; i++)
		life_free(l, l->lives[i]);
	free(l->processes);
	free(l->lives);
	twins_fini(&l->twins);
	map64_fini(&l->by_pid);
	map64_fini(&l->by_tid);
}

/* Put @item in a free place of an array of pointers and map @key to it. Replaces nothing. */
static int place(void ***array, uint32_t *n, uint32_t *cap, struct map64 *map, uint64_t key,
		 void *item)
{
	uint32_t at = *n;
	if (map->count < *n) { /* a place is free: find it from the back */
		while (at-- > 0 && (*array)[at])
			;
		if (at == UINT32_MAX)
			at = *n;
	}
	if (at == *n && *n == *cap) {
		uint32_t bigger = *cap ? *cap * 2 : 64;
		void **grown = realloc(*array, bigger * sizeof *grown);
		if (!grown)
			return -1;
		*array = grown;
		*cap = bigger;
	}
	if (map64_put(map, key, at))
		return -1;
	(*array)[at] = item;
	if (at == *n)
		++*n;
	return 0;
}

static str_id comm_of(const struct lives *l, pid_t pid, pid_t tid)
{
	char path[64], comm[64];
	if (!l->live || pid <= 0)
		return 0;
	snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)(tid ? tid : pid));
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	size_t n = fread(comm, 1, sizeof comm, f);
	fclose(f);
	while (n && comm[n - 1] == '\n')
		n--;
	return tables_strn(l->tables, comm, n);
}

static struct process *find_process(const struct lives *l, pid_t pid)
{
	uint32_t i;
	return map64_get(&l->by_pid, (uint32_t)pid, &i) ? l->processes[i] : NULL;
}

/* The kernel numbers threads over all processes; who writes recordings may begin anew in each. */
static uint64_t life_key(const struct lives *l, pid_t pid, pid_t tid)
{
	return (uint64_t)(l->live ? 0 : (uint32_t)pid) << 32 | (uint32_t)tid;
}

static struct life *find_life(const struct lives *l, pid_t pid, pid_t tid)
{
	uint32_t i;
	return map64_get(&l->by_tid, life_key(l, pid, tid), &i) ? l->lives[i] : NULL;
}

static void forget_process(struct lives *l, pid_t pid)
{
	uint32_t i;
	if (!map64_get(&l->by_pid, (uint32_t)pid, &i))
		return;
	process_free(l->processes[i]);
	l->processes[i] = NULL;
	l->latest_process = NULL;
	map64_del(&l->by_pid, (uint32_t)pid);
}

static void forget_life(struct lives *l, pid_t pid, pid_t tid)
{
	uint32_t i;
	if (!map64_get(&l->by_tid, life_key(l, pid, tid), &i))
		return;
	life_free(l, l->lives[i]);
	l->lives[i] = NULL;
	l->latest = NULL;
	map64_del(&l->by_tid, life_key(l, pid, tid));
}

/* @space is taken. */
static struct process *make_process(struct lives *l, pid_t pid, uint64_t time_ns, str_id comm,
				    struct space *space)
{
	struct process *p = calloc(1, sizeof *p);
	if (!p || !space ||
	    place((void ***)(void *)&l->processes, &l->nprocesses, &l->processes_cap, &l->by_pid,
		  (uint32_t)pid, p)) {
		space_free(space);
		free(p);
		return NULL;
	}
	*p = (struct process){.pid = pid, .space = space, .born_ns = time_ns};
	p->task = tables_task(l->tables, pid, 0, time_ns, comm);
	return p;
}

static struct space *new_space(struct lives *l, pid_t pid)
{
	struct space *space = space_new(l->tables, pid);

	if (space && l->live)
		space_ask(space, twins_find, &l->twins);
	return space;
}

struct process *lives_process(struct lives *l, pid_t pid, uint64_t time_ns)
{
	struct process *p = l->latest_process;
	if (p && p->pid == pid)
		return p;
	p = l->latest_process = find_process(l, pid);
	if (p)
		return p;
	struct space *space = new_space(l, pid);
	/* What cannot be read stays empty: its frames are [unknown] until records tell more. */
	int rc = space && l->live && pid > 0 ? space_read_proc(space, NULL) : 0;
	p = make_process(l, pid, time_ns, comm_of(l, pid, 0), space);
	if (p && (rc == -ESRCH || rc == -ENOENT))
		p->gone_ns = time_ns ? time_ns : 1; /* no record will tell its end */
	l->any_gone |= p && p->gone_ns;
	return p;
}

static struct life *make_life(struct lives *l, struct process *p, pid_t tid, uint64_t time_ns,
			      str_id comm)
{
	struct life *life = calloc(1, sizeof *life);
	if (!life || place((void ***)(void *)&l->lives, &l->nlives, &l->lives_cap, &l->by_tid,
			   life_key(l, p->pid, tid), life)) {
		free(life);
		return NULL;
	}
	*life = (struct life){.pid = p->pid, .tid = tid, .born_ns = time_ns};
	if (l->made < LIVES_MAX) {
		life->task = tables_task(l->tables, p->pid, tid, time_ns, comm);
		l->made++;
	}
	if (!life->task)
		life->task = p->task;
	life->gone_ns = p->gone_ns;
	p->threads += !life->gone_ns;
	return life;
}

struct life *lives_thread(struct lives *l, pid_t pid, pid_t tid, uint64_t time_ns)
{
	struct life *life = l->latest;
	if (life && life->pid == pid && life->tid == tid)
		return life;
	life = find_life(l, pid, tid);
	if (life && life->pid == pid) {
		l->latest = life;
		return life;
	}
	if (life) /* the id came to another process and no record told */
		forget_life(l, pid, tid);
	struct process *p = lives_process(l, pid, time_ns);
	if (!p)
		return NULL;
	str_id comm = comm_of(l, pid, tid);
	if (!comm)
		comm = tables_task_get(l->tables, p->task)->comm;
	return make_life(l, p, tid, time_ns, comm);
}

static str_id comm_of_parent(const struct lives *l, const struct raw_task *t)
{
	const struct life *parent = find_life(l, t->ppid, t->ptid);
	if (parent)
		return tables_task_get(l->tables, parent->task)->comm;
	const struct process *p = find_process(l, t->ppid);
	return p ? tables_task_get(l->tables, p->task)->comm : 0;
}

/* A child process begins with its parent's mappings. */
static struct process *fork_process(struct lives *l, const struct raw_task *t, str_id comm)
{
	const struct process *parent = find_process(l, t->ppid);
	struct space *space;
	if (parent) {
		space = space_clone(parent->space, t->pid);
	} else {
		space = new_space(l, t->pid);
		if (space && l->live)
			space_read_proc(space, NULL);
	}
	forget_process(l, t->pid);
	struct process *p = make_process(l, t->pid, t->time_ns, comm, space);
	if (p)
		p->whole_life = true;
	return p;
}

void lives_fork(struct lives *l, const struct raw_task *t)
{
	str_id comm = t->comm ? tables_str(l->tables, t->comm) : comm_of_parent(l, t);
	struct process *p = find_process(l, t->pid);
	forget_life(l, t->pid, t->tid);
	if (t->pid == t->tid && t->ppid != t->pid)
		p = fork_process(l, t, comm);
	else if (!p)
		p = lives_process(l, t->pid, t->time_ns);
	if (!p)
		return;
	p->gone_ns = 0; /* threads we did not know of went on */
	struct life *life = make_life(l, p, t->tid, t->time_ns, comm);
	if (life)
		life->whole_life = true;
}

/* When @life ended, 0: it did not. */
static void set_gone(struct lives *l, struct process *p, struct life *life, uint64_t gone_ns)
{
	life->gone_ns = gone_ns;
	if (!p || life->task != p->task)
		tables_task_get(l->tables, life->task)->gone_ns = gone_ns;
}

/*
 * Whichever thread executed a program goes on as its process's first, whose end was told just
 * before if it was another; no record tells the end of the rest.
 */
static void take_over(struct lives *l, struct process *p, struct life *first, uint64_t time_ns)
{
	for (uint32_t i = 0; i < l->nlives && p->threads > !first->gone_ns; i++) {
		struct life *other = l->lives[i];

		if (!other || other == first || other->pid != p->pid || other->gone_ns)
			continue;
		set_gone(l, p, other, time_ns ? time_ns : 1);
		l->any_gone = true;
		p->threads--;
	}
	p->threads += first->gone_ns != 0;
	p->gone_ns = 0;
	tables_task_get(l->tables, p->task)->gone_ns = 0;
	set_gone(l, p, first, 0);
}

void lives_comm(struct lives *l, const struct raw_task *t)
{
	struct life *life = lives_thread(l, t->pid, t->tid, t->time_ns);
	struct process *p = find_process(l, t->pid);
	str_id comm = tables_str(l->tables, t->comm ? t->comm : "");
	if (life && !(p && life->task == p->task))
		tables_task_get(l->tables, life->task)->comm = comm;
	if (!p || t->pid != t->tid)
		return;
	tables_task_get(l->tables, p->task)->comm = comm;
	if (t->exec) {
		if (life && life->pid == p->pid)
			take_over(l, p, life, t->time_ns);
		space_clear(p->space);
		p->reread_ns = p->reread_wait_ns = 0;
	}
}

void lives_exit(struct lives *l, const struct raw_task *t)
{
	struct life *life = find_life(l, t->pid, t->tid);
	struct process *p = find_process(l, t->pid);
	l->any_gone = true;
	if (p && !p->threads && !p->gone_ns && t->pid == t->tid)
		p->gone_ns = t->time_ns ? t->time_ns : 1; /* none of its threads was ever met */
	if (!life || life->pid != t->pid || life->gone_ns)
		return;
	set_gone(l, p, life, t->time_ns ? t->time_ns : 1);
	if (p && p->threads && --p->threads == 0) {
		p->gone_ns = life->gone_ns;
		tables_task_get(l->tables, p->task)->gone_ns = p->gone_ns;
	}
}

void lives_sweep(struct lives *l, uint64_t time_ns)
{
	if (!l->any_gone || time_ns < l->swept_ns + SWEEP_NS)
		return;
	l->swept_ns = time_ns;
	for (uint32_t i = 0; i < l->nlives; i++) {
		const struct life *life = l->lives[i];
		if (life && life->gone_ns && life->gone_ns + GRACE_NS < time_ns)
			forget_life(l, life->pid, life->tid);
	}
	for (uint32_t i = 0; i < l->nprocesses; i++) {
		const struct process *p = l->processes[i];
		if (p && p->gone_ns && p->gone_ns + GRACE_NS < time_ns)
			forget_process(l, p->pid);
	}
	while (l->nlives && !l->lives[l->nlives - 1])
		l->nlives--;
	while (l->nprocesses && !l->processes[l->nprocesses - 1])
		l->nprocesses--;
}

size_t lives_bytes(const struct lives *l)
{
	size_t bytes = l->processes_cap * sizeof *l->processes + l->lives_cap * sizeof *l->lives;
	bytes += (l->by_pid.capacity + l->by_tid.capacity) * 13;
	for (uint32_t i = 0; i < l->nlives; i++)
		if (l->lives[i])
			bytes += sizeof **l->lives + l->lives[i]->last_cap * sizeof(frame_id);
	return bytes;
}
