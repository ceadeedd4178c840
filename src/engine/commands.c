/*
 * commands: what the person at the screen wants done.
 *
 * Engine thread; nothing here waits. Saving is handed to the jobs thread with a snapshot made now.
 * What a source cannot do is said.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "symbol/resolver.h"

/* What is saved: the seconds there are, not those that were asked for. */
static void tell_span(const struct engine *e, struct job *job, uint64_t window_ns,
		      uint64_t until_ns)
{
	uint64_t ns = job->snapshot->end_ns - job->snapshot->start_ns;
	uint64_t mark_ns = e->profile.mark_ns;
	bool marked = mark_ns && job->snapshot->start_ns <= mark_ns;

	if (!ns) /* samples that tell no time */
		snprintf(job->span, sizeof job->span, "all");
	else
		snprintf(job->span, sizeof job->span, "%s%.1f s%s%s",
			 until_ns || marked ? ""
			 : window_ns        ? "the last "
					    : "all, ",
			 (double)ns / 1e9, marked ? " since the mark" : "",
			 until_ns ? ", until the screen was frozen" : "");
}

static void save(struct engine *e, const struct command *c)
{
	uint64_t window = e->ask ? e->ask->query.window_ns : 0;
	uint64_t until = c->number;
	struct job job = {.kind = JOB_SAVE, .format = c->format, .replace = c->replace};

	job.snapshot = engine_freeze(e, window, until);
	if (!job.snapshot) {
		engine_tell(e, NOTICE_ERROR, "no memory for a snapshot");
		return;
	}
	memcpy(job.path, c->text, sizeof job.path);
	job.path[sizeof job.path - 1] = '\0';
	tell_span(e, &job, window, until);
	jobs_save(e, &job);
}

static void mark(struct engine *e, const struct command *c)
{
	(void)c;
	if (e->profile.mark_ns)
		profile_unmark(&e->profile);
	else
		profile_mark(&e->profile, engine_now(e));
}

/* Hand a command on to the source, which owns sc->events from then on. */
static int pass_on(struct engine *e, struct source_command *sc, const char *what)
{
	int rc = -ENOTSUP;
	if (e->ops && e->ops->command && !engine_finished(e))
		rc = e->ops->command(e->source, sc);
	else
		free(sc->events);
	if (rc == -ENOTSUP)
		engine_tell(e, NOTICE_WARN, "%s cannot be changed here", what);
	else if (rc < 0)
		engine_tell(e, NOTICE_WARN, "%s could not be changed: %s", what, strerror(-rc));
	return rc;
}

static void set_rate(struct engine *e, const struct command *c)
{
	struct source_command sc = {.kind = SOURCE_SET_RATE, .rate_hz = (uint32_t)c->number};
	pass_on(e, &sc, "the rate");
}

static void set_events(struct engine *e, const struct command *c)
{
	char text[sizeof c->text];
	memcpy(text, c->text, sizeof text);
	text[sizeof text - 1] = '\0';
	struct source_command sc = {.kind = SOURCE_SET_EVENTS, .events = strdup(text)};
	if (!sc.events)
		return;
	pass_on(e, &sc, "the events");
}

static void set_interval(struct engine *e, const struct command *c)
{
	e->interval_ms = c->number < 100       ? 100
			 : c->number > 3600000 ? 3600000
					       : (uint32_t)c->number;
}

static void set_mode(struct engine *e, const struct command *c)
{
	struct source_command sc = {.kind = SOURCE_SET_MODE,
				    .no_kernel = c->flags & QUERY_NO_KERNEL,
				    .no_user = c->flags & QUERY_NO_USER};
	if (pass_on(e, &sc, "what is sampled") == 0) {
		e->no_kernel = sc.no_kernel;
		e->no_user = sc.no_user;
		e->known_events = 0; /* what is compared with accounts is told anew */
	}
}

static void cancel(struct engine *e, const struct command *c)
{
	struct resolver_download d = {0};

	(void)c;
	if (!e->setup.live && !engine_finished(e)) {
		atomic_store(&e->shared.cancelled, true);
		engine_tell(e, NOTICE_INFO, "reading was stopped: what was read is shown");
		return;
	}
	if (e->setup.resolver)
		resolver_download(e->setup.resolver, &d);
	if (!d.module && !d.waiting)
		return;
	resolver_cancel(e->setup.resolver);
	engine_tell(e, NOTICE_INFO,
		    "downloads of debug files were stopped: they are not tried again");
}

static void kill_child(struct engine *e, const struct command *c)
{
	(void)c;
	if (e->setup.child <= 0 || engine_finished(e))
		engine_tell(e, NOTICE_WARN, "no command that was started here is running");
	else if (kill(e->setup.child, SIGTERM))
		engine_tell(e, NOTICE_WARN, "cannot end process %d: %s", (int)e->setup.child,
			    strerror(errno));
}

static void count_calls(struct engine *e, const struct command *c)
{
	struct job job = {.kind = JOB_CALLS, .func = (func_id)c->number};

	if (!e->setup.live || engine_finished(e))
		engine_tell(e, NOTICE_WARN, "calls are counted of programs that run");
	else if (c->number & FID_FRAME)
		engine_tell(e, NOTICE_WARN, "its name is not known yet");
	else if (!mailbox_post(e->jobs, &job))
		engine_tell(e, NOTICE_ERROR, "still busy with what was asked before");
}

void engine_obey(struct engine *e)
{
	static void (*const obey[])(struct engine *, const struct command *) = {
		[COMMAND_SAVE] = save,
		[COMMAND_MARK] = mark,
		[COMMAND_RATE] = set_rate,
		[COMMAND_EVENTS] = set_events,
		[COMMAND_INTERVAL] = set_interval,
		[COMMAND_MODE] = set_mode,
		[COMMAND_CANCEL] = cancel,
		[COMMAND_KILL_CHILD] = kill_child,
		[COMMAND_CALLS] = count_calls,
	};
	struct command c;
	while (mailbox_take(e->commands, &c)) {
		if ((unsigned)c.kind < sizeof obey / sizeof *obey)
			obey[c.kind](e, &c);
		e->dirty = true;
	}
}
