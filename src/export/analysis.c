/*
 * analysis: see analysis.h. Jobs thread or main thread; reads the table and the tables only.
 */
#include "export/analysis.h"

#include <math.h>
#include <string.h>

#include "export/escape.h"

static const char *first_title(const struct analysis *a)
{
	return a->view == VIEW_DURATION ? "name"
	       : a->view == VIEW_CACHE  ? "function"
					: "symbol,first_ip,last_ip";
}

/* What the columns hold. */
static const char *legend(const struct analysis *a)
{
	static const char duration[] =
		"Spans by name, highest score first. avg, max, min, total, p50, p95, p99: nanoseconds;\n"
		"a span inside another of its name counts in both.\n"
		"max_avg, sd_avg: longest, and standard deviation, over the average. cachemiss: the time "
		"above the average,\nin cache misses of 150 ns. avg_child_nb: children a span. "
		"avg_loop_size: children over different names of children.\n"
		"score: 0 to 1, half of it by count, a fifth each by total and avg.\n\n";
	static const char cache[] =
		"Functions, most time first. inst, time: instructions and nanoseconds a call, callees "
		"included; self_: without them.\nipc: instructions a cycle. count: calls. depth: "
		"functions above it when it is entered.\n\n";
	static const char edge[] =
		"Runs of instructions inside one symbol, most time first. total_time, avg_time: "
		"nanoseconds. avg_inst: instructions a run.\n\n";
	return a->view == VIEW_DURATION ? duration : a->view == VIEW_CACHE ? cache : edge;
}

static void put_number(struct strbuf *b, double v)
{
	if (isnan(v))
		return;
	if (v == floor(v) && fabs(v) < 1e15)
		strbuf_printf(b, "%.0f", v);
	else
		strbuf_printf(b, "%.17g", v);
}

static void put_place(struct strbuf *b, const struct tables *t, frame_id frame)
{
	const struct loc *loc = frame ? tables_loc(t, frame) : NULL;
	struct strbuf place;
	strbuf_init(&place);
	if (loc && loc->lines[0].line)
		strbuf_printf(&place, "%s:%u", tables_text(t, loc->lines[0].file),
			      loc->lines[0].line);
	escape_csv(b, place.buf ? place.buf : "");
	strbuf_fini(&place);
}

int analysis_csv(const struct analysis *a, const struct tables *t, const struct export_out *out,
		 struct err *err)
{
	bool edge = a->view == VIEW_EDGE;
	struct strbuf b;
	strbuf_init(&b);
	strbuf_puts(&b, first_title(a));
	for (uint32_t i = 0; i < a->ncolumns; i++)
		strbuf_printf(&b, ",%s", a->columns[i].title);
	strbuf_puts(&b, edge ? ",kind,first_line,last_line\n" : "\n");
	int rc = export_flush(out, &b, err);
	for (uint32_t i = 0; i < a->nrows && !rc; i++) {
		const struct analysis_row *r = &a->rows[i];
		escape_csv(&b, tables_text(t, r->name));
		if (edge)
			strbuf_printf(&b, ",0x%llx,0x%llx", (unsigned long long)r->first,
				      (unsigned long long)r->last);
		for (uint32_t k = 0; k < a->ncolumns; k++) {
			strbuf_putc(&b, ',');
			put_number(&b, a->cells[(size_t)i * a->ncolumns + k]);
		}
		if (edge) {
			strbuf_printf(&b, ",%s,", tables_text(t, r->third));
			put_place(&b, t, r->first_frame);
			strbuf_putc(&b, ',');
			put_place(&b, t, r->last_frame);
		}
		strbuf_putc(&b, '\n');
		rc = export_flush(out, &b, err);
	}
	strbuf_fini(&b);
	return rc;
}

static void put_cell(struct strbuf *b, const struct snapshot_column *c, double v)
{
	if (isnan(v))
		strbuf_printf(b, " %13s", "n/a");
	else
		strbuf_printf(b, " %13.*f", c->decimals, v);
}

int analysis_text(const struct analysis *a, const struct tables *t, uint32_t rows,
		  const struct export_out *out, struct err *err)
{
	struct strbuf b;
	strbuf_init(&b);
	strbuf_puts(&b, legend(a));
	for (uint32_t i = 0; i < a->ncolumns; i++)
		strbuf_printf(&b, " %13s", a->columns[i].title);
	strbuf_printf(&b, "  %s\n", first_title(a));
	int rc = export_flush(out, &b, err);
	uint32_t n = rows && rows < a->nrows ? rows : a->nrows;
	for (uint32_t i = 0; i < n && !rc; i++) {
		const struct analysis_row *r = &a->rows[i];
		for (uint32_t k = 0; k < a->ncolumns; k++)
			put_cell(&b, &a->columns[k], a->cells[(size_t)i * a->ncolumns + k]);
		strbuf_puts(&b, "  ");
		escape_name(&b, tables_text(t, r->name));
		if (a->view == VIEW_EDGE)
			strbuf_printf(&b, " %llx-%llx %s", (unsigned long long)r->first,
				      (unsigned long long)r->last, tables_text(t, r->third));
		strbuf_putc(&b, '\n');
		rc = export_flush(out, &b, err);
	}
	if (n < a->nrows)
		strbuf_printf(&b, "\xe2\x80\xa6 %u more\n", a->nrows - n);
	if (a->note[0])
		strbuf_printf(&b, "note: %s\n", a->note);
	rc = rc ? rc : export_flush(out, &b, err);
	strbuf_fini(&b);
	return rc;
}
