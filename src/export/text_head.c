/*
 * text_head: the facts above the report's tables: what was watched, how, for how long, what was
 * lost and how many stacks are whole.
 *
 * One line a fact, its name first. Any one thread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/text.h"
#include "insight/cut.h"

#define RARE_NS 100000000u /* samples further apart than this may well miss all */

static void put_fact(struct text_report *t, const char *name, const char *text)
{
	if (!*text)
		return;
	strbuf_printf(&t->b, "%-9s ", name);
	escape_plain(&t->b, text);
	strbuf_putc(&t->b, '\n');
}

/* Seconds, or what is too short for two decimals of them in three digits. */
static void put_length(struct strbuf *b, double ns, int decimals)
{
	double v = ns >= 999500 ? ns / 1e6 : ns / 1e3;

	if (ns >= 1e8 || ns <= 0)
		strbuf_printf(b, "%.*f s", decimals, ns / 1e9);
	else if (ns < 999.5)
		strbuf_printf(b, "%.0f ns", ns);
	else
		strbuf_printf(b, "%.*f %s",
			      v >= 99.95   ? 0
			      : v >= 9.995 ? 1
					   : 2,
			      v, ns >= 999500 ? "ms" : "\xc2\xb5s");
}

static void put_time(struct text_report *t)
{
	uint64_t ns = t->s->end_ns - t->s->start_ns;
	time_t start = (time_t)(t->s->wall_start_ns / 1000000000);
	struct tm tm;
	char when[64] = "";

	if (t->s->wall_start_ns && localtime_r(&start, &tm))
		strftime(when, sizeof when, " from %Y-%m-%d %H:%M:%S %z", &tm);
	strbuf_printf(&t->b, "%-9s ", "window");
	if (ns)
		put_length(&t->b, (double)ns, 2);
	else
		strbuf_puts(&t->b, "not known");
	strbuf_printf(&t->b, "%s\n", when);
}

static void put_samples(struct text_report *t)
{
	const struct snapshot_event *e = t->event < t->s->nevents ? &t->s->events[t->event] : NULL;
	double seconds = (double)(t->s->end_ns - t->s->start_ns) / 1e9;

	strbuf_printf(&t->b, "%-9s %" PRIu64, "samples", t->roll.all.samples);
	if (!e) {
		strbuf_putc(&t->b, '\n');
		return;
	}
	strbuf_puts(&t->b, " of ");
	escape_plain(&t->b, e->desc.name);
	if (!t->roll.all.samples &&
	    !t->roll.all.weight) { /* a time or a count of it is not known */
	} else if (e->desc.unit == EVENT_NS) {
		strbuf_puts(&t->b, ", ");
		put_length(&t->b, (double)t->roll.all.weight, 3);
		if (e->desc.cpu_time && seconds > 0)
			strbuf_printf(&t->b, " of CPU time, %.1f %% of one CPU",
				      (double)t->roll.all.weight / 1e7 / seconds);
	} else if (e->desc.scale > 0) {
		strbuf_printf(&t->b, ", %.15g counted", (double)t->roll.all.weight * e->desc.scale);
	} else {
		strbuf_printf(&t->b, ", %" PRIu64 " counted", t->roll.all.weight);
	}
	if (e->desc.freq_hz)
		strbuf_printf(&t->b, ", asked %u Hz", e->desc.freq_hz);
	strbuf_putc(&t->b, '\n');
}

/* The tables are of one event; what others gave is told beside. */
static void put_others(struct text_report *t)
{
	for (uint32_t i = 0; i < t->s->nevents; i++) {
		const struct snapshot_event *e = &t->s->events[i];

		if (i == t->event || !e->samples || t->event >= t->s->nevents ||
		    e->desc.set != t->s->events[t->event].desc.set)
			continue;
		strbuf_printf(&t->b, "%-9s %" PRIu64 " of ", "and", e->samples);
		escape_plain(&t->b, e->desc.name);
		strbuf_puts(&t->b, " (-s EVENT has the tables of it)\n");
	}
}

/* -s EVENT of which there is nothing: why the tables are of another. */
static void put_fallback(struct text_report *t)
{
	if (export_has_event(t->s, t->o, t->event))
		return;
	strbuf_printf(&t->b, "%-9s ", "order");
	escape_plain(&t->b, t->o->event);
	strbuf_puts(&t->b, " (-s) counted nothing: the tables are of the event above\n");
}

/* What was counted a part of the time or not at all, and whose samples do not stand for its count.
 */
static void put_counters(struct text_report *t)
{
	for (uint32_t i = 0; i < t->s->nevents; i++) {
		const struct snapshot_event *e = &t->s->events[i];

		if (e->astray > 0) {
			strbuf_printf(&t->b, "%-9s ", "counter");
			escape_plain(&t->b, e->desc.name);
			strbuf_printf(
				&t->b,
				": its samples stand for %.3g %% of what it counted: do not trust shares "
				"of it\n",
				100 * e->astray);
		}
		if (!value_unknown(e->state) && e->state != VALUE_SCALED)
			continue;
		strbuf_printf(&t->b, "%-9s ", "counter");
		escape_plain(&t->b, e->desc.name);
		strbuf_printf(&t->b, ": %s", value_reason(e->state));
		if (e->state == VALUE_SCALED)
			strbuf_printf(&t->b, ", and ran %.1f %% of the time", 100 * e->running);
		strbuf_putc(&t->b, '\n');
	}
}

/* What the sampling took from the target, as measured beside it; nothing of it is taken off. */
static void put_costs(struct text_report *t)
{
	const struct snapshot *s = t->s;
	bool group = false;

	if (s->recorded || !s->sample_cost_ns)
		return;
	for (uint32_t i = 0; i < s->nevents; i++)
		group |= s->events[i].desc.leader != i;
	strbuf_printf(&t->b, "%-9s a sample ", "costs");
	put_length(&t->b, s->sample_cost_ns, 0);
	if (s->read_cost_ns) {
		strbuf_puts(&t->b, ", reading the set's counters ");
		put_length(&t->b, s->read_cost_ns, 0);
	} else if (group) {
		strbuf_puts(&t->b, ", reading the set's counters too little to be measured");
	}
	if (s->nevents && !s->events[0].desc.freq_hz) /* so many as there were, at no rate */
		strbuf_puts(&t->b, ", not deducted\n");
	else
		strbuf_printf(&t->b, "; %.2f %% of the target's time at %u Hz, not deducted\n",
			      (double)s->cost_ppm / 1e4, s->rate_hz);
}

static void put_losses(struct text_report *t)
{
	bool any = false;

	strbuf_printf(&t->b, "%-9s ", "losses");
	for (int i = 0; i < LOSS_KINDS; i++) {
		if (!t->s->loss[i])
			continue;
		strbuf_printf(&t->b, "%s%s %" PRIu64, any ? ", " : "", loss_kind_name(i),
			      t->s->loss[i]);
		any = true;
	}
	if (t->s->shortened)
		strbuf_printf(&t->b, "%srare call paths shortened, see [overflow]",
			      any ? ", " : "");
	if (t->s->totals_low)
		strbuf_puts(&t->b, "; totals lack what they went through, which is known of the "
				   "whole recording only, nothing hidden");
	strbuf_puts(&t->b, any || t->s->shortened ? "\n" : "none\n");
}

static void put_stacks(struct text_report *t)
{
	uint64_t all = 0;

	for (int i = 0; i < CUT_REASONS; i++)
		all += t->s->cut[i];
	if (!all)
		return;
	strbuf_printf(&t->b, "%-9s %.2f %% complete", "stacks",
		      100.0 * (double)t->s->cut[CUT_NONE] / (double)all);
	bool any = false;
	for (int i = CUT_NONE + 1; i < CUT_REASONS; i++) {
		if (!t->s->cut[i])
			continue;
		strbuf_printf(&t->b, "%s%s %" PRIu64, any ? ", " : "; cut: ", cut_reason_name(i),
			      t->s->cut[i]);
		any = true;
	}
	char advice[192];
	cut_advice(t->s->cut, t->s->recorded, advice, sizeof advice);
	strbuf_printf(&t->b, "%s%s\n", *advice ? "; " : "", advice);
}

/* The module whose functions without a symbol have most of the time; all of theirs. */
static module_id find_bare_module(const struct text_report *t, uint64_t *ret_all,
				  uint64_t *ret_most)
{
	uint32_t modules = tables_module_count(t->s->tables) + 1;
	uint64_t *of = calloc(modules, sizeof *of);
	module_id worst = 0;

	*ret_all = *ret_most = 0;
	for (size_t i = 0; of && i < t->names.funcs.len; i++) {
		const struct namelist_func *f = &t->names.funcs.data[i];
		uint64_t weight = f->no_symbol ? t->roll.funcs[i].self.weight : 0;

		*ret_all += weight;
		if (weight && f->module < modules && (of[f->module] += weight) > *ret_most) {
			*ret_most = of[f->module];
			worst = f->module;
		}
	}
	free(of);
	return worst;
}

static void put_symbols(struct text_report *t)
{
	double all = (double)t->roll.all.weight;
	uint64_t bare = 0, most;

	for (size_t i = 0; i < t->names.funcs.len; i++)
		if (t->names.funcs.data[i].unresolved)
			bare += t->roll.funcs[i].self.weight;
	if (bare && all > 0)
		strbuf_printf(&t->b, "%-9s %.2f %% of the time is in code without a name\n",
			      "symbols", 100.0 * (double)bare / all);
	module_id worst = find_bare_module(t, &bare, &most);
	if (bare && all > 0) {
		strbuf_printf(&t->b, "%-9s %.2f %% of the time is in code without symbols, ",
			      "symbols", 100.0 * (double)bare / all);
		strbuf_printf(&t->b, "%.2f %% in ", 100.0 * (double)most / all);
		escape_plain(&t->b, namelist_module(&t->names, worst));
		strbuf_putc(&t->b, '\n');
	}
}

/* Why nothing of the clock @e was sampled, as far as that is known. */
static void put_why_no_time(struct text_report *t, const struct event_desc *e)
{
	const struct snapshot *s = t->s;
	const char *modifiers = strrchr(e->name, ':');
	bool user = s->no_kernel || (modifiers && strchr(modifiers, 'u'));
	bool known = s->cpu_ns != UINT64_MAX;

	if (known && !s->cpu_ns) {
		strbuf_puts(&t->b, "the target used no CPU time while it was watched. "
				   "--clock wall shows what waits.\n");
		return;
	}
	if (known)
		strbuf_printf(&t->b, "the target used %.3f s of CPU time, and no sample met it",
			      (double)s->cpu_ns / 1e9);
	else
		strbuf_puts(&t->b, "none met the target on a CPU while it was watched");
	if (user || s->no_user)
		strbuf_printf(&t->b, "; %s code is left out", user ? "kernel" : "user");
	if (e->period >= RARE_NS)
		strbuf_printf(&t->b, "; one is taken every %g s of CPU time",
			      (double)e->period / 1e9);
	strbuf_puts(&t->b, known ? ".\n" : ". --clock wall shows what waits.\n");
}

static void put_why_empty(struct text_report *t)
{
	const struct snapshot_event *e = t->event < t->s->nevents ? &t->s->events[t->event] : NULL;

	strbuf_puts(&t->b, "\nNo samples: ");
	if (e && value_unknown(e->state)) {
		strbuf_puts(&t->b, "see the event's counter above.\n");
	} else if (t->s->recorded || !e) {
		strbuf_puts(&t->b, t->s->partial ? "none in the part that was read"
						 : "this recording holds none");
		if (t->s->no_kernel || t->s->no_user)
			strbuf_printf(&t->b, " outside the hidden %s code",
				      t->s->no_kernel ? "kernel" : "user");
		strbuf_puts(&t->b, ".\n");
	} else if (e->desc.cpu_time) {
		put_why_no_time(t, &e->desc);
	} else {
		escape_plain(&t->b, e->desc.name);
		strbuf_puts(&t->b, " gave none while the target was watched");
		if (t->s->cpu_ns != UINT64_MAX && t->s->cpu_ns)
			strbuf_printf(&t->b, ", which used %.3f s of CPU time",
				      (double)t->s->cpu_ns / 1e9);
		strbuf_puts(&t->b, ".\n");
	}
}

void text_head(struct text_report *t)
{
	char part[80];

	put_fact(t, "target", t->s->title);
	put_fact(t, "host", t->s->host);
	put_fact(t, "sampler", t->s->sampler);
	put_fact(t, "part", export_part(t->s, part));
	if (t->s->no_kernel || t->s->no_user)
		put_fact(t, "hidden", t->s->no_kernel ? "kernel code" : "user code");
	put_time(t);
	put_samples(t);
	put_others(t);
	put_fallback(t);
	put_counters(t);
	put_costs(t);
	put_losses(t);
	put_stacks(t);
	put_symbols(t);
	if (!t->nrows)
		put_why_empty(t);
}
