/*
 * trigger: see trigger.h.
 *
 * A look folds the last second like any answer and takes the quantity from it. Few samples are no
 * value: below LEAST_SAMPLES a share or a metric is unknown, and unknown never holds.
 */
#include "engine/trigger.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "engine/build.h"

#define LOOK_EVERY_NS 250000000ull
#define LOOK_SHARE    20 /* looks take at most 1/LOOK_SHARE of the time */
#define LEAST_SAMPLES 20
#define ACCOUNT_NS    3000000000ull  /* the kernel's accounts come once a second */
#define UNKNOWN_NS    10000000000ull /* before that is worth a sentence */

int triggers_init(struct engine *e)
{
	const struct trigger_setup *s = &e->setup.triggers;

	e->triggers.t = calloc(s->nrules + 1, sizeof *e->triggers.t);
	for (uint32_t i = 0; e->triggers.t && i < s->nrules; i++)
		e->triggers.t[i].rule = &s->rules[i];
	return e->triggers.t ? 0 : -1;
}

void triggers_fini(struct engine *e)
{
	free(e->triggers.t);
}

/* An event is announced by the name that opened it, with ":u" perhaps. */
static bool is_event_of(const struct rule *r, const struct event_desc *d)
{
	return r->kind == RULE_EVENT && d && strcmp(d->name, r->pattern) == 0;
}

void triggers_learn(struct engine *e)
{
	for (uint32_t i = 0; i < e->setup.triggers.nrules; i++) {
		struct trigger *t = &e->triggers.t[i];

		for (uint16_t k = 0; k < EVENT_MAX; k++)
			if (is_event_of(t->rule, shared_event(&e->shared, k)))
				t->events |= 1ull << k;
	}
}

void triggers_sample(struct engine *e, uint16_t event, uint64_t time_ns)
{
	for (uint32_t i = 0; i < e->setup.triggers.nrules; i++) {
		struct trigger *t = &e->triggers.t[i];

		if (event >= EVENT_MAX || !(t->events >> event & 1))
			continue;
		if (!t->hit_ns)
			t->hit_ns = time_ns;
		t->hits++;
	}
}

uint64_t triggers_due_ns(const struct engine *e)
{
	return e->setup.triggers.nrules && !e->said_finished ? e->triggers.next_ns : UINT64_MAX;
}

/* The last second, folded. Its texts live until the box is given back. */
static bool open_look(struct build *b, struct engine *e, struct query *q, uint64_t look_ns)
{
	*q = (struct query){.view = VIEW_FUNCTIONS,
			    .window_ns = look_ns,
			    .event = UINT16_MAX,
			    .set = UINT16_MAX};
	*b = (struct build){.e = e, .t = e->tables, .q = q, .event = UINT16_MAX};
	b->box = answer_box_new();
	if (!b->box)
		return false;
	b->a = &b->box->answer;
	b->a->query = *q;
	b->window = profile_window(&e->profile, look_ns, 0, engine_now(e));
	return build_fold(b, 0) == 0;
}

static void close_look(struct build *b)
{
	build_ask_names(b);
	free(b->task_mask);
	free(b->unsampled);
	answer_box_unref(b->box);
}

static bool samples_time(const struct build *b)
{
	return b->event < EVENT_MAX && b->e->profile.events_on_cpu >> b->event & 1;
}

/* 100: one CPU. By samples of a clock, else as the kernel accounts it. */
static double cpu_percent(struct build *b)
{
	const struct profile *p = &b->e->profile;
	double covered = (double)b->window.covered_ns, cpu, seconds;
	struct tally tally;

	if (samples_time(b)) {
		profile_tally(p, &b->window, &tally);
		return covered > 0 ? 100 * (double)tally.cpu_ns / covered : (double)NAN;
	}
	struct build longer = *b;
	longer.window = profile_window(p, ACCOUNT_NS, 0, engine_now(b->e));
	cpu = build_account_cpu(&longer, &seconds);
	return cpu < 0 ? (double)NAN : 100 * cpu;
}

static double offcpu_percent(struct build *b)
{
	const struct source_status *s = b->e->source ? b->e->ops->status(b->e->source) : NULL;
	uint32_t threads = s ? atomic_load_explicit(&s->threads, memory_order_relaxed) : 0;
	double cpu = cpu_percent(b), share;

	if (!threads || isnan(cpu))
		return (double)NAN;
	share = 100 - cpu / threads;
	return share < 0 ? 0 : share;
}

static double metric_value(struct build *b, const char *name)
{
	const struct metrics *m = &b->metrics;

	if (b->e->flat.all.samples < LEAST_SAMPLES)
		return (double)NAN;
	for (uint32_t i = 0; i < m->n; i++)
		if (!strcasecmp(m->m[i].metric->name, name))
			return metrics_value(m, i, b->e->flat.all_values);
	return (double)NAN;
}

/* Said once: without a clock a look is coarser than its rule may ask for. */
static void say_coarse(struct build *b, struct trigger *t)
{
	const struct rule *r = t->rule;
	bool uses = false;

	for (uint32_t i = 0; r->kind == RULE_VALUE && i < r->nnames; i++)
		uses |= !strcmp(r->names[i], "cpu") || !strcmp(r->names[i], "offcpu");
	if (t->said_coarse || !uses || b->event >= EVENT_MAX || samples_time(b))
		return;
	t->said_coarse = true;
	engine_tell(
		b->e, NOTICE_INFO,
		"trigger %s: no clock is sampled, so CPU time is what the kernel accounts: read "
		"once a second, and known over the last 3 s from the first second on",
		r->text);
}

static double formula_now(struct build *b, const struct rule *r)
{
	double values[RULE_NAMES];

	for (uint32_t i = 0; i < r->nnames; i++)
		values[i] = !strcmp(r->names[i], "cpu")      ? cpu_percent(b)
			    : !strcmp(r->names[i], "offcpu") ? offcpu_percent(b)
							     : metric_value(b, r->names[i]);
	return formula_value(&r->formula, values);
}

/* Self times of several functions add up; of totals, which may contain each other, the largest. */
static double function_share(struct build *b, const struct rule *r)
{
	struct engine *e = b->e;
	uint64_t weight = 0;

	if (e->flat.all.samples < LEAST_SAMPLES || !e->flat.all.weight)
		return (double)NAN;
	if (fold_rows_reset(&e->rows, b->t, 0) ||
	    fold_functions(&e->rows, &e->flat, b->t, b->q->flags))
		return (double)NAN;
	for (uint32_t i = 0; i < e->rows.len; i++) {
		const struct fold_row *row = &e->rows.data[i];
		struct fid_text x;

		fid_text(b, row->fid, &x);
		if (fnmatch(r->pattern, x.full, 0) != 0 && fnmatch(r->pattern, x.name, 0) != 0)
			continue;
		if (r->kind == RULE_SELF)
			weight += row->self.weight;
		else if (row->total.weight > weight)
			weight = row->total.weight;
	}
	return 100 * (double)weight / (double)e->flat.all.weight;
}

/* A moment as people read it, or as it stands in a file's name. */
static const char *time_text(uint64_t mono_ns, bool file, char *buf, size_t size)
{
	uint64_t now = clock_mono_ns();
	time_t at = (time_t)((clock_real_ns() - (now > mono_ns ? now - mono_ns : 0)) / 1000000000);
	struct tm tm;

	buf[0] = '\0';
	if (localtime_r(&at, &tm))
		strftime(buf, size, file ? "%Y%m%d-%H%M%S" : "%H:%M:%S", &tm);
	return buf;
}

static const char *value_text(const struct trigger *t, char *buf, size_t size)
{
	if (t->rule->kind == RULE_EVENT)
		snprintf(buf, size, "%" PRIu64 " access%s", t->hits, t->hits == 1 ? "" : "es");
	else
		snprintf(buf, size, "it was %.4g", t->value);
	return buf;
}

/* It has held for its time: what comes now is waited for, then all is saved. */
static void trip(struct engine *e, struct trigger *t, uint64_t since_ns, uint64_t now_ns)
{
	const struct trigger_setup *s = &e->setup.triggers;
	char when[32];

	t->held = true;
	if (e->triggers.written >= s->files) {
		time_text(now_ns, false, when, sizeof when);
		engine_tell(e, NOTICE_WARN,
			    "trigger %s held again at %s: not saved, there are %u files already "
			    "(--trigger-files)",
			    t->rule->text, when, e->triggers.written);
		return;
	}
	e->triggers.written++;
	t->from_ns = since_ns > s->before_ns ? since_ns - s->before_ns : 1;
	t->at_ns = now_ns;
	engine_tell(e, NOTICE_INFO, "trigger %s holds since %s: saving %g s before and %g s after",
		    t->rule->text, time_text(since_ns, false, when, sizeof when),
		    (double)s->before_ns / 1e9, (double)s->after_ns / 1e9);
}

static void save(struct engine *e, struct trigger *t, uint64_t until_ns)
{
	const struct trigger_setup *s = &e->setup.triggers;
	struct job job = {.kind = JOB_SAVE,
			  .format = s->format,
			  .number = ++e->triggers.numbered,
			  .suffix = s->suffix};
	char when[32], stamp[32], value[48];

	if (until_ns <= t->from_ns)
		until_ns = t->from_ns + 1;
	job.snapshot = engine_freeze(e, until_ns - t->from_ns, until_ns);
	if (!job.snapshot) {
		engine_tell(e, NOTICE_ERROR, "no memory for a snapshot");
		t->from_ns = 0;
		return;
	}
	snprintf(job.path, sizeof job.path, "%.900s-%s", s->prefix,
		 time_text(t->at_ns, true, stamp, sizeof stamp));
	snprintf(job.span, sizeof job.span, "%.1f s around %s, when the trigger %s held (%s)",
		 (double)(job.snapshot->end_ns - job.snapshot->start_ns) / 1e9,
		 time_text(t->at_ns, false, when, sizeof when), t->rule->text,
		 value_text(t, value, sizeof value));
	jobs_save(e, &job);
	t->from_ns = 0;
	t->hit_ns = t->hits = 0;
}

static void look_at_value(struct engine *e, struct trigger *t, uint64_t now_ns)
{
	struct query q;
	struct build b;
	double value = (double)NAN;

	uint64_t begin_ns = e->profile.begin_ns, look_ns = rule_look_ns(t->rule);
	bool whole = begin_ns && now_ns > begin_ns + look_ns; /* there is so much to look at */
	bool open = open_look(&b, e, &q, look_ns);

	if (open)
		say_coarse(&b, t);
	if (open && whole)
		value = t->rule->kind == RULE_VALUE ? formula_now(&b, t->rule)
						    : function_share(&b, t->rule);
	if (b.box)
		close_look(&b);
	if (!isnan(value))
		t->unknown_ns = 0;
	else if (!t->unknown_ns)
		t->unknown_ns = now_ns;
	if (t->unknown_ns && now_ns > t->unknown_ns + UNKNOWN_NS && !t->said_unknown) {
		t->said_unknown = true;
		engine_tell(e, NOTICE_WARN,
			    "trigger %s: unknown for 10 s: the target rests (fewer than %d samples "
			    "a second), or what it needs is not counted now",
			    t->rule->text, LEAST_SAMPLES);
	}
	bool trips = rule_look(t->rule, &t->state, now_ns, value);
	if (!t->from_ns)
		t->value = value;
	if (trips && !t->from_ns)
		trip(e, t, t->state.since_ns, now_ns);
}

static void look(struct engine *e, struct trigger *t, uint64_t now_ns)
{
	if (t->rule->kind != RULE_EVENT)
		look_at_value(e, t, now_ns);
	else if (t->hit_ns && !t->from_ns)
		trip(e, t, t->hit_ns, t->hit_ns);
	if (t->rule->kind == RULE_EVENT && !t->from_ns) /* refused */
		t->hit_ns = t->hits = 0;
	if (t->from_ns && now_ns >= t->at_ns + e->setup.triggers.after_ns)
		save(e, t, t->at_ns + e->setup.triggers.after_ns);
}

void triggers_look(struct engine *e, uint64_t now_ns)
{
	uint64_t cpu = clock_thread_cpu_ns();

	if (now_ns < triggers_due_ns(e))
		return;
	for (uint32_t i = 0; i < e->setup.triggers.nrules; i++)
		look(e, &e->triggers.t[i], now_ns);
	uint64_t cost = clock_thread_cpu_ns() - cpu;
	e->triggers.next_ns = now_ns + (LOOK_SHARE * cost > LOOK_EVERY_NS ? LOOK_SHARE * cost
									  : LOOK_EVERY_NS);
}

void triggers_flush(struct engine *e)
{
	for (uint32_t i = 0; i < e->setup.triggers.nrules; i++) {
		struct trigger *t = &e->triggers.t[i];

		if (t->hit_ns && !t->from_ns)
			trip(e, t, t->hit_ns, t->hit_ns);
		if (t->from_ns)
			save(e, t, engine_now(e));
		if (t->held || t->said_never)
			continue;
		t->said_never = true;
		engine_tell(e, NOTICE_WARN, "trigger %s %s", t->rule->text,
			    t->rule->kind == RULE_EVENT ? "was never hit" : "never held");
	}
}
