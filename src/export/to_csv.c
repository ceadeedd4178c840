/*
 * to_csv: one line a function: shares with their intervals, samples, and the weight of every event.
 *
 * A header line; RFC 4180 quoting; numbers in full, per cent with four decimals. `confidence` says
 * what the self share can bear: ok, low (5 to 29 hits) or unranked. Any one thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "export/escape.h"
#include "export/export.h"
#include "export/ranking.h"

#define FLUSH_BYTES 65536

struct writer {
	const struct snapshot *s;
	struct namelist names;
	struct rollup main;    /* of the event that shares are of */
	struct rollup *events; /* of every event */
	uint32_t nevents;      /* how many of them are made */
	struct ranked *rows;
	uint32_t nrows;
	struct strbuf b;
};

static const char *confidence_word(const struct ranked *r)
{
	if (r->self_flags & ROW_UNRANKED)
		return "unranked";
	return r->self_flags & ROW_LOW ? "low" : "ok";
}

/* Of @i's columns: which of those of this title it has. Another event may be called the same, and
 * what a file says was counted may be called as the columns that are always there. */
static unsigned title_number(const struct snapshot *s, uint32_t i)
{
	static const char *const fixed[] = {"percent", "margin", "samples"};
	const struct event_desc *d = &s->events[i].desc;
	unsigned n = 1;

	for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
		n += d->unit != EVENT_NS && !strcmp(d->name, fixed[k]);
	for (uint32_t k = 0; k < i; k++)
		n += s->events[k].desc.unit == d->unit && !strcmp(s->events[k].desc.name, d->name);
	return n;
}

static void put_title(struct writer *w, const char *kind, uint32_t i)
{
	const struct event_desc *d = &w->s->events[i].desc;
	unsigned number = title_number(w->s, i);
	char title[sizeof d->name + 32];
	int n = snprintf(title, sizeof title, "%s_%s%s", kind, d->name,
			 d->unit == EVENT_NS ? "_ns" : "");

	if (number > 1)
		snprintf(title + n, sizeof title - (size_t)n, "_%u", number);
	strbuf_putc(&w->b, ',');
	escape_csv(&w->b, title);
}

static void put_header(struct writer *w)
{
	strbuf_puts(&w->b, "function,module,self_percent,self_margin,total_percent,self_samples,"
			   "total_samples,total_margin");
	for (uint32_t i = 0; i < w->s->nevents; i++) {
		put_title(w, "self", i);
		put_title(w, "total", i);
	}
	strbuf_puts(&w->b, ",confidence,space,file,line\n");
}

static void put_row(struct writer *w, const struct ranked *r)
{
	const struct namelist_func *f = &w->names.funcs.data[r->id];

	escape_csv(&w->b, f->name);
	strbuf_putc(&w->b, ',');
	escape_csv(&w->b, namelist_module(&w->names, f->module));
	strbuf_printf(&w->b, ",%.4f,%.4f,%.4f,%" PRIu64 ",%" PRIu64 ",%.4f", 100 * r->self.share,
		      100 * r->self.margin, 100 * r->total.share, r->row->self.samples,
		      r->row->total.samples, 100 * r->total.margin);
	for (uint32_t i = 0; i < w->nevents; i++) {
		const struct rollup_row *sums = &w->events[i].funcs[r->id];

		if (value_unknown(w->s->events[i].state)) /* unknown is not 0 */
			strbuf_puts(&w->b, ",n/a,n/a");
		else
			strbuf_printf(&w->b, ",%" PRIu64 ",%" PRIu64, sums->self.weight,
				      sums->total.weight);
	}
	strbuf_printf(&w->b, ",%s,%s,", confidence_word(r), f->kernel ? "kernel" : "user");
	escape_csv(&w->b, f->file);
	if (f->line)
		strbuf_printf(&w->b, ",%" PRIu32 "\n", f->line);
	else
		strbuf_puts(&w->b, ",\n");
}

static int write_rows(struct writer *w, const struct export_options *o,
		      const struct export_out *out, struct err *err)
{
	int rc = -ENOMEM;

	w->events = calloc(w->s->nevents + 1, sizeof *w->events);
	if (!w->events)
		return rc;
	for (; w->nevents < w->s->nevents; w->nevents++) {
		rc = rollup_init(&w->events[w->nevents], w->s, &w->names, (uint16_t)w->nevents);
		if (rc)
			return rc;
	}
	rc = ranking_make(&w->main, &w->names, RANK_FUNCS, o ? o->sort : COLUMN_DEFAULT, &w->rows,
			  &w->nrows);
	if (rc)
		return rc;
	put_header(w);
	for (uint32_t i = 0; i < w->nrows && !rc; i++) {
		put_row(w, &w->rows[i]);
		if (w->b.len > FLUSH_BYTES)
			rc = export_flush(out, &w->b, err);
	}
	return rc ? rc : export_flush(out, &w->b, err);
}

static int write_csv(const struct snapshot *s, const struct export_options *o,
		     const struct export_out *out, struct err *err)
{
	struct writer w = {.s = s};
	int rc = namelist_init(&w.names, s);

	strbuf_init(&w.b);
	if (!rc) {
		rc = rollup_init(&w.main, s, &w.names, export_main_event(s, o));
		if (!rc)
			rc = write_rows(&w, o, out, err);
		rollup_fini(&w.main);
		for (uint32_t i = 0; i < w.nevents; i++)
			rollup_fini(&w.events[i]);
		namelist_fini(&w.names);
	}
	free(w.events);
	free(w.rows);
	strbuf_fini(&w.b);
	if (rc == -ENOMEM)
		err_set(err, ENOMEM, "out of memory while writing the snapshot");
	return rc;
}

const struct export_ops export_csv = {.name = "csv", .format = FORMAT_CSV, .write = write_csv};
