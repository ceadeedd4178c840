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

struct nested {
	struct trace_span span;
	uint32_t tag;             /* as its opening gave it */
	uint32_t unique_children; /* by name */
	uint64_t children;
	uint64_t self_ns;   /* duration less that of its children, not below 0 */
	uint32_t depth;     /* 0: outermost */
	bool leaf_children; /* it has children, and each of them is a leaf */
};

struct nest_ops {
	/* A span opens below one that was tagged @parent, 0: outermost. 0 or -errno, which ends the
	 * pass. */
	int (*open)(void *ctx, const struct trace_span *s, uint32_t parent, uint32_t *ret_tag);
	/* Once a span, in the order in which spans close; 0 or -errno, which ends the pass. */
	int (*close)(void *ctx, const struct nested *n);
};

struct nest;

struct nest *nest_new(const struct nest_ops *ops, void *ctx);
void nest_free(struct nest *n);
int nest_add(struct nest *n, const struct trace_span *s); /* sorted by start, longer first */
/* A span whose end is not known yet, in the same order; and that the innermost such one ends.
 * nest_end: 1: they do not lie in each other (@begun: something begins at that moment, too). */
int nest_begin(struct nest *n, const struct trace_span *s);
int nest_end(struct nest *n, uint32_t thread, int64_t end_ns, bool begun);
int nest_finish(struct nest *n);
/* The tags mean nothing any more: open all that is open again, the outer ones first. */
int nest_retag(struct nest *n);
uint64_t nest_overlaps(const struct nest *n); /* spans that overlapped another without nesting */

#endif
