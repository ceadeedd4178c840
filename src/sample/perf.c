/*
 * perf: the sampler on perf_event_open(2), behind the source ops.
 *
 * run() is one loop on the source's thread: wait for a ring to fill to a quarter (or 25 ms), merge
 * what is in the rings by time, hand it on, then do what is due: open threads that wait to be
 * opened, look at /proc, account, keep the pace. What is open on what is perf_watch.c's, changing
 * it while running perf_shift.c's, records perf_deliver.c's, births and ends perf_tasks.c's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mailbox.h"
#include "proc/tasks.h"
#include "sample/perf_impl.h"
#include "sample/perf_setup.h"

#define WAIT_MS        25
#define OPEN_BUDGET_NS (20 * MS) /* at the start, before anything is read */
#define WORK_BUDGET_NS (5 * MS)  /* between two readings of the rings */
#define ACCOUNT_NS     (5 * MS)
#define COMMANDS       16

static void source_close(struct source *source)
{
	struct perf_source *ps = (struct perf_source *)source;

	struct source_command c;

	if (!ps)
		return;
	while (ps->commands && mailbox_take(ps->commands, &c))
		if (c.kind == SOURCE_SET_EVENTS)
			free(c.events);
	for (unsigned i = 0; i < PERF_FLEETS; i++)
		fleet_free(*perf_fleets(ps, i));
	for (size_t i = 0; i < ps->leaving.len; i++)
		fleet_free(ps->leaving.data[i]);
	for (size_t i = 0; i < ps->texts.len; i++)
		free(ps->texts.data[i]);
	perf_toll_end(ps);
	perf_setup_sets_free(ps);
	vec_fini(&ps->leaving);
	vec_fini(&ps->texts);
	fleet_ids_fini(&ps->ids);
	merger_free(ps->merger);
	ringset_close(&ps->rings);
	roster_fini(&ps->roster);
	tasks_free(ps->tasks);
	mailbox_free(ps->commands);
	if (ps->cgroup_fd >= 0)
		close(ps->cgroup_fd);
	if (ps->epoll >= 0)
		close(ps->epoll);
	if (ps->stop_fd >= 0)
		close(ps->stop_fd);
	free(ps->cpus);
	free(ps);
}

static int poll_add(struct perf_source *ps, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(ps->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static int open_channels(struct perf_source *ps, struct err *err)
{
	int rc = 0;

	ps->epoll = epoll_create1(EPOLL_CLOEXEC);
	ps->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ps->commands = mailbox_new(sizeof(struct source_command), COMMANDS);
	if (ps->epoll < 0 || ps->stop_fd < 0 || !ps->commands)
		return err_set(err, errno, "too few file descriptors (%s); type: ulimit -n 1024",
			       strerrorname_np(errno));
	rc = poll_add(ps, ps->stop_fd);
	if (!rc)
		rc = poll_add(ps, mailbox_fd(ps->commands));
	for (uint32_t i = 0; !rc && i < ps->rings.n; i++) {
		rc = poll_add(ps, ps->rings.cpus[i].sample_fd);
		if (!rc)
			rc = poll_add(ps, ps->rings.cpus[i].side_fd);
	}
	return rc ? err_set(err, -rc, "epoll: %s", strerror(-rc)) : 0;
}

static int open_all(struct perf_source *ps, struct err *err)
{
	int rc = perf_setup_limits(ps, err);

	if (!rc)
		rc = perf_setup_events(ps, err);
	if (!rc)
		rc = perf_setup_target(ps, err);
	if (!rc && ps->groups)
		rc = perf_setup_try(ps, err);
	if (!rc)
		rc = perf_setup_rings(ps, err);
	if (!rc)
		rc = open_channels(ps, err);
	if (!rc)
		rc = perf_arrange(ps, err);
	if (rc)
		return rc;
	perf_text(ps);
	snprintf(ps->status.arrangement, sizeof ps->status.arrangement, "%s",
		 atomic_load(&ps->status.arrangement_now));
	perf_setup_say(ps);
	perf_watch_work(ps, OPEN_BUDGET_NS);
	return 0;
}

static int source_open(const struct target *target, const struct source_config *config,
		       const struct sink *sink, struct tables *tables, struct source **ret_source,
		       struct err *err)
{
	struct perf_source *ps = calloc(1, sizeof *ps);
	int rc;

	if (!ps)
		return err_set(err, ENOMEM, "no memory");
	ps->target = target;
	ps->config = config;
	ps->sink = sink;
	ps->tables = tables;
	ps->epoll = ps->stop_fd = ps->cgroup_fd = -1;
	ps->self = getpid();
	roster_init(&ps->roster);
	rc = open_all(ps, err);
	if (rc) {
		source_close((struct source *)ps);
		return rc;
	}
	*ret_source = (struct source *)ps;
	return 0;
}

/*
 * Hand on what the rings hold, as far as no earlier record can still come. Returns the time up to
 * which everything was handed on.
 */
static uint64_t drain(struct perf_source *ps, bool last)
{
	uint64_t bad = 0, horizon = clock_mono_ns();
	struct ordered o;

	merger_collect(ps->merger, &bad);
	if (bad)
		perf_loss(ps, LOSS_BAD_RECORD, bad);
	if (last)
		horizon = UINT64_MAX;
	else if (merger_fill(ps->merger) < 50) /* else room is needed more than order */
		horizon -= PERF_HORIZON_NS;
	while (merger_next(ps->merger, horizon, &o)) {
		perf_deliver(ps, &o);
		if (atomic_load_explicit(&ps->stopping, memory_order_relaxed))
			break;
	}
	merger_flush(ps->merger);
	if (!last)
		fleet_ids_purge(&ps->ids, horizon);
	return horizon;
}

static void take_command(struct perf_source *ps, const struct source_command *c)
{
	bool changed = true;

	switch (c->kind) {
	case SOURCE_SET_RATE: perf_setup_rate(ps, c->rate_hz); break;
	case SOURCE_SET_STACK:
		ps->setup.stack_bytes = c->stack_bytes;
		adapt_init(&ps->adapt, c->stack_bytes, ps->adapt.most);
		break;
	case SOURCE_SET_MODE:
		ps->setup.no_kernel = c->no_kernel;
		ps->setup.no_user = c->no_user;
		break;
	case SOURCE_SET_EVENTS:
		changed = perf_setup_switch(ps, c->events);
		if (changed)
			perf_toll_begin(ps);
		free(c->events);
		break;
	}
	if (!changed)
		return;
	perf_shift(ps, ps->sampling->cpu_wide);
}

static void take_commands(struct perf_source *ps)
{
	struct source_command c;

	mailbox_drain_fd(ps->commands);
	while (mailbox_take(ps->commands, &c))
		take_command(ps, &c);
}

static void publish(struct perf_source *ps)
{
	uint32_t unwatched = atomic_load_explicit(&ps->status.unwatched, memory_order_relaxed);
	uint32_t members = (uint32_t)ps->roster.members.len;

	atomic_store_explicit(&ps->status.threads, members > unwatched ? members - unwatched : 0,
			      memory_order_relaxed);
	atomic_store_explicit(&ps->status.cost_ppm, perf_setup_cost(ps), memory_order_relaxed);
	atomic_store_explicit(&ps->status.samples, ps->samples, memory_order_relaxed);
	atomic_store_explicit(&ps->status.cpu_ns, clock_thread_cpu_ns(), memory_order_relaxed);
}

/* The watched processes may all be gone: look. */
static bool target_gone(struct perf_source *ps)
{
	if (!ps->ended || ps->everything || ps->target->by_user)
		return false;
	ps->ended = false;
	perf_scan(ps);
	return !ps->roster.members.len || !tasks_alive(ps->tasks);
}

static void tick(struct perf_source *ps, uint64_t drained_ns)
{
	uint64_t now = clock_mono_ns();

	perf_places_tick(ps, now);
	perf_shift_step(ps, now, drained_ns);
	perf_watch_tick(ps, now);
	perf_counts_tick(ps, now);
	perf_sweep(ps, drained_ns > 50 * MS ? drained_ns - 50 * MS : 0);
	if (now >= ps->account_ns) {
		/* At first more often: what is judged by accounts is known sooner. */
		ps->account_ns = now + (now < ps->opened_ns + 2 * S ? S / 4 : S);
		tasks_account(ps->tasks, ps->sink, ACCOUNT_NS);
	}
	perf_setup_pace(ps, now);
	publish(ps);
}

static void wait_records(struct perf_source *ps, int timeout_ms)
{
	struct epoll_event events[16];
	int n = epoll_wait(ps->epoll, events, 16, timeout_ms);

	for (int i = 0; i < n; i++)
		if (events[i].data.fd == mailbox_fd(ps->commands))
			take_commands(ps);
}

static int source_run(struct source *source, struct err *err)
{
	struct perf_source *ps = (struct perf_source *)source;
	bool idle = true;

	(void)err;
	ps->starting = false;
	perf_toll_begin(ps);
	perf_counts_begin(ps);
	while (!atomic_load_explicit(&ps->stopping, memory_order_relaxed)) {
		uint64_t drained;

		wait_records(ps, idle ? WAIT_MS : 0);
		drained = drain(ps, false);
		idle = perf_watch_work(ps, WORK_BUDGET_NS);
		tick(ps, drained);
		if (target_gone(ps)) {
			drain(ps, true);
			perf_sweep(ps, UINT64_MAX);
			perf_counts_take(ps, clock_mono_ns());
			tasks_account(ps->tasks, ps->sink, ACCOUNT_NS);
			perf_places_end(ps);
			atomic_store(&ps->status.finished, true);
			break;
		}
	}
	publish(ps);
	return 0;
}

static void source_stop(struct source *source)
{
	struct perf_source *ps = (struct perf_source *)source;
	const uint64_t one = 1;

	atomic_store(&ps->stopping, true);
	if (write(ps->stop_fd, &one, sizeof one) < 0)
		return; /* full: it will wake all the same */
}

static int source_command(struct source *source, const struct source_command *command)
{
	struct perf_source *ps = (struct perf_source *)source;

	if (command->kind == SOURCE_SET_RATE && !perf_setup_rate_allowed(ps, command->rate_hz))
		return -EINVAL;
	return mailbox_post(ps->commands, command) ? 0 : -EAGAIN;
}

static const struct source_status *source_status(const struct source *source)
{
	return &((const struct perf_source *)source)->status;
}

const struct source_ops source_perf = {
	.name = "perf",
	.probe = perf_setup_probe,
	.open = source_open,
	.run = source_run,
	.stop = source_stop,
	.command = source_command,
	.close = source_close,
	.status = source_status,
};
