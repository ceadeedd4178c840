/*
 * show_events: what each event counted or sampled over the whole target, and why where it did not.
 *
 * Engine thread. Cells: per second, in all, share of the time on the hardware.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/build.h"

static const struct snapshot_column columns[] = {
	{"PER SECOND", "", 0},
	{"COUNT", "", 0},
	{"SAMPLES", "", 0},
	{"RUNNING", "%", 1},
};
enum { CELL_RATE, CELL_COUNT, CELL_SAMPLES, CELL_RUNNING_SHARE, CELLS };

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
		} else if (!(c->flags & CELL_BLOCKED) || b->q->flags & QUERY_BLOCKED) {
			s->samples += c->samples;
			s->weight += c->weight;
		}
	}
}

static void fill_count(const struct build *b, double *cells, const struct count_state *c,
		       const struct event_sums *s, bool sampled)
{
	double covered = (double)b->window.covered_ns / 1e9;
	if (c->seen && (c->state == VALUE_OK || c->state == VALUE_SCALED)) {
		cells[CELL_COUNT] = (double)(c->last.value - c->first.value);
		if (c->nspark)
			cells[CELL_RATE] = c->per_second[c->nspark - 1];
		if (c->last.enabled_ns)
			cells[CELL_RUNNING_SHARE] = 100 * (double)c->last.running_ns /
						    (double)c->last.enabled_ns;
		return;
	}
	uint64_t count = s->value ? s->value : sampled ? s->weight : 0;
	if (s->samples || s->value) {
		cells[CELL_COUNT] = (double)count;
		if (covered > 0)
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

static void emit(struct build *b, uint16_t index, const struct event_desc *d,
		 const struct event_sums *s)
{
	const struct count_state *c = &b->e->counts[index];
	double *cells = arena_alloc(&b->box->arena, CELLS * sizeof *cells);
	struct row *row = build_row(b);
	if (!cells || !row) {
		b->failed = true;
		return;
	}
	for (int i = 0; i < CELLS; i++)
		cells[i] = NAN;
	fill_count(b, cells, c, s, d->sampled);
	if (d->sampled)
		cells[CELL_SAMPLES] = (double)s->samples;
	row->key = (struct row_key){.kind = ROW_EVENT, .a = index};
	row->name = row->full = d->name;
	row->cells = cells;
	row->self_samples = row->total_samples = s->samples;
	row->self_weight = row->total_weight = d->sampled ? s->weight : s->value;
	if (c->seen)
		row->note = value_reason(c->state);
	if (!*row->note && index == b->event)
		row->note = d->unit == EVENT_NS ? "ns of time; shares are of this event"
						: "shares are of this event";
	if (!*row->note && !d->sampled)
		row->note = "read along with its group's leader";
	row->hint = row->note;
	fill_spark(row, c);
}

void show_events(struct build *b)
{
	struct event_sums sums[EVENT_MAX] = {0};
	uint32_t n = shared_event_count(&b->e->shared);

	gather(b, sums);
	if (!build_reserve(b, n))
		return;
	b->a->columns = columns;
	b->a->ncells = CELLS;
	for (uint16_t i = 0; i < n; i++) {
		const struct event_desc *d = shared_event(&b->e->shared, i);
		uint16_t set = b->q->set == UINT16_MAX ? b->e->newest_set : b->q->set;
		if (d && d->set == set && build_matches(b, d->name) && !b->failed)
			emit(b, i, d, &sums[i]);
	}
}
