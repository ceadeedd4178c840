/*
 * nest: one list of open spans a thread. Usually it is a stack; overlapping spans make it a little
 * more.
 *
 * Open spans whose end has passed are closed from the top; one that still runs keeps those below it
 * open, which costs a slot until it ends. Depth is capped, so that a hostile file costs memory by
 * its length only.
 */
#include "trace/nest.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

#define DEPTH_MAX   65536
#define SWEEP_LEAST 64
#define NONE        UINT32_MAX

struct open_span {
	struct trace_span span;
	int64_t end_ns;
	uint64_t children, child_ns;
	uint32_t parent; /* place in the thread's list */
	uint32_t depth, tag;
	bool leaf_children, unended;
	struct {
		VEC(str_id)
	} names; /* unique names of children, sorted */
};

struct thread {
	VEC(struct open_span)
	size_t sweep_at; /* length at which ended spans are looked for below the top */
};

struct nest {
	const struct nest_ops *ops;
	void *ctx;
	struct {
		VEC(struct thread)
	} threads;
	uint64_t overlaps;
};

struct nest *nest_new(const struct nest_ops *ops, void *ctx)
{
	struct nest *n = calloc(1, sizeof *n);
	if (n) {
		n->ops = ops;
		n->ctx = ctx;
	}
	return n;
}

void nest_free(struct nest *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->threads.len; i++) {
		/* closed slots keep their list of names for the next span that lands there */
		for (size_t k = 0; k < n->threads.data[i].cap; k++)
			free(n->threads.data[i].data[k].names.data);
		free(n->threads.data[i].data);
	}
	vec_fini(&n->threads);
	free(n);
}

/* Add to the sorted set of names. -ENOMEM. */
static int add_name(struct open_span *o, str_id name)
{
	size_t lo = 0, hi = o->names.len;
	if (hi && o->names.data[hi - 1] < name)
		lo = hi; /* often they come in the order of their first coming */
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (o->names.data[mid] == name)
			return 0;
		if (o->names.data[mid] < name)
			lo = mid + 1;
		else
			hi = mid;
	}
	int rc = vec_push(&o->names, name);
	if (rc)
		return rc;
	for (size_t i = o->names.len - 1; i > lo; i--)
		o->names.data[i] = o->names.data[i - 1];
	o->names.data[lo] = name;
	return 0;
}

/* Report span @at of the list; everything that lies in it was reported before. */
static int report_at(struct nest *n, struct thread *t, uint32_t at)
{
	struct open_span *o = &t->data[at];
	if (o->parent != NONE && o->children)
		t->data[o->parent].leaf_children = false;
	struct nested d = {.span = o->span,
			   .children = o->children,
			   .unique_children = (uint32_t)o->names.len,
			   .leaf_children = o->children && o->leaf_children,
			   .self_ns = o->span.dur_ns > o->child_ns ? o->span.dur_ns - o->child_ns
								   : 0,
			   .depth = o->depth,
			   .tag = o->tag};
	return n->ops->close(n->ctx, &d);
}

static int close_top(struct nest *n, struct thread *t)
{
	int rc = report_at(n, t, (uint32_t)t->len - 1);
	t->len--;
	return rc;
}

/*
 * Spans that ended below one that still runs: report them and close up. A parent ends no earlier
 * than its children, so all that lies in an ended span has ended too.
 */
static int sweep(struct nest *n, struct thread *t, int64_t now_ns)
{
	uint32_t *moved = malloc(t->len * sizeof *moved), kept = 0;
	int rc = moved ? 0 : -ENOMEM;
	for (uint32_t i = (uint32_t)t->len; !rc && i-- > 0;)
		if (t->data[i].end_ns <= now_ns)
			rc = report_at(n, t, i);
	for (uint32_t i = 0; !rc && i < t->len; i++) {
		if (t->data[i].end_ns <= now_ns)
			continue;
		struct open_span o = t->data[i];
		t->data[i] = t->data[kept]; /* its list of names stays in use */
		o.parent = o.parent == NONE ? NONE : moved[o.parent];
		t->data[kept] = o;
		moved[i] = kept++;
	}
	free(moved);
	if (!rc)
		t->len = kept;
	t->sweep_at = 2 * t->len + SWEEP_LEAST;
	return rc;
}

static int thread_of(struct nest *n, uint32_t index)
{
	while (n->threads.len <= index) {
		struct thread empty = {0};
		int rc = vec_push(&n->threads, empty);
		if (rc)
			return rc;
	}
	return 0;
}

/* Room for one more open span; slots beyond len keep their names' memory. */
static int open_slot(struct thread *t, struct open_span **ret_slot)
{
	size_t before = t->cap;
	int rc = vec_reserve(t, t->len + 1);
	if (rc)
		return rc;
	for (size_t i = before; i < t->cap; i++)
		t->data[i] = (struct open_span){0};
	*ret_slot = &t->data[t->len];
	return 0;
}

static void add_child_time(struct open_span *parent, uint64_t dur_ns)
{
	if (__builtin_add_overflow(parent->child_ns, dur_ns, &parent->child_ns))
		parent->child_ns = UINT64_MAX;
}

/* The innermost open span that lasts until @end_ns. */
static uint32_t parent_of(struct nest *n, const struct thread *t, int64_t start_ns, int64_t end_ns)
{
	uint32_t parent = t->len ? (uint32_t)t->len - 1 : NONE;
	bool overlapped = false;
	while (parent != NONE &&
	       (t->data[parent].end_ns < end_ns || t->data[parent].end_ns <= start_ns)) {
		overlapped |= t->data[parent].end_ns > start_ns;
		parent = t->data[parent].parent;
	}
	n->overlaps += overlapped;
	return parent;
}

static int open_span(struct nest *n, const struct trace_span *s, int64_t end_ns, bool unended)
{
	int rc = thread_of(n, s->thread);
	if (rc)
		return rc;
	struct thread *t = &n->threads.data[s->thread];
	bool alone = s->thread == TRACE_THREADS_MOST;
	while (!rc && t->len && (alone || t->data[t->len - 1].end_ns <= s->start_ns))
		rc = close_top(n, t);
	if (!rc && t->len >= t->sweep_at)
		rc = sweep(n, t, s->start_ns);
	if (rc)
		return rc;
	uint32_t parent = parent_of(n, t, s->start_ns, end_ns);
	if (t->len >= DEPTH_MAX)
		return -E2BIG;
	struct open_span *o;
	uint32_t tag = 0;
	rc = open_slot(t, &o);
	rc = rc ? rc : n->ops->open(n->ctx, s, parent == NONE ? 0 : t->data[parent].tag, &tag);
	if (rc)
		return rc;
	o->span = *s;
	o->end_ns = unended ? INT64_MAX : end_ns;
	o->unended = unended;
	o->children = o->child_ns = 0;
	o->parent = parent;
	o->depth = parent == NONE ? 0 : t->data[parent].depth + 1;
	o->tag = tag;
	o->leaf_children = true;
	o->names.len = 0;
	t->len++;
	if (parent == NONE)
		return 0;
	struct open_span *p = &t->data[parent];
	p->children++;
	add_child_time(p, s->dur_ns);
	return add_name(p, s->name);
}

int nest_add(struct nest *n, const struct trace_span *s)
{
	int64_t end;
	if (s->dur_ns > INT64_MAX || __builtin_add_overflow(s->start_ns, (int64_t)s->dur_ns, &end))
		end = INT64_MAX;
	return open_span(n, s, end, false);
}

int nest_begin(struct nest *n, const struct trace_span *s)
{
	return open_span(n, s, s->start_ns, true);
}

int nest_end(struct nest *n, uint32_t thread, int64_t end_ns, bool begun)
{
	struct thread *t = thread < n->threads.len ? &n->threads.data[thread] : NULL;
	int rc = 0;
	while (!rc && t && t->len && t->data[t->len - 1].end_ns <= end_ns)
		rc = close_top(n, t);
	if (rc || !t || !t->len)
		return rc ? rc : 1;
	struct open_span *o = &t->data[t->len - 1];
	struct open_span *p = o->parent == NONE ? NULL : &t->data[o->parent];
	if (!o->unended || (p && p->end_ns < end_ns) || (begun && o->children))
		return 1;
	o->span.dur_ns = (uint64_t)end_ns - (uint64_t)o->span.start_ns;
	if (p)
		add_child_time(p, o->span.dur_ns);
	return close_top(n, t);
}

int nest_finish(struct nest *n)
{
	for (size_t i = 0; i < n->threads.len; i++)
		while (n->threads.data[i].len) {
			int rc = close_top(n, &n->threads.data[i]);
			if (rc)
				return rc;
		}
	return 0;
}

int nest_retag(struct nest *n)
{
	for (size_t i = 0; i < n->threads.len; i++) {
		struct thread *t = &n->threads.data[i];
		for (size_t k = 0; k < t->len; k++) { /* a parent stands before its children */
			struct open_span *o = &t->data[k];
			uint32_t up = o->parent == NONE ? 0 : t->data[o->parent].tag;
			int rc = n->ops->open(n->ctx, &o->span, up, &o->tag);
			if (rc)
				return rc;
		}
	}
	return 0;
}

uint64_t nest_overlaps(const struct nest *n)
{
	return n->overlaps;
}
