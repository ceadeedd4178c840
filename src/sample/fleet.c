/*
 * fleet: opens and closes the events of a plan, thread by thread or CPU by CPU, and keeps track of
 * who inherits from whom.
 *
 * What to open when is sample/watch.c's business. Source thread.
 */
#include "sample/fleet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/perf_open.h"
#include "proc/permit.h"

/*
 * A fork's time stamp is taken after the events were inherited: a parent whose opening was complete
 * only this long before may have passed on less than everything.
 */
#define FORK_DOUBT_NS 20000000

struct fleet *fleet_new(const struct plan *plan, const struct ringset *rings, struct fleet_ids *ids,
			bool cpu_wide, bool side_ring)
{
	struct fleet *f = calloc(1, sizeof *f);

	if (!f)
		return NULL;
	f->plan = *plan;
	f->rings = rings;
	f->ids = ids;
	f->cpu_wide = cpu_wide;
	f->side_ring = side_ring;
	f->until_ns = UINT64_MAX;
	for (uint32_t i = 0; cpu_wide && !f->tenants && i < plan->n; i++) {
		if (plan->e[i].index != PLAN_SWITCH)
			continue;
		f->tenants = tenants_new(rings->n, plan->n);
		if (!f->tenants) {
			free(f);
			return NULL;
		}
	}
	return f;
}

/* Which event of the group has this id on the CPU. Some may be missing: another kind of core. */
static uint16_t event_of(const struct fleet *f, const struct seat *s, uint16_t leader, uint16_t cpu,
			 uint64_t id)
{
	uint16_t e = leader;

	while (e < f->plan.n && f->plan.e[e].leader == leader &&
	       s->ids[e * f->rings->n + cpu] != id)
		e++;
	return e < f->plan.n && f->plan.e[e].leader == leader ? e : UINT16_MAX;
}

/*
 * Add what the event's group (or it alone) shows on one CPU. @first: of the thread's CPUs. Each of
 * a thread's events is enabled while the thread runs, wherever that is, and runs on its own CPU
 * only.
 */
static void read_group(const struct fleet *f, const struct seat *s, uint16_t leader, uint16_t cpu,
		       bool first, struct fleet_count sums[PLAN_MAX])
{
	uint64_t data[3 + 2 * PLAN_MAX], format = f->plan.e[leader].attr.read_format;
	bool group = format & PERF_FORMAT_GROUP;
	uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	ssize_t got = read(s->fds[leader * f->rings->n + cpu], data, sizeof data);
	size_t n = got > 0 ? (size_t)got / sizeof *data : 0;
	bool timed = (format & times) == times;

	if (n < 1 + (timed ? 2U : 0U))
		return;
	/* A group: how many, times, (value, id) each; one alone: value, times. */
	for (uint64_t i = 0; i < (group ? data[0] : 1); i++) {
		size_t at = group ? 1 + (timed ? 2U : 0U) + i * 2 : 0;
		uint16_t e = leader;

		if (at + group >= n)
			return;
		if (group)
			e = event_of(f, s, leader, cpu, data[at + 1]);
		if (e == UINT16_MAX)
			continue;
		sums[e].value += data[at];
		sums[e].enabled_ns += timed && (first || f->cpu_wide) ? data[1] : 0;
		sums[e].running_ns += timed ? data[2] : 0;
	}
}

static void seat_counts(const struct fleet *f, const struct seat *s,
			struct fleet_count sums[PLAN_MAX])
{
	for (uint16_t e = 0; s->fds && !s->doubled && e < f->plan.n; e++) {
		bool first = true;

		for (uint16_t cpu = 0; f->plan.e[e].leader == e && cpu < f->rings->n; cpu++)
			if (s->fds[e * f->rings->n + cpu] >= 0) {
				read_group(f, s, e, cpu, first, sums);
				first = false;
			}
	}
}

void fleet_counts(const struct fleet *f, struct fleet_count ret[PLAN_MAX])
{
	memcpy(ret, f->closed, sizeof f->closed);
	for (size_t i = 0; i < f->seats.len; i++)
		seat_counts(f, &f->seats.data[i], ret);
}

static void seat_close(struct fleet *f, uint32_t seat)
{
	struct seat *s = &f->seats.data[seat];
	uint32_t n = fleet_seat_fds(&f->plan, f->rings);

	if (!s->fds)
		return;
	if (!f->side_ring)
		seat_counts(f, s, f->closed);
	for (uint32_t i = n; i-- > 0;) { /* members before their leader */
		uint32_t place;

		if (s->fds[i] < 0)
			continue;
		close(s->fds[i]);
		f->ids->fds--;
		if (!map64_get(&f->ids->by_id, s->ids[i], &place))
			continue;
		f->ids->opened.data[place].closed_ns = clock_mono_ns();
		if (vec_push(&f->ids->closed, s->ids[i])) /* no memory: forget it now */
			map64_del(&f->ids->by_id, s->ids[i]);
	}
	free(s->fds);
	free(s->ids);
	*s = (struct seat){0};
	f->nseats--;
}

void fleet_free(struct fleet *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->seats.len; i++)
		seat_close(f, (uint32_t)i);
	for (size_t i = 0; i < f->ids->closed.len; i++) {
		const struct opened *o = fleet_ids_find(f->ids, f->ids->closed.data[i]);

		if (o && o->fleet == f)
			f->ids->opened.data[o - f->ids->opened.data].fleet = NULL;
	}
	tenants_free(f->tenants);
	vec_fini(&f->seats);
	vec_fini(&f->todo);
	map64_fini(&f->by_tid);
	map64_fini(&f->accepted);
	map64_fini(&f->last_low);
	map64_fini(&f->last_high);
	free(f);
}

/* A free seat with room for its descriptors, none open. Its number or -ENOMEM. */
static int seat_take(struct fleet *f, pid_t tid)
{
	uint32_t n = fleet_seat_fds(&f->plan, f->rings);
	struct seat s = {
		.tid = tid, .fds = malloc(n * sizeof *s.fds), .ids = calloc(n, sizeof *s.ids)};
	size_t i = 0;

	for (uint32_t k = 0; s.fds && k < n; k++)
		s.fds[k] = -1;
	if (f->nseats == f->seats.len)
		i = f->seats.len;
	while (i < f->seats.len && f->seats.data[i].fds)
		i++;
	if (!s.fds || !s.ids || (i == f->seats.len && vec_push(&f->seats, s))) {
		free(s.fds);
		free(s.ids);
		return -ENOMEM;
	}
	f->seats.data[i] = s;
	f->several |= ++f->nseats > 1;
	return (int)i;
}

/* Remember what an event's id stands for. */
static int event_register(struct fleet *f, int fd, struct opened o, uint64_t *ret_id)
{
	struct fleet_ids *ids = f->ids;
	uint32_t place;

	if (ioctl(fd, PERF_EVENT_IOC_ID, ret_id) < 0)
		return -errno;
	if (ids->unused.len) {
		place = ids->unused.data[--ids->unused.len];
		ids->opened.data[place] = o;
	} else {
		place = (uint32_t)ids->opened.len;
		if (vec_push(&ids->opened, o) || vec_reserve(&ids->unused, ids->opened.len))
			return -ENOMEM;
	}
	return map64_put(&ids->by_id, *ret_id, place);
}

/*
 * On a CPU among several kinds of cores, a generic event is its own kind's: all CPUs' together are
 * one column. Kernels before 5.13 find the PMU themselves, or have the first kind only.
 */
static int open_on(const struct perf_event_attr *attr, pid_t pid, const struct ring_cpu *c,
		   int group, unsigned long flags)
{
	struct perf_event_attr on = *attr;
	int fd;

	plan_attr_core(&on, c->core);
	fd = perf_open(&on, pid, c->cpu, group, flags);
	if (fd == -EINVAL && on.config != attr->config)
		fd = perf_open(attr, pid, c->cpu, group, flags);
	return fd;
}

/*
 * The kernel refuses a frequency above its limit, which it, or somebody, may have lowered since the
 * plan was made; what is open stays. From now on this event asks for that limit. False: it is not
 * the reason.
 */
static bool lower_rate(struct fleet *f, uint16_t event, struct perf_event_attr *attr)
{
	int most = permit_sysctl("kernel/perf_event_max_sample_rate", 0);

	if (!attr->freq || most < 1 || attr->sample_freq <= (uint64_t)most)
		return false;
	attr->sample_freq = (uint64_t)most;
	f->plan.e[event].attr.sample_freq = (uint64_t)most;
	f->lowered_hz = (uint32_t)most;
	return true;
}

static int event_open(struct fleet *f, uint32_t seat, uint16_t event, uint16_t cpu, pid_t pid,
		      unsigned long flags)
{
	const struct plan_event *e = &f->plan.e[event];
	const struct ring_cpu *c = &f->rings->cpus[cpu];
	struct seat *s = &f->seats.data[seat];
	uint32_t at = event * f->rings->n + cpu;
	struct opened o = {.fleet = f, .seat = seat, .event = event, .cpu = cpu};
	struct perf_event_attr attr;
	int group = -1, fd;

	if (e->leader != event)
		group = s->fds[e->leader * f->rings->n + cpu];
	if (e->leader != event && group < 0)
		return 0; /* its leader's CPU is offline */
	plan_attr(e, (seat * f->plan.n + event) * f->rings->n + cpu, &attr);
	fd = open_on(&attr, pid, c, group, flags);
	if (fd == -EINVAL && lower_rate(f, event, &attr))
		fd = open_on(&attr, pid, c, group, flags);
	/* Offline, or another kind of core than the event is of: there it counts nothing. */
	if (fd == -ENODEV || (fd == -ENOENT && c->core && plan_takes_counter(&e->spec)))
		return 0;
	if (fd < 0)
		return fd;
	s->fds[at] = fd;
	f->ids->fds++;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, f->side_ring ? c->side_fd : c->sample_fd) < 0)
		return -errno;
	return event_register(f, fd, o, &s->ids[at]);
}

/* What waited for the others of its CPU. */
static void enable(const struct fleet *f, const struct seat *s, uint16_t cpu)
{
	for (uint16_t e = 0; e < f->plan.n; e++) {
		int fd = s->fds[e * f->rings->n + cpu];

		if (f->plan.e[e].attr.disabled && fd >= 0)
			ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	}
}

static int seat_open(struct fleet *f, uint32_t seat, pid_t pid, unsigned long flags)
{
	if (f->ids->fds + fleet_seat_fds(&f->plan, f->rings) > f->ids->fds_max)
		return -EMFILE;
	for (uint16_t cpu = 0; cpu < f->rings->n; cpu++) {
		for (uint16_t event = 0; event < f->plan.n; event++) {
			int rc = event_open(f, seat, event, cpu, pid, flags);

			if (rc)
				return rc;
		}
		enable(f, &f->seats.data[seat], cpu);
	}
	return 0;
}

int fleet_open_cpus(struct fleet *f, int cgroup_fd)
{
	int rc, seat = seat_take(f, -1);

	if (seat < 0)
		return seat;
	f->seats.data[seat].users = 1;
	rc = seat_open(f, (uint32_t)seat, cgroup_fd, cgroup_fd >= 0 ? PERF_FLAG_PID_CGROUP : 0);
	if (rc)
		seat_close(f, (uint32_t)seat);
	return rc;
}

int fleet_open_thread(struct fleet *f, pid_t tid)
{
	uint32_t old;
	int rc, seat = seat_take(f, tid);

	if (seat < 0)
		return seat;
	rc = seat_open(f, (uint32_t)seat, tid, 0);
	if (rc) {
		seat_close(f, (uint32_t)seat);
		return rc;
	}
	if (map64_get(&f->by_tid, (uint64_t)tid, &old))
		fleet_exit(f, tid, 0); /* it was an heir: counted in its own seat from now on */
	if (map64_put(&f->by_tid, (uint64_t)tid, (uint32_t)seat)) {
		seat_close(f, (uint32_t)seat);
		return -ENOMEM;
	}
	f->seats.data[seat].users = 1;
	f->seats.data[seat].complete_ns = clock_mono_ns();
	return 0;
}

uint32_t fleet_close_thread(struct fleet *f, pid_t tid)
{
	uint32_t seat, users;

	if (!map64_get(&f->by_tid, (uint64_t)tid, &seat))
		return 0;
	users = f->seats.data[seat].users;
	seat_close(f, seat);
	for (size_t i = 0; i < f->by_tid.capacity; i++)
		while (f->by_tid.used[i] && f->by_tid.values[i] == seat)
			map64_del(&f->by_tid, f->by_tid.keys[i]);
	return users - 1;
}

bool fleet_close_some(struct fleet *f, uint32_t max)
{
	uint32_t before = f->ids->fds;

	for (size_t i = 0; i < f->seats.len; i++) {
		if (!f->seats.data[i].fds)
			continue;
		if (before - f->ids->fds >= max)
			return false;
		seat_close(f, (uint32_t)i);
	}
	map64_clear(&f->by_tid);
	return true;
}

static uint64_t reading_key(enum fleet_reading what, uint64_t id, pid_t tid)
{
	return (uint64_t)(uint32_t)tid << 40 | (uint64_t)what << 38 | (id & 0x3fffffffffULL);
}

static uint64_t reading_get(const struct fleet *f, uint64_t key)
{
	uint32_t low, high;

	if (!map64_get(&f->last_low, key, &low) || !map64_get(&f->last_high, key, &high))
		return 0;
	return (uint64_t)high << 32 | low;
}

static void reading_put(struct fleet *f, uint64_t key, uint64_t value)
{
	map64_put(&f->last_low, key, (uint32_t)value);
	map64_put(&f->last_high, key, (uint32_t)(value >> 32));
}

uint64_t fleet_growth(struct fleet *f, enum fleet_reading what, uint64_t id, pid_t tid,
		      uint64_t value)
{
	uint64_t key = reading_key(what, id, tid), last = reading_get(f, key);

	reading_put(f, key, value);
	return value >= last ? value - last : value;
}

uint64_t fleet_total(struct fleet *f, enum fleet_reading what, uint64_t id, pid_t tid,
		     uint64_t more)
{
	uint64_t key = reading_key(what, id, tid), total = reading_get(f, key) + more;

	reading_put(f, key, total);
	return total;
}

void fleet_put(struct fleet *f, enum fleet_reading what, uint64_t id, pid_t tid, uint64_t value)
{
	reading_put(f, reading_key(what, id, tid), value);
}

static void forget_reading(struct fleet *f, enum fleet_reading what, uint64_t id, pid_t tid)
{
	map64_del(&f->last_low, reading_key(what, id, tid));
	map64_del(&f->last_high, reading_key(what, id, tid));
}

/* A thread's number is free again: what its counters showed means nothing any more. */
static void forget_readings(struct fleet *f, uint32_t seat, pid_t tid)
{
	const struct seat *s = &f->seats.data[seat];
	uint32_t n = fleet_seat_fds(&f->plan, f->rings);

	for (uint32_t i = 0; f->last_low.count && s->ids && i < n; i++) {
		forget_reading(f, FLEET_COUNT, s->ids[i], tid);
		forget_reading(f, FLEET_RUNNING, s->ids[i], tid);
	}
	for (uint16_t e = 0; f->last_low.count && e < f->plan.n; e++) {
		for (unsigned what = FLEET_COUNT; what <= FLEET_TIME; what++)
			forget_reading(f, (enum fleet_reading)what, FLEET_ALL_CPUS(e), tid);
		forget_reading(f, FLEET_COUNT, FLEET_GIVEN(e), tid);
	}
}

bool fleet_fork(struct fleet *f, pid_t ptid, pid_t tid, uint64_t time)
{
	const struct seat *s;
	uint32_t seat;

	if (f->tenants)
		tenants_forget(f->tenants, tid); /* a number used before means nothing */
	if (f->cpu_wide)
		return true;
	if (!f->plan.inherit)
		return false;
	for (uint16_t cpu = 0; cpu < f->rings->n; cpu++) /* a number used before means nothing */
		for (uint16_t e = 0; e < f->plan.n && f->accepted.count; e++)
			map64_del(&f->accepted,
				  (uint64_t)cpu << 32 | (uint64_t)e << 48 | (uint32_t)tid);
	if (!map64_get(&f->by_tid, (uint64_t)ptid, &seat))
		return false;
	s = &f->seats.data[seat];
	if (s->tid == ptid && s->complete_ns + FORK_DOUBT_NS > time)
		return false;
	if (map64_put(&f->by_tid, (uint64_t)tid, seat))
		return false;
	f->seats.data[seat].users++;
	return true;
}

void fleet_exit(struct fleet *f, pid_t tid, pid_t heir)
{
	struct seat *s;
	uint32_t seat;

	if (f->tenants)
		tenants_forget(f->tenants, tid);
	if (!map64_get(&f->by_tid, (uint64_t)tid, &seat))
		return;
	s = &f->seats.data[seat];
	map64_del(&f->by_tid, (uint64_t)tid);
	forget_readings(f, seat, tid);
	if (heir && heir != tid) {
		fleet_exit(f, heir, 0);
		if (s->tid == tid)
			s->tid = heir;
		if (map64_put(&f->by_tid, (uint64_t)heir, seat) == 0)
			return;
	}
	for (uint16_t cpu = 0; cpu < f->rings->n; cpu++)
		for (uint16_t e = 0; e < f->plan.n && f->accepted.count; e++)
			map64_del(&f->accepted,
				  (uint64_t)cpu << 32 | (uint64_t)e << 48 | (uint32_t)tid);
	if (s->tid == tid)
		s->tid = 0; /* nobody forks in its name any more */
	if (--s->users == 0)
		seat_close(f, seat);
}

bool fleet_watches(const struct fleet *f, pid_t tid)
{
	return f->cpu_wide || map64_get(&f->by_tid, (uint64_t)tid, NULL);
}

bool fleet_alone(const struct fleet *f, pid_t tid)
{
	uint32_t seat;

	return map64_get(&f->by_tid, (uint64_t)tid, &seat) && f->seats.data[seat].tid == tid &&
	       f->seats.data[seat].users == 1;
}

int fleet_want(struct fleet *f, pid_t tid, uint64_t not_before_ns)
{
	struct fleet_todo todo = {.tid = tid, .not_before_ns = not_before_ns};

	return vec_push(&f->todo, todo);
}

/* A record of @tid came from another thread's seat: what its own seat counts is there already. */
static void find_doubled(struct fleet *f, const struct opened *o, pid_t tid)
{
	uint32_t own;

	if (o->closed_ns || f->seats.data[o->seat].tid == tid ||
	    !map64_get(&f->by_tid, (uint64_t)tid, &own) || own == o->seat)
		return;
	f->seats.data[own].doubled = f->seats.data[own].tid == tid;
}

bool fleet_accepts(struct fleet *f, const struct opened *o, uint64_t id, pid_t tid, bool remember)
{
	uint64_t key = (uint64_t)o->cpu << 32 | (uint64_t)o->event << 48 | (uint32_t)tid;
	const struct opened *first;
	uint32_t known;

	if (f->cpu_wide || !f->several)
		return true;
	find_doubled(f, o, tid);
	if (map64_get(&f->accepted, key, &known)) {
		if (known == (uint32_t)id)
			return true;
		first = fleet_ids_find(f->ids, (id & ~(uint64_t)UINT32_MAX) | known);
		if (first && !first->closed_ns)
			return false;
	}
	if (remember)
		map64_put(&f->accepted, key, (uint32_t)id);
	return true;
}

void fleet_ids_init(struct fleet_ids *ids, uint32_t fds_max)
{
	*ids = (struct fleet_ids){.fds_max = fds_max};
}

void fleet_ids_fini(struct fleet_ids *ids)
{
	map64_fini(&ids->by_id);
	vec_fini(&ids->opened);
	vec_fini(&ids->unused);
	vec_fini(&ids->closed);
}

const struct opened *fleet_ids_find(const struct fleet_ids *ids, uint64_t id)
{
	uint32_t place;

	return map64_get(&ids->by_id, id, &place) ? &ids->opened.data[place] : NULL;
}

void fleet_ids_purge(struct fleet_ids *ids, uint64_t ns)
{
	size_t n = 0;

	for (; n < ids->closed.len; n++) {
		uint64_t id = ids->closed.data[n];
		uint32_t place;

		if (!map64_get(&ids->by_id, id, &place))
			continue;
		if (ids->opened.data[place].closed_ns >= ns)
			break;
		map64_del(&ids->by_id, id);
		ids->unused.data[ids->unused.len++] = place; /* room was reserved */
	}
	for (size_t i = n; i < ids->closed.len; i++)
		ids->closed.data[i - n] = ids->closed.data[i];
	ids->closed.len -= n;
}
