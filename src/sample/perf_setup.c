/*
 * perf_setup: limits, events, rings and rates: everything that is decided from the user's wishes,
 * the kernel's permissions and the machine's size.
 *
 * The steps of opening run on whoever opens the source, the rest on the source thread.
 */
#include "base/living.h"
#include "sample/perf_setup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc/tasks.h"

#define RATE_MOST     10000
#define DUMP_SMALL    16384 /* below it, it is said */
#define RING_MOST     ((size_t)16 << 20)
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

/* It may change at any time: the kernel itself lowers it where interrupts take long. */
static uint32_t rate_limit_now(const struct perf_source *ps)
{
	struct permit p = ps->permit;

	p.perf_max_rate = (uint32_t)permit_sysctl("kernel/perf_event_max_sample_rate",
						  (int)p.perf_max_rate);
	return rate_limit(&p);
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
	fd = perf_open(&attr, living_thread(pid), -1, -1, 0);
	if (fd < 0)
		return perf_open_explain(fd, "cpu-clock", pid, -1, err);
	close(fd);
	return 0;
}

/* Does this processor keep call stacks? 0, or -errno of the kernel's answer. */
static int try_lbr(void)
{
	struct perf_event_attr attr = {.size = sizeof attr,
				       .type = PERF_TYPE_HARDWARE,
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .sample_period = 1000000,
				       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
				       .branch_sample_type = PLAN_LBR,
				       .disabled = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	int fd = perf_open(&attr, 0, -1, -1, 0);

	if (fd < 0)
		return fd;
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
	ps->lbr_answer = c->call_graph == CALL_GRAPH_LBR ? try_lbr() : 0;
	ps->setup = (struct plan_setup){
		.rate_hz = c->rate_auto ? PACE_START_HZ
			   : c->rate_hz ? c->rate_hz
					: 997,
		.period = c->rate_auto ? 0 : c->period,
		.call_graph = ps->lbr_answer ? CALL_GRAPH_AUTO : c->call_graph,
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

/* Are stacks dumped, of any event? */
static bool dumps(const struct perf_source *ps)
{
	bool others = false;

	for (uint32_t i = 0; i < ps->nevents; i++)
		others |= !plan_has_lbr(&ps->setup, &ps->events[i]);
	return ps->setup.call_graph == CALL_GRAPH_AUTO ||
	       ps->setup.call_graph == CALL_GRAPH_DWARF ||
	       (ps->setup.call_graph == CALL_GRAPH_LBR && others);
}

void perf_setup_dump(struct perf_source *ps)
{
	ps->setup.stack_bytes = dumps(ps) ? ps->adapt.bytes : 0;
	atomic_store_explicit(&ps->status.stack_bytes, ps->setup.stack_bytes, memory_order_relaxed);
}

/*
 * The biggest dumps first, unless the rate is so high that a ring would be full in a twentieth of a
 * second: then they grow when that turns out to be needed.
 */
static uint32_t first_dump(const struct perf_source *ps)
{
	uint32_t dump = ADAPT_MOST, held = ps->setup.rate_hz / 20 + 1;

	if (ps->config->stack_bytes)
		return ps->config->stack_bytes;
	while (dump > DUMP_SMALL && (size_t)held * dump > ps->rings.sample_bytes)
		dump = (dump + 8) / 2;
	return dump;
}

/* A fifth of a second of samples at the full rate, within reason. */
int perf_setup_rings(struct perf_source *ps, struct err *err)
{
	uint32_t dump = !dumps(ps)                ? 0
			: ps->config->stack_bytes ? ps->config->stack_bytes
						  : ADAPT_MOST;
	size_t want = (size_t)ps->setup.rate_hz / 5 * (dump + RECORD_EXTRA);
	size_t most = RING_ALL / ps->ncpus;
	int rc;

	if (ps->config->rate_auto)
		want *= 2; /* it may grow */
	want = power_of_two(want < (size_t)512 << 10 ? (size_t)512 << 10 : want);
	while (want > RING_LEAST && (want > RING_MOST || want > most))
		want /= 2;
	ps->merger = merger_new(&plan_common);
	if (!ps->merger)
		return err_set(err, ENOMEM, "no memory");
	rc = ringset_open(&ps->rings, ps->cpus, ps->ncpus, want, RING_LEAST, ps->merger, err);
	if (rc)
		return rc;
	adapt_init(&ps->adapt, dump ? first_dump(ps) : 0,
		   (uint32_t)(ps->rings.sample_bytes / RECORDS_LEAST));
	perf_setup_dump(ps);
	return 0;
}

void perf_setup_lbr(int answer, char *ret_text, size_t size)
{
	char refused[128];
	const char *why = refused;

	if (answer == -ENOENT || answer == -ENODEV)
		why = "this machine offers no hardware counters (ENOENT), and only those come with "
		      "call stacks";
	else if (answer == -EOPNOTSUPP || answer == -EINVAL)
		why = "this processor keeps no call stacks (EOPNOTSUPP)";
	else
		snprintf(refused, sizeof refused, "the kernel refuses them: %s", strerror(-answer));
	snprintf(ret_text, size, "--call-graph lbr: %s; stacks are dumped and unwound instead",
		 why);
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
	if (ps->lbr_answer) {
		perf_setup_lbr(ps->lbr_answer, text, sizeof text);
		say(ps->sink->ctx, text);
	}
	if (ps->setup.call_graph == CALL_GRAPH_LBR && dumps(ps))
		say(ps->sink->ctx,
		    "only events of the processor come with its call stacks (--call-graph lbr); "
		    "the others' stacks are dumped and unwound");
	if (ps->config->max_stack > ps->setup.max_stack) {
		snprintf(text, sizeof text,
			 "the kernel's own chains end after %u frames; type: sudo sysctl "
			 "kernel.perf_event_max_stack=%u",
			 ps->setup.max_stack, ps->config->max_stack);
		say(ps->sink->ctx, text);
	}
	if (dumps(ps) && ps->adapt.most < DUMP_SMALL) {
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
	return rate_hz && rate_hz <= rate_limit_now(ps);
}

void perf_setup_rate(struct perf_source *ps, uint32_t rate_hz)
{
	ps->setup.rate_hz = rate_hz;
	ps->setup.period = 0;
	atomic_store_explicit(&ps->status.asked_hz, rate_hz, memory_order_relaxed);
}

void perf_setup_limit(struct perf_source *ps)
{
	uint32_t limit = rate_limit_now(ps), asked = ps->setup.rate_hz;
	char text[224];

	if (ps->setup.period || asked <= limit)
		return;
	perf_setup_rate(ps, limit);
	snprintf(text, sizeof text,
		 "kernel.perf_event_max_sample_rate fell to %u: events opened from now on are "
		 "sampled at that rate. Type: sudo sysctl kernel.perf_event_max_sample_rate=%u",
		 limit, asked);
	ps->sink->ops->say(ps->sink->ctx, text);
}

/*
 * As measured at the start (toll.h); until then as it was measured at 10 kHz on a virtual machine,
 * where timer interrupts are dear: 14 µs a sample, and 1 to 5 µs for a dump of 8 to 64 KiB.
 */
uint64_t perf_setup_cost(const struct perf_source *ps)
{
	uint64_t sample_ns = atomic_load_explicit(&ps->status.sample_cost_ns, memory_order_relaxed);
	uint64_t rate = ps->events[0].clock ? S / plan_period_ns(&ps->setup) : ps->setup.rate_hz;

	if (sample_ns)
		sample_ns += atomic_load_explicit(&ps->status.read_cost_ns, memory_order_relaxed);
	else
		sample_ns = 13000 + ps->setup.stack_bytes / 14;
	return sample_ns * rate / 1000;
}

static bool pace_due(struct perf_source *ps, double seconds)
{
	uint64_t cpu_ns = atomic_load_explicit(&ps->status.cpu_ns, memory_order_relaxed);
	struct pace_seen seen = {
		.busy = (double)(cpu_ns - ps->busy_ns) / S / seconds,
		.idle = idleshare_look(&ps->idle),
		.samples = ps->samples - ps->paced_samples,
		.lost = ps->losses != ps->paced_losses,
	};
	uint32_t rate;

	ps->busy_ns = cpu_ns;
	ps->paced_samples = ps->samples;
	ps->paced_losses = ps->losses;
	if (!ps->config->rate_auto)
		return false;
	rate = pace_rate(ps->setup.rate_hz, rate_limit_now(ps), ps->ncpus, &seen);
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
