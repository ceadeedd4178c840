/*
 * nest: which span lies in which, by interval, in one pass over spans sorted by start.
 *
 * A span's parent is the innermost span still open in its thread that contains it wholly. Spans
 * that overlap without nesting are siblings. A span is reported when it is known that nothing more
 * can lie in it.
 */
#ifndef ALTPTTOP_NEST_H
#define ALTPTTOP_NEST_H

#include "trace.h"

/* Longer paths are cut at their outer end, so that a span costs a bounded time. */
#define NEST_PATH_MAX 512

struct nested {
	struct trace_span span;
	uint64_t children;
	uint32_t unique_children; /* by name */
	bool leaf_children;       /* it has children, and each of them is a leaf */
	uint64_t self_ns;         /* duration less that of its children, not below 0 */
	uint32_t depth;           /* 0: outermost */
	uint32_t path_len;        /* depth + 1, at most NEST_PATH_MAX */
	const str_id *path;       /* names from itself outwards */
};

struct nest;

/* @report runs once a span, in the order in which spans close; 0 or -errno, which ends the pass. */
struct nest *nest_new(int (*report)(void *ctx, const struct nested *n), void *ctx);
void nest_free(struct nest *n);
int nest_add(struct nest *n, const struct trace_span *s); /* sorted by start, longer first */
int nest_finish(struct nest *n);
uint64_t nest_overlaps(const struct nest *n); /* spans that overlapped another without nesting */

#endif
