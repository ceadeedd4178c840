/*
 * perf_watch: which events are open on what: threads one by one, or whole CPUs.
 *
 * One event per thread and CPU costs only the target, but takes descriptors, and a clock that is
 * inherited starts each new thread with a full period, so that short-lived threads are seen too
 * seldom. One event per CPU sees everything exactly, needs privilege, and samples everybody else
 * too. So: threads, unless they are too many or come and go too fast and privilege allows CPUs.
 * Without privilege and descriptors enough: the busiest threads, the others counted as unwatched.
 * Source thread.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "proc/procfs.h"
#include "proc/tasks.h"
#include "sample/perf_impl.h"
#include "sample/perf_setup.h"

#define TURNOVER_LOOK_NS (250 * MS)
#define BRIEF_LEAST      4
#define BRIEF_BIAS       0.01      /* of a CPU: what may be missed in threads that end soon */
#define BIRTH_BIAS       0.1       /* … in all threads just born */
#define QUICK_NS         (50 * MS) /* between scans while they find something */
#define QUICK_SCANS      20
#define MANY_FDS         1024 /* opening more takes longer than the first screen may */
#define SWAPS_MOST       32   /* threads exchanged in one look */

struct fleet **perf_fleets(struct perf_source *ps, unsigned i)
{
	struct fleet **all[PERF_FLEETS] = {&ps->side, &ps->sampling, &ps->next_side, &ps->next};

	return all[i];
}

int perf_plans(struct perf_source *ps, bool cpu_wide, bool folded, struct plan *ret_sampling,
	       struct plan *ret_side)
{
	struct plan_setup setup = ps->setup;
	int rc = 0;
	/*
	 * A kernel that cannot read inherited groups (before 6.12) gets one group a thread; new
	 * threads are opened as records tell of them. Those of whole CPUs inherit nothing.
	 */
	bool together = ps->groups &&
			(cpu_wide || ps->groups_inherit || !folded || !ps->setup.inherit);
	bool alone = together && !cpu_wide && !ps->groups_inherit;
	bool turns = false;

	setup.cpu_wide = cpu_wide;
	setup.count_exits = !ps->allowed.cpu_wide || ps->rings.n <= 16; /* one record a CPU */
	*ret_sampling = *ret_side = (struct plan){0};
	setup.inherit = ps->setup.inherit && !alone;
	for (uint32_t i = 0, n, pick; !rc && i < ps->nevents; i += n) {
		uint16_t index = (uint16_t)(ps->first_event + i);

		n = 1;
		pick = 0;
		while (together && i + n < ps->nevents && ps->leader[i + n] == i)
			n++;
		while (pick + 1 < n && !(ps->sampled >> (i + pick) & 1))
			pick++;
		/* One alone is a group too: its readings tell how long it was counted. */
		bool read = n > 1 || (together && plan_takes_counter(&ps->events[i]));
		rc = read ? plan_add_group(ret_sampling, &ps->events[i], n, pick, index, &setup)
			  : plan_add(ret_sampling, &ps->events[i], index, &setup);
		for (uint32_t k = 0; read && k < n; k++)
			turns |= plan_takes_counter(&ps->events[i + k]);
	}
	if (!rc && cpu_wide && turns)
		rc = plan_add_switches(ret_sampling, &setup);
	setup.inherit = ps->setup.inherit;
	if (!rc)
		rc = folded ? plan_fold_side(ret_sampling, &setup)
			    : plan_add_side(ret_side, &setup);
	return rc;
}

static int by_cpu_time(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->cpu_ns < y->cpu_ns) - (x->cpu_ns > y->cpu_ns);
}

/* With descriptors for some threads only, the busiest so far come first. */
static void want_all(struct perf_source *ps, struct fleet *f)
{
	size_t n = ps->roster.members.len;
	struct member *copy = malloc((n + 1) * sizeof *copy);

	if (copy && n) {
		memcpy(copy, ps->roster.members.data, n * sizeof *copy);
		qsort(copy, n, sizeof *copy, by_cpu_time);
	}
	for (size_t i = 0; i < n; i++)
		fleet_want(f, (copy ? copy : ps->roster.members.data)[i].tid, 0);
	free(copy);
}

/* Does /proc tell who is watched? Not where everybody is who happens to run on some CPUs. */
static bool listed(const struct perf_source *ps)
{
	return !ps->everything || ps->target->all || ps->target->cgroup;
}

/* Threads that are there now, on the way to the sink already. */
static int first_scan(struct perf_source *ps, struct err *err)
{
	ps->starting = true;
	ps->opened_ns = clock_mono_ns();
	if (!listed(ps))
		return 0;
	if (perf_scan(ps) < 0)
		return err_set(err, EACCES, "/proc cannot be read: is it mounted?");
	return 0;
}

/* One thread first: its refusal is the target's. */
static int open_first(struct perf_source *ps, struct err *err)
{
	for (size_t i = 0; i < ps->roster.members.len; i++) {
		struct member *m = &ps->roster.members.data[i];
		int rc = ps->side ? fleet_open_thread(ps->side, m->tid) : 0;

		if (!rc)
			rc = fleet_open_thread(ps->sampling, m->tid);
		if (rc == -ESRCH)
			continue;
		if (rc)
			return perf_open_explain(rc, ps->events[0].name, m->tid, -1, err);
		return 0;
	}
	return err_set(err, ESRCH, "the target ended before it could be watched");
}

static int open_cpus(struct perf_source *ps, struct err *err)
{
	int rc = fleet_open_cpus(ps->side, -1);

	if (!rc)
		rc = fleet_open_cpus(ps->sampling, ps->cgroup_fd);
	return rc ? perf_open_explain(rc, ps->events[0].name, -1, ps->cpus[0], err) : 0;
}

/* How many descriptors it takes to watch every thread by itself. */
static uint64_t threads_need(const struct perf_source *ps, uint32_t events)
{
	return (uint64_t)ps->roster.members.len * events * ps->rings.n;
}

int perf_arrange(struct perf_source *ps, struct err *err)
{
	bool cpu_wide = ps->everything || ps->target->by_user, folded = false;
	struct plan sampling, side;
	uint64_t room = ps->ids.fds_max;
	int rc = first_scan(ps, err);

	if (rc)
		return rc;
	if (!cpu_wide &&
	    threads_need(ps, ps->nevents + 1) >
		    (ps->allowed.cpu_wide && room > MANY_FDS * 2 ? MANY_FDS : room / 2)) {
		cpu_wide = ps->allowed.cpu_wide && !ps->groups;
		folded = !cpu_wide && threads_need(ps, ps->nevents + 1) > room - room / 8;
	}
	rc = perf_plans(ps, cpu_wide, folded, &sampling, &side);
	if (rc)
		return perf_open_explain(rc, ps->events[0].name, 0, -1, err);
	ps->sampling = fleet_new(&sampling, &ps->rings, &ps->ids, cpu_wide, false);
	if (!folded)
		ps->side = fleet_new(&side, &ps->rings, &ps->ids, cpu_wide, true);
	if (!ps->sampling || (!folded && !ps->side))
		return err_set(err, ENOMEM, "no memory");
	if (cpu_wide)
		return open_cpus(ps, err);
	rc = open_first(ps, err);
	if (rc)
		return rc;
	if (ps->side)
		want_all(ps, ps->side);
	want_all(ps, ps->sampling);
	return 0;
}

/* Open one thread that waits. */
static void work_one(struct perf_source *ps, struct fleet *f, pid_t tid)
{
	struct member *m = roster_find(&ps->roster, tid);
	char comm[32];
	int rc;

	if (!m || fleet_watches(f, tid))
		return;
	if (!m->announced)
		perf_announce(ps, m,
			      procfs_read(m->pid, tid, "comm", comm, sizeof comm) > 0
				      ? strtok(comm, "\n")
				      : "");
	rc = fleet_open_thread(f, tid);
	if (rc == -EMFILE || rc == -ENFILE)
		f->capped = true;
	else if (rc == -EACCES || rc == -EPERM)
		f->denied++;
	else if (rc == -ESRCH)
		m->missing = true;
}

/* True: nothing is left that could be opened now. */
static bool fleet_work(struct perf_source *ps, struct fleet *f, uint64_t deadline)
{
	size_t kept = 0, i = 0;
	bool done;

	for (; i < f->todo.len; i++) {
		struct fleet_todo t = f->todo.data[i];
		uint64_t now = clock_mono_ns();

		if (now >= deadline)
			break;
		if (t.not_before_ns > now)
			f->todo.data[kept++] = t;
		else
			work_one(ps, f, t.tid);
	}
	done = i == f->todo.len;
	for (; i < f->todo.len; i++)
		f->todo.data[kept++] = f->todo.data[i];
	f->todo.len = kept;
	return done;
}

bool perf_watch_work(struct perf_source *ps, uint64_t budget_ns)
{
	uint64_t deadline = clock_mono_ns() + budget_ns;
	bool done = true;

	for (unsigned i = 0; i < PERF_FLEETS; i++) {
		struct fleet *f = *perf_fleets(ps, i);

		if (f && f->todo.len)
			done &= fleet_work(ps, f, deadline);
	}
	return done;
}

/*
 * Each new thread starts with a whole period to go, so that half a period of it is missed on
 * average. That matters where many end soon after, or where very many are born.
 */
static void check_turnover(struct perf_source *ps, uint64_t now)
{
	double each = (double)plan_period_ns(&ps->setup) / 2 / TURNOVER_LOOK_NS;
	bool brief = ps->brief >= BRIEF_LEAST && (double)ps->brief * each > BRIEF_BIAS;

	if (!ps->sampling->cpu_wide && ps->allowed.cpu_wide && !ps->listed_only && !ps->groups &&
	    !ps->shift && (brief || (double)ps->births * each > BIRTH_BIAS || ps->sampling->capped))
		perf_shift(ps, true);
	if (now - ps->turnover_ns >= TURNOVER_LOOK_NS) {
		ps->births = ps->brief = 0;
		ps->turnover_ns = now;
	}
}

/* Who ran since the last look, watched or not. */
static void measure(struct perf_source *ps)
{
	for (size_t i = 0; i < ps->roster.members.len; i++) {
		struct member *m = &ps->roster.members.data[i];
		uint64_t cpu_ns;

		m->busy_ns = 0;
		if (proc_cpu_read(m->pid, m->tid, &cpu_ns))
			continue;
		if (m->cpu_ns && cpu_ns > m->cpu_ns)
			m->busy_ns = cpu_ns - m->cpu_ns;
		m->cpu_ns = cpu_ns;
	}
}

static int by_busy(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->busy_ns < y->busy_ns) - (x->busy_ns > y->busy_ns);
}

/* Descriptors go from threads that rest to threads that work and are not watched. */
static void exchange(struct perf_source *ps)
{
	size_t n = ps->roster.members.len, low = n, swaps = 0;
	struct member *m;

	measure(ps);
	m = malloc((n + 1) * sizeof *m);
	if (!m)
		return;
	memcpy(m, ps->roster.members.data, n * sizeof *m);
	qsort(m, n, sizeof *m, by_busy);
	for (size_t high = 0; high < low && swaps < SWAPS_MOST && m[high].busy_ns; high++) {
		if (fleet_watches(ps->sampling, m[high].tid))
			continue;
		while (low > high + 1 && !fleet_alone(ps->sampling, m[low - 1].tid))
			low--;
		if (low <= high + 1 || m[high].busy_ns < 2 * m[low - 1].busy_ns + 10 * MS)
			break;
		low--;
		fleet_close_thread(ps->sampling, m[low].tid);
		if (ps->side)
			fleet_close_thread(ps->side, m[low].tid);
		fleet_want(ps->sampling, m[high].tid, 0);
		if (ps->side)
			fleet_want(ps->side, m[high].tid, 0);
		swaps++;
	}
	free(m);
}

static void say_unwatched(struct perf_source *ps, uint32_t unwatched)
{
	char text[256];

	snprintf(text, sizeof text,
		 "%u of %u threads are not watched: each takes %u file descriptors and the hard "
		 "limit is %llu (EMFILE); the busiest are watched. Type: ulimit -Hn 65536 as root, "
		 "or run as root",
		 unwatched, (unsigned)ps->roster.members.len,
		 fleet_seat_fds(&ps->sampling->plan, &ps->rings),
		 (unsigned long long)ps->permit.nofile_hard);
	ps->sink->ops->say(ps->sink->ctx, text);
}

/* How many threads live that no event sees. */
static void count_unwatched(struct perf_source *ps)
{
	uint32_t n = 0, before = atomic_load_explicit(&ps->status.unwatched, memory_order_relaxed);

	for (size_t i = 0; i < ps->roster.members.len; i++)
		n += !fleet_watches(ps->sampling, ps->roster.members.data[i].tid);
	atomic_store_explicit(&ps->status.unwatched, n, memory_order_relaxed);
	if (n && !before && ps->sampling->capped)
		say_unwatched(ps, n);
	if (!n)
		ps->sampling->capped = false;
	perf_text(ps);
}

void perf_watch_tick(struct perf_source *ps, uint64_t now)
{
	check_turnover(ps, now);
	if (ps->sampling->lowered_hz && ps->sampling->lowered_hz < ps->setup.rate_hz)
		perf_setup_limit(ps);
	if (now < ps->scan_ns && !(ps->side_lost && now + S > ps->scan_ns + QUICK_NS))
		return;
	ps->side_lost = false;
	ps->found = 0;
	if (listed(ps))
		perf_scan(ps);
	ps->ended |= !tasks_alive(ps->tasks);
	/* Threads that no record told of may have given birth to others before they were found. */
	ps->quick_scans = ps->found ? ps->quick_scans + 1 : 0;
	ps->scan_ns = now + (ps->found && ps->quick_scans <= QUICK_SCANS ? QUICK_NS : S);
	if (ps->sampling->cpu_wide) {
		atomic_store_explicit(&ps->status.unwatched, 0, memory_order_relaxed);
		return;
	}
	if (ps->sampling->capped && !ps->shift)
		exchange(ps);
	if (!ps->sampling->todo.len && !ps->shift)
		count_unwatched(ps);
}
