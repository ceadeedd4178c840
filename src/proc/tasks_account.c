/*
 * tasks_account: what the kernel says each process and thread used, within a budget of time.
 *
 * Processes come first and always, from their CPU clocks (exited threads included). Then threads:
 * those that ran lately, busiest first, then the idle ones in turn, so that 2,000 sleeping threads
 * cost no more than the budget and one that wakes is found within a few rounds. Source thread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "proc/procfs.h"
#include "proc/tasks.h"
#include "proc/tasks_impl.h"

/* Split @cpu_ns as the ticks of user and system time divide it; neither part ever shrinks. */
static void split_time(uint64_t cpu_ns, uint64_t user_ticks, uint64_t system_ticks,
		       uint64_t *user_ns, uint64_t *system_ns)
{
	double all = (double)user_ticks + (double)system_ticks;
	uint64_t user = all > 0 ? (uint64_t)((double)cpu_ns * ((double)user_ticks / all)) : cpu_ns;

	if (user > cpu_ns)
		user = cpu_ns;
	if (user > *user_ns)
		*user_ns = user;
	if (cpu_ns - user > *system_ns)
		*system_ns = cpu_ns - user;
}

static void deliver(struct process *p, struct raw_account *a, uint64_t user_ticks,
		    uint64_t system_ticks, const struct sink *sink)
{
	split_time(a->cpu_ns, user_ticks, system_ticks, &p->user_ns, &p->system_ns);
	a->user_ns = p->user_ns;
	a->system_ns = p->system_ns;
	sink->ops->account(sink->ctx, a);
}

static void account_process(struct process *p, const struct sink *sink)
{
	struct raw_account a = {.time_ns = clock_mono_ns(), .pid = p->pid};
	struct proc_stat st;

	if (p->gone || proc_stat_read(p->pid, 0, &st) || st.start_ticks != p->start_ticks ||
	    proc_cpu_process(p->pid, &a.cpu_ns))
		return;
	p->state = a.state = st.state;
	deliver(p, &a, st.user_ticks, st.system_ticks, sink);
}

/* The same with the children that nobody saw, and once more when it is gone. */
static void account_witnessed(struct process *p, const struct sink *sink)
{
	struct raw_account a = {.time_ns = clock_mono_ns(), .pid = p->pid, .state = p->state};

	if (p->gone && !p->last_due)
		return;
	if (p->gone)
		a.state = 'X';
	else
		proc_cpu_process(p->pid, &p->cpu_ns);
	p->last_due = false;
	a.cpu_ns = p->cpu_ns + p->extra_ns;
	deliver(p, &a, p->user_ticks, p->system_ticks, sink);
}

static void account_thread(struct entry *e, const struct sink *sink)
{
	struct raw_account a = {.pid = e->t.pid, .tid = e->t.tid};
	uint64_t user = e->t.user_ns, system = e->t.system_ns, tick = proc_tick_ns();
	struct proc_ran ran;

	if (entry_refresh(e) || proc_ran_read(e->t.pid, e->t.tid, &ran))
		return; /* the next scan finds it gone */
	a.time_ns = clock_mono_ns();
	e->t.cpu_ns = ran.cpu_ns;
	split_time(e->t.cpu_ns, e->t.user_ns / tick, e->t.system_ns / tick, &user, &system);
	e->t.user_ns = user;
	e->t.system_ns = system;
	e->delta = e->accounted && e->t.cpu_ns > e->counted ? e->t.cpu_ns - e->counted : 0;
	e->counted = e->t.cpu_ns;
	e->accounted = true;
	e->waits_on = e->t.state == 'S' || e->t.state == 'D'
			      ? proc_waits_on(e->t.pid, e->t.tid, e->wait, sizeof e->wait)
			      : NULL;
	a.cpu_ns = e->t.cpu_ns;
	a.user_ns = e->t.user_ns;
	a.system_ns = e->t.system_ns;
	a.ready_ns = ran.ready_ns;
	a.runs = ran.runs;
	a.detailed = ran.detailed;
	a.state = e->t.state;
	a.waits_on = e->waits_on;
	sink->ops->account(sink->ctx, &a);
}

bool tasks_times(const struct tasks *t, pid_t tid, uint64_t *ret_user_ns, uint64_t *ret_system_ns)
{
	uint32_t i;

	if (!map64_get(&t->by_tid, (uint64_t)tid, &i))
		return false;
	*ret_user_ns = t->entries.data[i].t.user_ns;
	*ret_system_ns = t->entries.data[i].t.system_ns;
	return true;
}

static int busier(const void *a, const void *b, void *ctx)
{
	const struct tasks *t = ctx;
	uint64_t x = t->entries.data[*(const uint32_t *)a].delta;
	uint64_t y = t->entries.data[*(const uint32_t *)b].delta;

	return (x < y) - (x > y);
}

/* Indices of the threads that ran between their last two accounts, busiest first. */
static void order_busy(struct tasks *t)
{
	t->order.len = 0;
	for (size_t i = 0; i < t->entries.len; i++)
		if (t->entries.data[i].delta && vec_push(&t->order, (uint32_t)i))
			break;
	if (t->order.len)
		qsort_r(t->order.data, t->order.len, sizeof *t->order.data, busier, t);
}

void tasks_account(struct tasks *t, const struct sink *sink, uint64_t budget_ns)
{
	uint64_t start = clock_mono_ns(), busy_until = start + budget_ns / 4 * 3;

	for (size_t i = 0; i < t->processes.len; i++)
		(t->sole_witness ? account_witnessed : account_process)(&t->processes.data[i],
									sink);
	order_busy(t);
	for (size_t i = 0; i < t->order.len && clock_mono_ns() < busy_until; i++)
		account_thread(&t->entries.data[t->order.data[i]], sink);
	for (size_t n = t->entries.len, done = 0; n; n--, done++) {
		if (done && clock_mono_ns() >= start + budget_ns)
			break; /* one always gets its turn */
		if (t->account_at >= t->entries.len)
			t->account_at = 0;
		if (!t->entries.data[t->account_at].delta)
			account_thread(&t->entries.data[t->account_at], sink);
		t->account_at++;
	}
}
