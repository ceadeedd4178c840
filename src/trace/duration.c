/*
 * duration: the duration analysis of spans: per name counts, times, unevenness, percentiles, score.
 *
 * Spans are nested as they come as long as those of each thread come in order of their start; all
 * the while they are kept in an external sort (begins and ends are kept by who reads them), and the
 * first one that comes too late makes the pass begin anew once all are there. What becomes of a
 * thread's spans does not depend on other threads'. Paths of spans weigh their self time and go to
 * the sink as samples at the end. Memory is bounded by the caps and the number of names. Source
 * thread.
 */
#include "trace/duration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/extsort.h"
#include "base/vec.h"
#include "trace/durations.h"
#include "trace/filter.h"
#include "trace/nest.h"
#include "trace/pass.h"
#include "trace/result.h"
#include "trace/spantree.h"

#define SPAN_BYTES     (512ull << 20) /* two thirds for spans, a third for durations */
#define START_BIAS     (1ull << 63)
#define TIME_MOST      (1ull << 62) /* of a sink's time: 146 years */
#define CACHE_MISS_NS  150.0
#define PROGRESS_EVERY 65536

const struct snapshot_column duration_columns[DURATION_COLUMNS] = {
	[DURATION_COUNT] = {"count", "", 0},
	[DURATION_AVG] = {"avg", "ns", 0},
	[DURATION_MAX] = {"max", "ns", 0},
	[DURATION_MIN] = {"min", "ns", 0},
	[DURATION_TOTAL] = {"total", "ns", 0},
	[DURATION_MAX_AVG] = {"max_avg", "", 2},
	[DURATION_SD_AVG] = {"sd_avg", "", 2},
	[DURATION_CACHEMISS] = {"cachemiss", "", 0},
	[DURATION_AVG_CHILD_NB] = {"avg_child_nb", "", 1},
	[DURATION_AVG_LOOP_SIZE] = {"avg_loop_size", "", 1},
	[DURATION_P50] = {"p50", "ns", 0},
	[DURATION_P95] = {"p95", "ns", 0},
	[DURATION_P99] = {"p99", "ns", 0},
	[DURATION_SCORE] = {"score", "", 3},
};

const struct filter_columns duration_filter = {duration_columns, DURATION_COLUMNS};

struct name_stats {
	str_id name;
	frame_id frame;
	uint64_t count, min, max;
	unsigned __int128 total;
	unsigned __int128 outer; /* of spans that lie in no other of their name */
	unsigned __int128 self;
	uint64_t children, parents; /* spans that have children */
	double loops;               /* Σ children / unique children over parents */
};

/* A span as it is kept: in the order of its first word, the longer one first when that is equal. */
struct kept {
	uint64_t start; /* with START_BIAS: unsigned words sort as the times do */
	uint64_t dur_ns;
	str_id name;
	uint32_t thread;
};

struct newest {
	struct kept kept; /* what comes before this is too late */
	uint64_t begun;   /* when the last one began, … */
	bool edge;        /* … whose end was not known then */
	uint64_t empty;   /* when one began and ended in one moment: what begins then may hold it */
};

struct who {
	pid_t pid, tid;
};

struct pass {
	struct analyser_options options;
	struct tables *tables;
	const struct sink *sink;
	struct filter *filter;
	struct extsort *spans;
	struct durations *durations;
	struct nest *nest;
	struct spantree tree;
	bool eager; /* all so far came in order, and was nested */
	struct extent {
		uint64_t first, last;      /* the first start and the last end, with START_BIAS */
	} extent, edges;                   /* of whole spans; of begins and ends */
	uint64_t told_ns;                  /* time of the last sample */
	const struct trace_beside *beside; /* NULL: none */
	struct {
		VEC(struct newest)
	} newest; /* by thread */
	uint64_t nested;
	struct {
		VEC(uint32_t)
	} row_of; /* by str_id: index in stats + 1, 0 none */
	struct {
		VEC(struct name_stats)
	} stats;
	struct {
		VEC(struct who)
	} threads;
	struct {
		VEC(frame_id)
	} frames;
	unsigned __int128 whole; /* time of outermost spans */
};

static int compare_kept(const void *pa, const void *pb)
{
	const struct kept *a = pa, *b = pb;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->dur_ns != b->dur_ns)
		return a->dur_ns > b->dur_ns ? -1 : 1;
	return 0;
}

static void duration_close(struct pass *p)
{
	if (!p)
		return;
	filter_free(p->filter);
	extsort_free(p->spans);
	durations_free(p->durations);
	vec_fini(&p->newest);
	nest_free(p->nest);
	spantree_fini(&p->tree);
	vec_fini(&p->row_of);
	vec_fini(&p->stats);
	vec_fini(&p->threads);
	vec_fini(&p->frames);
	free(p);
}

static void duration_thread(struct pass *p, uint32_t index, int64_t pid, int64_t tid,
			    const char *name)
{
	while (p->threads.len <= index) {
		struct who none = {0};
		if (vec_push(&p->threads, none))
			return;
	}
	p->threads.data[index] = (struct who){(pid_t)pid, (pid_t)tid};
	if (!name || !name[0])
		return;
	struct raw_task t = {.pid = (pid_t)pid, .tid = (pid_t)tid, .comm = name};
	p->sink->ops->comm(p->sink->ctx, &t);
}

static int64_t end_of(const struct trace_span *s)
{
	int64_t end;
	if (s->dur_ns > INT64_MAX || __builtin_add_overflow(s->start_ns, (int64_t)s->dur_ns, &end))
		end = INT64_MAX;
	return end;
}

static int row_of(struct pass *p, str_id name, uint32_t *ret_row)
{
	if (name < p->row_of.len && p->row_of.data[name]) {
		*ret_row = p->row_of.data[name] - 1;
		return 0;
	}
	struct frame f = {.flags = FRAME_NAMED, .name = name};
	struct name_stats s = {
		.name = name, .frame = tables_frame(p->tables, &f), .min = UINT64_MAX};
	if (!s.frame)
		s.frame = FRAME_UNKNOWN;
	*ret_row = (uint32_t)p->stats.len;
	int rc = vec_push(&p->stats, s);
	while (!rc && p->row_of.len <= name)
		rc = vec_push(&p->row_of, 0);
	if (!rc)
		p->row_of.data[name] = *ret_row + 1;
	return rc;
}

/*
 * A sink's time, which is never 0: from the tenth of a second before the one in which the first
 * span begins, so that tenths of a second are the same here and there.
 */
static uint64_t sink_time(const struct pass *p, uint64_t biased)
{
	uint64_t first = p->extent.first;
	uint64_t time = biased - (first - first % SPANTREE_STEP_NS);
	return time < TIME_MOST ? time + SPANTREE_STEP_NS : TIME_MOST;
}

/* What was sampled beside the spans, up to a time. */
static int tell_beside(struct pass *p, uint64_t until)
{
	const struct trace_beside *b = p->beside;
	int64_t ns;
	int rc = 0;
	while (b && !rc && b->next(b->ctx, &ns) && (uint64_t)ns + START_BIAS <= until) {
		uint64_t time = sink_time(p, (uint64_t)ns + START_BIAS);
		p->told_ns = time > p->told_ns ? time : p->told_ns;
		rc = b->deliver(b->ctx, p->told_ns);
	}
	return rc;
}

/* The spans of one path in a tenth of a second as a sample: its weight is their self time. */
static int emit_sample(void *ctx, const struct span_cell *c)
{
	struct pass *p = ctx;
	const struct span_node *n = &p->tree.nodes.data[c->node];
	struct who who = n->thread < p->threads.len ? p->threads.data[n->thread] : (struct who){0};
	p->frames.len = 0;
	uint32_t at = (uint32_t)c->node;
	for (; at && p->frames.len < SPANTREE_PATH_MAX; at = p->tree.nodes.data[at].parent)
		if (vec_push(&p->frames, p->stats.data[p->tree.nodes.data[at].row].frame))
			return -ENOMEM;
	if (at && vec_push(&p->frames, FRAME_TRUNCATED))
		return -ENOMEM;
	int rc = tell_beside(p, c->time_ns);
	if (rc)
		return rc;
	/* Where paths were too many to be kept, what closes later can have ended before. */
	uint64_t time = sink_time(p, c->time_ns);
	p->told_ns = time > p->told_ns ? time : p->told_ns;
	struct raw_sample s = {.time_ns = p->told_ns,
			       .pid = who.pid,
			       .tid = who.tid,
			       .cpu = UINT32_MAX,
			       .weight = c->weight,
			       .hits = c->hits,
			       .frames = p->frames.data,
			       .nframes = (uint32_t)p->frames.len};
	p->sink->ops->sample(p->sink->ctx, &s);
	return 0;
}

static int open_span(void *ctx, const struct trace_span *s, uint32_t parent, uint32_t *ret_tag)
{
	struct pass *p = ctx;
	int rc = spantree_child(&p->tree, parent, s->thread, s->name, ret_tag);
	uint32_t row = rc ? SPANTREE_NO_ROW : p->tree.nodes.data[*ret_tag].row;
	if (row == SPANTREE_NO_ROW)
		return rc;
	__builtin_prefetch(&p->stats.data[row], 1); /* for when it closes */
	durations_expect(p->durations, row);
	return 0;
}

/* Rows of a path that has none yet, from its innermost name outwards. */
static int find_rows(struct pass *p, uint32_t node)
{
	for (unsigned i = 0; node && i < SPANTREE_PATH_MAX; i++) {
		struct span_node *n = &p->tree.nodes.data[node];
		if (n->row != SPANTREE_NO_ROW)
			return 0;
		int rc = row_of(p, n->name, &n->row);
		if (rc)
			return rc;
		node = n->parent;
	}
	return 0;
}

static int close_span(void *ctx, const struct nested *n)
{
	struct pass *p = ctx;
	int rc = find_rows(p, n->tag);
	rc = rc ? rc : spantree_add(&p->tree, n->tag, end_of(&n->span) + START_BIAS, n->self_ns);
	if (rc)
		return rc;
	const struct span_node *node = &p->tree.nodes.data[n->tag];
	uint64_t dur = n->span.dur_ns;
	if (!n->depth)
		p->whole += dur;
	if ((p->options.leaf && n->children) || (p->options.leaf_parent && !n->leaf_children))
		return 0;
	struct name_stats *s = &p->stats.data[node->row];
	s->count++;
	s->total += dur;
	s->self += n->self_ns;
	if (!node->recurs)
		s->outer += dur;
	s->min = dur < s->min ? dur : s->min;
	s->max = dur > s->max ? dur : s->max;
	s->children += n->children;
	if (n->children) {
		s->parents++;
		s->loops += (double)n->children / n->unique_children;
	}
	return durations_add(p->durations, node->row, dur);
}

static const struct nest_ops nesting = {open_span, close_span};

/* The next span of its thread in order. */
static int nest_next(struct pass *p, const struct kept *k)
{
	struct trace_span s = {(int64_t)(k->start - START_BIAS), k->dur_ns, k->name, k->thread};
	p->nested++;
	return nest_add(p->nest, &s);
}

/* What was nested on the way does not count: the whole is sorted first. */
static int give_up_eager(struct pass *p)
{
	p->eager = false;
	nest_free(p->nest);
	spantree_fini(&p->tree);
	p->stats.len = 0;
	vec_fini(&p->row_of);
	durations_clear(p->durations);
	p->whole = 0;
	p->nested = 0;
	p->edges = (struct extent){.first = UINT64_MAX};
	p->nest = nest_new(&nesting, p);
	return spantree_init(&p->tree) || !p->nest ? -ENOMEM : 0;
}

static int newest_of(struct pass *p, uint32_t thread, struct newest **ret_newest)
{
	while (p->newest.len <= thread) {
		struct newest none = {
			.kept = {.dur_ns = UINT64_MAX}, .begun = UINT64_MAX, .empty = UINT64_MAX};
		if (vec_push(&p->newest, none))
			return -ENOMEM;
	}
	*ret_newest = &p->newest.data[thread];
	return 0;
}

/* Nest it if it is behind all of its thread; else all of them once they are there. */
static int nest_eagerly(struct pass *p, const struct kept *k)
{
	struct newest *newest;
	if (newest_of(p, k->thread, &newest))
		return -ENOMEM;
	if (compare_kept(&newest->kept, k) > 0 || spantree_is_full(&p->tree) ||
	    (newest->begun == k->start && newest->edge))
		return give_up_eager(p);
	*newest = (struct newest){*k, k->start, false, UINT64_MAX};
	return nest_next(p, k);
}

static void extend(struct extent *x, uint64_t first, uint64_t last)
{
	x->first = first < x->first ? first : x->first;
	x->last = last > x->last ? last : x->last;
}

/* As it comes if it is in order in its thread. 1: it is not. */
static int nest_edge(struct pass *p, const struct trace_edge *e)
{
	uint64_t now = (uint64_t)e->ns + START_BIAS;
	bool begins = e->kind == TRACE_BEGIN;
	struct newest *newest;
	if (newest_of(p, e->thread, &newest))
		return -ENOMEM;
	if (now < newest->kept.start || spantree_is_full(&p->tree) ||
	    (begins && (newest->empty == now || (newest->begun == now && !newest->edge))))
		return 1;
	extend(&p->edges, now, now);
	newest->kept = (struct kept){.start = now, .dur_ns = UINT64_MAX};
	if (!begins) {
		newest->empty = newest->begun == now ? now : newest->empty;
		return nest_end(p->nest, e->thread, e->ns, newest->begun == now);
	}
	newest->begun = now;
	newest->edge = true;
	p->nested++;
	struct trace_span s = {.start_ns = e->ns, .name = e->name, .thread = e->thread};
	return nest_begin(p->nest, &s);
}

static int duration_edge(struct pass *p, const struct trace_edge *e)
{
	if (!p->eager || e->kind == TRACE_DONE)
		return !p->eager;
	int rc = e->kind == TRACE_SPOILT ? 1 : nest_edge(p, e);
	if (rc == 1 && give_up_eager(p))
		return -ENOMEM;
	return rc;
}

static int duration_span(struct pass *p, const struct trace_span *s)
{
	struct kept k = {(uint64_t)s->start_ns + START_BIAS, s->dur_ns, s->name, s->thread};
	extend(&p->extent, k.start, (uint64_t)end_of(s) + START_BIAS);
	int rc = extsort_add(p->spans, &k);
	return rc || !p->eager ? rc : nest_eagerly(p, &k);
}

/* All samples so far to the sink, to have room for other paths. */
static int make_room(struct pass *p)
{
	int rc = spantree_flush(&p->tree, emit_sample, p);
	if (rc)
		return rc;
	spantree_clear(&p->tree);
	rc = nest_retag(p->nest);
	spantree_settle(&p->tree);
	return rc;
}

/* All spans in order. Once the person has cancelled the reading, what was read is finished at once.
 */
static int nest_all(struct pass *p)
{
	uint64_t all = extsort_count(p->spans);
	bool ask = p->sink->ops->progress(p->sink->ctx, 0, all), stopped = false;
	const struct kept *k;
	int rc = extsort_finish(p->spans);
	while (!rc && !stopped && (k = extsort_next(p->spans))) {
		rc = spantree_is_full(&p->tree) ? make_room(p) : 0;
		rc = rc ? rc : nest_next(p, k);
		if (p->nested % PROGRESS_EVERY == 0 && ask)
			stopped = !p->sink->ops->progress(p->sink->ctx, p->nested, all);
	}
	rc = rc ? rc : extsort_error(p->spans);
	return rc ? rc : stopped ? -ECANCELED : 0;
}

static int duration_open(const struct analyser_options *options, struct tables *tables,
			 const struct sink *sink, struct pass **ret_pass, struct err *err)
{
	struct pass *p = calloc(1, sizeof *p);
	if (!p)
		return err_set(err, ENOMEM, "no memory for the duration analysis");
	p->options = *options;
	p->tables = tables;
	p->sink = sink;
	size_t bytes = options->span_bytes ? options->span_bytes : SPAN_BYTES;
	p->spans = extsort_new_words(sizeof(struct kept), bytes / 3 * 2, compare_kept, 1);
	p->durations = durations_new(bytes / 3);
	p->nest = nest_new(&nesting, p);
	p->eager = true;
	p->extent.first = p->edges.first = UINT64_MAX;
	if (spantree_init(&p->tree) || !p->spans || !p->durations || !p->nest ||
	    (options->filter && filter_parse(&duration_filter, options->filter, &p->filter, err))) {
		duration_close(p);
		return err_set(err, ENOMEM, "no memory for the duration analysis");
	}
	struct event_desc d = {
		.name = "span-time", .unit = EVENT_NS, .sampled = true, .exact = true};
	sink->ops->event(sink->ctx, 0, &d);
	*ret_pass = p;
	return 0;
}

static void fill_row(const struct name_stats *s, double *cells)
{
	double n = (double)s->count, total = (double)s->total;
	cells[DURATION_COUNT] = n;
	cells[DURATION_TOTAL] = total;
	cells[DURATION_AVG] = total / n;
	cells[DURATION_MIN] = (double)s->min;
	cells[DURATION_MAX] = (double)s->max;
	cells[DURATION_MAX_AVG] = total > 0 ? (double)s->max * n / total : 0;
	cells[DURATION_AVG_CHILD_NB] = (double)s->children / n;
	cells[DURATION_AVG_LOOP_SIZE] = s->parents ? s->loops / (double)s->parents : 0;
}

static void fill_spread(void *ctx, uint32_t row, const struct spread *s)
{
	double *c = ((double(*)[DURATION_COLUMNS])ctx)[row], avg = c[DURATION_AVG];
	c[DURATION_SD_AVG] = avg > 0 ? sqrt(s->squares / c[DURATION_COUNT]) / avg : 0;
	c[DURATION_CACHEMISS] = s->above / CACHE_MISS_NS;
	c[DURATION_P50] = (double)s->at[0];
	c[DURATION_P95] = (double)s->at[1];
	c[DURATION_P99] = (double)s->at[2];
}

/*
 * Scores of @n rows: count, total, avg, max_avg and sd_avg by ln(1 + x), each brought to 0…1 over
 * the rows, weighted 0.50, 0.20, 0.20, 0.05, 0.05. Written to each row's DURATION_SCORE.
 */
static void duration_score(double (*rows)[DURATION_COLUMNS], uint32_t n)
{
	static const struct {
		enum duration_column column;
		double weight;
	} parts[] = {{DURATION_COUNT, 0.50},
		     {DURATION_TOTAL, 0.20},
		     {DURATION_AVG, 0.20},
		     {DURATION_MAX_AVG, 0.05},
		     {DURATION_SD_AVG, 0.05}};
	for (uint32_t i = 0; i < n; i++)
		rows[i][DURATION_SCORE] = 0;
	for (unsigned k = 0; k < sizeof parts / sizeof *parts; k++) {
		double min = INFINITY, max = -INFINITY;
		for (uint32_t i = 0; i < n; i++) {
			double v = log1p(rows[i][parts[k].column]);
			min = v < min ? v : min;
			max = v > max ? v : max;
		}
		for (uint32_t i = 0; i < n && max > min; i++)
			rows[i][DURATION_SCORE] += parts[k].weight *
						   (log1p(rows[i][parts[k].column]) - min) /
						   (max - min);
	}
}

static int deliver(struct pass *p)
{
	uint32_t n = 0;
	for (size_t i = 0; i < p->stats.len; i++)
		n += p->stats.data[i].count > 0;
	double(*cells)[DURATION_COLUMNS] = calloc(p->stats.len + 1, sizeof *cells);
	double(*kept)[DURATION_COLUMNS] = calloc(n + 1, sizeof *kept);
	struct result *r = result_new(VIEW_DURATION, duration_columns, DURATION_COLUMNS);
	int rc = cells && kept && r ? 0 : -ENOMEM;
	uint32_t *stat_of = rc ? NULL : calloc(n + 1, sizeof *stat_of);
	if (!rc && !stat_of)
		rc = -ENOMEM;
	if (rc)
		goto out;
	for (size_t i = 0; i < p->stats.len; i++)
		if (p->stats.data[i].count)
			fill_row(&p->stats.data[i], cells[i]);
	rc = durations_spread(p->durations, fill_spread, cells);
	n = 0;
	for (size_t i = 0; i < p->stats.len && !rc; i++)
		if (p->stats.data[i].count) {
			memcpy(kept[n], cells[i], sizeof *kept);
			stat_of[n++] = (uint32_t)i;
		}
	duration_score(kept, n);
	for (uint32_t i = 0; i < n && !rc; i++) {
		if (!filter_holds(p->filter, kept[i]))
			continue;
		const struct name_stats *s = &p->stats.data[stat_of[i]];
		double whole = p->whole ? (double)p->whole : 1;
		struct analysis_row row = {.name = s->name,
					   .share = (double)s->outer / whole,
					   .self_share = (double)s->self / whole,
					   .self_ns = (double)s->self / (double)s->count};
		rc = result_add(r, &row, kept[i]);
	}
	if (!rc) {
		uint64_t overlaps = nest_overlaps(p->nest);
		const struct extent *x = &p->extent;
		if (x->last > x->first && x->last - x->first >= TIME_MOST - SPANTREE_STEP_NS)
			result_note(r, "the trace reaches over more than 146 years: what is later "
				       "stands there");
		if (overlaps)
			result_note(
				r, "%llu spans overlap another of their thread without lying in it",
				(unsigned long long)overlaps);
		result_deliver(r, p->sink, DURATION_SCORE);
		r = NULL;
	}
out:
	result_free(r);
	free(stat_of);
	free(kept);
	free(cells);
	return rc;
}

static void duration_beside(struct pass *p, const struct trace_beside *b)
{
	p->beside = b;
	extend(&p->extent, (uint64_t)b->first_ns + START_BIAS, (uint64_t)b->last_ns + START_BIAS);
}

static int duration_end(struct pass *p, struct err *err)
{
	if (!p->nest || !p->tree.slots)
		return err_set(err, ENOMEM, "no memory for the duration analysis");
	struct extent *x = &p->extent;
	if (p->eager && p->edges.first != UINT64_MAX)
		extend(x, p->edges.first, p->edges.last);
	if (x->first != UINT64_MAX)
		p->sink->ops->extent(p->sink->ctx, sink_time(p, x->first), sink_time(p, x->last));
	int nested = p->eager ? 0 : nest_all(p);
	int rc = nested && nested != -ECANCELED ? nested : nest_finish(p->nest);
	rc = rc ? rc : spantree_flush(&p->tree, emit_sample, p);
	rc = rc ? rc : tell_beside(p, UINT64_MAX);
	rc = rc ? rc : deliver(p);
	return rc ? rc : nested;
}

const struct pass_ops pass_duration = {
	.pattern = PATTERN_DURATION,
	.kind = TRACE_SPANS,
	.open = duration_open,
	.thread = duration_thread,
	.span = duration_span,
	.edge = duration_edge,
	.beside = duration_beside,
	.end = duration_end,
	.close = duration_close,
};
