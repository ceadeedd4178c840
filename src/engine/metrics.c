/*
 * metrics: see metrics.h.
 *
 * Engine thread. What came along with samples is summed from that; an event that only has samples
 * of its own is summed by their weights.
 */
#include "engine/metrics.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/build.h"

#define NOTHING_AFTER 30     /* samples after which an event that counted nothing is said to */
#define ALWAYS        0.9999 /* share of the time that is all of it */

enum grade { GRADE_NONE, GRADE_GOOD, GRADE_FAIR, GRADE_BAD };

/* The part of a name that tells the event: without modifiers, PMU and table. */
static const char *bare(const char *name, size_t *ret_len)
{
	const char *colon = strrchr(name, ':'), *slash = strchr(name, '/'), *end;
	size_t len = strlen(name);

	if (colon && strspn(colon + 1, "ukhGHpPSD") == strlen(colon + 1))
		len = (size_t)(colon - name);
	end = slash ? memchr(slash + 1, '/', len - (size_t)(slash + 1 - name)) : NULL;
	if (end && !memchr(slash, '=', (size_t)(end - slash)) &&
	    !memchr(slash, ',', (size_t)(end - slash))) {
		*ret_len = (size_t)(end - slash) - 1;
		return slash + 1;
	}
	*ret_len = len;
	end = strstr(name, "::");
	if (!end || (size_t)(end - name) > len)
		return name;
	*ret_len = len - (size_t)(end + 2 - name);
	return end + 2;
}

static char spelling(char c)
{
	return (char)(c == ':' ? '.' : tolower((unsigned char)c));
}

bool metrics_same_event(const char *a, const char *b)
{
	size_t na, nb;

	a = bare(a, &na);
	b = bare(b, &nb);
	for (size_t i = 0; na == nb && i < na; i++)
		if (spelling(a[i]) != spelling(b[i]))
			return false;
	return na == nb && na > 0;
}

/* The profile's event of this name in the set in view; UINT16_MAX none. */
static uint16_t find_event(const struct build *b, const char *name)
{
	const struct shared *s = &b->e->shared;
	for (uint16_t i = 0; i < EVENT_MAX; i++) {
		const struct event_desc *d = shared_event(s, i);
		if (d && d->set == b->desc->set && metrics_same_event(d->name, name))
			return i;
	}
	return UINT16_MAX;
}

/* The place of @event among the values that are summed; FLAT_VALUES_MAX: no room. */
static uint32_t slot_of(struct metrics *m, uint16_t event)
{
	for (uint32_t i = 0; i < m->nvalues; i++)
		if (m->values[i] == event)
			return i;
	if (m->nvalues < FLAT_VALUES_MAX)
		m->values[m->nvalues] = event;
	return m->nvalues < FLAT_VALUES_MAX ? m->nvalues++ : FLAT_VALUES_MAX;
}

static bool known_already(const struct metrics *m, const char *name)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (!strcmp(m->m[i].metric->name, name))
			return true;
	return false;
}

/* Take one metric of @set if every event that it needs is there. */
static void take(struct build *b, const struct event_set *set, const struct set_metric *metric)
{
	struct metrics *m = &b->metrics;
	uint8_t slots[METRIC_EVENTS] = {0};
	uint32_t before = m->nvalues;
	uint32_t uses = metric->formula.uses | (metric->part[0] ? set->slots.uses : 0);
	if (m->n == METRIC_MAX || known_already(m, metric->name))
		return;
	for (uint32_t i = 0; i < set->nevents && i < METRIC_EVENTS; i++) {
		if (!(uses >> i & 1))
			continue;
		uint16_t event = find_event(b, set->events[i].name);
		uint32_t slot = event == UINT16_MAX ? FLAT_VALUES_MAX : slot_of(m, event);
		if (slot == FLAT_VALUES_MAX) {
			m->nvalues = before;
			return;
		}
		slots[i] = (uint8_t)slot;
	}
	m->m[m->n].metric = metric;
	m->m[m->n].set = set;
	memcpy(m->m[m->n++].slot_of, slots, sizeof slots);
}

static void title(struct build *b)
{
	for (uint32_t i = 0; i < b->metrics.n; i++) {
		const struct set_metric *from = b->metrics.m[i].metric;
		struct answer_metric *to = &b->a->metrics[i];
		build_copy(to->name, sizeof to->name, from->name);
		build_copy(to->unit, sizeof to->unit, from->unit);
		build_copy(to->meaning, sizeof to->meaning, from->meaning);
		to->decimals = from->decimals;
		to->covered_s = (double)build_set_covered_ns(b) / 1e9;
	}
	b->a->nmetrics = (uint8_t)b->metrics.n;
}

static void ask_for_sums(struct build *b)
{
	const struct metrics *m = &b->metrics;
	b->fq.values = m->values;
	b->fq.nvalues = m->nvalues;
	for (uint32_t i = 0; i < m->nvalues; i++)
		if (!(b->e->profile.events_read >> m->values[i] & 1))
			b->fq.by_weight |= 1u << i;
}

/* The parts of the slots that @set tells from these events. */
static void take_parts(struct build *b, const struct event_set *set)
{
	b->metrics.n = b->metrics.nvalues = 0;
	for (uint32_t k = 0; k < set->nmetrics; k++)
		if (set->metrics[k].part[0])
			take(b, set, &set->metrics[k]);
}

static void choose_parts(struct build *b)
{
	const struct engine_setup *setup = &b->e->setup;
	const struct event_set *best = NULL;
	uint32_t most = 0;

	for (size_t i = 0; b->desc && i < setup->nsets; i++) {
		take_parts(b, &setup->sets[i]);
		if (b->metrics.n > most) {
			most = b->metrics.n;
			best = &setup->sets[i];
		}
	}
	b->metrics.n = b->metrics.nvalues = 0;
	if (best)
		take_parts(b, best);
}

static void choose_all(struct build *b)
{
	const struct engine_setup *setup = &b->e->setup;
	const char *wanted = b->desc ? set_name(b->e, b->desc->set) : NULL;
	bool named = false;

	for (size_t i = 0; b->desc && i < setup->nsets; i++)
		named |= wanted && !strcmp(setup->sets[i].name, wanted);
	for (size_t i = 0; b->desc && i < setup->nsets; i++) {
		const struct event_set *set = &setup->sets[i];
		if (named && strcmp(set->name, wanted))
			continue;
		for (uint32_t k = 0; k < set->nmetrics; k++)
			take(b, set, &set->metrics[k]);
	}
}

void metrics_choose(struct build *b)
{
	b->metrics.n = b->metrics.nvalues = 0;
	if (b->q->view == VIEW_TOPDOWN)
		choose_parts(b);
	else
		choose_all(b);
	ask_for_sums(b);
	title(b);
}

/* What stands in the way of a number for this value; VALUE_OK or VALUE_SCALED: nothing. */
static enum value_state state_of(const struct build *b, uint32_t slot)
{
	const struct profile *p = &b->e->profile;
	const struct flat *f = &b->e->flat;
	uint16_t event = b->metrics.values[slot];
	const struct count_state *count = &b->e->counts[event];

	if (f->all_values[slot] > 0)
		return f->running[slot] < ALWAYS ? VALUE_SCALED : VALUE_OK;
	if (count->seen && count->state >= VALUE_UNSUPPORTED && count->state <= VALUE_NOT_RUNNING)
		return (enum value_state)count->state;
	if (p->events_read >> event & 1 && p->value_state[event] > VALUE_SCALED)
		return (enum value_state)p->value_state[event];
	return f->all.samples >= NOTHING_AFTER ? VALUE_NOTHING : VALUE_NONE;
}

/* Events that matter to the metric @i, bit by place in its set. */
static uint32_t uses_of(const struct metrics *m, uint32_t i)
{
	const struct set_metric *metric = m->m[i].metric;
	return metric->formula.uses | (metric->part[0] ? m->m[i].set->slots.uses : 0);
}

/* The same for an event of the metric's set: some may well count nothing. */
static enum value_state state_in(const struct build *b, uint32_t i, uint32_t event)
{
	enum value_state s = state_of(b, b->metrics.m[i].slot_of[event]);
	return s == VALUE_NOTHING && b->metrics.m[i].set->rare >> event & 1 ? VALUE_OK : s;
}

void metrics_weigh(struct build *b)
{
	struct metrics *m = &b->metrics;
	for (uint32_t i = 0; i < m->n; i++) {
		m->state[i] = VALUE_OK;
		m->running[i] = 1;
		for (uint32_t k = 0; k < METRIC_EVENTS; k++) {
			if (!(uses_of(m, i) >> k & 1))
				continue;
			enum value_state s = state_in(b, i, k);
			if (s > m->state[i])
				m->state[i] = (uint8_t)s;
			m->running[i] = fminf(m->running[i],
					      (float)b->e->flat.running[m->m[i].slot_of[k]]);
		}
	}
}

const char *metrics_reason(struct build *b, uint32_t which)
{
	const struct metrics *m = &b->metrics;
	uint8_t state = m->state[which];

	if (state == VALUE_SCALED)
		return build_text(b, "scaled: its events were counted %.0f %% of the time",
				  (double)m->running[which] * 100);
	for (uint32_t k = 0; state > VALUE_SCALED && k < METRIC_EVENTS; k++)
		if (uses_of(m, which) >> k & 1 && state_in(b, which, k) == state)
			return state == VALUE_NONE ? "too few samples yet"
						   : build_text(b, "%s (%s)", value_reason(state),
								m->m[which].set->events[k].name);
	return "";
}

static double value_by(const struct metrics *m, uint32_t which, const struct formula *f,
		       const double *values)
{
	double v[METRIC_EVENTS];

	if (m->state[which] > VALUE_SCALED)
		return NAN;
	for (uint32_t i = 0; i < METRIC_EVENTS; i++)
		v[i] = f->uses >> i & 1 ? values[m->m[which].slot_of[i]] : 0;
	return formula_value(f, v);
}

double metrics_value(const struct metrics *m, uint32_t which, const double *values)
{
	return value_by(m, which, &m->m[which].metric->formula, values);
}

double metrics_slots(const struct metrics *m, uint32_t which, const double *values)
{
	return value_by(m, which, &m->m[which].set->slots, values);
}

uint8_t metrics_grade(const struct set_metric *m, double v)
{
	if (isnan(v) || (!m->has_good && !m->has_bad))
		return GRADE_NONE;
	if (m->has_good && (m->high_is_good ? v > m->good : v < m->good))
		return GRADE_GOOD;
	if (m->has_bad && (m->high_is_good ? v < m->bad : v > m->bad))
		return GRADE_BAD;
	return GRADE_FAIR;
}

struct metric_value metrics_judge(const struct metrics *m, uint32_t which, const double *values)
{
	struct metric_value out = {.v = values ? metrics_value(m, which, values) : NAN,
				   .state = m->state[which],
				   .running = m->running[which]};
	if (out.state > VALUE_SCALED)
		return out;
	if (isnan(out.v))
		out.state = VALUE_NONE; /* nothing here to divide by */
	else
		out.grade = metrics_grade(m->m[which].metric, out.v);
	return out;
}

void metrics_fill(const struct build *b, struct row *row, const double *self_values,
		  const double *total_values)
{
	const struct metrics *m = &b->metrics;
	for (uint32_t i = 0; i < m->n; i++) {
		row->self_metric[i] = metrics_judge(m, i, self_values);
		row->total_metric[i] = metrics_judge(m, i, total_values);
	}
	row->nmetrics = (uint8_t)m->n;
}

double metrics_key(const struct build *b, uint32_t column, const double *self_values,
		   const double *total_values)
{
	bool of_total = column >= COLUMN_METRIC_TOTAL;
	uint32_t i = column - (of_total ? COLUMN_METRIC_TOTAL : COLUMN_METRIC);
	double v = i < b->metrics.n
			   ? metrics_value(&b->metrics, i, of_total ? total_values : self_values)
			   : NAN;
	return isnan(v) ? -INFINITY : v;
}
