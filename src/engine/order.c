/*
 * order: sorting of what will become rows.
 *
 * Engine thread. Ties are broken by place, so that rows of equal value do not dance from answer to
 * answer.
 */
#include <stdlib.h>
#include <strings.h>

#include "engine/build.h"

static int compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->text && y->text) {
		int order = strcasecmp(x->text, y->text);
		if (order)
			return order;
	}
	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	if (x->second != y->second)
		return x->second > y->second ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* What is not known stays last. */
static int compare_reverse(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	bool unknown = x->key == CANDIDATE_UNKNOWN;

	if (!x->text && unknown != (y->key == CANDIDATE_UNKNOWN))
		return unknown ? 1 : -1;
	return compare(b, a);
}

void candidate_address(struct candidate *c, uint64_t addr)
{
	c->key = addr ? -(double)(addr >> 32) : CANDIDATE_UNKNOWN;
	c->second = -(double)(uint32_t)addr;
}

void candidates_sort(struct candidate *c, uint32_t n, bool reverse)
{
	if (n)
		qsort(c, n, sizeof *c, reverse ? compare_reverse : compare);
}

void rows_mark_ties(struct row *rows, uint32_t n, bool by_total)
{
	for (uint32_t i = 1; i < n; i++) {
		const struct row *up = &rows[i - 1];
		struct row *row = &rows[i];
		struct interval a, b;
		if (up->key.kind != row->key.kind || row->flags & ROW_UNRANKED)
			continue;
		a.low = by_total ? up->total - up->total_margin : up->self - up->self_margin;
		a.high = by_total ? up->total + up->total_margin : up->self + up->self_margin;
		b.low = by_total ? row->total - row->total_margin : row->self - row->self_margin;
		b.high = by_total ? row->total + row->total_margin : row->self + row->self_margin;
		if (confidence_tied(&a, &b))
			row->flags |= ROW_TIED;
	}
}
