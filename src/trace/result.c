/*
 * result: rows and cells grow side by side; delivering sorts an index and writes both out in its
 * order.
 */
#include "trace/result.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct result {
	enum view_kind view;
	const struct snapshot_column *columns;
	uint32_t ncolumns;
	struct {
		VEC(struct analysis_row)
	} rows;
	struct {
		VEC(double)
	} cells;
	char note[256];
};

struct result *result_new(enum view_kind view, const struct snapshot_column *columns,
			  uint32_t ncolumns)
{
	struct result *r = calloc(1, sizeof *r);
	if (r) {
		r->view = view;
		r->columns = columns;
		r->ncolumns = ncolumns;
	}
	return r;
}

void result_free(struct result *r)
{
	if (!r)
		return;
	vec_fini(&r->rows);
	vec_fini(&r->cells);
	free(r);
}

int result_add(struct result *r, const struct analysis_row *row, const double *cells)
{
	int rc = vec_reserve(&r->cells, r->cells.len + r->ncolumns);
	rc = rc ? rc : vec_push(&r->rows, *row);
	if (rc)
		return rc;
	memcpy(r->cells.data + r->cells.len, cells, r->ncolumns * sizeof *cells);
	r->cells.len += r->ncolumns;
	return 0;
}

void result_note(struct result *r, const char *fmt, ...)
{
	size_t used = strlen(r->note);
	if (used && used + 3 < sizeof r->note) {
		memcpy(r->note + used, "; ", 3);
		used += 2;
	}
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(r->note + used, sizeof r->note - used, fmt, ap);
	va_end(ap);
}

struct order {
	double key;
	uint32_t index;
};

static int falling(const void *pa, const void *pb)
{
	const struct order *a = pa, *b = pb;
	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void destroy(struct analysis *a)
{
	free((void *)(uintptr_t)a->rows);
	free((void *)(uintptr_t)a->cells);
	free(a);
}

void result_deliver(struct result *r, const struct sink *sink, uint32_t sort)
{
	uint32_t n = (uint32_t)r->rows.len;
	struct analysis *a = calloc(1, sizeof *a);
	struct order *order = malloc((n + 1) * sizeof *order);
	struct analysis_row *rows = malloc((n + 1) * sizeof *rows);
	double *cells = malloc(((size_t)n * r->ncolumns + 1) * sizeof *cells);
	if (!a || !order || !rows || !cells) {
		sink->ops->say(sink->ctx, "no memory for the table of the analysis");
		free(a);
		free(order);
		free(rows);
		free(cells);
		result_free(r);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		order[i] = (struct order){r->cells.data[(size_t)i * r->ncolumns + sort], i};
	qsort(order, n, sizeof *order, falling);
	for (uint32_t i = 0; i < n; i++) {
		rows[i] = r->rows.data[order[i].index];
		memcpy(cells + (size_t)i * r->ncolumns,
		       r->cells.data + (size_t)order[i].index * r->ncolumns,
		       r->ncolumns * sizeof *cells);
	}
	free(order);
	a->refs = 1;
	a->view = r->view;
	a->columns = r->columns;
	a->ncolumns = r->ncolumns;
	a->nrows = n;
	a->rows = rows;
	a->cells = cells;
	a->destroy = destroy;
	memcpy(a->note, r->note, sizeof a->note);
	sink->ops->analysis(sink->ctx, a);
	result_free(r);
}
