/*
 * timer_thread: the threads that the timer sampler visits.
 *
 * Scans of /proc tell who came and went. Threads that ran lately are hot and visited every tick,
 * the others in turn with what is left of the time. A thread that ended while a stop of it was
 * pending stays until the kernel reported that. Sampler thread.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc/procfs.h"
#include "proc/tasks.h"
#include "sample/timer_impl.h"

#define SCAN_LEAST_NS (20 * MS)
#define SCAN_SHARE    40 /* scanning takes at most a fortieth of the time */

struct timer_thread *timer_find(const struct timer_source *ts, pid_t tid)
{
	uint32_t i;

	return map64_get(&ts->by_tid, (uint64_t)tid, &i) ? ts->threads.data[i] : NULL;
}

static void close_kept(struct timer_source *ts, int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	*fd = -1;
	ts->kept_fds--;
}

static void leave_hot(struct timer_source *ts, struct timer_thread *t)
{
	struct timer_thread *last = ts->hot.data[--ts->hot.len];

	ts->hot.data[t->hot_at] = last;
	last->hot_at = t->hot_at;
	t->hot_at = SIZE_MAX;
}

void timer_heat(struct timer_source *ts, struct timer_thread *t)
{
	t->heat = TIMER_HEAT;
	if (t->hot_at != SIZE_MAX || vec_push(&ts->hot, t))
		return;
	t->hot_at = ts->hot.len - 1;
}

void timer_cool(struct timer_source *ts, struct timer_thread *t)
{
	if (t->heat)
		t->heat--;
	if (t->heat || t->hot_at == SIZE_MAX)
		return;
	leave_hot(ts, t);
	close_kept(ts, &t->syscall_fd); /* cold ones need only the other */
}

/*
 * Born since the last scan, to a clock tick? Else it was there and is watched only now: its user or
 * cgroup changed. /proc counts the time of suspension too.
 */
static bool is_new(const struct timer_source *ts, const struct proc_task *p)
{
	uint64_t born_ns = (p->start_ticks + 1) * proc_tick_ns();

	return ts->scanned && born_ns >= ts->scan_began_ns + clock_asleep_ns();
}

static struct timer_thread *thread_add(struct timer_source *ts, const struct proc_task *p)
{
	bool ours = is_new(ts, p);
	struct timer_thread *t = calloc(1, sizeof *t);

	if (!t || vec_push(&ts->threads, t) ||
	    map64_put(&ts->by_tid, (uint64_t)p->tid, (uint32_t)ts->threads.len - 1)) {
		if (t && ts->threads.len && ts->threads.data[ts->threads.len - 1] == t)
			ts->threads.len--;
		free(t);
		return NULL;
	}
	*t = (struct timer_thread){
		.pid = p->pid,
		.tid = p->tid,
		.at = ts->threads.len - 1,
		.hot_at = SIZE_MAX,
		.syscall_fd = -1,
		.schedstat_fd = -1,
		.sampled_ns = clock_mono_ns(),
		.looked.times = UINT64_MAX,
		/* What ran before we came is not ours; a thread born since belongs to us whole. */
		.sampled.ns = ours ? 0 : p->cpu_ns,
		.stack_bytes = ts->config->stack_bytes ? ts->config->stack_bytes
						       : TIMER_STACK_START,
	};
	if (t->stack_bytes > TIMER_STACK_MOST)
		t->stack_bytes = TIMER_STACK_MOST;
	timer_modes_begin(&t->modes, ours ? 0 : p->user_ns, ours ? 0 : p->system_ns);
	timer_heat(ts, t);
	return t;
}

static void thread_drop(struct timer_source *ts, struct timer_thread *t)
{
	struct timer_thread *last = ts->threads.data[--ts->threads.len];

	map64_del(&ts->by_tid, (uint64_t)t->tid);
	ts->threads.data[t->at] = last;
	last->at = t->at;
	if (last != t)
		map64_put(&ts->by_tid, (uint64_t)last->tid, (uint32_t)last->at);
	if (t->hot_at != SIZE_MAX)
		leave_hot(ts, t);
	timer_not_pending(ts, t);
	if (t->refused_ns)
		atomic_fetch_sub_explicit(&ts->status.unwatched, 1, memory_order_relaxed);
	close_kept(ts, &t->syscall_fd);
	close_kept(ts, &t->schedstat_fd);
	free(t);
}

/* A thread that was not watched before. The sink is told of a birth, or, if it is none, of a name.
 */
static void tell_born(struct timer_source *ts, const struct proc_task *p,
		      const struct proc_stat *st)
{
	struct raw_task raw = {
		.time_ns = clock_mono_ns(),
		.pid = p->pid,
		.tid = p->tid,
		.ppid = p->pid == p->tid ? st->ppid : p->pid,
		.ptid = p->pid == p->tid ? st->ppid : p->pid,
		.comm = p->comm,
	};

	if (!is_new(ts, p)) {
		ts->sink->ops->comm(ts->sink->ctx, &raw);
		return;
	}
	ts->sink->ops->fork(ts->sink->ctx, &raw);
	if (p->pid != p->tid || !timer_process_differs(ts, p->pid, st->ppid))
		return;
	raw.exec = true; /* it was forked and did exec before we saw it */
	ts->sink->ops->comm(ts->sink->ctx, &raw);
}

static void on_born(void *ctx, const struct proc_task *p)
{
	struct timer_source *ts = ctx;
	struct timer_thread *old = timer_find(ts, p->tid);
	struct proc_stat st = {0};

	if (p->pid == p->tid) {
		if (proc_stat_read(p->pid, 0, &st) || proc_stat_is_kernel(&st))
			return; /* a kernel thread has nothing that this sampler could see */
		timer_process_new(ts, p->pid);
	}
	if (old)
		thread_drop(ts, old);
	if (thread_add(ts, p))
		tell_born(ts, p, &st);
}

static void on_gone(void *ctx, const struct proc_task *p)
{
	struct timer_source *ts = ctx;
	struct timer_thread *t = timer_find(ts, p->tid);
	const struct raw_task raw = {.time_ns = clock_mono_ns(), .pid = p->pid, .tid = p->tid};

	if (!t)
		return;
	ts->sink->ops->exit(ts->sink->ctx, &raw);
	if (p->pid == p->tid)
		timer_process_gone(ts, p->pid);
	t->ended = true;
	if (!t->pending)
		thread_drop(ts, t);
}

/*
 * After a scan: who has ended and is pending no more goes; who seemed to be gone and is still there
 * is looked at again, as a process's first thread whose number another one took by an exec.
 */
static void settle_gone(struct timer_source *ts)
{
	for (size_t i = 0; i < ts->threads.len;) {
		struct timer_thread *t = ts->threads.data[i];

		if (!t->pending && t->ended) {
			thread_drop(ts, t);
			continue;
		}
		if (!t->pending)
			t->gone = false;
		i++;
	}
}

static void on_renamed(void *ctx, const struct proc_task *p)
{
	struct timer_source *ts = ctx;
	const struct raw_task raw = {
		.time_ns = clock_mono_ns(),
		.pid = p->pid,
		.tid = p->tid,
		.comm = p->comm,
	};

	ts->sink->ops->comm(ts->sink->ctx, &raw);
}

int timer_scan(struct timer_source *ts)
{
	static const struct tasks_ops ops = {
		.born = on_born,
		.gone = on_gone,
		.renamed = on_renamed,
	};
	uint64_t start = clock_mono_ns(), cost;
	int rc;

	timer_deliver(ts);
	rc = tasks_scan(ts->tasks, &ops, ts);
	settle_gone(ts);
	timer_watch_processes(ts);
	ts->scanned = true;
	ts->scan_began_ns = start;
	cost = clock_mono_ns() - start;
	ts->scan_ns = start + cost +
		      (cost * SCAN_SHARE > SCAN_LEAST_NS ? cost * SCAN_SHARE : SCAN_LEAST_NS);
	atomic_store_explicit(&ts->status.threads, (uint32_t)ts->threads.len, memory_order_relaxed);
	return rc;
}

void timer_threads_free(struct timer_source *ts)
{
	while (ts->threads.len)
		thread_drop(ts, ts->threads.data[ts->threads.len - 1]);
	vec_fini(&ts->threads);
	vec_fini(&ts->hot);
	timer_processes_free(ts);
	map64_fini(&ts->by_tid);
}
