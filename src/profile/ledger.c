/*
 * ledger: turns cumulative readings into differences.
 *
 * Engine thread. [unsampled] compares, from reading to reading, what the kernel accounted to a
 * process with what its samples stand for, so that neither a window's edge nor the cadence of
 * readings shows as a difference. Where another clock began to be sampled since the last reading,
 * the difference is shared as the samples are. A reading that goes backwards (a source that mixes
 * clocks), or of a thread further than there was time for (at an exec it took another one's
 * number), starts anew.
 */
#include "profile/ledger.h"

#include <stdlib.h>
#include <string.h>

#define LEDGER_MAX (1u << 22)
#define LAG_NS     1000000000ull /* the kernel accounts to a thread that runs at its clock's ticks */

static const struct ledger_entry unknown = {.cpu = -1, .user = -1, .system = -1, .ready = -1};

void ledger_fini(struct ledger *l)
{
	free(l->data);
	*l = (struct ledger){0};
}

const struct ledger_entry *ledger_get(const struct ledger *l, task_id task)
{
	return task < l->cap ? &l->data[task] : &unknown;
}

static struct ledger_entry *entry_of(struct ledger *l, task_id task)
{
	if (task < l->cap)
		return &l->data[task];
	if (!task || task >= LEDGER_MAX)
		return NULL;
	uint32_t cap = l->cap ? l->cap : 64;
	while (cap <= task)
		cap *= 2;
	struct ledger_entry *data = realloc(l->data, cap * sizeof *data);
	if (!data)
		return NULL;
	for (uint32_t i = l->cap; i < cap; i++)
		data[i] = unknown;
	l->data = data;
	l->cap = cap;
	return &data[task];
}

void ledger_sampled(struct ledger *l, task_id process, uint16_t event, uint64_t ns)
{
	struct ledger_entry *e = process ? entry_of(l, process) : NULL;
	if (!e)
		return;
	if (e->now.event != event) {
		struct ledger_sum other = e->before;
		e->before = e->now;
		if (other.event != event) { /* a third: seldom, and its sum is all that counts */
			e->before.ns += other.ns;
			other = (struct ledger_sum){.event = event};
		}
		e->now = other;
	}
	e->now.ns += ns;
}

static void put(struct cells *cells, task_id task, unsigned kind, uint64_t weight)
{
	struct cell c = {.node = UINT32_MAX,
			 .task = task,
			 .event = (uint16_t)kind,
			 .flags = CELL_ACCOUNT,
			 .weight = weight};
	if (weight)
		cells_add(cells, &c);
}

static uint64_t in_scope(const struct account *a, enum account_scope scope)
{
	return scope == SCOPE_USER ? a->user_ns : scope == SCOPE_KERNEL ? a->system_ns : a->cpu_ns;
}

static uint64_t in_scope_then(const struct ledger_entry *e, enum account_scope scope)
{
	return scope == SCOPE_USER ? e->user_ns : scope == SCOPE_KERNEL ? e->system_ns : e->cpu_ns;
}

/* user and system come from coarser clocks than cpu and may step back a little. */
static uint64_t grown(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

static void put_unsampled(const struct ledger_entry *e, const struct account *a,
			  enum account_scope scope, uint16_t clock, struct cells *cells)
{
	uint64_t sampled = e->now.ns + e->before.ns;
	uint64_t missing = in_scope(a, scope) - in_scope_then(e, scope) - sampled;
	int64_t before = 0;

	if (e->before.ns)
		before = (int64_t)((double)(int64_t)missing * (double)e->before.ns /
				   (double)sampled);
	put(cells, a->task, ACCOUNT_UNSAMPLED + (sampled ? e->now.event : clock),
	    missing - (uint64_t)before);
	put(cells, a->task, ACCOUNT_UNSAMPLED + e->before.event, (uint64_t)before);
}

static void put_differences(struct ledger_entry *e, const struct account *a,
			    enum account_scope scope, uint16_t clock, struct cells *cells)
{
	uint64_t span = a->time_ns - e->time_ns;
	uint64_t cpu = a->cpu_ns - e->cpu_ns;
	uint64_t user = grown(a->user_ns, e->user_ns), system = grown(a->system_ns, e->system_ns);

	put(cells, a->task, ACCOUNT_CPU, cpu);
	put(cells, a->task, ACCOUNT_USER, user);
	put(cells, a->task, ACCOUNT_SYSTEM, system);
	e->ready = -1;
	if (a->detailed && e->detailed) {
		uint64_t ready = grown(a->ready_ns, e->ready_ns);
		put(cells, a->task, ACCOUNT_READY, ready);
		put(cells, a->task, ACCOUNT_RUNS, grown(a->runs, e->runs));
		e->ready = (double)ready / (double)span;
	}
	if (cpu)
		put(cells, a->task, ACCOUNT_SPAN, span);
	if (a->process && scope != SCOPE_NONE)
		put_unsampled(e, a, scope, clock, cells);
	e->cpu = (double)cpu / (double)span;
	e->user = (double)user / (double)span;
	e->system = (double)system / (double)span;
}

/* Can the thread or process that @e was read of be the one that was read now? */
static bool goes_on(const struct ledger_entry *e, const struct account *a)
{
	return a->cpu_ns >= e->cpu_ns &&
	       (a->process || a->cpu_ns - e->cpu_ns <= a->time_ns - e->time_ns + LAG_NS);
}

void ledger_read(struct ledger *l, const struct account *a, enum account_scope scope,
		 uint16_t clock, struct cells *cells)
{
	struct ledger_entry *e = entry_of(l, a->task);
	if (!e)
		return;
	if (!e->seen && a->whole_life && a->born_ns < a->time_ns) {
		e->seen = true;
		e->detailed = true;
		e->time_ns = a->born_ns;
	}
	if (e->seen && a->time_ns > e->time_ns && goes_on(e, a))
		put_differences(e, a, scope, clock, cells);
	else if (e->seen && a->time_ns <= e->time_ns)
		return; /* told twice */
	e->seen = true;
	e->time_ns = a->time_ns;
	e->cpu_ns = a->cpu_ns;
	if (a->user_ns > e->user_ns || a->cpu_ns < e->cpu_ns)
		e->user_ns = a->user_ns;
	if (a->system_ns > e->system_ns || a->cpu_ns < e->cpu_ns)
		e->system_ns = a->system_ns;
	e->ready_ns = a->ready_ns;
	e->runs = a->runs;
	e->detailed = a->detailed;
	e->now.ns = e->before.ns = 0;
	if (a->state)
		e->state = a->state;
	e->waits_on = a->waits_on;
}
