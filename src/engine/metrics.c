/*
 * metrics: see metrics.h. Events are matched by name, without the modifiers behind a last colon.
 */
#include "engine/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/build.h"

enum grade { GRADE_NONE, GRADE_GOOD, GRADE_FAIR, GRADE_BAD };

static size_t bare_length(const char *name)
{
	const char *colon = strrchr(name, ':');
	if (!colon || strspn(colon + 1, "ukhGHpPSD") != strlen(colon + 1))
		return strlen(name);
	return (size_t)(colon - name);
}

static bool same_event(const char *a, const char *b)
{
	size_t n = bare_length(a);
	return n == bare_length(b) && !strncmp(a, b, n);
}

/* The profile's event of this name in the set in view; UINT16_MAX none. */
static uint16_t find_event(const struct build *b, const char *name)
{
	const struct shared *s = &b->e->shared;
	for (uint16_t i = 0; i < EVENT_MAX; i++) {
		const struct event_desc *d = shared_event(s, i);
		if (d && d->set == b->desc->set && same_event(d->name, name))
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
	if (m->n == METRIC_MAX || known_already(m, metric->name))
		return;
	for (uint32_t i = 0; i < set->nevents && i < METRIC_EVENTS; i++) {
		if (!(metric->formula.uses >> i & 1))
			continue;
		uint16_t event = find_event(b, set->events[i].name);
		uint32_t slot = event == UINT16_MAX ? FLAT_VALUES_MAX
				: event == b->event ? METRIC_SAMPLED
						    : slot_of(m, event);
		if (slot == FLAT_VALUES_MAX) {
			m->nvalues = before;
			return;
		}
		slots[i] = (uint8_t)slot;
	}
	m->m[m->n].metric = metric;
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
		to->covered_s = (double)b->window.covered_ns / 1e9;
	}
	b->a->nmetrics = (uint8_t)b->metrics.n;
}

void metrics_choose(struct build *b)
{
	const struct engine_setup *setup = &b->e->setup;
	const char *wanted = b->desc && b->desc->set == b->e->newest_set ? setup->event_set : NULL;
	bool named = false;
	b->metrics.n = b->metrics.nvalues = 0;
	for (size_t i = 0; b->desc && i < setup->nsets; i++)
		named |= wanted && !strcmp(setup->sets[i].name, wanted);
	for (size_t i = 0; b->desc && i < setup->nsets; i++) {
		const struct event_set *set = &setup->sets[i];
		if (named && strcmp(set->name, wanted))
			continue;
		for (uint32_t k = 0; k < set->nmetrics; k++)
			take(b, set, &set->metrics[k]);
	}
	b->fq.values = b->metrics.values;
	b->fq.nvalues = b->metrics.nvalues;
	title(b);
}

double metrics_value(const struct metrics *m, uint32_t which, const struct sums *sums,
		     const double *values)
{
	double v[METRIC_EVENTS];
	const struct set_metric *metric = m->m[which].metric;
	for (uint32_t i = 0; i < METRIC_EVENTS; i++) {
		uint8_t slot = m->m[which].slot_of[i];
		v[i] = !(metric->formula.uses >> i & 1) ? 0
		       : slot == METRIC_SAMPLED         ? (double)sums->weight
		       : values                         ? values[slot]
							: NAN;
	}
	return formula_value(&metric->formula, v);
}

static enum grade grade_of(const struct set_metric *m, double v)
{
	if (isnan(v) || (!m->has_good && !m->has_bad))
		return GRADE_NONE;
	if (m->has_good && (m->high_is_good ? v > m->good : v < m->good))
		return GRADE_GOOD;
	if (m->has_bad && (m->high_is_good ? v < m->bad : v > m->bad))
		return GRADE_BAD;
	return GRADE_FAIR;
}

/* Needed events that counted nothing in the whole view make a metric unknown, not 0. */
static enum value_state state_of(const struct build *b, uint32_t which, double v)
{
	const struct metrics *m = &b->metrics;
	const struct formula *f = &m->m[which].metric->formula;
	for (uint32_t i = 0; i < METRIC_EVENTS; i++) {
		uint8_t slot = m->m[which].slot_of[i];
		if (f->uses >> i & 1 && slot != METRIC_SAMPLED &&
		    !(b->e->flat.all_values[slot] > 0))
			return VALUE_NOTHING;
	}
	return isnan(v) ? VALUE_NONE : VALUE_OK;
}

static struct metric_value judge(const struct build *b, uint32_t which, double v)
{
	struct metric_value out = {.v = v, .state = (uint8_t)state_of(b, which, v), .running = 1};
	if (out.state == VALUE_OK)
		out.grade = (uint8_t)grade_of(b->metrics.m[which].metric, v);
	return out;
}

void metrics_fill(struct build *b, struct row *row, const struct sums *self,
		  const double *self_values, const struct sums *total, const double *total_values)
{
	const struct metrics *m = &b->metrics;
	for (uint32_t i = 0; i < m->n; i++) {
		row->self_metric[i] = judge(b, i, metrics_value(m, i, self, self_values));
		row->total_metric[i] = judge(b, i, metrics_value(m, i, total, total_values));
	}
	row->nmetrics = (uint8_t)m->n;
}
