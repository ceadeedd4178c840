/*
 * ranking: sorts what rollup summed.
 *
 * Ties in the numbers are broken by name, so that equal profiles give equal reports. Any thread.
 */
#include "export/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"

static const char *name_of(const struct namelist *n, enum ranking_kind kind, uint32_t id)
{
	if (kind == RANK_FUNCS)
		return n->funcs.data[id].name;
	if (kind == RANK_MODULES)
		return namelist_module(n, id);
	return tables_text(n->tables, tables_task_get(n->tables, id)->comm);
}

static int more(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

struct order {
	const struct namelist *names;
	uint32_t sort;
	enum ranking_kind kind;
};

static const char *module_of(const struct order *o, const struct ranked *r)
{
	return o->kind == RANK_FUNCS ? namelist_module(o->names, o->names->funcs.data[r->id].module)
				     : r->name;
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct ranked *x = a, *y = b;
	const struct order *o = ctx;
	int c = 0;

	if (x->unranked != y->unranked)
		return x->unranked ? 1 : -1;
	switch (o->sort) {
	case COLUMN_TOTAL: c = more(x->total.share, y->total.share); break;
	case COLUMN_SAMPLES:
		c = more((double)x->row->self.samples, (double)y->row->self.samples);
		break;
	case COLUMN_MODULE: c = strcmp(module_of(o, x), module_of(o, y)); break;
	case COLUMN_NAME: c = strcmp(x->name, y->name); break;
	default: break;
	}
	if (!c)
		c = more(x->self.share, y->self.share);
	if (!c)
		c = more(x->total.share, y->total.share);
	if (!c)
		c = strcmp(x->name, y->name);
	return c ? c : (x->id > y->id) - (x->id < y->id);
}

static void judge(struct ranked *r, const struct rollup *roll, double n)
{
	const struct rollup_count *self = &r->row->self, *total = &r->row->total;

	r->self = confidence_interval(self->weight, self->weight_sq, roll->all.weight, n);
	r->total = confidence_interval(total->weight, total->weight_sq, roll->all.weight, n);
	if (roll->exact)
		return;
	r->self_flags = confidence_flags((double)self->samples);
	r->total_flags = confidence_flags((double)total->samples);
	r->unranked = r->self_flags & r->total_flags & ROW_UNRANKED;
}

int ranking_make(const struct rollup *r, const struct namelist *n, enum ranking_kind kind,
		 uint32_t sort, struct ranked **ret_rows, uint32_t *ret_n)
{
	const struct rollup_row *from = kind == RANK_FUNCS     ? r->funcs
					: kind == RANK_MODULES ? r->modules.data
							       : r->tasks.data;
	size_t len = kind == RANK_FUNCS     ? n->funcs.len
		     : kind == RANK_MODULES ? r->modules.len
					    : r->tasks.len;
	double effective = r->exact ? INFINITY
				    : confidence_effective(r->all.weight, r->all.weight_sq);
	struct order order = {.names = n, .sort = sort, .kind = kind};
	struct ranked *rows = calloc(len + 1, sizeof *rows);
	uint32_t used = 0;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < len; i++) {
		if (!from[i].total.samples && !from[i].total.weight)
			continue;
		rows[used] = (struct ranked){
			.id = from[i].id, .row = &from[i], .name = name_of(n, kind, from[i].id)};
		judge(&rows[used++], r, effective);
	}
	qsort_r(rows, used, sizeof *rows, compare, &order);
	for (uint32_t i = 1; i < used; i++)
		rows[i].tied = sort == COLUMN_TOTAL
				       ? confidence_tied(&rows[i].total, &rows[i - 1].total)
				       : confidence_tied(&rows[i].self, &rows[i - 1].self);
	*ret_rows = rows;
	*ret_n = used;
	return 0;
}
