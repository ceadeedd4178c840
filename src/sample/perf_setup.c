/*
 * perf_setup: limits, events, rings and rates: everything that is decided from the user's wishes,
 * the kernel's permissions and the machine's size.
 *
 * The steps of opening run on whoever opens the source, the rest on the source thread.
 */
#include "sample/perf_setup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/set.h"
#include "proc/tasks.h"

#define RATE_MOST     10000
#define RING_MOST     ((size_t)8 << 20)
#define RING_LEAST    ((size_t)64 << 10)
#define RING_ALL      ((size_t)256 << 20) /* of all CPUs together */
#define FDS_MOST      (1U << 20)
#define RECORD_EXTRA  1024 /* of a sample beside its dump */
#define RECORDS_LEAST 8    /* that a ring must hold */

static uint32_t fds_used(void)
{
	DIR *d = opendir("/proc/self/fd");
	uint32_t n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* What is left for events once the rest of the program has its share. */
static uint32_t fds_for_events(uint64_t limit)
{
	uint64_t keep = limit / 8 < 256 ? limit / 8 : 256;
	uint64_t used = fds_used() + keep;

	if (limit > FDS_MOST)
		limit = FDS_MOST;
	return limit > used ? (uint32_t)(limit - used) : 0;
}

static uint32_t rate_limit(const struct permit *p)
{
	return p->perf_max_rate && p->perf_max_rate < RATE_MOST ? p->perf_max_rate : RATE_MOST;
}

static int check_rate(const struct source_config *config, const struct permit *p, struct err *err)
{
	uint32_t limit = rate_limit(p);

	if (config->rate_hz <= limit)
		return 0;
	if (limit < RATE_MOST)
		return err_set(
			err, EINVAL,
			"-F %u is above kernel.perf_event_max_sample_rate, which is %u here; "
			"use -F max, or type: sudo sysctl kernel.perf_event_max_sample_rate=%u",
			config->rate_hz, limit, config->rate_hz);
	return err_set(err, EINVAL, "-F %u is above the highest rate, %u Hz; use -F max",
		       config->rate_hz, limit);
}

int perf_setup_probe(const struct target *target, const struct source_config *config,
		     struct err *err)
{
	struct perf_allowed allowed;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = S,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	pid_t pid = target->npids ? target->pids[0] : target->ntids ? target->tids[0] : -1;
	int fd;

	if (config->wall)
		return err_set(err, ENOTSUP,
			       "the perf sampler sees only threads that run; wall time needs "
			       "--sampler timer");
	perf_allowed_read(&allowed);
	if (!allowed.self)
		return perf_open_explain(allowed.rc, "cpu-clock", 0, -1, err);
	if (pid < 0)
		return allowed.cpu_wide ? 0 : perf_open_explain(-EACCES, "cpu-clock", -1, 0, err);
	fd = perf_open(&attr, pid, -1, -1, 0);
	if (fd < 0)
		return perf_open_explain(fd, "cpu-clock", pid, -1, err);
	close(fd);
	return 0;
}

int perf_setup_limits(struct perf_source *ps, struct err *err)
{
	const struct source_config *c = ps->config;
	uint64_t nofile;
	int rc;

	permit_read(&ps->permit);
	perf_allowed_read(&ps->allowed);
	rc = perf_setup_probe(ps->target, c, err);
	if (!rc)
		rc = check_rate(c, &ps->permit, err);
	if (rc)
		return rc;
	nofile = permit_raise_nofile();
	fleet_ids_init(&ps->ids, fds_for_events(nofile));
	ps->setup = (struct plan_setup){
		.rate_hz = c->rate_auto ? PACE_START_HZ
			   : c->rate_hz ? c->rate_hz
					: 997,
		.period = c->rate_auto ? 0 : c->period,
		.call_graph = c->call_graph == CALL_GRAPH_LBR ? CALL_GRAPH_AUTO : c->call_graph,
		.max_stack = c->max_stack,
		.no_kernel = c->no_kernel,
		.no_user = c->no_user,
		.kernel_allowed = ps->allowed.kernel,
		.inherit = !ps->target->ntids,
	};
	if (ps->permit.perf_max_stack && ps->setup.max_stack > ps->permit.perf_max_stack)
		ps->setup.max_stack = ps->permit.perf_max_stack;
	atomic_store(&ps->status.asked_hz, ps->setup.rate_hz);
	return 0;
}

static void announce(struct perf_source *ps, uint32_t i)
{
	const struct event_spec *e = &ps->events[i];
	bool whole = ps->target->all || ps->target->cgroup || ps->target->by_user;
	bool member = !(ps->sampled >> i & 1) && !whole;
	bool access = e->type == PERF_TYPE_BREAKPOINT;
	struct event_desc d = {
		.unit = e->unit,
		.sampled = !member,
		.cpu_time = e->clock,
		.leader = (uint16_t)(ps->first_event + ps->leader[i]),
		.set = ps->set,
		.period = ps->setup.period ? ps->setup.period
			  : e->clock       ? plan_period_ns(&ps->setup)
					   : e->period,
		.freq_hz = ps->setup.period || (e->period && !e->clock) ? 0 : ps->setup.rate_hz,
	};
	bool user_only = !ps->allowed.kernel && !e->exclude_kernel && !access;

	snprintf(d.name, sizeof d.name, "%.80s%s", e->name,
		 !user_only             ? ""
		 : strchr(e->name, ':') ? "u"
					: ":u");
	ps->sink->ops->event(ps->sink->ctx, (uint16_t)(ps->first_event + i), &d);
}

static void announce_all(struct perf_source *ps)
{
	ps->groups_inherit = plan_groups_inherit();
	ps->groups = false;
	for (uint32_t i = 0; i < ps->nevents; i++)
		ps->groups |= ps->leader[i] != i;
	for (uint32_t i = 0; i < ps->nevents; i++)
		announce(ps, i);
}

static int add_event(struct perf_source *ps, const char *name, uint32_t leader, struct err *err)
{
	int rc;

	if (ps->nevents == PLAN_MAX / 2 || ps->first_event + ps->nevents >= EVENT_MAX)
		return err_set(err, E2BIG,
			       "too many events: at most %d at once and %d in one profile",
			       PLAN_MAX / 2, EVENT_MAX);
	rc = event_spec_parse(name, &ps->events[ps->nevents], err);
	if (rc)
		return rc;
	ps->sampled &= ~((uint64_t)1 << ps->nevents);
	ps->sampled |= (uint64_t)(leader == ps->nevents) << ps->nevents;
	ps->leader[ps->nevents++] = (uint16_t)leader;
	return 0;
}

/* "a,{b,c},cpu/d=1,e=2/": names between commas, braces around groups. */
static int add_list(struct perf_source *ps, const char *list, struct err *err)
{
	uint32_t leader = UINT32_MAX;
	bool slashes = false;
	char name[128] = "";
	size_t len = 0;

	for (const char *s = list;; s++) {
		bool plain = !slashes || !*s, address = len >= 4 && !memcmp(name, "mem:", 4);
		int rc;

		slashes ^= *s == '/' && !address; /* mem:0x10/4 has one alone */
		if (plain && *s == '{' && !len && leader == UINT32_MAX) {
			leader = ps->nevents;
			continue;
		}
		if (*s && !(plain && (*s == ',' || *s == '}'))) {
			if (len == sizeof name - 1)
				return err_set(err, EINVAL, "an event's name is too long");
			name[len++] = *s;
			continue;
		}
		name[len] = '\0';
		rc = len ? add_event(ps, name, leader == UINT32_MAX ? ps->nevents : leader, err)
			 : 0;
		if (rc)
			return rc;
		len = 0;
		if (*s == '}')
			leader = UINT32_MAX;
		if (!*s)
			break;
	}
	return ps->nevents ? 0 : err_set(err, EINVAL, "no event is named in %.80s", list);
}

static int add_set(struct perf_source *ps, const char *name, struct err *err)
{
	struct event_set *sets = NULL;
	size_t n = 0, i = 0;
	int rc = event_sets_load(&sets, &n, NULL, NULL);

	while (!rc && i < n && strcmp(sets[i].name, name) != 0)
		i++;
	if (!rc && i == n)
		rc = err_set(err, ENOENT, "there is no event set %.40s; see --list-sets", name);
	if (!rc && event_set_try(&sets[i], err) != VALUE_OK)
		rc = -ENODEV;
	for (uint32_t k = 0, leader = 0; !rc && k < sets[i].nevents; k++) {
		if (!k || sets[i].events[k].group != sets[i].events[k - 1].group)
			leader = ps->nevents;
		rc = add_event(ps, sets[i].events[k].name, leader, err);
		if (rc)
			break;
		ps->sampled &= ~((uint64_t)1 << (ps->nevents - 1));
		ps->sampled |= (uint64_t)sets[i].events[k].sampled << (ps->nevents - 1);
		if (sets[i].period && sets[i].events[k].sampled)
			ps->events[ps->nevents - 1].period = sets[i].period;
	}
	free(sets);
	return rc;
}

/* What is sampled beside any set. */
static int add_also(struct perf_source *ps, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < ps->config->nalso; i++)
		rc = add_list(ps, ps->config->also[i], err);
	return rc;
}

int perf_setup_events(struct perf_source *ps, struct err *err)
{
	const struct source_config *c = ps->config;
	int rc = 0;

	if (c->event_set)
		rc = add_set(ps, c->event_set, err);
	for (uint32_t i = 0; !rc && i < c->nevents; i++)
		rc = add_list(ps, c->events[i], err);
	if (!rc && !ps->nevents)
		rc = add_list(ps, "cpu-clock", err);
	if (!rc)
		rc = add_also(ps, err);
	if (!rc)
		announce_all(ps);
	return rc;
}

void perf_setup_switch(struct perf_source *ps, const char *events)
{
	uint16_t first = ps->first_event;
	uint32_t n = ps->nevents;
	struct event_spec *old = malloc(n * sizeof *old);
	uint16_t leader[EVENT_MAX];
	uint64_t sampled = ps->sampled;
	struct err err = {0}, list = {0};

	if (!old)
		return;
	memcpy(old, ps->events, n * sizeof *old);
	memcpy(leader, ps->leader, sizeof leader);
	ps->first_event = (uint16_t)(first + n);
	ps->nevents = 0;
	/* The name of a set, or a list of events. */
	if (add_set(ps, events, &err)) {
		ps->nevents = 0;
		if (add_list(ps, events, &list)) {
			ps->sink->ops->say(ps->sink->ctx,
					   strpbrk(events, ",{/:") ? list.msg : err.msg);
			memcpy(ps->events, old, n * sizeof *old);
			memcpy(ps->leader, leader, sizeof leader);
			ps->sampled = sampled;
			ps->first_event = first;
			ps->nevents = n;
			free(old);
			return;
		}
	}
	free(old);
	if (add_also(ps, &err))
		ps->sink->ops->say(ps->sink->ctx, err.msg);
	ps->set++;
	announce_all(ps);
}

int perf_setup_target(struct perf_source *ps, struct err *err)
{
	const struct target *t = ps->target;
	int rc;

	ps->everything = t->all || t->cgroup || (t->cpus && !t->npids && !t->ntids && !t->by_user);
	ps->listed_only = t->ntids > 0;
	if ((ps->everything || t->by_user) && !ps->allowed.cpu_wide)
		return perf_open_explain(-EACCES, "cpu-clock", -1, 0, err);
	rc = cpus_read(t->cpus, &ps->cpus, &ps->ncpus, err);
	if (rc)
		return rc;
	if (t->cgroup) {
		ps->cgroup_fd = perf_open_cgroup(t->cgroup, err);
		if (ps->cgroup_fd < 0)
			return ps->cgroup_fd;
	}
	ps->tasks = tasks_new(t, true, err);
	return ps->tasks ? 0 : -ESRCH;
}

static size_t power_of_two(size_t least)
{
	size_t n = RING_LEAST;

	while (n < least)
		n *= 2;
	return n;
}

static bool dumps(const struct perf_source *ps)
{
	return ps->setup.call_graph == CALL_GRAPH_AUTO || ps->setup.call_graph == CALL_GRAPH_DWARF;
}

/* A fifth of a second of samples at the full rate, within reason. */
int perf_setup_rings(struct perf_source *ps, struct err *err)
{
	uint32_t dump = !dumps(ps)                ? 0
			: ps->config->stack_bytes ? ps->config->stack_bytes
						  : ADAPT_START;
	size_t want = (size_t)ps->setup.rate_hz / 5 * (dump + RECORD_EXTRA);
	size_t most = RING_ALL / ps->ncpus;
	int rc;

	if (ps->config->rate_auto || (dump && !ps->config->stack_bytes))
		want *= 2; /* both may grow */
	want = power_of_two(want < (size_t)512 << 10 ? (size_t)512 << 10 : want);
	while (want > RING_LEAST && (want > RING_MOST || want > most))
		want /= 2;
	ps->merger = merger_new(&plan_common);
	if (!ps->merger)
		return err_set(err, ENOMEM, "no memory");
	rc = ringset_open(&ps->rings, ps->cpus, ps->ncpus, want, RING_LEAST, ps->merger, err);
	if (rc)
		return rc;
	adapt_init(&ps->adapt, dump, (uint32_t)(ps->rings.sample_bytes / RECORDS_LEAST));
	ps->setup.stack_bytes = dump ? ps->adapt.bytes : 0;
	atomic_store(&ps->status.stack_bytes, ps->setup.stack_bytes);
	return 0;
}

void perf_setup_say(struct perf_source *ps)
{
	void (*say)(void *ctx, const char *sentence) = ps->sink->ops->say;
	char text[256];

	if (!ps->allowed.kernel && !ps->setup.no_kernel) {
		snprintf(text, sizeof text,
			 "time in the kernel is not sampled: kernel.perf_event_paranoid is %d "
			 "(EACCES); type: sudo sysctl kernel.perf_event_paranoid=1",
			 ps->permit.paranoid);
		say(ps->sink->ctx, text);
	}
	if (ps->config->call_graph == CALL_GRAPH_LBR)
		say(ps->sink->ctx, "--call-graph lbr needs a hardware event; stacks are dumped and "
				   "unwound instead");
	if (ps->config->max_stack > ps->setup.max_stack) {
		snprintf(text, sizeof text,
			 "the kernel's own chains end after %u frames; type: sudo sysctl "
			 "kernel.perf_event_max_stack=%u",
			 ps->setup.max_stack, ps->config->max_stack);
		say(ps->sink->ctx, text);
	}
	if (dumps(ps) && ps->adapt.most < ADAPT_START) {
		snprintf(
			text, sizeof text,
			"stacks are dumped to %u bytes only: the kernel's buffers may lock no more "
			"memory; type: sudo sysctl kernel.perf_event_mlock_kb=2048",
			ps->adapt.most);
		say(ps->sink->ctx, text);
	}
}

bool perf_setup_rate_allowed(const struct perf_source *ps, uint32_t rate_hz)
{
	return rate_hz && rate_hz <= rate_limit(&ps->permit);
}

void perf_setup_rate(struct perf_source *ps, uint32_t rate_hz)
{
	ps->setup.rate_hz = rate_hz;
	ps->setup.period = 0;
	atomic_store_explicit(&ps->status.asked_hz, rate_hz, memory_order_relaxed);
}

/*
 * Measured at 10 kHz on a virtual machine, where timer interrupts are dear: 14 µs a sample, and
 * 1 to 5 µs for a dump of 8 to 64 KiB.
 */
uint64_t perf_setup_cost(const struct perf_source *ps)
{
	uint64_t sample_ns = 13000 + ps->setup.stack_bytes / 14;

	return ps->events[0].clock ? sample_ns * (S / plan_period_ns(&ps->setup)) / 1000
				   : sample_ns * ps->setup.rate_hz / 1000;
}

/* Idle share of all CPUs since the last call. */
static double idle_share(struct perf_source *ps)
{
	unsigned long long v[8] = {0}, all = 0, idle;
	FILE *f = fopen("/proc/stat", "re");
	double share = 0;

	if (!f)
		return 0;
	if (fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3],
		   &v[4], &v[5], &v[6], &v[7]) == 8) {
		for (int i = 0; i < 8; i++)
			all += v[i];
		idle = v[3] + v[4];
		if (ps->cpu_all && all > ps->cpu_all)
			share = (double)(idle - ps->cpu_idle) / (double)(all - ps->cpu_all);
		ps->cpu_all = all;
		ps->cpu_idle = idle;
	}
	fclose(f);
	return share;
}

static bool pace_due(struct perf_source *ps, double seconds)
{
	uint64_t cpu_ns = atomic_load_explicit(&ps->status.cpu_ns, memory_order_relaxed);
	struct pace_seen seen = {
		.busy = (double)(cpu_ns - ps->busy_ns) / S / seconds,
		.idle = idle_share(ps),
		.samples = ps->samples - ps->paced_samples,
		.lost = ps->losses != ps->paced_losses,
	};
	uint32_t rate;

	ps->busy_ns = cpu_ns;
	ps->paced_samples = ps->samples;
	ps->paced_losses = ps->losses;
	if (!ps->config->rate_auto)
		return false;
	rate = pace_rate(ps->setup.rate_hz, rate_limit(&ps->permit), ps->ncpus, &seen);
	if (rate == ps->setup.rate_hz)
		return false;
	perf_setup_rate(ps, rate);
	return true;
}

static bool adapt_due(struct perf_source *ps)
{
	uint32_t bytes;

	if (!ps->setup.stack_bytes || ps->config->stack_bytes || ps->setup.no_user)
		return false;
	bytes = adapt_next(&ps->adapt, &ps->seen);
	ps->seen = (struct adapt_seen){0};
	if (bytes == ps->setup.stack_bytes)
		return false;
	ps->setup.stack_bytes = bytes;
	atomic_store_explicit(&ps->status.stack_bytes, bytes, memory_order_relaxed);
	return true;
}

void perf_setup_pace(struct perf_source *ps, uint64_t now)
{
	bool change;

	if (!ps->pace_ns)
		ps->pace_ns = now;
	if (now < ps->pace_ns + S || ps->shift)
		return;
	change = pace_due(ps, (double)(now - ps->pace_ns) / S);
	change |= adapt_due(ps);
	ps->pace_ns = now;
	if (change)
		perf_shift(ps, ps->sampling->cpu_wide);
}
