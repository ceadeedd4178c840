/*
 * perf_places: events that name a symbol get its address in the target, and a new one when that
 * changes.
 *
 * All threads share the events of a set, so a symbol must lie at one address in all processes that
 * were named; children made by fork have it there too. A process that runs another program by
 * execve is looked into anew if it is the one that was named; in others accesses to the address
 * mean nothing and are not counted. Where no mapped file has the symbol, a counter of nothing keeps
 * the event's place until one is mapped. Source thread (before it starts: whoever opens the
 * source).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "sample/perf_impl.h"
#include "tables.h"

#define LOOK_NS (50 * MS)  /* between two looks at what is mapped */
#define WAIT_NS (500 * MS) /* until it is said that a program just started lacks a symbol */

static bool by_symbol(const struct perf_source *ps)
{
	for (uint32_t i = 0; i < ps->nevents; i++)
		if (ps->events[i].symbol[0])
			return true;
	return false;
}

/* The processes that were named. */
static uint32_t named(const struct perf_source *ps, const pid_t **ret)
{
	const struct target *t = ps->target;

	*ret = t->npids ? t->pids : t->tids;
	return t->npids ? t->npids : t->ntids;
}

static bool is_named(const struct perf_source *ps, pid_t pid)
{
	const pid_t *pids;
	uint32_t n = named(ps, &pids);

	for (uint32_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static int refuse_target(const struct event_spec *e, struct err *err)
{
	return err_set(err, ENOTSUP,
		       "%.80s: a symbol has an address in one program, and -a, -C, -G and -u watch "
		       "many; name a process (-p) or start it (-- COMMAND)",
		       e->name);
}

static int elsewhere(const struct event_spec *e, pid_t one, pid_t other, struct err *err)
{
	return err_set(err, ENOTUNIQ,
		       "%.80s: %.60s lies at another address in process %d than in %d; name one of "
		       "them",
		       e->name, e->symbol, other, one);
}

/* 0: placed; -ENOENT: not yet. */
static int place(struct perf_source *ps, struct event_spec *e, struct err *err)
{
	const struct source_config *c = ps->config;
	struct symbol_place p = {0}, first = {0};
	const pid_t *pids;
	uint32_t n = named(ps, &pids);
	int rc = 0;

	for (uint32_t i = 0; !rc && i < n; i++) {
		rc = c->locate(pids[i], e->symbol, c->symfs, &p, err);
		if (!rc && i && p.addr != first.addr)
			rc = elsewhere(e, pids[0], pids[i], err);
		if (!i)
			first = p;
	}
	return rc ? rc : event_spec_place(e, first.addr, first.size, first.code, err);
}

/* Who asks for the exit status learns of the first that is not there. */
static void publish_unplaced(struct perf_source *ps)
{
	str_id name = 0;

	for (uint32_t i = ps->nevents; i-- > 0;)
		if (ps->events[i].symbol[0] && !ps->events[i].placed)
			name = tables_str(ps->tables, ps->events[i].name);
	atomic_store_explicit(&ps->status.unplaced, name, memory_order_release);
}

/* mem:NAME:q is the symbol q of a module NAME; whoever typed it may have meant an access. */
static bool looks_like_access(const char *symbol)
{
	const char *colon = strrchr(symbol, ':');

	return colon && colon > symbol && colon[-1] != ':' && strlen(colon + 1) <= 2;
}

static void say_waits(struct perf_source *ps, const struct event_spec *e, const struct err *why)
{
	char text[700];

	snprintf(text, sizeof text,
		 "%.80s waits: %.400s; it is watched when one is mapped that has it%s", e->name,
		 why->msg, looks_like_access(e->symbol) ? " (accesses are r, w, rw and x)" : "");
	ps->sink->ops->say(ps->sink->ctx, text);
}

int perf_places_find(struct perf_source *ps, struct err *err)
{
	struct err why = {0};
	int rc = 0;

	for (uint32_t i = 0; !rc && i < ps->nevents; i++) {
		struct event_spec *e = &ps->events[i];

		if (!e->symbol[0])
			continue;
		if (!ps->target->npids && !ps->target->ntids)
			return refuse_target(e, err);
		if (!ps->config->locate)
			return err_set(err, ENOTSUP, "%.80s: symbols cannot be looked up here",
				       e->name);
		event_spec_displace(e);
		if (ps->target->argv && !ps->begun)
			continue; /* it is still this program */
		rc = place(ps, e, &why);
		if (rc == -ENOENT) {
			say_waits(ps, e, &why);
			rc = 0;
		}
	}
	publish_unplaced(ps);
	if (rc && err)
		*err = why;
	return rc;
}

void perf_places_exec(struct perf_source *ps, pid_t pid)
{
	struct roster_process *p = roster_process(&ps->roster, pid);

	if (is_named(ps, pid)) {
		ps->begun = true;
		ps->places_due = true;
		ps->places_say_ns = clock_mono_ns() + WAIT_NS;
	} else if (p) {
		p->elsewhere = true;
	}
}

void perf_places_mapped(struct perf_source *ps, pid_t pid, const char *path)
{
	if (path && path[0] == '/' && is_named(ps, pid))
		ps->places_due = true;
}

bool perf_places_counts(const struct perf_source *ps, const struct event_spec *spec, pid_t pid)
{
	const struct roster_process *p;

	if (!spec->symbol[0])
		return true;
	p = roster_process(&ps->roster, pid);
	return !p || !p->elsewhere;
}

static void say_placed(struct perf_source *ps, const struct event_spec *e)
{
	char text[200];

	snprintf(text, sizeof text,
		 "%.80s is watched from here on, at 0x%" PRIx64 ": it was not mapped before",
		 e->name, e->config1);
	ps->sink->ops->say(ps->sink->ctx, text);
}

/* A file mapped since then has the name too. */
static void say_stays(struct perf_source *ps, const struct event_spec *e)
{
	uint64_t said = hash_bytes(e->name, strlen(e->name)) ^ e->config1;
	char text[200];

	if (said == ps->places_said)
		return;
	ps->places_said = said;
	snprintf(text, sizeof text,
		 "%.80s: more than one file has it now; that at 0x%" PRIx64 " is watched as before",
		 e->name, e->config1);
	ps->sink->ops->say(ps->sink->ctx, text);
}

static void say_missing(struct perf_source *ps, uint64_t now)
{
	if (!ps->places_say_ns || now < ps->places_say_ns)
		return;
	ps->places_say_ns = 0;
	for (uint32_t i = 0; i < ps->nevents; i++) {
		struct event_spec e = ps->events[i];
		struct err why = {0};

		if (e.symbol[0] && !e.placed && place(ps, &e, &why) == -ENOENT)
			say_waits(ps, &e, &why);
	}
}

void perf_places_end(struct perf_source *ps)
{
	char text[200];

	for (uint32_t i = 0; i < ps->nevents; i++) {
		if (!ps->events[i].symbol[0] || ps->events[i].placed)
			continue;
		snprintf(text, sizeof text,
			 "%.80s was never watched: no file with a symbol %.60s was mapped",
			 ps->events[i].name, ps->events[i].symbol);
		ps->sink->ops->say(ps->sink->ctx, text);
	}
}

/* What is mapped changed: some may lie elsewhere now, or be there for the first time. */
void perf_places_tick(struct perf_source *ps, uint64_t now)
{
	bool moved = false;

	say_missing(ps, now);
	if (!ps->places_due || now < ps->places_ns || ps->shift)
		return;
	ps->places_due = false;
	ps->places_ns = now + LOOK_NS;
	if (!by_symbol(ps) || (ps->target->argv && !ps->begun))
		return;
	for (uint32_t i = 0; i < ps->nevents; i++) {
		struct event_spec *e = &ps->events[i], before = *e;
		struct err why = {0};
		int rc;

		if (!e->symbol[0])
			continue;
		event_spec_displace(e);
		rc = place(ps, e, &why);
		if (rc == -ESRCH || (rc == -ENOENT && !before.placed)) {
			*e = before;
			continue;
		}
		if (rc == -ENOTUNIQ && before.placed) { /* that it was alone before decides */
			*e = before;
			say_stays(ps, e);
			continue;
		}
		if (rc && hash_bytes(why.msg, strlen(why.msg)) != ps->places_said) {
			ps->places_said = hash_bytes(why.msg, strlen(why.msg));
			ps->sink->ops->say(ps->sink->ctx, why.msg);
		}
		if (e->placed && !before.placed)
			say_placed(ps, e);
		moved |= e->placed != before.placed || e->config1 != before.config1;
	}
	publish_unplaced(ps);
	if (moved)
		perf_shift(ps, ps->sampling->cpu_wide);
}
