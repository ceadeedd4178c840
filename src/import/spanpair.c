/*
 * spanpair: events are sorted by time (file order within a time), then matched on one stack a
 * thread.
 */
#include "import/spanpair.h"

#include <errno.h>
#include <stdlib.h>

#include "base/extsort.h"
#include "base/vec.h"

#define SORT_BYTES (256u << 20)
#define SEARCH_MAX 4096 /* open begins looked at for an end's name */
#define END_BIT    (1u << 31)
#define TS_BIAS    (1ull << 63)

struct event {
	uint64_t ts; /* with TS_BIAS: unsigned words sort as the times do */
	str_id name;
	uint32_t thread; /* | END_BIT */
};

struct open_begin {
	int64_t ts_ns;
	str_id name;
};

struct thread {
	int64_t last_ns;
	VEC(struct open_begin)
};

struct spanpair {
	struct extsort *events;
	struct {
		VEC(struct thread)
	} threads;
	uint64_t unopened, unclosed;
};

/* The first word says it all; events of one time stay in the order in which they came. */
static int compare(const void *pa, const void *pb)
{
	(void)pa, (void)pb;
	return 0;
}

struct spanpair *spanpair_new(void)
{
	struct spanpair *p = calloc(1, sizeof *p);
	if (p && !(p->events = extsort_new_words(sizeof(struct event), SORT_BYTES, compare, 1))) {
		free(p);
		return NULL;
	}
	return p;
}

void spanpair_free(struct spanpair *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->threads.len; i++)
		vec_fini(&p->threads.data[i]);
	vec_fini(&p->threads);
	extsort_free(p->events);
	free(p);
}

int spanpair_seen(struct spanpair *p, uint32_t thread, int64_t ts_ns)
{
	while (p->threads.len <= thread) {
		struct thread t = {.last_ns = INT64_MIN};
		int rc = vec_push(&p->threads, t);
		if (rc)
			return rc;
	}
	if (ts_ns > p->threads.data[thread].last_ns)
		p->threads.data[thread].last_ns = ts_ns;
	return 0;
}

static int add(struct spanpair *p, uint32_t thread, int64_t ts_ns, str_id name, uint32_t bit)
{
	int rc = thread & END_BIT ? -E2BIG : spanpair_seen(p, thread, ts_ns);
	struct event e = {(uint64_t)ts_ns + TS_BIAS, name, thread | bit};
	return rc ? rc : extsort_add(p->events, &e);
}

int spanpair_begin(struct spanpair *p, uint32_t thread, int64_t ts_ns, str_id name)
{
	return add(p, thread, ts_ns, name, 0);
}

int spanpair_end(struct spanpair *p, uint32_t thread, int64_t ts_ns, str_id name)
{
	return add(p, thread, ts_ns, name, END_BIT);
}

static int deliver(const struct trace_sink *trace, uint32_t thread, const struct open_begin *b,
		   int64_t end_ns)
{
	uint64_t dur = (uint64_t)end_ns - (uint64_t)b->ts_ns;
	struct trace_span s = {b->ts_ns, end_ns > b->ts_ns ? dur : 0, b->name, thread};
	return trace->ops->span(trace->ctx, &s);
}

static int match_end(struct spanpair *p, const struct trace_sink *trace, uint32_t thread,
		     const struct event *e)
{
	struct thread *t = &p->threads.data[thread];
	size_t i = t->len;
	size_t least = t->len > SEARCH_MAX ? t->len - SEARCH_MAX : 0;
	while (i > least && e->name && t->data[i - 1].name != e->name)
		i--;
	if (i == least && (!i || (e->name && t->data[i - 1].name != e->name))) {
		p->unopened++;
		return 0;
	}
	struct open_begin b = t->data[i - 1];
	for (size_t k = i; k < t->len; k++)
		t->data[k - 1] = t->data[k];
	t->len--;
	return deliver(trace, thread, &b, (int64_t)(e->ts - TS_BIAS));
}

int spanpair_finish(struct spanpair *p, const struct trace_sink *trace)
{
	int rc = extsort_finish(p->events);
	const struct event *e;
	while (!rc && (e = extsort_next(p->events))) {
		uint32_t thread = e->thread & ~END_BIT;
		struct open_begin b = {(int64_t)(e->ts - TS_BIAS), e->name};
		rc = e->thread & END_BIT ? match_end(p, trace, thread, e)
					 : vec_push(&p->threads.data[thread], b);
	}
	rc = rc ? rc : extsort_error(p->events);
	for (uint32_t i = 0; i < p->threads.len && !rc; i++) {
		struct thread *t = &p->threads.data[i];
		p->unclosed += t->len;
		for (size_t k = 0; k < t->len && !rc; k++)
			rc = deliver(trace, i, &t->data[k], t->last_ns);
	}
	return rc;
}

uint64_t spanpair_unopened(const struct spanpair *p)
{
	return p->unopened;
}

uint64_t spanpair_unclosed(const struct spanpair *p)
{
	return p->unclosed;
}
