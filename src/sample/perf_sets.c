/*
 * perf_sets: which events are sampled: named sets and lists, one in use, those before it kept.
 *
 * A set that is chosen again goes on under its old number and its events' old numbers: what it
 * collected before and collects now is one. What cannot be opened is refused with a sentence and
 * changes nothing. Source thread (before it starts: whoever opens the source).
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "event/catalogue.h"
#include "event/set.h"
#include "event/sysfs.h"
#include "sample/perf_impl.h"
#include "sample/perf_setup.h"

/* Events of the scheduler: the user's code is never what they interrupt. */
static bool in_kernel_only(const struct event_spec *e)
{
	return e->type == PERF_TYPE_SOFTWARE && (e->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
						 e->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
						 e->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

static void announce(struct perf_source *ps, uint32_t i)
{
	const struct event_spec *e = &ps->events[i];
	bool member = !(ps->sampled >> i & 1);
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

	d.hidden = in_kernel_only(e) && (user_only || e->exclude_kernel || ps->setup.no_kernel);
	snprintf(d.set_name, sizeof d.set_name, "%s", ps->set_name);
	snprintf(d.name, sizeof d.name, "%.93s%s", e->name,
		 !user_only             ? ""
		 : strchr(e->name, ':') ? "u"
					: ":u");
	ps->sink->ops->event(ps->sink->ctx, (uint16_t)(ps->first_event + i), &d);
}

/* Several hardware events may have to take turns: only readings tell how long each was counted. */
static void find_groups(struct perf_source *ps)
{
	uint32_t counters = 0;

	ps->groups_inherit = plan_groups_inherit();
	ps->groups = false;
	for (uint32_t i = 0; i < ps->nevents; i++) {
		ps->groups |= ps->leader[i] != i;
		counters += plan_takes_counter(&ps->events[i]);
	}
	ps->groups |= counters > 1;
}

/* The set in use from now on: a new one is told of. */
static void use_set(struct perf_source *ps, bool announced)
{
	find_groups(ps);
	perf_setup_dump(ps);
	for (uint32_t i = 0; i < ps->nevents && !announced; i++)
		announce(ps, i);
	atomic_store_explicit(&ps->status.set, ps->set, memory_order_release);
}

static int add_event(struct perf_source *ps, const char *name, uint32_t leader, struct err *err)
{
	int rc;

	if (ps->nevents == PLAN_EVENTS || ps->first_event + ps->nevents >= EVENT_MAX)
		return err_set(err, E2BIG,
			       "too many events: at most %d at once and %d in one profile",
			       PLAN_EVENTS, EVENT_MAX);
	rc = event_spec_parse(name, &ps->events[ps->nevents], err);
	if (rc)
		return rc;
	ps->sampled &= ~((uint64_t)1 << ps->nevents);
	ps->sampled |= (uint64_t)(leader == ps->nevents) << ps->nevents;
	ps->leader[ps->nevents++] = (uint16_t)leader;
	return 0;
}

/* "sched:*": all tracepoints that match, each an event. */
struct wildcard {
	struct perf_source *ps;
	const char *modifiers; /* with their colon, "" none */
	uint32_t leader, found, room;
	int rc;
	struct err *err;
};

static bool add_match(void *ctx, const struct catalogue_event *e)
{
	struct wildcard *w = ctx;
	char name[128];

	if (e->kind != CATALOGUE_TRACEPOINT || w->found++ >= w->room)
		return true;
	snprintf(name, sizeof name, "%.90s%s", e->name, w->modifiers);
	w->rc = add_event(w->ps, name, w->leader == UINT32_MAX ? w->ps->nevents : w->leader,
			  w->err);
	return !w->rc;
}

static bool is_wildcard(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && strpbrk(name, "*?[") && !strchr(name, '/') && strncmp(name, "mem:", 4);
}

static int add_wildcard(struct perf_source *ps, char *name, uint32_t leader, struct err *err)
{
	struct wildcard w = {.ps = ps, .modifiers = "", .leader = leader, .err = err};
	char *colon = strrchr(name, ':'), modifiers[16] = "";
	struct err why = {0};

	if (colon != strchr(name, ':')) {
		snprintf(modifiers, sizeof modifiers, "%s", colon);
		*colon = '\0';
		w.modifiers = modifiers;
	}
	w.room = PLAN_EVENTS - ps->nevents;
	catalogue_each(name, add_match, &w);
	if (w.rc)
		return w.rc;
	if (w.found > w.room)
		return err_set(err, E2BIG,
			       "%.80s matches %u tracepoints: at most %u are watched at once; see "
			       "--list-events '%.80s'",
			       name, w.found, PLAN_EVENTS, name);
	if (!w.found && tracepoints_refused(&why))
		return err_set(err, why.no, "%.80s matches no tracepoint: %s", name, why.msg);
	return w.found ? 0
		       : err_set(err, ENOENT, "%.80s matches no tracepoint; see --list-events",
				 name);
}

/* Behind a group's brace at *@at, ":uk": modifiers of each of its events, from @first on. */
static int modify_group(struct perf_source *ps, uint32_t first, const char **at, struct err *err)
{
	const char *m = *at + 1;
	char text[16];
	size_t n;

	if (*m != ':')
		return 0;
	n = strcspn(++m, ",{}");
	snprintf(text, sizeof text, "%.*s", (int)n, m);
	for (uint32_t i = first; i < ps->nevents; i++) {
		char *name = ps->events[i].name;
		size_t len = strlen(name);

		if (!n || n >= sizeof text || event_spec_modify(&ps->events[i], text))
			return err_set(
				err, EINVAL,
				"{\xe2\x80\xa6}:%.*s: modifiers are u k h G H, up to three p, or P",
				n < 40 ? (int)n : 40, m);
		if (!strchr(name, ':'))
			snprintf(name + len, sizeof ps->events[i].name - len, ":%s", text);
	}
	*at = m + n - 1;
	return 0;
}

/* "a,{b,c}:u,cpu/d=1,e=2/": names between commas, braces around groups. */
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
		if (len && is_wildcard(name))
			rc = add_wildcard(ps, name, leader, err);
		else
			rc = len ? add_event(ps, name, leader == UINT32_MAX ? ps->nevents : leader,
					     err)
				 : 0;
		if (rc)
			return rc;
		len = 0;
		if (*s == '}' && leader != UINT32_MAX) {
			rc = modify_group(ps, leader, &s, err);
			if (rc)
				return rc;
			leader = UINT32_MAX;
		}
		if (!*s)
			break;
	}
	return ps->nevents ? 0 : err_set(err, EINVAL, "no event is named in %.80s", list);
}

/* A set that does not fit: @err says why; add which does instead. */
static int offer_nearest(const struct event_set *sets, size_t n, const struct event_set *wanted,
			 struct err *err)
{
	const struct event_set *near = event_set_nearest(sets, n, wanted);
	struct err why = *err;

	if (near)
		err_set(err, ENODEV,
			"event set %s does not fit: %.300s; -E %s does, and comes nearest",
			wanted->name, why.msg, near->name);
	else
		err_set(err, ENODEV, "event set %s does not fit: %.300s", wanted->name, why.msg);
	return -ENODEV;
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
		rc = offer_nearest(sets, n, &sets[i], err);
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

/* What is too long for a name ends in a number made of all of it: sets are told apart by name. */
static void name_of_list(const char *text, char ret_name[SET_NAME])
{
	size_t len = strlen(text), most = SET_NAME - 16;

	if (len < SET_NAME) {
		memcpy(ret_name, text, len + 1);
		return;
	}
	while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	snprintf(ret_name, SET_NAME, "%.*s\u2026#%08x", (int)most, text,
		 (unsigned)hash_bytes(text, len));
}

/* What is sampled when nothing else was asked for. */
static const char *default_event(const struct perf_source *ps)
{
	return ps->setup.call_graph == CALL_GRAPH_LBR ? "cycles" : "cpu-clock";
}

/* A list by all that was asked for: a part of it is another set. */
static void name_first_set(struct perf_source *ps)
{
	const struct source_config *c = ps->config;

	struct strbuf all;

	strbuf_init(&all);
	strbuf_puts(&all, c->event_set ? c->event_set
			  : c->nevents ? c->events[0]
				       : default_event(ps));
	for (uint32_t i = 1; !c->event_set && i < c->nevents; i++)
		strbuf_printf(&all, ",%s", c->events[i]);
	name_of_list(all.failed ? "" : all.buf, ps->set_name);
	strbuf_fini(&all);
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
		rc = add_list(ps, default_event(ps), err);
	if (rc)
		return rc;
	name_first_set(ps);
	rc = add_also(ps, err);
	if (!rc)
		rc = perf_places_find(ps, err);
	if (!rc)
		use_set(ps, false);
	return rc;
}

/* What describes a set, to be put away and taken out again. */
struct perf_set {
	char name[SET_NAME];
	struct event_spec events[PLAN_EVENTS];
	uint16_t leader[PLAN_EVENTS];
	uint32_t nevents;
	uint64_t sampled;
	uint16_t first_event, number;
};

static void put_away(const struct perf_source *ps, struct perf_set *to)
{
	*to = (struct perf_set){.nevents = ps->nevents,
				.sampled = ps->sampled,
				.first_event = ps->first_event,
				.number = ps->set};
	memcpy(to->name, ps->set_name, sizeof to->name);
	memcpy(to->events, ps->events, ps->nevents * sizeof *ps->events);
	memcpy(to->leader, ps->leader, ps->nevents * sizeof *ps->leader);
}

static void take_out(struct perf_source *ps, const struct perf_set *from)
{
	ps->nevents = from->nevents;
	ps->sampled = from->sampled;
	ps->first_event = from->first_event;
	ps->set = from->number;
	memcpy(ps->set_name, from->name, sizeof ps->set_name);
	memcpy(ps->events, from->events, from->nevents * sizeof *ps->events);
	memcpy(ps->leader, from->leader, from->nevents * sizeof *ps->leader);
}

static const struct perf_set *known_set(const struct perf_source *ps, const char *name)
{
	for (size_t i = 0; i < ps->sets.len; i++)
		if (strcmp(ps->sets.data[i]->name, name) == 0)
			return ps->sets.data[i];
	return NULL;
}

/* Where the next set's events begin. */
static uint16_t next_event(const struct perf_source *ps)
{
	uint32_t next = ps->first_event + ps->nevents;

	for (size_t i = 0; i < ps->sets.len; i++)
		if (ps->sets.data[i]->first_event + ps->sets.data[i]->nevents > next)
			next = ps->sets.data[i]->first_event + ps->sets.data[i]->nevents;
	return (uint16_t)next;
}

/* Keep what is in use now, so that it can be chosen again under its number. -ENOMEM. */
static int keep_set(struct perf_source *ps)
{
	struct perf_set *kept;

	if (known_set(ps, ps->set_name))
		return 0;
	kept = malloc(sizeof *kept);
	if (!kept || vec_push(&ps->sets, kept)) {
		free(kept);
		return -ENOMEM;
	}
	put_away(ps, kept);
	return 0;
}

static void close_all(const int *fds, uint32_t n)
{
	while (n-- > 0) /* members before their leader */
		if (fds[n] >= 0)
			close(fds[n]);
}

static int one_too_many(const struct plan *plan, uint32_t n, struct err *err)
{
	const struct plan_event *e = &plan->e[n];

	return err_set(err, EINVAL,
		       "{%s,…} cannot be counted together: %s, the %uth event of the group, has no "
		       "counter left on this CPU (EINVAL); make groups smaller",
		       plan->e[e->leader].spec.name, e->spec.name, n - e->leader + 1);
}

/*
 * Can these events be opened as they would be? Tried on this program itself (or a CPU), so
 * that what cannot be had takes nothing away from what is sampled now. Enabled, as they
 * will be: behind a disabled leader the kernel takes more members than there are counters,
 * and never runs them.
 */
int perf_setup_try(struct perf_source *ps, struct err *err)
{
	bool cpu_wide = ps->sampling ? ps->sampling->cpu_wide
				     : ps->everything || ps->target->by_user;
	struct plan plan, side;
	int fds[PLAN_MAX], rc;
	uint32_t n = 0;

	if (ps->sampling)
		perf_setup_limit(ps);
	find_groups(ps);
	rc = perf_plans(ps, cpu_wide, ps->sampling && !ps->side, &plan, &side);
	if (!rc && cpu_wide &&
	    fleet_seat_fds(&plan, &ps->rings) + 2 * ps->rings.n > ps->ids.fds_max)
		return err_set(err, EMFILE,
			       "these events take %u file descriptors, and there are %u (EMFILE); "
			       "type: ulimit -n 65536",
			       fleet_seat_fds(&plan, &ps->rings), ps->ids.fds_max);
	for (; !rc && n < plan.n; n++) {
		const struct plan_event *e = &plan.e[n];
		struct perf_event_attr attr;
		pid_t pid = cpu_wide ? -1 : 0;
		int cpu = cpu_wide ? ps->cpus[0] : -1;

		plan_attr(e, 0, &attr);
		attr.disabled = 0;
		fds[n] = perf_open(&attr, pid, cpu, e->leader == n ? -1 : fds[e->leader], 0);
		if (fds[n] < 0)
			rc = fds[n] == -EINVAL && e->leader != n
				     ? one_too_many(&plan, n, err)
				     : perf_open_explain(fds[n], e->spec.name, pid, cpu, err);
	}
	close_all(fds, n);
	return rc;
}

/* The name of a set, or a list of events. */
static int add_named(struct perf_source *ps, const char *text, struct err *err)
{
	struct err list = {0};

	if (!add_set(ps, text, err))
		return 0;
	ps->nevents = 0;
	if (!add_list(ps, text, &list))
		return 0;
	if (strpbrk(text, ",{/:"))
		*err = list;
	return -EINVAL;
}

bool perf_setup_switch(struct perf_source *ps, const char *events)
{
	const struct perf_set *known;
	struct perf_set now;
	struct err err = {0};
	char name[SET_NAME];
	int rc;

	name_of_list(events, name);
	if (strcmp(name, ps->set_name) == 0 || keep_set(ps))
		return false;
	put_away(ps, &now);
	known = known_set(ps, name);
	if (known) {
		take_out(ps, known);
		if (perf_places_find(ps, &err))
			ps->sink->ops->say(ps->sink->ctx, err.msg);
		use_set(ps, true);
		return true;
	}
	ps->first_event = next_event(ps);
	ps->nevents = 0;
	rc = add_named(ps, events, &err);
	if (!rc)
		rc = add_also(ps, &err);
	if (!rc)
		rc = perf_places_find(ps, &err);
	if (!rc)
		rc = perf_setup_try(ps, &err);
	if (rc) {
		take_out(ps, &now);
		use_set(ps, true);
		ps->sink->ops->say(ps->sink->ctx, err.msg);
		return false;
	}
	memcpy(ps->set_name, name, sizeof ps->set_name);
	ps->set = ++ps->sets_made;
	use_set(ps, false);
	return true;
}

void perf_setup_sets_free(struct perf_source *ps)
{
	for (size_t i = 0; i < ps->sets.len; i++)
		free(ps->sets.data[i]);
	vec_fini(&ps->sets);
}
