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

/* How much of @name[0…len) is left when modifiers behind its last colon are taken off. */
static size_t without_modifiers(const char *name, size_t len)
{
	const char *colon = memrchr(name, ':', len);
	size_t rest = colon ? len - (size_t)(colon + 1 - name) : 0;

	return colon && strspn(colon + 1, "ukhGHpPSD") >= rest ? (size_t)(colon - name) : len;
}

/* The alias in PMU/ALIAS/MODIFIERS; NULL: no such name, or terms. */
static const char *alias_of(const char *name, size_t *ret_len)
{
	const char *slash = strchr(name, '/'), *end = slash ? strchr(slash + 1, '/') : NULL;

	if (!end || memchr(slash, '=', (size_t)(end - slash)) ||
	    memchr(slash, ',', (size_t)(end - slash)))
		return NULL;
	*ret_len = (size_t)(end - slash) - 1;
	return slash + 1;
}

/* The part of a name that tells the event: without modifiers, PMU and table. */
static const char *bare(const char *name, size_t *ret_len)
{
	size_t len = strlen(name);
	const char *table = strstr(name, "::"), *alias = alias_of(name, &len);

	if (!alias)
		alias = table ? table + 2 : name;
	if (alias == name || (table && alias == table + 2))
		len = strlen(alias);
	*ret_len = without_modifiers(alias, len);
	return alias;
}

/* How long the PMU's name is before an alias; 0 none, or the only PMU of cores. */
static size_t pmu_length(const char *name)
{
	size_t len;
	const char *alias = alias_of(name, &len);
	size_t pmu = alias ? (size_t)(alias - name) - 1 : 0;

	return pmu == 3 && strncmp(name, "cpu", 3) == 0 ? 0 : pmu;
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

static bool same_pmu(const char *a, const char *b)
{
	size_t n = pmu_length(a);

	return n == pmu_length(b) && strncmp(a, b, n) == 0;
}

/* The event of this name in the set in view, on the PMU that @like is on; UINT16_MAX none. */
static uint16_t find_event(const struct build *b, const char *name, const char *like)
{
	const struct shared *s = &b->e->shared;
	for (uint16_t i = 0; i < EVENT_MAX; i++) {
		const struct event_desc *d = shared_event(s, i);
		if (d && d->set == b->desc->set && same_pmu(d->name, like) &&
		    metrics_same_event(d->name, name))
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

/* Find all @uses of @set on one PMU and add them to @slots. False: not all are there. */
static bool take_on(struct build *b, const struct event_set *set, uint32_t uses, const char *like,
		    uint32_t slots[METRIC_EVENTS])
{
	uint32_t before = b->metrics.nvalues, found[METRIC_EVENTS] = {0};

	for (uint32_t i = 0; i < set->nevents && i < METRIC_EVENTS; i++) {
		if (!(uses >> i & 1))
			continue;
		uint16_t event = find_event(b, set->events[i].name, like);
		uint32_t slot = event == UINT16_MAX ? FLAT_VALUES_MAX : slot_of(&b->metrics, event);
		if (slot == FLAT_VALUES_MAX) {
			b->metrics.nvalues = before;
			return false;
		}
		found[i] = 1u << slot;
	}
	for (uint32_t i = 0; i < METRIC_EVENTS; i++)
		slots[i] |= found[i];
	return true;
}

/* Take one metric of @set if every event that it needs is there, on each PMU that has them all. */
static void take(struct build *b, const struct event_set *set, const struct set_metric *metric)
{
	struct metrics *m = &b->metrics;
	uint32_t slots[METRIC_EVENTS] = {0};
	uint32_t uses = metric->formula.uses | (metric->part[0] ? set->slots.uses : 0);
	bool taken;

	if (m->n == METRIC_MAX || known_already(m, metric->name))
		return;
	taken = take_on(b, set, uses, "", slots);
	for (uint16_t i = 0; !taken && i < EVENT_MAX; i++) {
		const struct event_desc *d = shared_event(&b->e->shared, i);
		bool first = d && d->set == b->desc->set && pmu_length(d->name);

		for (uint16_t k = 0; first && k < i; k++) {
			const struct event_desc *before = shared_event(&b->e->shared, k);
			first = !before || before->set != d->set ||
				!same_pmu(before->name, d->name);
		}
		if (first)
			take_on(b, set, uses, d->name, slots);
	}
	for (uint32_t i = 0; i < METRIC_EVENTS; i++)
		if (uses >> i & 1 && !slots[i])
			return;
	m->m[m->n].metric = metric;
	m->m[m->n].set = set;
	memcpy(m->m[m->n++].slots_of, slots, sizeof slots);
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
	if (b->e->shared.events[event].hidden)
		return VALUE_HIDDEN;
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
	uint32_t slots = b->metrics.m[i].slots_of[event];
	enum value_state s = VALUE_NONE;

	for (; slots; slots &= slots - 1) { /* one kind of core may have had nothing to do */
		enum value_state one = state_of(b, (uint32_t)__builtin_ctz(slots));
		s = one < s ? one : s;
	}
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
			for (uint32_t x = m->m[i].slots_of[k]; x; x &= x - 1)
				m->running[i] = fminf(m->running[i],
						      (float)b->e->flat.running[__builtin_ctz(x)]);
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
	for (uint32_t i = 0; i < METRIC_EVENTS; i++) {
		v[i] = 0;
		for (uint32_t x = f->uses >> i & 1 ? m->m[which].slots_of[i] : 0; x; x &= x - 1)
			v[i] += values[__builtin_ctz(x)];
	}
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
	return isnan(v) ? CANDIDATE_UNKNOWN : v;
}
