/*
 * to_chrome: a snapshot as a Chrome trace: one flame graph a thread, to be opened in Perfetto,
 * speedscope or about:tracing.
 *
 * A snapshot holds sums, not moments, so the time axis is made: on each thread's track every call
 * path is as wide as its total, callees first, self time at the right end. Widths are the weights
 * of the main event (nanoseconds; a count is drawn as 1 ns). "producer" marks the file, and each
 * span's args tell its place in the tree and its own numbers, so that import/chromeprofile.c reads
 * back a profile and not a trace. Any one thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/calltree.h"
#include "export/escape.h"
#include "export/export.h"
#include "insight/confidence.h"

#define FLUSH_BYTES 65536

struct span {
	uint64_t self_samples, self, total, next; /* next: where the next callee begins */
	uint64_t waiting_samples, waiting;        /* parts of self_samples and self */
	double squares, waiting_squares; /* Σ weight²: the other part's, and this one's */
};

struct writer {
	const struct snapshot *s;
	struct namelist names;
	struct calltree tree;
	struct strbuf b;
	uint16_t event;
	struct span *spans; /* per node of the tree; of the current thread */
	uint8_t *touched;   /* per node of the tree */
	struct {
		VEC(uint32_t)
	} nodes, order; /* the current thread's nodes; cells by thread */
	struct {
		VEC(uint64_t)
	} cursors; /* per track: where the next thread of that number begins */
	struct map64 track_of;
	bool comma;
};

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* qsort_r: cells by task, then by place (which is by node). */
static int compare_cells(const void *a, const void *b, void *ctx)
{
	const struct snapshot *s = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (s->cells[x].task != s->cells[y].task)
		return s->cells[x].task < s->cells[y].task ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void begin_event(struct writer *w)
{
	strbuf_puts(&w->b, w->comma ? ",\n" : "\n");
	w->comma = true;
}

/* Microseconds with all three decimals: no nanosecond is rounded away. */
static void put_time(struct strbuf *b, const char *key, uint64_t ns)
{
	strbuf_printf(b, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

static void put_names(struct writer *w, const struct task *t)
{
	const char *comm = tables_text(w->s->tables, t->comm);

	begin_event(w);
	strbuf_printf(&w->b,
		      "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":",
		      t->tid ? "thread_name" : "process_name", t->pid, t->tid);
	escape_json(&w->b, *comm ? comm : "[unknown]");
	strbuf_puts(&w->b, "}}");
}

/* Where samples weigh differently: as many of equal weight would say as much. */
static void put_effective(struct strbuf *b, const char *key, uint64_t samples, uint64_t weight,
			  double squares)
{
	double n = confidence_effective(weight, squares);

	if (n >= 1 && n < (double)samples * (1 - 1e-6))
		strbuf_printf(b, ",\"%s\":%.9g", key, n);
}

static void put_span(struct writer *w, const struct task *t, uint32_t node, uint64_t start)
{
	const struct span *span = &w->spans[node];
	const struct namelist_func *func = &w->names.funcs.data[w->tree.nodes.data[node].func];

	begin_event(w);
	strbuf_puts(&w->b, "{\"ph\":\"X\",\"name\":");
	escape_json(&w->b, func->name);
	strbuf_puts(&w->b, ",\"cat\":");
	escape_json(&w->b, namelist_module(&w->names, func->module));
	put_time(&w->b, "ts", start);
	put_time(&w->b, "dur", span->total);
	strbuf_printf(&w->b,
		      ",\"pid\":%d,\"tid\":%d,\"args\":{\"samples\":%" PRIu64 ",\"self\":%" PRIu64
		      ",\"node\":%" PRIu32 ",\"caller\":%" PRIu32,
		      t->pid, t->tid, span->self_samples, span->self, node,
		      w->tree.nodes.data[node].parent);
	if (span->waiting_samples)
		strbuf_printf(&w->b, ",\"waiting_samples\":%" PRIu64 ",\"waiting\":%" PRIu64,
			      span->waiting_samples, span->waiting);
	put_effective(&w->b, "effective", span->self_samples - span->waiting_samples,
		      span->self - span->waiting, span->squares);
	put_effective(&w->b, "waiting_effective", span->waiting_samples, span->waiting,
		      span->waiting_squares);
	if (*func->file) {
		strbuf_puts(&w->b, ",\"file\":");
		escape_json(&w->b, func->file);
		strbuf_printf(&w->b, ",\"line\":%u", func->line);
	}
	strbuf_puts(&w->b, "}}");
}

/* Mark the node and its callers as this thread's. */
static int touch(struct writer *w, uint32_t node)
{
	for (; node && !w->touched[node]; node = w->tree.nodes.data[node].parent) {
		w->touched[node] = 1;
		w->spans[node] = (struct span){0};
		if (vec_push(&w->nodes, node))
			return -ENOMEM;
	}
	return 0;
}

static int track(struct writer *w, const struct task *t, uint64_t **ret_cursor)
{
	uint64_t key = (uint64_t)(uint32_t)t->pid << 32 | (uint32_t)t->tid;
	uint32_t index;

	if (!map64_get(&w->track_of, key, &index)) {
		index = (uint32_t)w->cursors.len;
		if (vec_push(&w->cursors, 0) || map64_put(&w->track_of, key, index))
			return -ENOMEM;
	}
	*ret_cursor = &w->cursors.data[index];
	return 0;
}

/* One thread: order[first … end). */
static int write_task(struct writer *w, size_t first, size_t end, const struct export_out *out,
		      struct err *err)
{
	const struct snapshot *s = w->s;
	const struct task *t = tables_task_get(s->tables, s->cells[w->order.data[first]].task);
	uint64_t *cursor;

	w->nodes.len = 0;
	for (size_t i = first; i < end; i++) {
		const struct snapshot_cell *c = &s->cells[w->order.data[i]];
		uint32_t node = c->node == SNAPSHOT_ROOT ? w->tree.stackless : w->tree.of[c->node];
		if (touch(w, node))
			return -ENOMEM;
		w->spans[node].self_samples += c->samples;
		w->spans[node].self += c->weight;
		if (c->flags & SAMPLE_BLOCKED) {
			w->spans[node].waiting_samples += c->samples;
			w->spans[node].waiting += c->weight;
			w->spans[node].waiting_squares += c->weight_sq;
		} else {
			w->spans[node].squares += c->weight_sq;
		}
		w->spans[node].total += c->weight;
	}
	if (track(w, t, &cursor))
		return -ENOMEM;
	if (w->nodes.len > 1)
		qsort(w->nodes.data, w->nodes.len, sizeof *w->nodes.data, compare_u32);
	for (size_t i = w->nodes.len; i-- > 0;) {
		uint32_t parent = w->tree.nodes.data[w->nodes.data[i]].parent;
		if (parent)
			w->spans[parent].total += w->spans[w->nodes.data[i]].total;
	}
	put_names(w, t);
	for (size_t i = 0; i < w->nodes.len; i++) {
		uint32_t node = w->nodes.data[i], parent = w->tree.nodes.data[node].parent;
		uint64_t *place = parent ? &w->spans[parent].next : cursor;
		uint64_t start = *place;
		*place += w->spans[node].total;
		w->spans[node].next = start;
		w->touched[node] = 0;
		put_span(w, t, node, start);
		int rc = w->b.len > FLUSH_BYTES ? export_flush(out, &w->b, err) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

static void put_head(struct writer *w)
{
	const struct event_desc *d = w->s->nevents ? &w->s->events[w->event].desc : NULL;

	strbuf_puts(
		&w->b,
		"{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"producer\":\"altpttop profile\","
		"\"title\":");
	escape_json(&w->b, w->s->title);
	strbuf_puts(&w->b, ",\"host\":");
	escape_json(&w->b, w->s->host);
	strbuf_puts(&w->b, ",\"sampler\":");
	escape_json(&w->b, w->s->sampler);
	strbuf_puts(&w->b, ",\"width\":");
	escape_json(&w->b, !d                    ? "nothing was sampled"
			   : d->unit == EVENT_NS ? "time summed over the window, not moments"
						 : "counts, drawn as 1 ns each");
	strbuf_puts(&w->b, ",\"event\":");
	escape_json(&w->b, d ? d->name : "");
	strbuf_printf(&w->b, ",\"unit\":\"%s\"",
		      !d || d->unit != EVENT_NS ? "count"
		      : d->cpu_time             ? "cpu-ns"
		      : d->states               ? "wall-ns"
						: "ns");
	if (d && d->scale > 0)
		strbuf_printf(&w->b, ",\"scale\":%.17g", d->scale);
	strbuf_puts(&w->b, d && d->exact ? ",\"exact\":1" : "");
	strbuf_puts(&w->b, "},\n\"traceEvents\":[");
}

static int write_tasks(struct writer *w, const struct export_out *out, struct err *err)
{
	const struct snapshot *s = w->s;
	int rc = 0;

	for (uint32_t i = 0; i < s->ncells; i++)
		if (s->cells[i].event == w->event && export_counts(s, &s->cells[i]) &&
		    vec_push(&w->order, i))
			return -ENOMEM;
	if (w->order.len > 1)
		qsort_r(w->order.data, w->order.len, sizeof *w->order.data, compare_cells,
			(void *)s);
	put_head(w);
	for (size_t i = 0, end; i < w->order.len && !rc; i = end) {
		for (end = i + 1; end < w->order.len; end++)
			if (s->cells[w->order.data[end]].task != s->cells[w->order.data[i]].task)
				break;
		rc = write_task(w, i, end, out, err);
	}
	strbuf_puts(&w->b, "\n]}\n");
	return rc ? rc : export_flush(out, &w->b, err);
}

static int write_chrome(const struct snapshot *s, const struct export_options *o,
			const struct export_out *out, struct err *err)
{
	struct writer w = {.s = s, .event = export_main_event(s, NULL)};

	(void)o;
	int rc = namelist_init(&w.names, s);
	strbuf_init(&w.b);
	map64_init(&w.track_of);
	if (!rc) {
		rc = calltree_init(&w.tree, s, &w.names);
		if (!rc) {
			w.spans = calloc(w.tree.nodes.len, sizeof *w.spans);
			w.touched = calloc(w.tree.nodes.len, 1);
			rc = w.spans && w.touched ? write_tasks(&w, out, err) : -ENOMEM;
			calltree_fini(&w.tree);
		}
		namelist_fini(&w.names);
	}
	if (rc == -ENOMEM)
		err_set(err, ENOMEM, "out of memory while writing the snapshot");
	free(w.spans);
	free(w.touched);
	vec_fini(&w.nodes);
	vec_fini(&w.order);
	vec_fini(&w.cursors);
	map64_fini(&w.track_of);
	strbuf_fini(&w.b);
	return rc;
}

const struct export_ops export_chrome = {
	.name = "chrome", .format = FORMAT_CHROME, .write = write_chrome};
