/*
 * text: the report that batch mode prints: facts, functions, threads, modules, call tree.
 *
 * Every share stands beside the half width of its 95 % interval, and what the numbers cannot bear
 * is said in the row. The facts are in text_head.c, processes and threads in text_tasks.c,
 * the tree in text_tree.c. Any one thread.
 */
#include "export/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "answer.h"

void text_share(struct strbuf *b, const struct interval *i)
{
	strbuf_printf(b, "%8.2f %6.2f", 100 * i->share, 100 * i->margin);
}

static void put_function(struct text_report *t, const struct ranked *r)
{
	const struct namelist_func *f = &t->names.funcs.data[r->id];
	/* A function without time of its own is judged by its total. */
	uint32_t flags = r->row->self.samples ? r->self_flags : r->total_flags;
	const char *mark = flags & ROW_UNRANKED ? "·" : flags & ROW_LOW ? "?" : " ";

	text_share(&t->b, &r->self);
	text_share(&t->b, &r->total);
	strbuf_printf(&t->b, " %10" PRIu64 " %10" PRIu64 " %s%s ", r->row->self.samples,
		      r->row->total.samples, mark,
		      r->tied && !r->unranked && r->row->self.samples ? "≈" : " ");
	size_t at = t->b.len;
	escape_plain(&t->b, namelist_module(&t->names, f->module));
	size_t width = 0;
	for (; at < t->b.len; at++) /* characters, not bytes */
		width += (t->b.buf[at] & 0xc0) != 0x80;
	strbuf_printf(&t->b, "%*s %s ", width < 20 ? (int)(20 - width) : 0, "",
		      f->kernel ? "[k]" : "[.]");
	escape_name(&t->b, f->name);
	strbuf_putc(&t->b, '\n');
}

static void put_function_titles(struct text_report *t)
{
	strbuf_puts(&t->b, "   SELF%      ±  TOTAL%      ±    SAMPLES   IN STACK    "
			   "MODULE                   FUNCTION\n");
}

static bool below(const struct text_report *t, const struct ranked *r)
{
	return 100 * r->self.share < t->limit && 100 * r->total.share < t->limit;
}

/* Rows [first, end) that are large enough; the rest is summed in one line. */
static int put_function_rows(struct text_report *t, uint32_t first, uint32_t end)
{
	uint32_t hidden = 0;
	uint64_t weight = 0;

	for (uint32_t i = first; i < end; i++) {
		if (below(t, &t->rows[i])) {
			hidden++;
			weight += t->rows[i].row->self.weight;
			continue;
		}
		put_function(t, &t->rows[i]);
		int rc = text_flush(t, false);
		if (rc)
			return rc;
	}
	if (hidden)
		strbuf_printf(&t->b, "%8.2f  in %u more functions below %g %%\n",
			      t->roll.all.weight
				      ? 100.0 * (double)weight / (double)t->roll.all.weight
				      : 0.0,
			      hidden, t->limit);
	return 0;
}

static const char *sort_word(uint32_t sort)
{
	switch (sort) {
	case COLUMN_TOTAL: return "total time";
	case COLUMN_SAMPLES: return "samples";
	case COLUMN_MODULE: return "module";
	case COLUMN_NAME: return "name";
	default: return "self time";
	}
}

static uint32_t first_unranked(const struct text_report *t)
{
	uint32_t i = 0;

	while (i < t->nrows && !t->rows[i].unranked)
		i++;
	return i;
}

static int put_functions(struct text_report *t)
{
	strbuf_printf(
		&t->b,
		"\nFunctions by %s. ± is half of a 95 %% interval; ≈ cannot be told apart from "
		"the row above;\n? fewer than 30 samples, · fewer than 5.\n\n",
		sort_word(t->o->sort));
	if (!first_unranked(t)) {
		strbuf_puts(&t->b, "No function has 5 samples; see the end.\n");
		return 0;
	}
	put_function_titles(t);
	return put_function_rows(t, 0, first_unranked(t));
}

static int put_unranked(struct text_report *t)
{
	uint32_t first = first_unranked(t);

	if (first == t->nrows)
		return 0;
	strbuf_puts(&t->b, "\nNot ranked, fewer than 5 samples:\n\n");
	put_function_titles(t);
	return put_function_rows(t, first, t->nrows);
}

static int put_modules(struct text_report *t)
{
	struct ranked *rows;
	uint32_t n;
	int rc = ranking_make(&t->roll, &t->names, RANK_MODULES, COLUMN_SELF, &rows, &n);

	if (rc)
		return rc;
	strbuf_puts(&t->b, "\nModules\n\n   SELF%      ±  TOTAL%      ±    SAMPLES   IN STACK "
			   "MODULE\n");
	for (uint32_t i = 0; i < n && i < TEXT_ROWS; i++) {
		const struct module *m = tables_module_get(t->s->tables, rows[i].id);
		const char *path = tables_text(t->s->tables, m->path);
		text_share(&t->b, &rows[i].self);
		text_share(&t->b, &rows[i].total);
		strbuf_printf(&t->b, " %10" PRIu64 " %10" PRIu64 " ", rows[i].row->self.samples,
			      rows[i].row->total.samples);
		escape_plain(&t->b, *path ? path : rows[i].name);
		strbuf_putc(&t->b, '\n');
	}
	if (n > TEXT_ROWS)
		strbuf_printf(&t->b, "         … %u more\n", n - TEXT_ROWS);
	free(rows);
	return 0;
}

int text_flush(struct text_report *t, bool all)
{
	return all || t->b.len > 65536 ? export_flush(t->out, &t->b, t->err) : 0;
}

static int put_all(struct text_report *t)
{
	text_head(t);
	if (!t->nrows)
		return 0;
	int rc = put_functions(t);
	if (!rc)
		rc = text_tasks(t);
	if (!rc)
		rc = put_modules(t);
	if (!rc)
		rc = text_tree(t);
	return rc ? rc : put_unranked(t);
}

static int write_text(const struct snapshot *s, const struct export_options *o,
		      const struct export_out *out, struct err *err)
{
	static const struct export_options plain;
	struct text_report t = {.s = s, .o = o ? o : &plain, .out = out, .err = err};
	int rc = namelist_init(&t.names, s);

	strbuf_init(&t.b);
	t.event = export_main_event(s, t.o);
	t.limit = t.o->percent_limit;
	if (!rc) {
		rc = rollup_init(&t.roll, s, &t.names, t.event);
		if (!rc)
			rc = ranking_make(&t.roll, &t.names, RANK_FUNCS, t.o->sort, &t.rows,
					  &t.nrows);
		if (!rc)
			rc = put_all(&t);
		if (!rc)
			rc = text_flush(&t, true);
		rollup_fini(&t.roll);
		namelist_fini(&t.names);
	}
	free(t.rows);
	strbuf_fini(&t.b);
	if (rc == -ENOMEM)
		err_set(err, ENOMEM, "out of memory while writing the report");
	return rc;
}

const struct export_ops export_text = {.name = "text", .format = FORMAT_TEXT, .write = write_text};
