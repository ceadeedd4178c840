/*
 * duration: the duration analysis of spans: per name counts, times, unevenness, percentiles, score.
 *
 * Two external sorts: by start, to nest; by (name, duration), for exact averages, deviations and
 * percentiles. Memory is bounded by the cap and the number of names. Each span also goes to the
 * sink as a sample that weighs its self time. Source thread.
 */
#include "trace/duration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/extsort.h"
#include "base/vec.h"
#include "trace/filter.h"
#include "trace/nest.h"
#include "trace/pass.h"
#include "trace/result.h"

#define SPAN_BYTES     (512ull << 20)
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
	unsigned __int128 outer;    /* of spans that lie in no other of their name */
	uint64_t children, parents; /* spans that have children */
	double loops;               /* Σ children / unique children over parents */
};

struct by_duration {
	uint64_t row, dur_ns;
};

struct who {
	pid_t pid, tid;
};

struct pass {
	struct analyser_options options;
	struct tables *tables;
	const struct sink *sink;
	struct filter *filter;
	struct extsort *spans, *durations;
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
	int64_t origin_ns, now_ns;
	unsigned __int128 whole; /* time of outermost spans */
	uint64_t overlaps;
};

static int compare_start(const void *pa, const void *pb)
{
	const struct trace_span *a = pa, *b = pb;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->dur_ns != b->dur_ns)
		return a->dur_ns > b->dur_ns ? -1 : 1;
	return 0;
}

static int compare_duration(const void *pa, const void *pb)
{
	const struct by_duration *a = pa, *b = pb;
	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return a->dur_ns < b->dur_ns ? -1 : a->dur_ns > b->dur_ns;
}

static void duration_close(struct pass *p)
{
	if (!p)
		return;
	filter_free(p->filter);
	extsort_free(p->spans);
	extsort_free(p->durations);
	vec_fini(&p->row_of);
	vec_fini(&p->stats);
	vec_fini(&p->threads);
	vec_fini(&p->frames);
	free(p);
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
	p->spans = extsort_new(sizeof(struct trace_span), bytes, compare_start);
	p->durations = extsort_new_words(sizeof(struct by_duration), bytes / 2, compare_duration,
					 2);
	if (!p->spans || !p->durations ||
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

static int duration_span(struct pass *p, const struct trace_span *s)
{
	return extsort_add(p->spans, s);
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

/* The span as a sample: its path is the stack, its self time the weight. */
static int emit_sample(struct pass *p, const struct nested *n)
{
	p->frames.len = 0;
	for (uint32_t i = 0; i < n->path_len; i++) {
		uint32_t row;
		int rc = row_of(p, n->path[i], &row);
		rc = rc ? rc : vec_push(&p->frames, p->stats.data[row].frame);
		if (rc)
			return rc;
	}
	if (n->path_len <= n->depth && vec_push(&p->frames, FRAME_TRUNCATED))
		return -ENOMEM;
	struct who who = n->span.thread < p->threads.len ? p->threads.data[n->span.thread]
							 : (struct who){0};
	struct raw_sample s = {.time_ns = (uint64_t)p->now_ns - (uint64_t)p->origin_ns,
			       .pid = who.pid,
			       .tid = who.tid,
			       .cpu = UINT32_MAX,
			       .weight = n->self_ns,
			       .frames = p->frames.data,
			       .nframes = (uint32_t)p->frames.len};
	p->sink->ops->sample(p->sink->ctx, &s);
	return 0;
}

static bool recurs(const struct nested *n)
{
	for (uint32_t i = 1; i < n->path_len; i++)
		if (n->path[i] == n->path[0])
			return true;
	return false;
}

static int report(void *ctx, const struct nested *n)
{
	struct pass *p = ctx;
	int rc = emit_sample(p, n);
	if (rc)
		return rc;
	if (!n->depth)
		p->whole += n->span.dur_ns;
	if ((p->options.leaf && n->children) || (p->options.leaf_parent && !n->leaf_children))
		return 0;
	uint32_t row;
	rc = row_of(p, n->span.name, &row);
	if (rc)
		return rc;
	struct name_stats *s = &p->stats.data[row];
	uint64_t dur = n->span.dur_ns;
	s->count++;
	s->total += dur;
	if (!recurs(n))
		s->outer += dur;
	s->min = dur < s->min ? dur : s->min;
	s->max = dur > s->max ? dur : s->max;
	s->children += n->children;
	if (n->children) {
		s->parents++;
		s->loops += (double)n->children / n->unique_children;
	}
	return extsort_add(p->durations, &(struct by_duration){row, dur});
}

static int nest_all(struct pass *p)
{
	int rc = extsort_finish(p->spans);
	if (rc)
		return rc;
	struct nest *nest = nest_new(report, p);
	if (!nest)
		return -ENOMEM;
	const struct trace_span *s;
	uint64_t done = 0, all = extsort_count(p->spans);
	while (!rc && (s = extsort_next(p->spans))) {
		if (!done)
			p->origin_ns = s->start_ns;
		p->now_ns = s->start_ns;
		rc = nest_add(nest, s);
		if (++done % PROGRESS_EVERY == 0 &&
		    !p->sink->ops->progress(p->sink->ctx, done, all))
			rc = -ECANCELED;
	}
	rc = rc ? rc : extsort_error(p->spans);
	rc = rc ? rc : nest_finish(nest);
	p->overlaps = nest_overlaps(nest);
	nest_free(nest);
	return rc;
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

/* Second pass, by name and duration: what needs the average, and the percentiles by nearest rank.
 */
static int fill_spread(struct pass *p, double (*cells)[DURATION_COLUMNS])
{
	static const struct {
		enum duration_column column;
		unsigned percent;
	} ranks[] = {{DURATION_P50, 50}, {DURATION_P95, 95}, {DURATION_P99, 99}};
	const struct by_duration *d;
	uint64_t row = UINT64_MAX, rank = 0;
	double squares = 0, above = 0;
	while ((d = extsort_next(p->durations))) {
		if (d->row != row) {
			row = d->row;
			rank = 0;
			squares = above = 0;
		}
		rank++;
		double *c = cells[row], avg = c[DURATION_AVG], delta = (double)d->dur_ns - avg;
		uint64_t n = p->stats.data[row].count;
		squares += delta * delta;
		if (delta > 0)
			above += delta;
		for (unsigned i = 0; i < 3; i++) {
			unsigned __int128 scaled = (unsigned __int128)n * ranks[i].percent;
			if (rank == (uint64_t)((scaled + 99) / 100))
				c[ranks[i].column] = (double)d->dur_ns;
		}
		if (rank == n) {
			c[DURATION_SD_AVG] = avg > 0 ? sqrt(squares / (double)n) / avg : 0;
			c[DURATION_CACHEMISS] = above / CACHE_MISS_NS;
		}
	}
	return extsort_error(p->durations);
}

void duration_score(double (*rows)[DURATION_COLUMNS], uint32_t n)
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
	rc = fill_spread(p, cells);
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
		struct analysis_row row = {.name = p->stats.data[stat_of[i]].name};
		row.share = p->whole ? (double)p->stats.data[stat_of[i]].outer / (double)p->whole
				     : 0;
		rc = result_add(r, &row, kept[i]);
	}
	if (!rc) {
		if (p->overlaps)
			result_note(
				r, "%llu spans overlap another of their thread without lying in it",
				(unsigned long long)p->overlaps);
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

static int duration_end(struct pass *p, struct err *err)
{
	int rc = nest_all(p);
	rc = rc ? rc : extsort_finish(p->durations);
	rc = rc ? rc : deliver(p);
	if (rc == -E2BIG)
		return err_set(err, E2BIG, "more than 65,536 spans of one thread are open at once");
	if (rc == -ENOSPC)
		return err_set(err, ENOSPC,
			       "no room for the temporary file of the spans: set TMPDIR");
	if (rc == -EIO)
		return err_set(err, EIO,
			       "the temporary file of the spans cannot be read back: set TMPDIR to "
			       "another disk");
	return rc;
}

const struct pass_ops pass_duration = {
	.pattern = PATTERN_DURATION,
	.kind = TRACE_SPANS,
	.open = duration_open,
	.thread = duration_thread,
	.span = duration_span,
	.end = duration_end,
	.close = duration_close,
};
