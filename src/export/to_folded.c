/*
 * to_folded: one line a stack, as the flame graph tools read them: comm;outermost;…;innermost N.
 *
 * N counts samples of the main event where each stands for about as much. Where they do not (wall
 * clock, spans, a sampler whose ticks are uneven) N is nanoseconds, and a remark at the top says
 * so, of how many samples, and how many of equal weight would say as much. Fractions that were read
 * are written again. Equal stacks of threads with one name are one line. Inlined functions are
 * frames of their own. What the lines cannot hold is told to whoever saves. Any one thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/calltree.h"
#include "export/escape.h"
#include "export/export.h"

#define FLUSH_BYTES 65536
#define UNEVEN      0.01 /* (standard deviation / average)² of the weights, from which on they count */

enum counted { COUNT_SAMPLES, COUNT_NS, COUNT_FRACTIONS };

struct line {
	uint32_t node; /* of the call tree */
	str_id comm;
	uint64_t count; /* samples, or weight */
};

struct writer {
	const struct snapshot *s;
	uint16_t event;
	enum counted counted;
	uint64_t samples;
	struct namelist names;
	struct calltree tree;
	struct strbuf b;
	struct {
		VEC(struct line)
	} lines;
	struct {
		VEC(uint32_t)
	} path; /* nodes, innermost first */
};

static bool is_counted(const struct writer *w, const struct snapshot_cell *c)
{
	return c->event == w->event && export_counts(w->s, c) && c->samples;
}

/* The samples counted, and as many of equal weight as would say as much. */
static double count_samples(const struct writer *w, double *ret_effective)
{
	double n = 0, sum = 0, squares = 0;

	for (uint32_t i = 0; i < w->s->ncells; i++) {
		const struct snapshot_cell *c = &w->s->cells[i];
		if (!is_counted(w, c))
			continue;
		n += (double)c->samples;
		sum += (double)c->weight;
		squares += c->weight_sq;
	}
	*ret_effective = squares > 0 ? sum * sum / squares : n;
	return n;
}

static enum counted choose_count(const struct writer *w)
{
	const struct event_desc *d = w->event < w->s->nevents ? &w->s->events[w->event].desc : NULL;
	double effective;

	if (!d || (d->scale > 0 && d->scale != 1))
		return d ? COUNT_FRACTIONS : COUNT_SAMPLES;
	if (d->unit != EVENT_NS)
		return COUNT_SAMPLES;
	if (d->exact || !d->cpu_time) /* counts look like CPU time */
		return COUNT_NS;
	double n = count_samples(w, &effective);
	return n > effective * (1 + UNEVEN) ? COUNT_NS : COUNT_SAMPLES;
}

static int sum_lines(struct writer *w)
{
	struct map64 index;
	int rc = 0;

	map64_init(&index);
	for (uint32_t i = 0; i < w->s->ncells && !rc; i++) {
		const struct snapshot_cell *c = &w->s->cells[i];
		if (!is_counted(w, c))
			continue;
		uint32_t at,
			node = c->node == SNAPSHOT_ROOT ? w->tree.stackless : w->tree.of[c->node];
		str_id comm = tables_task_get(w->s->tables, c->task)->comm;
		uint64_t key = (uint64_t)node << 32 | comm;
		if (!map64_get(&index, key, &at)) {
			at = (uint32_t)w->lines.len;
			rc = vec_push(&w->lines, ((struct line){.node = node, .comm = comm}));
			if (!rc)
				rc = map64_put(&index, key, at);
			if (rc)
				break;
		}
		w->samples += c->samples;
		w->lines.data[at].count += w->counted == COUNT_SAMPLES ? c->samples : c->weight;
	}
	map64_fini(&index);
	return rc;
}

/* Six decimals at most, as they were read, and none that say nothing. */
static void put_fraction(struct strbuf *b, double v)
{
	char text[48];
	int n = snprintf(text, sizeof text, "%.6f", v);

	while (n && text[n - 1] == '0')
		n--;
	if (n && text[n - 1] == '.')
		n--;
	strbuf_add(b, text, (size_t)n);
}

static int put_line(struct writer *w, const struct line *l)
{
	const char *comm = tables_text(w->s->tables, l->comm);
	const struct calltree_node *nodes = w->tree.nodes.data;

	w->path.len = 0;
	for (uint32_t n = l->node; n; n = nodes[n].parent)
		if (vec_push(&w->path, n))
			return -ENOMEM;
	/* A recording may tell no thread's name; its stacks then come out as they went in. */
	escape_folded(&w->b, comm);
	for (size_t i = w->path.len; i-- > 0;) {
		if (*comm || i + 1 < w->path.len)
			strbuf_putc(&w->b, ';');
		escape_folded(&w->b, w->names.funcs.data[nodes[w->path.data[i]].func].name);
	}
	strbuf_putc(&w->b, ' ');
	if (w->counted == COUNT_FRACTIONS)
		put_fraction(&w->b, (double)l->count * w->s->events[w->event].desc.scale);
	else
		strbuf_printf(&w->b, "%" PRIu64, l->count);
	strbuf_putc(&w->b, '\n');
	return 0;
}

static int write_lines(struct writer *w, const struct export_out *out, struct err *err)
{
	w->counted = choose_count(w);
	int rc = sum_lines(w);
	double effective;

	if (w->counted == COUNT_NS) {
		strbuf_puts(&w->b, "# nanoseconds of ");
		escape_plain(&w->b, w->s->events[w->event].desc.name);
		strbuf_printf(&w->b, ", %" PRIu64 " samples", w->samples);
		if (count_samples(w, &effective) > effective * (1 + 1e-6))
			strbuf_printf(&w->b, " worth %.1f", effective);
		strbuf_putc(&w->b, '\n');
	}
	for (size_t i = 0; i < w->lines.len && !rc; i++) {
		rc = put_line(w, &w->lines.data[i]);
		if (!rc && w->b.len > FLUSH_BYTES)
			rc = export_flush(out, &w->b, err);
	}
	return rc ? rc : export_flush(out, &w->b, err);
}

static int write_folded(const struct snapshot *s, const struct export_options *o,
			const struct export_out *out, struct err *err)
{
	struct writer w = {.s = s, .event = export_main_event(s, NULL)};
	int rc = namelist_init(&w.names, s);

	(void)o;
	strbuf_init(&w.b);
	if (!rc) {
		rc = calltree_init(&w.tree, s, &w.names);
		if (!rc) {
			rc = write_lines(&w, out, err);
			calltree_fini(&w.tree);
		}
		namelist_fini(&w.names);
	}
	strbuf_fini(&w.b);
	vec_fini(&w.path);
	vec_fini(&w.lines);
	if (rc == -ENOMEM)
		err_set(err, ENOMEM, "out of memory while writing the snapshot");
	return rc;
}

__attribute__((format(printf, 3, 4))) static void list(char *ret, size_t size, const char *fmt, ...)
{
	size_t used = strlen(ret);
	va_list ap;

	used += (size_t)snprintf(ret + used, size - used, "%s", used ? ", " : "");
	va_start(ap, fmt);
	if (used < size)
		vsnprintf(ret + used, size - used, fmt, ap);
	va_end(ap);
}

/* Do two threads that were sampled go by one name? */
static bool threads_share_names(const struct writer *w)
{
	struct map64 first;
	bool share = false;

	map64_init(&first);
	for (uint32_t i = 0; i < w->s->ncells && !share; i++) {
		task_id task = w->s->cells[i].task, other;
		str_id comm = tables_task_get(w->s->tables, task)->comm;

		if (!is_counted(w, &w->s->cells[i]))
			continue;
		if (map64_get(&first, comm, &other))
			share = other != task;
		else if (map64_put(&first, comm, task))
			break;
	}
	map64_fini(&first);
	return share;
}

static void lacks(const struct snapshot *s, char *ret, size_t size)
{
	struct writer w = {.s = s, .event = export_main_event(s, NULL)};
	const struct event_desc *d = w.event < s->nevents ? &s->events[w.event].desc : NULL;
	uint64_t without = 0;
	uint32_t others = 0;

	for (uint32_t i = 0; i < s->ncells; i++)
		if (s->cells[i].event == w.event && export_counts(s, &s->cells[i]) &&
		    !s->cells[i].samples)
			without += s->cells[i].weight;
	for (uint32_t i = 0; i < s->nevents; i++)
		others += i != w.event && (s->events[i].samples || s->events[i].weight);
	if (d && d->unit == EVENT_NS && choose_count(&w) == COUNT_SAMPLES)
		list(ret, size, "the times that samples stand for");
	if (without && d && d->unit == EVENT_NS)
		list(ret, size, "%.2f s of CPU time that no sample covered ([unsampled])",
		     (double)without / 1e9);
	if (others)
		list(ret, size, "%u other event%s", others, others == 1 ? "" : "s");
	if (threads_share_names(&w))
		list(ret, size, "which of the threads of one name it was");
}

const struct export_ops export_folded = {
	.name = "folded", .format = FORMAT_FOLDED, .write = write_folded, .lacks = lacks};
