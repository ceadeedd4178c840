/*
 * show_events: what each event counted or sampled over the whole target, and why where it did not.
 *
 * Where the source reads its counters, the figures are theirs, of all the time that the set was in
 * use; else, and of metrics, they are summed from the samples of the window. OVER says which. Sets
 * that were in use before stand below the newest.
 * Engine thread.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/build.h"
#include "engine/coverage.h"
#include "engine/spans.h"

#define RATE_LEAST_S 0.01 /* over less time nothing is told per second */
#define OVER_LEAST_S 0.05 /* less is none with the decimals of its column */

static const struct snapshot_column columns[] = {
	{"PER S", "", 0},   {"COUNT", "", 0},
	{"OVER", "s", 1},                        /* the time that count and samples are of */
	{"SAMPLES", "", 0}, {"RUNNING", "%", 1}, /* of the time, on the hardware */
};
enum { CELL_RATE, CELL_COUNT, CELL_OVER, CELL_SAMPLES, CELL_RUNNING_SHARE, CELLS };

struct event_sums {
	uint64_t samples, weight, value, readings, ppm;
};

static void gather(const struct build *b, struct event_sums *sums)
{
	struct profile_walk w = profile_walk(&b->e->profile, &b->window);
	while (profile_next(&w)) {
		const struct cell *c = w.cell;
		if (c->event >= EVENT_MAX || c->flags & CELL_ACCOUNT)
			continue;
		struct event_sums *s = &sums[c->event];
		if (c->flags & CELL_RUNNING) {
			s->readings += c->samples;
			s->ppm += c->weight;
		} else if (c->flags & CELL_VALUE) {
			s->value += c->weight;
		} else {
			s->samples += c->samples;
			s->weight += c->weight;
		}
	}
}

static bool has_number(uint8_t state)
{
	return state == VALUE_OK || state == VALUE_SCALED;
}

static void fill_counted(const struct build *b, double *cells, const struct count_state *c,
			 uint16_t set)
{
	uint64_t span = c->last.time_ns - c->first.time_ns;
	uint64_t covered = set_covered_ns(b->e, set, 0, UINT64_MAX);

	/* A set that was left and chosen again counted nothing between. */
	if (span)
		cells[CELL_OVER] = (double)(covered && covered < span ? covered : span) / 1e9;
	if (c->last.enabled_ns)
		cells[CELL_RUNNING_SHARE] = 100 * fmin(1, (double)c->last.running_ns /
								  (double)c->last.enabled_ns);
	if (!has_number(c->state) || isnan(cells[CELL_OVER]))
		return;
	cells[CELL_COUNT] = (double)(c->last.value - c->first.value);
	if (c->nspark)
		cells[CELL_RATE] = c->per_second[c->nspark - 1];
}

/* Seconds of the window over which @set was collected: others have their own part of it. */
static double collected_s(const struct build *b, uint16_t set)
{
	const struct window *w = &b->window;
	uint64_t covered = set_covered_ns(b->e, set, w->from_ns, w->until_ns);

	if (b->e->spans.n < 2 || covered > w->covered_ns)
		covered = w->covered_ns;
	return (double)covered / 1e9;
}

static void fill_sampled(const struct build *b, double *cells, const struct event_sums *s,
			 const struct event_desc *d)
{
	double covered = collected_s(b, d->set);
	uint64_t count = s->value ? s->value : d->sampled ? s->weight : 0;

	if (s->samples || s->value) {
		cells[CELL_COUNT] = (double)count;
		if (covered >= OVER_LEAST_S)
			cells[CELL_OVER] = covered;
		if (covered > RATE_LEAST_S)
			cells[CELL_RATE] = (double)count / covered;
	}
	if (s->readings)
		cells[CELL_RUNNING_SHARE] = (double)s->ppm / 1e4 / (double)s->readings;
}

static void fill_spark(struct row *row, const struct count_state *c)
{
	double most = 0;
	uint32_t n = c->nspark < 16 ? c->nspark : 16;
	const double *from = c->per_second + (c->nspark - n);
	for (uint32_t i = 0; i < n; i++)
		most = fmax(most, from[i]);
	row->nspark = (uint8_t)n;
	for (uint32_t i = 0; i < n; i++)
		row->spark[i] = most > 0 ? (float)(from[i] / most) : 0;
}

/* Why there is no number, or what the number is. */
static const char *remark(struct build *b, uint16_t index, const struct event_desc *d,
			  const struct event_sums *s, const double *cells)
{
	const struct count_state *c = &b->e->counts[index];
	double astray;

	if (d->hidden)
		return value_reason(VALUE_HIDDEN);
	astray = coverage_astray(c, d);
	if (!isnan(astray))
		return build_text(b, "samples stand for %.3g %% of it: do not trust its shares",
				  100 * astray);
	if (c->seen && *value_reason(c->state))
		return value_reason(c->state);
	if (c->seen && isnan(cells[CELL_OVER]))
		return "counting since a moment";
	if (!c->seen && b->e->profile.events_read >> index & 1 && !s->value &&
	    b->e->profile.value_state[index] > VALUE_SCALED)
		return value_reason(b->e->profile.value_state[index]);
	if (!c->seen && !s->samples && !s->value)
		return d->sampled ? "no samples in this window" : "n/a: nothing was read";
	if (index == b->event)
		return d->unit == EVENT_NS ? "ns of time; shares are of this event"
					   : "shares are of this event";
	if (d->sampled)
		return c->seen ? "" : "summed from the samples of the window";
	return "read along with its group's leader";
}

static double *no_cells(struct build *b)
{
	double *cells = arena_alloc(&b->box->arena, CELLS * sizeof *cells);

	for (int i = 0; cells && i < CELLS; i++)
		cells[i] = NAN;
	b->failed |= !cells;
	return cells;
}

static void emit(struct build *b, uint16_t index, const struct event_desc *d,
		 const struct event_sums *s)
{
	const struct count_state *c = &b->e->counts[index];
	double *cells = no_cells(b);
	struct row *row = build_row(b);

	if (!cells || !row)
		return;
	if (d->hidden)
		; /* what was read is not its count */
	else if (c->seen)
		fill_counted(b, cells, c, d->set);
	else
		fill_sampled(b, cells, s, d);
	if (d->sampled && !d->hidden) /* of the same time as the count */
		cells[CELL_SAMPLES] = (double)(c->seen ? c->samples : s->samples);
	row->key = (struct row_key){.kind = ROW_EVENT, .a = index, .b = d->set};
	row->name = row->full = d->name;
	row->cells = cells;
	row->self_samples = row->total_samples = s->samples;
	row->self_weight = row->total_weight = d->sampled ? s->weight : s->value;
	row->note = row->hint = remark(b, index, d, s, cells);
	fill_spark(row, c);
}

/* A metric over the whole target, in the window. */
static void emit_metric(struct build *b, uint32_t i)
{
	const struct set_metric *m = b->metrics.m[i].metric;
	double *cells = no_cells(b);
	struct row *row = build_row(b);

	if (!cells || !row)
		return;
	cells[CELL_RATE] = metrics_value(&b->metrics, i, b->e->flat.all_values);
	if (!isnan(cells[CELL_RATE])) {
		cells[CELL_RUNNING_SHARE] = 100 * (double)b->metrics.running[i];
		cells[CELL_OVER] = collected_s(b, set_in_view(b->e, b->q->set));
	}
	row->key = (struct row_key){.kind = ROW_METRIC, .a = i + 1};
	row->name = row->full = m->name;
	row->cells = cells;
	row->note = metrics_reason(b, i);
	row->hint = build_text(b, "%s%s%s", m->meaning, m->next[0] ? " " : "", m->next);
	row->nmetrics = 1;
	row->self_metric[0] = metrics_judge(&b->metrics, i, b->e->flat.all_values);
}

static void emit_set(struct build *b, uint16_t set, const struct event_sums *sums)
{
	uint32_t n = shared_event_count(&b->e->shared);

	for (uint16_t i = 0; i < n; i++) {
		const struct event_desc *d = shared_event(&b->e->shared, i);
		if (d && d->set == set && build_matches(b, d->name) && !b->failed)
			emit(b, i, d, &sums[i]);
	}
}

/* "before: cycles …": a set that others followed; Enter shows its columns again. */
static void emit_heading(struct build *b, uint16_t set, const char *what)
{
	uint32_t n = shared_event_count(&b->e->shared);
	struct row *row = build_row(b);
	const struct event_desc *first = NULL;
	double *over = no_cells(b);
	uint32_t events = 0;

	if (!row || !over)
		return;
	over[CELL_OVER] = (double)set_covered_ns(b->e, set, 0, UINT64_MAX) / 1e9;
	for (uint16_t i = 0; i < n; i++) {
		const struct event_desc *d = shared_event(&b->e->shared, i);
		if (!d || d->set != set)
			continue;
		first = first ? first : d;
		events++;
	}
	row->key = (struct row_key){.kind = ROW_HEADING, .a = set + 1u, .b = set};
	row->flags = set == b->e->newest_set ? ROW_CURRENT : 0;
	if (*set_name(b->e, set))
		row->name = row->full = build_text(b, "%s: %s", what, set_name(b->e, set));
	else
		row->name = row->full = build_text(b, "%s: %s%s", what, first ? first->name : "",
						   events > 1 ? " …" : "");
	row->cells = over;
	row->hint = set == b->e->newest_set ? "Enter shows the columns of this set"
					    : "Enter shows what this set counted, in all columns; "
					      "it is not mixed with other sets";
}

/* What the figures cost; nothing of it is taken off them. */
static void title(struct build *b)
{
	const struct source_status *s = b->e->source ? b->e->ops->status(b->e->source) : NULL;
	uint32_t sample = s ? atomic_load_explicit(&s->sample_cost_ns, memory_order_relaxed) : 0;
	uint32_t reading = s ? atomic_load_explicit(&s->read_cost_ns, memory_order_relaxed) : 0;
	char more[48] = "";

	if (!sample)
		return;
	if (reading)
		snprintf(more, sizeof more, ", reading its group %.1f \xc2\xb5s", reading / 1e3);
	snprintf(b->a->title, sizeof b->a->title,
		 "a sample costs the target %.1f \xc2\xb5s%s (measured at the start, not deducted)",
		 sample / 1e3, more);
}

void show_events(struct build *b)
{
	struct event_sums sums[EVENT_MAX] = {0};
	uint32_t n = shared_event_count(&b->e->shared);
	uint16_t shown = set_in_view(b->e, b->q->set), now = b->e->newest_set, last = 0;

	for (uint16_t i = 0; i < n; i++) {
		const struct event_desc *d = shared_event(&b->e->shared, i);
		last = d && d->set > last ? d->set : last;
	}
	gather(b, sums);
	title(b);
	if (!build_reserve(b, n + b->metrics.n + last + 2u))
		return;
	b->a->columns = columns;
	b->a->ncells = CELLS;
	if (last)
		emit_heading(b, shown, shown == now ? "now" : "again");
	emit_set(b, shown, sums);
	for (uint32_t i = 0; i < b->metrics.n && !b->failed; i++)
		if (build_matches(b, b->metrics.m[i].metric->name))
			emit_metric(b, i);
	for (int set = last; last && set >= 0; set--) {
		if (set == shown)
			continue;
		emit_heading(b, (uint16_t)set, set == now ? "now" : "before");
		emit_set(b, (uint16_t)set, sums);
	}
}
