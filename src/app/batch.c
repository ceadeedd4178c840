/*
 * batch: watching without a screen: wait, show progress, then one report on standard output.
 *
 * The end is --duration, the end of the COMMAND or of the target, or a signal; a signal still gets
 * the report and the snapshot. Everything but the report goes to standard error. Main thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/plain.h"
#include "base/strbuf.h"
#include "session.h"
#include "signals.h"

#define DEFAULT_SECONDS 10
#define TICK_MS         100
#define REPORT_ROWS     40 /* of an analysis */
#define SNAPSHOT_MS     60000
#define HELD_MAX        ((size_t)16 << 20) /* of a report that waits for verdicts */

struct watch {
	struct session *s;
	uint64_t end_ns; /* 0: until the target ends */
	bool terminal;   /* progress is shown */
	bool drawn;
	bool told; /* why the source ended before its time */
};

static uint64_t source_samples(const struct session *s)
{
	const struct source_status *st = s->ops->status(s->source);

	return st ? atomic_load_explicit(&st->samples, memory_order_relaxed) : 0;
}

/* -u: nobody of the user was there, all the time. */
static bool nobody_came(const struct session *s)
{
	const struct source_status *st = s->ops->status(s->source);

	return s->options->user && st && !source_samples(s) &&
	       !atomic_load_explicit(&st->threads, memory_order_relaxed);
}

/* An event's symbol was never found: nothing of it could be watched. */
static bool never_placed(const struct session *s, bool gone)
{
	const struct source_status *st = s->ops->status(s->source);
	str_id name = st ? atomic_load_explicit(&st->unplaced, memory_order_acquire) : 0;

	if (name && !gone) /* else the source said it */
		complain("%s was never watched: no file that has its symbol was mapped",
			 tables_text(s->tables, name));
	return name;
}

static void show_progress(struct watch *w, uint64_t now)
{
	double elapsed = (double)(now - w->s->started_ns) / 1e9;

	if (!w->terminal)
		return;
	fprintf(stderr, "\r%6.1f s", elapsed);
	if (w->end_ns)
		fprintf(stderr, " of %.1f s", (double)(w->end_ns - w->s->started_ns) / 1e9);
	fprintf(stderr, "  %" PRIu64 " samples  Ctrl-C stops and reports\033[K",
		source_samples(w->s));
	fflush(stderr);
	w->drawn = true;
}

static void clear_progress(struct watch *w)
{
	if (w->drawn)
		fputs("\r\033[K", stderr);
	w->drawn = false;
}

/* The engine tells by a notice, sooner or later, what engine_result gives as well. */
static bool is_failure(const struct watch *w, const struct notice *notice)
{
	struct notice same;
	struct err err;

	if (engine_result(w->s->engine, &err) >= 0)
		return false;
	snprintf(same.text, sizeof same.text, "%s", err.msg);
	plain_in_place(same.text, sizeof same.text);
	return !strcmp(same.text, notice->text);
}

static void pass_notices(struct watch *w)
{
	struct notice notice;

	answer_unref(engine_answer(w->s->engine)); /* rests the fd */
	while (engine_notice(w->s->engine, &notice)) {
		if (notice.kind == NOTICE_FINISHED)
			continue;
		if (is_failure(w, &notice)) {
			if (w->told)
				continue;
			w->told = true;
		}
		clear_progress(w);
		complain("%s", notice.text);
	}
}

/* Until when to sleep: the next thing that happens by itself. */
static int wait_ms(const struct watch *w, uint64_t now, uint64_t warm_ns)
{
	uint64_t next = now + TICK_MS * 1000000ull;

	if (w->end_ns && w->end_ns < next)
		next = w->end_ns;
	if (warm_ns && now + warm_ns < next)
		next = now + warm_ns;
	return next > now ? (int)((next - now + 999999) / 1000000) : 0;
}

/* Returns when it is time to report. */
static void watch(struct watch *w)
{
	struct pollfd fds[] = {{.fd = signals_fd(), .events = POLLIN},
			       {.fd = engine_fd(w->s->engine), .events = POLLIN}};
	unsigned ticks = 0;

	for (;;) {
		uint64_t now = clock_mono_ns();
		uint64_t warm_ns = session_warmed_up(w->s);
		if (signals_pending() || engine_finished(w->s->engine) ||
		    (w->end_ns && now >= w->end_ns))
			break;
		if (ticks++ % 3 == 0)
			show_progress(w, now);
		poll(fds, 2, wait_ms(w, now, warm_ns));
		if (fds[1].revents)
			pass_notices(w);
	}
	clear_progress(w);
	pass_notices(w);
}

struct printing {
	FILE *out;
	int failed; /* errno of the first write that did */
};

/* After a failure no more: where nobody reads, each write would wait for a signal anew. */
static void print_out(void *ctx, const void *data, size_t len)
{
	struct printing *p = ctx;

	if (!p->failed && fwrite(data, 1, len, p->out) != len)
		p->failed = errno ? errno : EIO;
}

/* The text report is made while the engine looks for the verdicts, which come before it. */
struct held {
	struct session *s;
	const struct export_out *out;
	struct strbuf b;
	bool gone;
};

static void let_go(struct held *h)
{
	if (h->gone)
		return;
	h->gone = true;
	verdicts_write(h->s, h->out);
	if (h->b.len)
		h->out->add(h->out->ctx, h->b.buf, h->b.len);
	strbuf_fini(&h->b);
}

static void hold(void *ctx, const void *data, size_t len)
{
	struct held *h = ctx;

	if (!h->gone && h->b.len + len <= HELD_MAX)
		strbuf_add(&h->b, data, len);
	else
		let_go(h);
	if (h->b.failed) {
		h->b.failed = false; /* what was held before is whole */
		let_go(h);
	} else if (!h->gone) {
		return;
	}
	h->out->add(h->out->ctx, data, len);
}

static int print_text(struct session *s, const struct snapshot *snapshot,
		      const struct export_out *out, struct err *err)
{
	struct held h = {.s = s, .out = out};
	struct export_out to = {.add = hold, .ctx = &h};

	verdicts_ask(s);
	int rc = export_find(FORMAT_TEXT)->write(snapshot, &s->exports, &to, err);
	let_go(&h);
	return rc;
}

/* --format without -o: the report itself is in that format. */
static enum snapshot_format report_format(const struct session *s)
{
	if (!s->options->output && s->options->format != FORMAT_AUTO)
		return (enum snapshot_format)s->options->format;
	return FORMAT_TEXT;
}

static int print_report(struct session *s, const struct snapshot *snapshot)
{
	struct err err;
	enum snapshot_format format = report_format(s);

	struct printing printing = {.out = stdout};
	struct export_out out = {.add = print_out, .ctx = &printing};
	bool analysis = session_analysis(s) != VIEW_FUNCTIONS;
	int rc = 0;
	if (analysis && (format == FORMAT_TEXT || format == FORMAT_CSV))
		rc = analysis_write(s, format == FORMAT_CSV, REPORT_ROWS, &out, &err);
	if (!rc && format == FORMAT_TEXT)
		rc = print_text(s, snapshot, &out, &err);
	else if (!rc && !(analysis && format == FORMAT_CSV))
		rc = export_find(format)->write(snapshot, &s->exports, &out, &err);
	if (rc) {
		complain("%s", err.msg);
		return 1;
	}
	if (!printing.failed && fflush(stdout))
		printing.failed = errno;
	if (printing.failed == EPIPE) /* whoever reads has seen enough */
		return 0;
	if (printing.failed) {
		complain("cannot write the report: %s", strerror(printing.failed));
		return 1;
	}
	return 0;
}

/* -s EVENT of a recording, judged when its events are known. 0, or the exit status. */
static int find_sort_event(const struct snapshot *s, const struct export_options *o)
{
	char has[300] = "";
	size_t len = 0;

	if (!o->event || !s->recorded || !s->nevents) /* none: stopped before the first */
		return 0;
	for (uint32_t i = 0; i < s->nevents; i++) {
		const char *name = s->events[i].desc.name;

		if (event_is_called(name, o->event))
			return 0;
		if (len < sizeof has)
			len += (size_t)snprintf(has + len, sizeof has - len, "%s%s",
						len ? ", " : "", name);
	}
	complain("-s %.60s: no column (self, total, samples, module, name) and no event of this "
		 "recording, which has %s",
		 o->event, has);
	return 2;
}

static int report(struct session *s)
{
	struct err err;
	char part[80];

	signals_clear(); /* a second Ctrl-C stops waiting for names */
	const struct snapshot *snapshot = session_snapshot(s, SNAPSHOT_MS, &err);
	if (!snapshot) {
		complain("%s", err.msg);
		return 1;
	}
	int status = find_sort_event(snapshot, &s->exports);
	if (status) {
		snapshot_unref(snapshot);
		return status;
	}
	if (*export_part(snapshot, part))
		complain("reading was stopped: %s", part);
	uint16_t event = export_main_event(snapshot, &s->exports);
	if (!export_has_event(snapshot, &s->exports, event))
		complain("-s %s counted nothing: the report is of %s", s->exports.event,
			 snapshot->events[event].desc.name);
	status = print_report(s, snapshot);
	int written = session_output(s, snapshot);
	snapshot_unref(snapshot);
	return status ? status : written;
}

int batch_run(struct session *s)
{
	uint64_t duration = options_duration_ns(s->options);
	struct watch w = {.s = s, .terminal = isatty(STDERR_FILENO)};
	struct err err;
	char text[64];
	int ended;

	/* The demo never ends by itself. */
	bool endless = s->options->demo || (!s->spawn && !s->options->target.file);
	endless &= !s->options->ntriggers; /* a moment may be hours away */
	if (!duration && endless)
		duration = DEFAULT_SECONDS * 1000000000ull;
	if (duration)
		w.end_ns = s->started_ns + duration;
	/* Names are asked for on the way, so that they are there at the end. A text report of
	 * something live also wants to know which package holds what has none, and folding, whose
	 * answer nobody reads, asks for that. What tail calls left out is asked for at the end.
	 */
	bool folds = !s->options->target.file && report_format(s) == FORMAT_TEXT;
	uint32_t names = folds ? 0 : QUERY_NAMES;
	engine_ask(s->engine, &(struct query){.view = VIEW_FUNCTIONS,
					      .flags = options_query_flags(s->options) | names,
					      .event = UINT16_MAX,
					      .set = UINT16_MAX,
					      .max_rows = 1});
	watch(&w);
	s->ended_ns = clock_mono_ns();
	bool gone = engine_finished(s->engine);
	int result = engine_result(s->engine, &err);
	if (gone && result && !w.told) {
		complain("%s", err.msg);
		w.told = true;
	}
	if (gone && result == -EINVAL && s->options->target.file)
		return 2; /* its kind was recognised, but nothing in it can be shown */
	if (s->spawn && spawn_ended(s->spawn, &ended) && ended)
		complain("%s: %s", s->options->target.argv[0],
			 spawn_status_text(ended, text, sizeof text));
	if (gone && !s->options->target.file && !source_samples(s)) {
		complain("%s was gone before any sample was taken", s->target_text);
		return 1;
	}
	if (nobody_came(s)) {
		complain("user %s had no process", s->options->user);
		return 2;
	}
	int status = report(s);
	triggers_settle(s, SNAPSHOT_MS);
	pass_notices(&w);
	bool unplaced = never_placed(s, gone);
	return status ? status : (gone && result) || unplaced ? 1 : 0;
}
