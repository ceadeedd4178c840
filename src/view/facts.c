/*
 * facts: puts the header's numbers into words. Losses and limits are always named; what is unknown
 * is left out or a dash, never 0. Any thread, no state.
 */
#include "facts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

#define NOTICEABLE 0.0005 /* shares below print as 0.0 % */

struct facts {
	struct fact *data;
	int n, max;
};

__attribute__((format(printf, 5, 6))) static struct fact *
add(struct facts *f, uint8_t keep, enum look look, const char *label, const char *fmt, ...)
{
	struct fact *fact = &f->data[f->n < f->max ? f->n++ : f->max - 1];
	va_list ap;

	*fact = (struct fact){.look = look, .keep = keep};
	snprintf(fact->label, sizeof fact->label, "%s", label);
	va_start(ap, fmt);
	vsnprintf(fact->value, sizeof fact->value, fmt, ap);
	va_end(ap);
	return fact;
}

static void add_percent(struct facts *f, uint8_t keep, const char *label, double share, double warn)
{
	char text[NUMBER_TEXT];

	number_percent(text, share);
	add(f, keep, share > warn ? LOOK_WARN : LOOK_VALUE, label, "%s%%", text)->width = 5;
}

/* How long; a recording may be too short for whole seconds, or tell no times. */
static const char *length(char text[NUMBER_TEXT], uint64_t ns, bool recording)
{
	if (!recording || ns >= 1000000000)
		return number_elapsed(text, ns);
	return number_ns(text, ns ? (double)ns : (double)NAN);
}

int facts_target(const struct answer_status *s, struct fact ret[FACTS_MAX])
{
	struct facts f = {ret, 0, FACTS_MAX};
	char text[NUMBER_TEXT], rate[NUMBER_TEXT];

	add(&f, 60, LOOK_BRAND, "", "altpttop");
	add(&f, 255, LOOK_STRONG, "", "%s", *s->target ? s->target : "starting");
	if (*s->where)
		add(&f, 45, LOOK_VALUE, "in", "%s", s->where);
	if (s->finished)
		add(&f, 250, LOOK_STATE, "", s->recording ? "read" : "ended");
	else if (s->progress >= 0 && s->recording)
		add(&f, 250, LOOK_STATE, "reading", "%3.0f%%", fmin(s->progress, 1) * 100);
	if (s->threads)
		add(&f, 90, LOOK_VALUE, "", "%3u thr", s->threads);
	if (s->unwatched)
		add(&f, 230, LOOK_WARN, "", "+%u unwatched", s->unwatched);
	if (!s->recording)
		add(&f, 200, LOOK_VALUE, "CPU", s->cpu >= 0 ? "%4.0f%%" : NUMBER_DASH, s->cpu * 100)
			->width = 5;
	if (*s->arrangement)
		add(&f, 80, LOOK_VALUE, "", "%.*s", (int)strcspn(s->arrangement, ","),
		    s->arrangement);
	if (s->asked_hz) {
		bool slow = s->delivered_hz < 0.9 * s->asked_hz && s->delivered_hz > 0;
		int digits = snprintf(text, sizeof text, "%u", s->asked_hz) + 1;

		if (s->delivered_hz < 0)
			snprintf(rate, sizeof rate, "%*s" NUMBER_DASH, digits - 1, "");
		else
			snprintf(rate, sizeof rate, "%*.0f", digits, s->delivered_hz);
		add(&f, 120, slow ? LOOK_FAIR : LOOK_VALUE, "", "%s/%u Hz", rate, s->asked_hz);
	}
	if (*s->event_set && s->set_covered_ns && s->set_covered_ns < s->covered_ns / 20 * 19)
		add(&f, 71, LOOK_FAIR, "", "%.40s over %.1f s", s->event_set,
		    (double)s->set_covered_ns / 1e9);
	else if (*s->event_set)
		add(&f, 70, LOOK_VALUE, "", "%.60s", s->event_set);
	add(&f, 150, LOOK_VALUE, "", "%s", length(text, s->elapsed_ns, s->recording))->right = true;
	return f.n;
}

/* Observations that are missing from the profile, of whatever kind. */
static uint64_t lost(const struct answer_status *s)
{
	return s->loss[LOSS_RING] + s->loss[LOSS_QUEUE] + s->loss[LOSS_ORDER] +
	       s->loss[LOSS_BAD_RECORD] + s->loss[LOSS_TORN] + s->loss[LOSS_MISSED] +
	       s->loss[LOSS_UNKNOWN_ID];
}

/* "fetch libfoo.so 12 MiB of 80 MiB +3": Esc stops it. */
static void add_download(struct facts *f, const struct answer_status *s)
{
	char done[NUMBER_TEXT], all[NUMBER_TEXT], more[24] = "";

	if (!*s->download)
		return;
	number_bytes(done, (double)s->download_done);
	if (s->download_waiting)
		snprintf(more, sizeof more, " +%u", s->download_waiting);
	if (s->download_all)
		add(f, 195, LOOK_STATE, "fetch", "%.24s %s of %s%s", s->download, done,
		    number_bytes(all, (double)s->download_all), more);
	else
		add(f, 195, LOOK_STATE, "fetch", "%.24s %s%s", s->download, done, more);
}

int facts_quality(const struct answer_status *s, struct fact ret[FACTS_MAX])
{
	struct facts f = {ret, 0, FACTS_MAX};
	char text[NUMBER_TEXT];
	uint64_t n = lost(s);

	add(&f, 240, n ? LOOK_WARN : LOOK_VALUE, "lost", "%s", number_short(text, (double)n))
		->width = 2;
	if (s->loss[LOSS_THROTTLED])
		add(&f, 235, LOOK_WARN, "throttled", "%s",
		    number_short(text, (double)s->loss[LOSS_THROTTLED]));
	if (s->loss[LOSS_EINTR])
		add(&f, 236, LOOK_WARN, "EINTR", "%s",
		    number_short(text, (double)s->loss[LOSS_EINTR]));
	if (s->loss[LOSS_MEMORY])
		add(&f, 237, LOOK_WARN, "no memory", "%s",
		    number_short(text, (double)s->loss[LOSS_MEMORY]));
	if (s->totals_low)
		add(&f, 238, LOOK_WARN, "totals", "too low");
	if (s->loss[LOSS_GAP])
		add(&f, 234, LOOK_WARN, "gap", "%s",
		    number_ns(text, (double)s->loss[LOSS_GAP] * 1e6));
	add_percent(&f, 200, "cut", s->cut_share, 0.05);
	if (s->stitched_share > NOTICEABLE)
		add_percent(&f, 30, "stitched", s->stitched_share, 1);
	add_percent(&f, 190, "no-sym", s->no_symbol_share, 0.05);
	add_download(&f, s);
	if (s->damage)
		add(&f, 160, LOOK_WARN, "damaged", "%s", number_short(text, (double)s->damage));
	if (s->unsampled_share > NOTICEABLE)
		add_percent(&f, 150, "unsampled", s->unsampled_share, 0.03);
	if (!s->recording) {
		add_percent(&f, 180, "own", s->own_cpu, 0.20);
		if (s->cost >= 0)
			add_percent(&f, 170, "costs", s->cost, 0.05);
	}
	if (s->stop_median_ns)
		add(&f, 60, LOOK_VALUE, "stop", "%s", number_ns(text, (double)s->stop_median_ns));
	add(&f, 55, LOOK_VALUE, "samples", "%s", number_grouped(text, s->samples))->width = 7;
	if (s->own_rss)
		add(&f, 20, LOOK_VALUE, "memory", "%s", number_bytes(text, (double)s->own_rss))
			->width = 8;
	return f.n;
}

int facts_state(const struct facts_state *s, struct fact ret[FACTS_MAX])
{
	static const struct {
		uint32_t flag;
		uint8_t keep;
		const char *text;
	} flags[] = {
		{QUERY_NO_KERNEL, 190, "no kernel"},
		{QUERY_NO_USER, 190, "no user"},
		{QUERY_NO_GUEST, 190, "no guests"},
		{QUERY_NO_HOST, 190, "guests only"},
		{QUERY_FOLD_INLINE, 100, "inlines folded"},
		{QUERY_TAIL_CALLS, 110, "with tail calls"},
	};
	struct facts f = {ret, 0, FACTS_MAX};
	char text[NUMBER_TEXT];
	bool older = s->window_ns &&
		     s->since_mark_ns > s->window_ns; /* the mark, than the window */

	if (s->frozen)
		add(&f, 255, LOOK_STATE, "", "FROZEN");
	if (s->older)
		add(&f, 225, LOOK_STATE, "", "older set");
	if (*s->thread)
		add(&f, 220, LOOK_STATE, "", "thread %.40s", s->thread);
	if (*s->narrowed)
		add(&f, 215, LOOK_STATE, "", "in %.40s", s->narrowed);
	if (*s->filter)
		add(&f, 210, LOOK_STATE, "", "\\%.40s", s->filter);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (s->flags & flags[i].flag)
			add(&f, flags[i].keep, LOOK_STATE, "", "%s", flags[i].text);
	if (s->marked && older)
		add(&f, 200, LOOK_STATE, "", "marked");
	if (s->marked && !older)
		add(&f, 250, LOOK_STATE, "", "since mark %s", number_elapsed(text, s->covered_ns));
	else if (s->window_ns)
		add(&f, 250, LOOK_VALUE, "", "last %s", number_window(text, s->window_ns));
	else
		add(&f, 250, LOOK_VALUE, "", "all %s", length(text, s->covered_ns, s->recording));
	return f.n;
}

int facts_details(const struct answer_status *s, struct fact *ret, int max)
{
	struct facts f = {ret, 0, max};
	char text[NUMBER_TEXT];

	for (int i = 0; i < LOSS_KINDS; i++)
		if (s->loss[i] && f.n < max)
			add(&f, 0, LOOK_WARN, "", "%s: %s; %s", loss_kind_name((enum loss_kind)i),
			    number_grouped(text, s->loss[i]), facts_loss_help((enum loss_kind)i));
	if (s->totals_low && f.n < max)
		add(&f, 0, LOOK_WARN, "", "%s",
		    "totals too low: what shortened paths went through is known of the whole "
		    "recording only, nothing hidden");
	for (int i = CUT_NONE + 1; i < CUT_REASONS; i++)
		if (s->cut[i] && f.n < max)
			add(&f, 0, LOOK_VALUE, "", "stacks cut, %s: %s; %s",
			    cut_reason_name((enum cut_reason)i), number_grouped(text, s->cut[i]),
			    facts_cut_help((enum cut_reason)i));
	if (s->damage && f.n < max)
		add(&f, 0, LOOK_WARN, "", "damaged places in program or debug files: %s",
		    number_grouped(text, s->damage));
	if (*s->no_symbol_advice && f.n < max)
		add(&f, 0, LOOK_VALUE, "", "%.159s", s->no_symbol_advice);
	return f.n;
}
