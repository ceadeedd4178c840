/*
 * callcount: see callcount.h. A group a thread: the breakpoint leads, the thread's clock follows,
 * so that both begin and end together; threads that are born meanwhile inherit it.
 */
#include "sample/callcount.h"

#include <dirent.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "event/perf_open.h"
#include "proc/permit.h"

#define LOOK_NS       2000000ULL /* between two looks at the counters */
#define FD_KEPT       128        /* descriptors left to the rest of the program */
#define TRIES         5
#define TURNS         400
#define OTHERS_DIFFER 0.05

struct pair {
	int calls, clock;
};

struct watch {
	VEC(struct pair)
	uint32_t unwatched;
	size_t most;
	int refused; /* the first -errno that was not a thread's end */
};

static void watch_fini(struct watch *w)
{
	for (size_t i = 0; i < w->len; i++) {
		close(w->data[i].clock);
		close(w->data[i].calls);
	}
	vec_fini(w);
}

static int open_pair(pid_t tid, uint64_t addr, struct pair *ret)
{
	struct perf_event_attr calls = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof calls,
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = addr,
		.bp_len = sizeof(long),
		.disabled = 1,
		.inherit = tid != 0,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct perf_event_attr clock = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof clock,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.inherit = tid != 0,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	ret->calls = perf_open(&calls, tid, -1, -1, 0);
	if (ret->calls < 0)
		return ret->calls;
	ret->clock = perf_open(&clock, tid, -1, ret->calls, 0);
	if (ret->clock >= 0)
		return 0;
	close(ret->calls);
	return ret->clock;
}

static void watch_thread(struct watch *w, pid_t tid, uint64_t addr)
{
	struct pair p;
	int rc = w->len < w->most ? open_pair(tid, addr, &p) : -EMFILE;

	if (rc == -ESRCH)
		return;
	if (rc) {
		w->unwatched++;
		w->refused = w->refused ? w->refused : rc;
		return;
	}
	if (vec_push(w, p)) {
		close(p.clock);
		close(p.calls);
		w->unwatched++;
		w->refused = -ENOMEM;
	}
}

static void watch_process(struct watch *w, const struct calls_place *p)
{
	char path[64];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task", (int)p->pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		long tid = strtol(d->d_name, NULL, 10);

		if (tid > 0)
			watch_thread(w, (pid_t)tid, p->addr);
	}
	if (dir)
		closedir(dir);
}

static uint64_t value(int fd)
{
	uint64_t v;

	return read(fd, &v, sizeof v) == sizeof v ? v : 0;
}

static void set_all(const struct watch *w, unsigned long what)
{
	for (size_t i = 0; i < w->len; i++)
		ioctl(w->data[i].calls, what, PERF_IOC_FLAG_GROUP);
}

static uint64_t calls_so_far(const struct watch *w)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w->len; i++)
		sum += value(w->data[i].calls);
	return sum;
}

static void count(struct watch *w, const atomic_bool *stop, struct calls_result *ret)
{
	uint64_t start = clock_mono_ns(), now = start, looked = start;

	set_all(w, PERF_EVENT_IOC_ENABLE);
	do {
		/* with thousands of threads looking takes its time: rest ten times as long */
		uint64_t rest = 10 * (now - looked) > LOOK_NS ? 10 * (now - looked) : LOOK_NS;

		nanosleep(&(struct timespec){.tv_nsec = (long)(rest < 50000000 ? rest : 50000000)},
			  NULL);
		looked = clock_mono_ns();
		ret->calls = calls_so_far(w);
		now = clock_mono_ns();
	} while (ret->calls < CALLS_ENOUGH && now - start < CALLS_MOST_NS &&
		 !(stop && atomic_load(stop)));
	set_all(w, PERF_EVENT_IOC_DISABLE);
	ret->calls = calls_so_far(w);
	ret->elapsed_ns = clock_mono_ns() - start;
	for (size_t i = 0; i < w->len; i++)
		ret->cpu_ns += value(w->data[i].clock);
}

static __attribute__((noinline)) uint64_t nothing_much(uint64_t x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

static uint64_t turns(void)
{
	uint64_t start = clock_thread_cpu_ns();
	volatile uint64_t x = 0;

	for (int i = 0; i < TURNS; i++)
		x = nothing_much(x);
	return clock_thread_cpu_ns() - start;
}

struct cost {
	double ns, error; /* of one call, and how far that may be off */
};

/* What the exception costs, on this thread: the mean of a few tries. 0: not to be measured. */
static struct cost cost_of_a_call(void)
{
	double sum = 0, least = INFINITY, most = 0;
	uint32_t n = 0;
	struct pair p;

	if (open_pair(0, (uint64_t)(uintptr_t)nothing_much, &p))
		return (struct cost){0};
	for (int i = -1; i < TRIES; i++) { /* the first warms up */
		double bare = (double)turns(), each;

		ioctl(p.calls, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
		each = ((double)turns() - bare) / TURNS;
		ioctl(p.calls, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
		if (i < 0 || each < 0)
			continue;
		sum += each;
		n++;
		least = each < least ? each : least;
		most = each > most ? each : most;
	}
	close(p.clock);
	close(p.calls);
	return (struct cost){n ? sum / n : 0, most > least ? (most - least) / 2 : 0};
}

/* The target's threads do not pay just what this one does. */
static void take_off(struct calls_result *r, const struct cost *cost)
{
	double lost = (double)r->calls * cost->ns, left = (double)r->cpu_ns - lost;
	double off = (double)r->calls * fmax(cost->error, OTHERS_DIFFER * cost->ns);

	r->cost_ns = (uint64_t)cost->ns;
	r->cpu_ns = left > off ? (uint64_t)left : (uint64_t)off;
	if (r->cpu_ns && r->calls)
		r->error = hypot(off / (double)r->cpu_ns, 1 / sqrt((double)r->calls));
}

static int refuse(const struct watch *w, pid_t pid, struct err *err)
{
	if (!w->refused)
		return err_set(err, ESRCH, "no thread that could be watched is left");
	if (w->refused == -ENOSPC)
		return err_set(err, ENOSPC,
			       "the debug registers that count calls are in use (a debugger, or "
			       "mem: events)");
	return perf_open_explain(w->refused, "counting calls", pid, -1, err);
}

int calls_count(const struct calls_place *places, uint32_t n, const atomic_bool *stop,
		struct calls_result *ret, struct err *err)
{
	struct permit limits;
	struct watch w = {0};
	struct cost cost = cost_of_a_call();

	*ret = (struct calls_result){0};
	permit_read(&limits);
	w.most = limits.nofile_soft > 4 * FD_KEPT ? (limits.nofile_soft - FD_KEPT) / 4
						  : FD_KEPT / 2;
	for (uint32_t i = 0; i < n; i++)
		watch_process(&w, &places[i]);
	if (!w.len) {
		int rc = refuse(&w, n ? places[0].pid : 0, err);

		watch_fini(&w);
		return rc;
	}
	count(&w, stop, ret);
	ret->threads = (uint32_t)w.len;
	ret->unwatched = w.unwatched;
	take_off(ret, &cost);
	watch_fini(&w);
	return 0;
}
