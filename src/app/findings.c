/*
 * findings: trace analyses and verdicts in batch reports and files.
 *
 * Main thread. Verdicts are asked of the engine as a screen would ask.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "export/analysis.h"
#include "export/escape.h"
#include "session.h"

#define NAMES_MS     20000
#define VERDICTS_MS  5000
#define VERDICTS     20
#define WANT_AT_ONCE 512

enum view_kind session_analysis(const struct session *s)
{
	static const enum view_kind views[] = {[PATTERN_DURATION] = VIEW_DURATION,
					       [PATTERN_CACHE] = VIEW_CACHE,
					       [PATTERN_EDGE] = VIEW_EDGE};
	if (!s->analyser)
		return VIEW_FUNCTIONS;
	if (s->options->pattern != PATTERN_AUTO)
		return views[s->options->pattern];
	return (enum view_kind)s->ops->status(s->source)->first_view;
}

/* The ends of edges become source lines. */
static void name_places(struct session *s, const struct analysis *a)
{
	frame_id wanted[WANT_AT_ONCE];
	uint64_t end = clock_mono_ns() + NAMES_MS * 1000000ull;
	uint32_t n = 0;
	for (uint32_t i = 0; i < a->nrows && clock_mono_ns() < end; i++) {
		if (a->rows[i].first_frame)
			wanted[n++] = a->rows[i].first_frame;
		if (a->rows[i].last_frame)
			wanted[n++] = a->rows[i].last_frame;
		if (!n || (n + 2 < WANT_AT_ONCE && i + 1 < a->nrows))
			continue;
		resolver_want(s->resolver, wanted, n);
		resolver_settle(s->resolver, NAMES_MS);
		n = 0;
	}
}

int analysis_write(struct session *s, bool csv, uint32_t rows, const struct export_out *out,
		   struct err *err)
{
	struct analysis *a = engine_analysis(s->engine, session_analysis(s));
	if (!a)
		return err_set(err, ENODATA,
			       "this recording holds nothing for the analysis asked for");
	if (a->view == VIEW_EDGE)
		name_places(s, a);
	int rc = csv ? analysis_csv(a, s->tables, out, err)
		     : analysis_text(a, s->tables, rows, out, err);
	analysis_unref(a);
	if (!rc && !csv)
		out->add(out->ctx, "\n", 1);
	return rc;
}

static uint32_t asked = 1000000; /* serial of the question */

void verdicts_ask(struct session *s)
{
	struct query q = {.view = VIEW_VERDICTS,
			  .serial = ++asked,
			  .event = UINT16_MAX,
			  .set = UINT16_MAX,
			  .until_ns = s->until_ns};
	q.flags = options_query_flags(s->options) & QUERY_FILTERS;
	engine_ask(s->engine, &q);
}

/* The engine's answer to it; NULL: none in time. */
static const struct answer *take_verdicts(struct session *s)
{
	uint64_t end = clock_mono_ns() + VERDICTS_MS * 1000000ull;
	while (clock_mono_ns() < end) {
		struct pollfd p = {.fd = engine_fd(s->engine), .events = POLLIN};
		const struct answer *a = engine_answer(s->engine);
		if (a && a->query.serial == asked)
			return a;
		answer_unref(a);
		poll(&p, 1, 100);
	}
	return NULL;
}

void verdicts_write(struct session *s, const struct export_out *out)
{
	const struct answer *a = take_verdicts(s);
	struct strbuf b;
	struct err err;
	strbuf_init(&b);
	if (a && a->nrows) {
		strbuf_puts(
			&b,
			"Verdicts: what kind of slowness, and how much faster all could be at most without it");
		strbuf_puts(&b, a->query.flags & QUERY_FILTERS ? ", the hidden code left out.\n\n"
							       : ".\n\n");
		strbuf_puts(&b, "  SHARE%  AT MOST  KIND                WHERE, EVIDENCE\n");
	}
	for (uint32_t i = 0; a && i < a->nrows && i < VERDICTS; i++) {
		const struct row *r = &a->rows[i];
		double gain = r->cells ? r->cells[0] : 1;
		if (gain > 999) /* nearly all there is, or all: no bound that tells anything */
			strbuf_printf(&b, "  %6.1f    >999x  %-18s  ", 100 * r->total, r->module);
		else
			strbuf_printf(&b, "  %6.1f  %6.2fx  %-18s  ", 100 * r->total, gain,
				      r->module);
		escape_name(&b, r->name);
		strbuf_puts(&b, ": ");
		escape_plain(&b, r->note);
		strbuf_putc(&b, '\n');
	}
	if (a && a->nrows > VERDICTS)
		strbuf_printf(&b, "  \xe2\x80\xa6 %u more\n", a->nrows - VERDICTS);
	if (a && a->title[0]) {
		strbuf_puts(&b, a->nrows ? "\n" : "");
		escape_plain(&b, a->title);
		strbuf_puts(&b, "\n\n");
	}
	if (a && a->status.no_symbol_advice[0]) {
		strbuf_printf(&b, "%.1f %% of the time is in code without a name: ",
			      100 * a->status.no_symbol_share);
		escape_plain(&b, a->status.no_symbol_advice);
		strbuf_puts(&b, "\n\n");
	}
	if (b.len)
		export_flush(out, &b, &err);
	strbuf_fini(&b);
	answer_unref(a);
}
