/*
 * timer_modes: keeps system calls from being seen more often than their time is worth.
 *
 * Samples in calls are held against the kernel's account of system time, which its clock tick takes
 * without asking anybody to stop. Where they are too many beyond chance, each keeps its due part of
 * its weight, and the thread's next sample in user code gets the rest: that code ran when the stop
 * was asked for. The sum stays the CPU time. Older time counts less and less. Sampler thread.
 */
#include <math.h>

#include "proc/tasks.h"
#include "sample/timer_impl.h"

#define TICK_NS   (10.0 * (double)MS) /* of the account: never coarser */
#define ENOUGH_NS (100.0 * (double)MS)
#define MEMORY_NS (5000.0 * (double)MS)
#define LEND_MOST 8 /* intervals: a thread that stays in the kernel from now on keeps its own */

void timer_modes_begin(struct timer_modes *m, uint64_t user_ns, uint64_t system_ns)
{
	*m = (struct timer_modes){.last_user_ns = user_ns, .last_system_ns = system_ns, .keep = 1};
}

/* Of what a sample in a call stands for, which part is a call's? Both shares have their errors. */
static double keep(const struct timer_modes *m)
{
	double ticks = m->accounted_ns / TICK_NS, share, seen, error;

	if (m->accounted_ns < ENOUGH_NS || m->seen_ns <= 0)
		return 1;
	share = (m->system_ns + TICK_NS / 2) / (m->accounted_ns + TICK_NS);
	seen = m->call_ns / m->seen_ns;
	error = sqrt(share * (1 - share) / ticks);
	return seen > share + 2 * error ? share / seen : 1;
}

void timer_modes_learn(struct timer_modes *m, double system_ns, double user_ns)
{
	m->system_ns += system_ns;
	m->accounted_ns += system_ns + user_ns;
	m->keep = keep(m);
	if (m->accounted_ns > MEMORY_NS) {
		double fade = MEMORY_NS / m->accounted_ns;

		m->call_ns *= fade;
		m->seen_ns *= fade;
		m->system_ns *= fade;
		m->accounted_ns *= fade;
	}
}

void timer_modes_account(struct timer_source *ts)
{
	double all_system = 0, all_user = 0;

	for (size_t i = 0; i < ts->hot.len; i++) {
		struct timer_thread *t = ts->hot.data[i];
		struct timer_modes *m = &t->modes;
		uint64_t user, system;
		double more_user, more_system;

		if (!tasks_times(ts->tasks, t->tid, &user, &system) || user < m->last_user_ns ||
		    system < m->last_system_ns)
			continue;
		more_user = (double)(user - m->last_user_ns);
		more_system = (double)(system - m->last_system_ns);
		if (more_user + more_system <= 0)
			continue;
		m->last_user_ns = user;
		m->last_system_ns = system;
		timer_modes_learn(m, more_system, more_user);
		all_system += more_system;
		all_user += more_user;
	}
	if (all_system + all_user > 0)
		timer_modes_learn(&ts->modes, all_system, all_user);
}

uint64_t timer_modes_weigh(struct timer_source *ts, struct timer_thread *t, enum timer_mode mode,
			   uint64_t ns)
{
	const struct timer_modes *m = t->modes.accounted_ns < ENOUGH_NS ? &ts->modes : &t->modes;
	struct timer_modes *seen[] = {&t->modes, &ts->modes};
	uint64_t kept;

	for (size_t i = 0; i < 2; i++) {
		seen[i]->seen_ns += (double)ns;
		if (mode == MODE_CALL)
			seen[i]->call_ns += (double)ns;
	}
	if (mode == MODE_USER) {
		ns += t->lent_ns;
		t->lent_ns = 0;
		return ns;
	}
	kept = (uint64_t)((double)ns * m->keep);
	if (!kept || t->lent_ns + (ns - kept) > LEND_MOST * ts->interval_ns)
		return ns;
	t->lent_ns += ns - kept;
	return kept;
}
