/*
 * show_verdicts: one row a rule that holds, heaviest first, and a line on the shape of the whole.
 *
 * Engine thread. Facts come from verdict_facts.c, rules from src/insight/verdict.c.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/calls.h"
#include "engine/verdict_facts.h"
#include "engine/working.h"

#define VERDICTS_MAX  200
#define RUNNING_LEAST 0.5f /* of the time on the hardware: below it counters judge nothing */
#define COVERED       0.80

struct verdict {
	const struct verdict_rule *rule;
	struct verdict_facts facts;
	const char *where, *full;
	uint32_t flags;
	struct row_key go;
	uint32_t line;
};

struct list {
	VEC(struct verdict)
};

static const struct snapshot_column gain_column[] = {{"AT MOST", "\xc3\x97", 2}};

static void judge(struct list *l, const struct verdict *proto)
{
	for (unsigned i = 0; i < verdict_rule_count; i++) {
		if (!verdict_holds(&verdict_rules[i], &proto->facts))
			continue;
		struct verdict v = *proto;
		v.rule = &verdict_rules[i];
		if (vec_push(l, v))
			return;
	}
}

/* Which derived columns are facts that rules look at. */
static const struct {
	const char *metric;
	enum fact fact;
	double scale;
} counted[] = {
	{"IPC", FACT_IPC, 1},          {"L1%", FACT_L1D_MISS, 0.01},
	{"LLC%", FACT_LLC_MISS, 0.01}, {"MISS%", FACT_BRANCH_MISS, 0.01},
	{"FE%", FACT_FRONTEND, 0.01},  {"FRONT%", FACT_FRONTEND, 0.01},
	{"BE%", FACT_BACKEND, 0.01},   {"BACK%", FACT_BACKEND, 0.01},
};

/* What the counters say of a function's own code. */
static void add_counts(struct build *b, fid_t fid, struct verdict_facts *f)
{
	const struct fold_rows *rows = &b->e->rows;
	const struct fold_row *r = rows->nvalues ? fold_rows_find(rows, fid) : NULL;
	for (uint32_t i = 0; r && i < b->metrics.n; i++)
		for (size_t k = 0; k < sizeof counted / sizeof *counted; k++)
			if (!strcmp(b->metrics.m[i].metric->name, counted[k].metric)) {
				f->multiplexed |= b->metrics.running[i] < RUNNING_LEAST;
				f->fact[counted[k].fact] =
					counted[k].scale *
					metrics_value(&b->metrics, i,
						      rows->self_values + (size_t)(r - rows->data) *
										  rows->nvalues);
			}
}

/* What counted calls say of a function, by its share with its callees. */
static void judge_calls(struct build *b, fid_t fid, const struct verdict *proto, struct list *l)
{
	struct verdict v = *proto;
	struct call_rate rate;
	const struct fold_row *r = fold_rows_find(&b->e->rows, fid);
	struct interval i;

	if (!r || !calls_known(&b->e->calls, fid, &rate))
		return;
	i = confidence_interval(r->total.weight, r->total.weight_sq, b->whole, b->whole_n);
	v.facts = (struct verdict_facts){
		.source = VERDICT_COUNTED,
		.share = i.share,
		.share_margin = i.share - i.low,
		.hits = confidence_effective(r->total.weight, r->total.weight_sq)};
	for (int k = 0; k < FACTS; k++)
		v.facts.fact[k] = NAN;
	v.facts.fact[FACT_CALL_RATE] = calls_least(&rate);
	judge(l, &v);
}

static void judge_suspects(struct build *b, struct suspects *s, struct list *l)
{
	for (size_t i = 0; i < s->len; i++) {
		const struct suspect *p = &s->data[i];
		struct verdict v = {.go = {.kind = ROW_FUNCTION, .a = p->fid}};
		struct fid_text x = {0};
		for (int part = SUSPECT_SELF; part < SUSPECT_PARTS; part++) {
			suspect_facts(s, p, (enum suspect_part)part, &v.facts);
			if (part == SUSPECT_SELF)
				add_counts(b, p->fid, &v.facts);
			if (v.facts.share < 0.01)
				continue;
			if (!x.name)
				fid_text(b, p->fid, &x);
			v.where = x.name;
			v.full = x.full;
			v.flags = x.flags;
			judge(l, &v);
		}
		if (!x.name) {
			fid_text(b, p->fid, &x);
			v.where = x.name;
			v.full = x.full;
			v.flags = x.flags;
		}
		judge_calls(b, p->fid, &v, l);
	}
}

/* Where a row of an analysis stands in the source, if that is known. */
static void find_place(struct build *b, const struct analysis_row *row, struct verdict *v)
{
	const struct loc *loc = row->first_frame ? tables_loc(b->t, row->first_frame) : NULL;
	if (row->first_frame && !loc)
		build_want(b, row->first_frame);
	if (!loc || !loc->n)
		return;
	v->go = (struct row_key){.kind = ROW_FUNCTION, .a = loc->lines[loc->n - 1].func};
	v->line = loc->lines[loc->n - 1].line;
}

/* What samples of CPU time cannot show: is the target mostly elsewhere? */
static void judge_target(struct build *b, struct list *l)
{
	struct verdict v = {0};
	struct working w;

	if (!b->desc || !b->desc->cpu_time || b->q->task || !working_find(b, &w))
		return;
	v.facts = (struct verdict_facts){
		.source = VERDICT_TARGET, .share = w.waiting, .hits = b->whole_n};
	for (int k = 0; k < FACTS; k++)
		v.facts.fact[k] = NAN;
	v.facts.fact[FACT_WAITING] = w.waiting;
	v.facts.fact[FACT_RUN_RATE] = w.run_rate;
	v.where = v.full =
		w.threads > 1
			? build_text(b, "the %u threads that work", w.threads)
			: build_text(b, "the thread %s",
				     tables_text(b->t, tables_task_get(b->t, w.busiest)->comm));
	if (w.threads == 1)
		v.go = (struct row_key){.kind = ROW_THREAD, .a = w.busiest};
	judge(l, &v);
}

/*
 * Were threads ready to run and had no CPU? The kernel counts all of that, but of this window: how
 * far it holds is what as many samples would tell.
 */
static void judge_ready(struct build *b, const struct suspects *s, struct list *l)
{
	struct verdict v = {.where = "the target's threads", .full = "the target's threads"};
	uint64_t cpu, ready;

	if (!s->wall || !s->whole || b->q->task || !working_ready(b, &cpu, &ready) || !ready)
		return;
	double all = (double)s->whole, n = s->whole_n * fmin(1, (double)(cpu + ready) / all);
	double squares = (double)ready * (double)(cpu + ready) / n; /* as of even samples */
	struct interval part = confidence_interval(ready, squares, cpu + ready, n);
	v.facts = (struct verdict_facts){
		.source = VERDICT_TARGET, .share = fmin(1, (double)ready / all), .hits = n};
	v.facts.share_margin = v.facts.share * (1 - part.low / part.share);
	for (int k = 0; k < FACTS; k++)
		v.facts.fact[k] = NAN;
	v.facts.fact[FACT_READY] = part.low;
	judge(l, &v);
}

static void judge_analysis(struct build *b, enum view_kind view, struct list *l)
{
	struct analysis *a = shared_analysis(&b->e->shared, view);
	for (uint32_t i = 0; a && i < a->nrows; i++) {
		const struct analysis_row *row = &a->rows[i];
		struct verdict v = {.where = tables_text(b->t, row->name)};
		v.full = v.where;
		analysis_facts(a, i, false, &v.facts);
		if (v.facts.share < 0.01) /* most edges: no text is made for them */
			continue;
		find_place(b, row, &v);
		if (view == VIEW_EDGE)
			v.where = build_text(b, "%s %llx-%llx", v.where,
					     (unsigned long long)row->first,
					     (unsigned long long)row->last);
		judge(l, &v);
		analysis_facts(a, i, true, &v.facts);
		judge(l, &v);
	}
	analysis_unref(a);
}

static int heavier(const void *pa, const void *pb)
{
	const struct verdict *a = pa, *b = pb;
	if (a->facts.share != b->facts.share)
		return a->facts.share > b->facts.share ? -1 : 1;
	int where = strcmp(a->where, b->where);
	return where ? where : a->rule < b->rule ? -1 : a->rule > b->rule;
}

static void fill(struct build *b, const struct verdict *v)
{
	char evidence[160];
	struct row *row = build_row(b);
	double *gain = arena_alloc(&b->box->arena, sizeof *gain);
	if (!row || !gain)
		return;
	const struct verdict_rule *r = v->rule;
	/* The format comes from the table of rules: one double. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(evidence, sizeof evidence, r->evidence, v->facts.fact[r->fact] * r->scale);
#pragma GCC diagnostic pop
	*gain = verdict_gain(v->facts.share);
	row->key = (struct row_key){.kind = ROW_VERDICT,
				    .a = (uint32_t)(r - verdict_rules),
				    .b = hash_bytes(v->full, strlen(v->full))};
	row->name = v->where;
	row->full = v->full;
	row->flags = v->flags & ROW_KERNEL;
	row->module = r->kind;
	row->note = v->facts.source == VERDICT_SAMPLES
			    ? build_text(b, "%s, %" PRIu64 " samples", evidence, v->facts.samples)
			    : build_text(b, "%s", evidence);
	row->hint = r->next;
	row->total = row->self = v->facts.share;
	row->total_margin = row->self_margin = v->facts.share_margin;
	row->cells = gain;
	row->go = v->go;
	row->line = v->line;
}

static int by_self(const void *pa, const void *pb)
{
	const struct suspect *a = pa, *b = pb;
	return a->self.weight > b->self.weight ? -1 : a->self.weight < b->self.weight;
}

/* How many functions cover 80 %, how deep stacks are, the widest fans. Reorders the suspects. */
static void summarise(struct build *b, struct suspects *s)
{
	const struct suspect *in = NULL, *out = NULL;
	uint64_t sum = 0,
		 all = 0; /* what ran: waiting and unsampled time belong to no function here */
	uint32_t covering = 0;
	struct fid_text x = {0}, y = {0};
	if (!s->len || !s->whole)
		return;
	qsort(s->data, s->len, sizeof *s->data, by_self);
	for (size_t i = 0; i < s->len; i++)
		all += s->data[i].self.weight;
	for (size_t i = 0; i < s->len; i++) {
		const struct suspect *p = &s->data[i];
		if ((double)sum < COVERED * (double)all && p->self.weight)
			covering++;
		sum += p->self.weight;
		in = !in || p->callers > in->callers ? p : in;
		out = !out || p->callees > out->callees ? p : out;
	}
	fid_text(b, in->fid, &x);
	fid_text(b, out->fid, &y);
	build_copy(
		b->a->title, sizeof b->a->title,
		build_text(
			b,
			"%u function%s 80 %%; stacks to %u deep; most callers %.40s (%u), most callees %.40s (%u); "
			"%u recursive, %u in cycles",
			covering, covering == 1 ? " covers" : "s cover", s->deepest, x.name,
			in->callers, y.name, out->callees, s->recursive, s->cyclic));
}

/* Shares of it are shares of time: a clock, or cycles. */
static bool tells_time(const struct event_desc *d)
{
	return d->unit == EVENT_NS || strstr(d->name, "cycles") || strstr(d->name, "slots") ||
	       !strcmp(d->name, "samples");
}

/* Functions' rows tell counters and counted calls only. */
static int fold_rows(struct build *b)
{
	struct engine *e = b->e;
	return b->fq.nvalues || calls_any(&e->calls)
		       ? fold_functions(&e->rows, &e->flat, b->t, b->q->flags)
		       : fold_rows_reset(&e->rows, b->t, 0);
}

void show_verdicts(struct build *b)
{
	struct suspects s = {0};
	struct list l = {0};
	if (b->desc && !tells_time(b->desc)) {
		snprintf(b->a->note, sizeof b->a->note,
			 "these samples count %s, not time: no verdicts", b->desc->name);
		return;
	}
	if (b->desc && b->desc->unit == EVENT_NS && !b->desc->cpu_time && !b->desc->states &&
	    !b->desc->exact) {
		snprintf(
			b->a->note, sizeof b->a->note,
			"%s is not CPU time, and nothing tells who ran and who waited: no verdicts",
			b->desc->name);
		return;
	}
	if (fold_rows(b) || suspects_gather(&s, b)) {
		b->failed = true;
		goto out;
	}
	judge_suspects(b, &s, &l);
	judge_target(b, &l);
	judge_ready(b, &s, &l);
	for (enum view_kind v = VIEW_DURATION; v <= VIEW_EDGE; v++)
		judge_analysis(b, v, &l);
	if (l.len)
		qsort(l.data, l.len, sizeof *l.data, heavier);
	b->a->columns = gain_column;
	b->a->ncells = 1;
	if (!build_reserve(b, l.len < VERDICTS_MAX ? (uint32_t)l.len : VERDICTS_MAX))
		goto out;
	for (size_t i = 0; i < l.len && b->nrows < b->max_rows; i++)
		if (build_matches(b, l.data[i].full))
			fill(b, &l.data[i]);
	summarise(b, &s);
	if (!b->nrows && s.whole_n < CONFIDENCE_NORMAL)
		snprintf(b->a->note, sizeof b->a->note, "too few samples yet for a verdict");
	else if (!b->nrows)
		snprintf(b->a->note, sizeof b->a->note, "no rule holds: the time is spread thin");
out:
	vec_fini(&l);
	suspects_fini(&s);
}
