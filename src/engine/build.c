/*
 * build: what all views share in making an answer.
 *
 * Engine thread. The fold that shares are of is made once a answer; rows are filled in the order in
 * which they will be drawn, up to the cap.
 */
#include "engine/build.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/snap.h"

#define TEXT_MAX  (64u << 10) /* of one formatted text */
#define ROWS_SEEN 200         /* from the top, that a screen may show now */

const char *build_text(struct build *b, const char *fmt, ...)
{
	char small[512];
	va_list args, again;
	va_start(args, fmt);
	va_copy(again, args);
	int n = vsnprintf(small, sizeof small, fmt, args);
	va_end(args);
	char *text = NULL;
	if (n >= 0 && n < (int)TEXT_MAX)
		text = arena_alloc(&b->box->arena, (size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, fmt, again);
	va_end(again);
	if (!text)
		b->failed = true;
	return text ? text : "";
}

void build_copy(char *to, size_t size, const char *from)
{
	size_t n = from ? strnlen(from, size - 1) : 0;
	/* Cut between characters, not inside one. */
	if (n == size - 1)
		while (n && ((unsigned char)from[n] & 0xc0) == 0x80)
			n--;
	if (n)
		memcpy(to, from, n);
	to[n] = '\0';
}

bool build_reserve(struct build *b, uint32_t n)
{
	uint32_t most = b->q->max_rows ? b->q->max_rows : ANSWER_ROWS_MAX;
	b->max_rows = n < most ? n : most;
	b->nrows = 0;
	/* The last one is for ROW_REST. */
	b->rows = arena_alloc(&b->box->arena, ((size_t)b->max_rows + 1) * sizeof *b->rows);
	if (!b->rows)
		b->failed = true;
	b->a->rows = b->rows;
	return b->rows != NULL;
}

struct row *build_row(struct build *b)
{
	if (!b->rows || b->nrows > b->max_rows)
		return NULL;
	struct row *row = &b->rows[b->nrows++];
	row->name = row->full = row->module = row->note = row->hint = row->file = "";
	row->cpu = row->user = row->system = row->ready = row->blocked = -1;
	b->a->nrows = b->nrows;
	return row;
}

struct row *build_rest(struct build *b, const char *name)
{
	struct row *row = build_row(b);
	if (!row)
		return NULL;
	row->key.kind = ROW_REST;
	row->name = row->full = name;
	row->self = row->total = -1;
	return row;
}

void build_want(struct build *b, frame_id frame)
{
	if (b->nwanted < sizeof b->wanted / sizeof *b->wanted)
		b->wanted[b->nwanted++] = frame;
	b->e->pace.nameless = true;
	b->e->pace.unresolved |= b->nrows <= ROWS_SEEN;
}

bool build_matches(const struct build *b, const char *text)
{
	return !b->q->filter[0] || strcasestr(text, b->q->filter);
}

const struct row_key *build_expanded(const struct build *b, const struct row_key *key)
{
	for (uint32_t i = 0; i < b->q->nexpanded; i++) {
		const struct row_key *k = &b->q->expanded[i];
		if (k->kind == key->kind && k->b == key->b && k->a == key->a)
			return k;
	}
	return NULL;
}

/* Tasks whose name folds to the pattern that the focus names, or of the process that it is. */
static void mask_group(struct build *b)
{
	bool by_process = b->q->focus.kind == ROW_PROCESS;
	uint32_t n;
	task_id *process = tables_processes(b->t, &n);
	b->task_mask = calloc(n + 1, 1);
	if (!process || !b->task_mask) {
		free(process);
		b->failed = true;
		return;
	}
	for (task_id i = 1; i < n; i++)
		b->task_mask[i] = (by_process ? process[i] : group_of_task(b->e->tables, i)) ==
				  b->q->focus.a;
	free(process);
	b->fq.task_mask = b->task_mask;
	b->fq.ntasks = n;
}

/* The sampled event whose weights are shares: the query's, else the first of its set. */
static void choose_event(struct build *b)
{
	const struct shared *s = &b->e->shared;
	uint16_t set = set_in_view(b->e, b->q->set);
	b->event = UINT16_MAX;
	b->desc = shared_event(s, b->q->event);
	if (b->desc && b->desc->sampled) {
		b->event = b->q->event;
		return;
	}
	for (uint16_t i = 0; i < EVENT_MAX && b->event == UINT16_MAX; i++) {
		b->desc = shared_event(s, i);
		if (b->desc && b->desc->sampled && b->desc->set == set)
			b->event = i;
	}
	if (b->event == UINT16_MAX)
		b->desc = NULL;
}

uint64_t build_set_covered_ns(const struct build *b)
{
	const struct window *w = &b->window;
	uint64_t covered = set_covered_ns(b->e, set_in_view(b->e, b->q->set), w->from_ns,
					  w->until_ns);

	if (!b->e->setup.live && b->e->spans.n < 2) /* it may tell no times */
		return w->covered_ns;
	return covered < w->covered_ns ? covered : w->covered_ns;
}

static bool whole_target(const struct build *b)
{
	return !b->fq.task && !b->task_mask && !(b->q->flags & QUERY_FILTERS);
}

void build_unsampled(struct build *b, struct row *row)
{
	fid_t fid = tables_loc(b->t, FRAME_UNSAMPLED)->lines[0].func;
	struct fid_text x;
	double noise = 0;
	fid_text(b, fid, &x);
	for (uint32_t i = 0; i < b->nunsampled; i++)
		noise += b->unsampled[i].noise;
	row->key = (struct row_key){.kind = ROW_FUNCTION, .a = fid};
	row->name = x.name;
	row->full = x.full;
	row->hint = "CPU time that the kernel accounts to the target and that no sample covered";
	row->self = row->total = (double)b->unsampled_weight / (double)b->whole;
	row->self_margin = row->total_margin = noise / (double)b->whole;
	row->self_weight = row->total_weight = b->unsampled_weight;
}

static void find_unsampled(struct build *b)
{
	if (!whole_target(b))
		return;
	b->nunsampled = unsampled_find(&b->e->profile, b->t, &b->window, b->event, &b->unsampled);
	for (uint32_t i = 0; i < b->nunsampled; i++)
		b->unsampled_weight += b->unsampled[i].weight;
}

int build_fold(struct build *b, task_id task)
{
	struct engine *e = b->e;
	choose_event(b);
	b->fq = (struct fold_query){
		.window = b->window, .event = b->event, .flags = b->q->flags, .task = task};
	if (row_is_group(&b->q->focus) && b->q->focus.a)
		mask_group(b);
	metrics_choose(b);
	if (b->failed || flat_build(&e->flat, &e->profile, b->t, &b->fq))
		return -1;
	find_unsampled(b);
	b->whole = e->flat.all.weight + b->unsampled_weight;
	b->whole_n = b->desc && b->desc->exact
			     ? INFINITY
			     : confidence_effective(e->flat.all.weight, e->flat.all.weight_sq);
	metrics_weigh(b);
	return 0;
}

/* Hits that weigh the same as these: k for confidence when weights differ. */
static double hits_of(const struct sums *s)
{
	return confidence_effective(s->weight, s->weight_sq);
}

void build_shares(struct build *b, struct row *row, const struct sums *self,
		  const struct sums *total)
{
	struct interval i = confidence_interval(self->weight, self->weight_sq, b->whole,
						b->whole_n);
	row->self = i.share;
	row->self_margin = i.margin;
	i = confidence_interval(total->weight, total->weight_sq, b->whole, b->whole_n);
	row->total = i.share;
	row->total_margin = i.margin;
	row->self_samples = self->samples;
	row->total_samples = total->samples;
	row->self_weight = self->weight;
	row->total_weight = total->weight;
	/*
	 * Confidence is that of the column shown first: the total of call paths and edges. A
	 * function whose time is all in callees still ranks by its total.
	 */
	bool paths = b->q->view == VIEW_TREE || b->q->view == VIEW_CALLERS;
	bool by_total = b->q->sort == COLUMN_TOTAL || b->q->sort == COLUMN_TOTAL_SAMPLES ||
			!self->samples || (paths && b->q->sort == COLUMN_DEFAULT);
	if (!isinf(b->whole_n))
		row->flags |= confidence_flags(hits_of(by_total ? total : self));
}
