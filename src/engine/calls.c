/*
 * calls: see calls.h. The processes are those whose threads the tables know alive; each that maps
 * the function's file is counted in.
 */
#include "engine/calls.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/build.h"
#include "sample/callcount.h"
#include "symbol/locate.h"

#define PLACES_MAX 256  /* processes that have the function's code */
#define SEEN_MAX   4096 /* … and that are looked at */

bool calls_any(struct calls_box *box)
{
	pthread_mutex_lock(&box->lock);
	bool any = box->n;
	pthread_mutex_unlock(&box->lock);
	return any;
}

bool calls_known(struct calls_box *box, func_id func, struct call_rate *ret)
{
	bool found = false;

	pthread_mutex_lock(&box->lock);
	for (uint32_t i = 0; !found && i < box->n && i < CALLS_KEPT; i++) {
		*ret = box->data[(box->n - 1 - i) % CALLS_KEPT];
		found = ret->func == func;
	}
	pthread_mutex_unlock(&box->lock);
	return found;
}

static void keep(struct calls_box *box, const struct call_rate *rate)
{
	pthread_mutex_lock(&box->lock);
	box->data[box->n++ % CALLS_KEPT] = *rate;
	if (box->n == 2 * CALLS_KEPT)
		box->n = CALLS_KEPT;
	pthread_mutex_unlock(&box->lock);
}

/*
 * Shares are of the CPU time of the whole target: nothing is hidden, no thread alone. Where kernel
 * code is not sampled they are of the time in user code, and so is what a call takes.
 */
static bool of_cpu_time(const struct build *b)
{
	enum account_scope scope = b->e->profile.scope;

	return b->desc && b->desc->cpu_time && !b->q->task && !(b->q->flags & QUERY_FILTERS) &&
	       !b->q->focus.kind && (scope == SCOPE_ALL || scope == SCOPE_USER);
}

/* What a call takes, callees included, of a function with this share of the view's time; NAN where
 * shares are of something else. */
static double calls_each_ns(const struct build *b, const struct call_rate *rate, double share)
{
	return of_cpu_time(b) && !rate->partial && rate->per_cpu_s > 0
		       ? share / rate->per_cpu_s * 1e9
		       : NAN;
}

static const char *time_text(struct build *b, double ns)
{
	return ns < 1e3   ? build_text(b, "%.0f ns", ns)
	       : ns < 1e6 ? build_text(b, "%.1f µs", ns / 1e3)
	       : ns < 1e9 ? build_text(b, "%.1f ms", ns / 1e6)
			  : build_text(b, "%.1f s", ns / 1e9);
}

double calls_least(const struct call_rate *rate)
{
	return rate->per_cpu_s / (1 + rate->error);
}

/* Two digits are more than is known, but for small numbers. */
static double rounded(double v)
{
	double unit = v >= 1000 ? pow(10, floor(log10(v)) - 1) : 1;

	return round(v / unit) * unit;
}

/* A breakpoint may slow code down by more than its exceptions: what was counted is the least. */
static int rate_text(const struct call_rate *rate, char *text, size_t size)
{
	return snprintf(text, size, "at least %.0f calls for each second of the target's CPU time",
			rounded(calls_least(rate)));
}

const char *calls_text(struct build *b, func_id func, double share, double margin)
{
	struct call_rate rate;
	char often[112];
	double each;

	if (func & FID_FRAME || !calls_known(&b->e->calls, func, &rate))
		return "";
	rate_text(&rate, often, sizeof often);
	each = calls_each_ns(b, &rate, share);
	if (!(each > 0))
		return build_text(b, "%s", often);
	each *= (1 + rate.error) * (1 + margin / share);
	return build_text(b, "%s, at most %s each%s with callees", often, time_text(b, each),
			  b->e->profile.scope == SCOPE_USER ? " in user code," : "");
}

/* Where the function lies in every process that is watched; *ret_all: each of them has it. */
static uint32_t find_places(struct engine *e, const struct func *f, struct calls_place *places,
			    bool *ret_all, struct err *err)
{
	uint32_t n = 0, count = tables_task_count(e->tables);
	pid_t seen[SEEN_MAX];
	uint32_t nseen = 0;

	for (task_id id = 1; id <= count && nseen < SEEN_MAX && n < PLACES_MAX; id++) {
		const struct task *t = tables_task_get(e->tables, id);
		bool known = t->pid <= 0 || atomic_load(&t->gone_ns);

		for (uint32_t i = 0; !known && i < nseen; i++)
			known = seen[i] == t->pid;
		if (known)
			continue;
		seen[nseen++] = t->pid;
		places[n].pid = t->pid;
		if (!function_locate(t->pid, e->tables, f, e->setup.symfs, &places[n].addr, err))
			n++;
	}
	*ret_all = n == nseen && nseen < SEEN_MAX && n < PLACES_MAX;
	return n;
}

static void tell(struct engine *e, const char *name, const struct calls_result *r,
		 const struct call_rate *rate)
{
	double s = (double)r->elapsed_ns / 1e9;
	char often[112];

	if (!r->calls) {
		engine_tell(e, NOTICE_INFO, "%.80s: not called in %.2f s%s", name, s,
			    r->cpu_ns ? "" : ", in which nothing ran");
		return;
	}
	rate_text(rate, often, sizeof often);
	engine_tell(
		e, NOTICE_INFO,
		"%.80s: %s%s; %llu were counted in %.2f s, and counting made each %.1f \xc2\xb5s "
		"slower",
		name, often, r->unwatched ? " (of the threads that could be watched)" : "",
		(unsigned long long)r->calls, s, (double)r->cost_ns / 1e3);
}

/* Execve puts another program where the breakpoint was. */
static bool still_there(struct engine *e, func_id func, const struct calls_place *places,
			uint32_t n)
{
	const struct func *f = tables_func_get(e->tables, func);

	for (uint32_t i = 0; i < n; i++) {
		struct err err = {0};
		uint64_t addr = 0;
		int rc = function_locate(places[i].pid, e->tables, f, e->setup.symfs, &addr, &err);

		if (rc == -ENOENT || (!rc && addr != places[i].addr))
			return false;
	}
	return true;
}

static void count(struct engine *e, func_id func, const char *name,
		  const struct calls_place *places, uint32_t n, bool all)
{
	struct call_rate rate = {.func = func};
	struct err err = {0};
	struct calls_result r;

	if (calls_count(places, n, &e->stopping, &r, &err)) {
		engine_tell(e, NOTICE_WARN, "%.80s: %s", name, err.msg);
		return;
	}
	if (!still_there(e, func, places, n)) {
		engine_tell(e, NOTICE_WARN, "%.80s: another program took its place meanwhile",
			    name);
		return;
	}
	if (r.cpu_ns && r.calls) {
		rate.per_cpu_s = (double)r.calls / ((double)r.cpu_ns / 1e9);
		rate.error = r.error;
		rate.partial = !all || r.unwatched;
		rate.at_ns = clock_mono_ns();
		keep(&e->calls, &rate);
	}
	tell(e, name, &r, &rate);
	engine_wake(e);
}

void calls_job(struct engine *e, const struct job *job)
{
	const struct func *f = tables_func_get(e->tables, job->func);
	const char *name = tables_text(e->tables, f->shown);
	struct calls_place *places = calloc(PLACES_MAX, sizeof *places);
	struct err err = {0};
	bool all = false;
	uint32_t n = places ? find_places(e, f, places, &all, &err) : 0;

	if (n)
		count(e, job->func, name, places, n, all);
	else
		engine_tell(e, NOTICE_WARN, "%.80s: %s", name,
			    err.msg[0] ? err.msg
				       : "no process that is watched has its code mapped");
	free(places);
}
