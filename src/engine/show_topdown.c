/*
 * show_topdown: where the pipeline's slots go, part by part, and which functions cause each part.
 *
 * The parts are metrics of a set that counts slots (event/set.h). A function's cost in a part is
 * its own share of it times its own slots; the costs are ranked within the part. Where the events
 * in view tell nothing of slots, topdown_offer.c says what would. Engine thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/build.h"
#include "engine/topdown_offer.h"

#define ROWS_MOST   512
#define CAUSES_MOST 12
#define GRADE_BAD   3

static const struct snapshot_column columns[] = {
	{"OF IT", "%", 1}, /* share of the part's slots */
	{"OWN", "%", 1},   /* share of the function's own slots that are in this part */
};
enum { CELL_OF_IT, CELL_OWN, CELLS };

struct cause {
	const struct fold_row *row;
	double cost, own; /* slots; percent */
	bool ranked;
};

struct causes {
	struct cause *data;
	uint32_t n;
	double sum;
};

static const struct set_metric *part(const struct build *b, uint32_t i)
{
	return b->metrics.m[i].metric;
}

/* A part's place in its set, which `of` of others names. */
static int place_in_set(const struct build *b, uint32_t i)
{
	return (int)(part(b, i) - b->metrics.m[i].set->metrics);
}

static bool is_known(const struct build *b, uint32_t i)
{
	return !isnan(metrics_value(&b->metrics, i, b->e->flat.all_values));
}

static double share_of(const struct build *b, uint32_t i)
{
	double v = metrics_value(&b->metrics, i, b->e->flat.all_values);

	return isnan(v) || v < 0 ? 0 : v / 100;
}

static double *cells_of(struct build *b, struct row *row)
{
	double *cells = arena_alloc(&b->box->arena, CELLS * sizeof *cells);

	if (!cells)
		b->failed = true;
	for (int i = 0; cells && i < CELLS; i++)
		cells[i] = NAN;
	row->cells = cells;
	return cells;
}

static int heavier(const void *pa, const void *pb)
{
	const struct cause *a = pa, *b = pb;

	if (a->ranked != b->ranked)
		return b->ranked - a->ranked;
	return (a->cost < b->cost) - (a->cost > b->cost);
}

/* What each function costs in the part @i, the dearest first; few samples come last. */
static void find_causes(struct build *b, uint32_t i, struct causes *c)
{
	const struct fold_rows *rows = &b->e->rows;

	c->n = 0;
	c->sum = 0;
	for (uint32_t k = 0; rows->nvalues && k < rows->len; k++) {
		const struct fold_row *r = &rows->data[k];
		const double *values = rows->self_values + (size_t)k * rows->nvalues;
		double own = metrics_value(&b->metrics, i, values);
		double cost = own / 100 * metrics_slots(&b->metrics, i, values);
		double hits = confidence_effective(r->self.weight, r->self.weight_sq);

		if (!(cost > 0)) /* unknown too: it has none of the events */
			continue;
		c->sum += cost;
		if (fid_matches(b, r->fid))
			c->data[c->n++] = (struct cause){
				r, cost, own, isinf(b->whole_n) || hits >= CONFIDENCE_UNRANKED};
	}
	if (c->n)
		qsort(c->data, c->n, sizeof *c->data, heavier);
}

static void emit_cause(struct build *b, const struct cause *c, const struct causes *all, uint32_t i,
		       uint16_t depth)
{
	struct row *row = build_row(b);
	struct fid_text x;

	if (!row)
		return;
	fid_text(b, c->row->fid, &x);
	row->key = (struct row_key){.kind = ROW_FUNCTION, .a = c->row->fid, .b = i + 1};
	row->go = (struct row_key){.kind = ROW_FUNCTION, .a = c->row->fid};
	row->flags = x.flags;
	if (!isinf(b->whole_n))
		row->flags |= confidence_flags(
			confidence_effective(c->row->self.weight, c->row->self.weight_sq));
	row->depth = depth;
	row->name = x.name;
	row->full = x.full;
	row->module = x.module;
	row->file = x.file;
	row->line = x.line;
	row->self_samples = row->total_samples = c->row->self.samples;
	row->total = share_of(b, i) * c->cost / all->sum;
	double *cells = cells_of(b, row);
	if (!cells)
		return;
	cells[CELL_OF_IT] = 100 * c->cost / all->sum;
	cells[CELL_OWN] = c->own;
}

static void emit_causes(struct build *b, struct causes *c, uint32_t i, uint16_t depth)
{
	double rest = 0;

	for (uint32_t k = 0; k < c->n && k < CAUSES_MOST; k++)
		emit_cause(b, &c->data[k], c, i, depth);
	for (uint32_t k = CAUSES_MOST; k < c->n; k++)
		rest += c->data[k].cost;
	struct row *row = c->n > CAUSES_MOST ? build_row(b) : NULL;
	if (!row)
		return;
	row->key = (struct row_key){.kind = ROW_REST, .b = i + 1};
	row->name = row->full = build_text(b, "… %u more", c->n - CAUSES_MOST);
	row->depth = depth;
	row->total = share_of(b, i) * rest / c->sum;
	double *cells = cells_of(b, row);
	if (cells)
		cells[CELL_OF_IT] = 100 * rest / c->sum;
}

static bool has_parts(const struct build *b, uint32_t i)
{
	for (uint32_t k = 0; k < b->metrics.n; k++)
		if (part(b, k)->of >= 0 && part(b, k)->of == place_in_set(b, i))
			return true;
	return false;
}

static bool emit_part(struct build *b, uint32_t i, bool expandable)
{
	const struct set_metric *m = part(b, i);
	struct row *row = build_row(b);

	if (!row)
		return false;
	row->key = (struct row_key){.kind = ROW_METRIC, .a = i + 1};
	row->depth = m->of >= 0;
	row->name = row->full = m->part;
	row->note = metrics_reason(b, i);
	row->hint = build_text(b, "%s%s%s", m->meaning, m->next[0] ? " " : "", m->next);
	row->total = share_of(b, i);
	row->total_samples = row->self_samples = b->e->flat.all.samples;
	row->nmetrics = 1;
	row->self_metric[0] = row->total_metric[0] = metrics_judge(&b->metrics, i,
								   b->e->flat.all_values);
	if (!isinf(b->whole_n))
		row->flags |= confidence_flags(b->whole_n);
	bool all = b->q->flags & QUERY_EXPAND_ALL;
	bool open = expandable && all != (build_expanded(b, &row->key) != NULL);
	row->flags |= expandable ? ROW_EXPANDABLE : 0;
	row->flags |= open ? ROW_EXPANDED : 0;
	cells_of(b, row);
	return open;
}

static void emit_tree(struct build *b, struct causes *c, uint32_t i)
{
	bool inner = has_parts(b, i);

	find_causes(b, i, c);
	if (!emit_part(b, i, c->n || inner))
		return;
	for (uint32_t k = 0; inner && k < b->metrics.n; k++)
		if (part(b, k)->of >= 0 && part(b, k)->of == place_in_set(b, i))
			emit_tree(b, c, k);
	if (inner)
		find_causes(b, i, c);
	emit_causes(b, c, i, (uint16_t)((part(b, i)->of >= 0) + 1));
}

/* What the parts leave over, where the set says that they do. */
static void emit_rest(struct build *b)
{
	const struct event_set *set = b->metrics.m[0].set;
	double rest = 1;

	if (!set->rest[0])
		return;
	struct row *row = build_row(b);
	if (!row)
		return;
	row->key = (struct row_key){.kind = ROW_METRIC, .a = METRIC_MAX + 1};
	row->name = row->full = set->rest;
	row->note = "what the parts above leave over";
	row->nmetrics = 1;
	row->total_samples = row->self_samples = b->e->flat.all.samples;
	for (uint32_t i = 0; i < b->metrics.n; i++) {
		if (part(b, i)->of < 0)
			rest -= share_of(b, i);
		if (part(b, i)->of < 0 && !is_known(b, i)) {
			row->self_metric[0].state = VALUE_NONE;
			row->note = "not known without the parts above";
			cells_of(b, row);
			return;
		}
	}
	if (rest < 0) /* counted one after another, or estimated: not less than nothing */
		row->note = build_text(b, "the parts above add up to %.1f %%", 100 * (1 - rest));
	row->total = fmax(rest, 0);
	row->self_metric[0] = (struct metric_value){.v = 100 * row->total, .running = 1};
	cells_of(b, row);
}

/* The part to look at first: the largest that is bad, else the largest in which nothing is done. */
static int worst(const struct build *b, int of)
{
	int found = -1;
	uint8_t grade = 0;

	for (uint32_t i = 0; i < b->metrics.n; i++) {
		const struct set_metric *m = part(b, i);
		struct metric_value v = metrics_judge(&b->metrics, i, b->e->flat.all_values);

		if (m->of != of || m->high_is_good || v.state > VALUE_SCALED)
			continue;
		if (found >= 0 && v.grade != GRADE_BAD && grade == GRADE_BAD)
			continue;
		if (found < 0 || (v.grade == GRADE_BAD && grade != GRADE_BAD) ||
		    share_of(b, i) > share_of(b, (uint32_t)found)) {
			found = (int)i;
			grade = v.grade;
		}
	}
	return found;
}

/* The sentence above the table: which part costs most, and what to do about it. */
static void say_next(struct build *b)
{
	const char *set = b->metrics.m[0].set->name;
	int top = worst(b, -1), inner = -1;

	if (top < 0)
		return;
	inner = worst(b, place_in_set(b, (uint32_t)top));
	const struct set_metric *m = part(b, (uint32_t)(inner >= 0 ? inner : top));
	struct metric_value v = metrics_judge(&b->metrics, (uint32_t)top, b->e->flat.all_values);
	const char *few = b->whole_n < CONFIDENCE_NORMAL ? "few samples: " : "";
	if (v.grade != GRADE_BAD)
		build_copy(b->a->title, sizeof b->a->title,
			   build_text(b, "%s: %sno part stands out; most is lost to %s, %.1f %%",
				      set, few, part(b, (uint32_t)top)->part, v.v));
	else
		build_copy(b->a->title, sizeof b->a->title,
			   build_text(b, "%s: %s%s %.1f %%%s%s. %s", set, few,
				      part(b, (uint32_t)top)->part, v.v,
				      inner >= 0 ? ", mostly " : "", inner >= 0 ? m->part : "",
				      m->next[0] ? m->next : part(b, (uint32_t)top)->next));
}

void show_topdown(struct build *b)
{
	struct causes c = {0};

	if (!b->metrics.n) {
		topdown_offer(b);
		return;
	}
	if (fold_functions(&b->e->rows, &b->e->flat, b->t, b->q->flags)) {
		b->failed = true;
		return;
	}
	c.data = malloc((b->e->rows.len + 1) * sizeof *c.data);
	if (!c.data || !build_reserve(b, ROWS_MOST)) {
		b->failed = true;
		free(c.data);
		return;
	}
	b->a->columns = columns;
	b->a->ncells = CELLS;
	for (uint32_t i = 0; i < b->metrics.n; i++)
		if (part(b, i)->of < 0)
			emit_tree(b, &c, i);
	emit_rest(b);
	say_next(b);
	free(c.data);
}
