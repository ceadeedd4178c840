/*
 * folded: one line a stack, as the flame graph tools read them: comm;outermost;…;innermost N.
 *
 * N counts samples of the main event; equal
 * stacks of threads with one name are one line. Inlined functions are frames of their own. Any one
 * thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "export/escape.h"
#include "export/export.h"
#include "export/namelist.h"

#define FLUSH_BYTES 65536

/* Sum of one (comm, node). */
struct line {
	str_id comm;
	uint64_t samples;
};

struct writer {
	const struct snapshot *s;
	struct namelist names;
	struct strbuf b;
	struct {
		VEC(uint32_t)
	} path; /* nodes, innermost first */
	struct {
		VEC(struct line)
	} lines; /* of the current node */
};

static void put_frame(struct writer *w, uint32_t frame)
{
	const struct namelist_frame *f = &w->names.frames.data[frame];

	for (uint32_t i = f->n; i-- > 0;) {
		strbuf_putc(&w->b, ';');
		escape_folded(&w->b,
			      w->names.funcs.data[w->names.lines.data[f->first + i].func].name);
	}
}

static int put_line(struct writer *w, uint32_t node, const struct line *l)
{
	const char *comm = tables_text(w->s->tables, l->comm);

	if (!l->samples)
		return 0;
	w->path.len = 0;
	for (uint32_t n = node; n != SNAPSHOT_ROOT; n = w->s->nodes[n].parent)
		if (vec_push(&w->path, n))
			return -ENOMEM;
	escape_folded(&w->b, *comm ? comm : "[unknown]");
	if (node == SNAPSHOT_ROOT)
		put_frame(w, 0);
	for (size_t i = w->path.len; i-- > 0;)
		put_frame(w, w->names.node_frame[w->path.data[i]]);
	strbuf_printf(&w->b, " %" PRIu64 "\n", l->samples);
	return 0;
}

/* Sum the cells [first, end) of one node by the names of their threads. */
static int sum_node(struct writer *w, uint32_t first, uint32_t end, uint16_t event)
{
	w->lines.len = 0;
	for (uint32_t i = first; i < end; i++) {
		const struct snapshot_cell *c = &w->s->cells[i];
		if (c->event != event || !export_counts(w->s, c))
			continue;
		str_id comm = tables_task_get(w->s->tables, c->task)->comm;
		size_t at = 0;
		while (at < w->lines.len && w->lines.data[at].comm != comm)
			at++;
		if (at == w->lines.len && vec_push(&w->lines, ((struct line){.comm = comm})))
			return -ENOMEM;
		w->lines.data[at].samples += c->samples;
	}
	return 0;
}

static int write_lines(struct writer *w, const struct export_out *out, struct err *err)
{
	uint16_t event = export_main_event(w->s, NULL);
	int rc = 0;

	for (uint32_t i = 0, end; i < w->s->ncells && !rc; i = end) {
		for (end = i + 1; end < w->s->ncells; end++)
			if (w->s->cells[end].node != w->s->cells[i].node)
				break;
		rc = sum_node(w, i, end, event);
		for (size_t k = 0; k < w->lines.len && !rc; k++)
			rc = put_line(w, w->s->cells[i].node, &w->lines.data[k]);
		if (!rc && w->b.len > FLUSH_BYTES)
			rc = export_flush(out, &w->b, err);
	}
	if (rc == -ENOMEM)
		return err_set(err, ENOMEM, "out of memory while writing the snapshot");
	return rc ? rc : export_flush(out, &w->b, err);
}

static int write_folded(const struct snapshot *s, const struct export_options *o,
			const struct export_out *out, struct err *err)
{
	struct writer w = {.s = s};

	(void)o;
	if (namelist_init(&w.names, s))
		return err_set(err, ENOMEM, "out of memory while writing the snapshot");
	strbuf_init(&w.b);
	int rc = write_lines(&w, out, err);
	strbuf_fini(&w.b);
	vec_fini(&w.path);
	vec_fini(&w.lines);
	namelist_fini(&w.names);
	return rc;
}

const struct export_ops export_folded = {
	.name = "folded", .format = FORMAT_FOLDED, .write = write_folded};
