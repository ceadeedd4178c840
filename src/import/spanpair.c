/*
 * spanpair: events are sorted by time (file order within a time), then matched on one stack a
 * thread. Of spans that are the same time long the outer one is delivered first: what has ended
 * waits while the begin around it is of the same moment and may end in the same one.
 *
 * While the sink hears of edges at once, a begin waits for the next event of its thread: if none
 * comes it ends where it began, when all around it has ended too, and so it lies in nothing.
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
	int64_t last_ns, edge_ns; /* of all; of begins and ends, while the sink takes them */
	struct trace_edge held;   /* the begin that waits */
	bool holds;
	VEC(struct open_begin)
	struct {
		VEC(struct trace_span)
	} ended; /* inner ones first; all of one moment */
};

struct spanpair {
	const struct trace_sink *trace;
	bool eager; /* the sink took all edges so far */
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

struct spanpair *spanpair_new(const struct trace_sink *trace)
{
	struct spanpair *p = calloc(1, sizeof *p);
	if (p) {
		p->trace = trace;
		p->eager = true;
	}
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
	for (size_t i = 0; i < p->threads.len; i++) {
		vec_fini(&p->threads.data[i].ended);
		vec_fini(&p->threads.data[i]);
	}
	vec_fini(&p->threads);
	extsort_free(p->events);
	free(p);
}

/* The sink takes no more: all is matched at the end. */
static void give_up_eager(struct spanpair *p)
{
	p->eager = false;
	p->unopened = 0;
	for (size_t i = 0; i < p->threads.len; i++) {
		p->threads.data[i].len = 0;
		p->threads.data[i].holds = false;
	}
}

static int tell(struct spanpair *p, const struct trace_edge *e)
{
	int rc = p->trace->ops->edge(p->trace->ctx, e);
	if (rc == 1)
		give_up_eager(p);
	return rc == 1 ? 0 : rc;
}

static int tell_held(struct spanpair *p, struct thread *t)
{
	t->holds = false;
	return tell(p, &t->held);
}

int spanpair_seen(struct spanpair *p, uint32_t thread, int64_t ts_ns)
{
	while (p->threads.len <= thread) {
		struct thread t = {.last_ns = INT64_MIN, .edge_ns = INT64_MIN};
		int rc = vec_push(&p->threads, t);
		if (rc)
			return rc;
	}
	struct thread *t = &p->threads.data[thread];
	t->last_ns = ts_ns > t->last_ns ? ts_ns : t->last_ns;
	return t->holds ? tell_held(p, t) : 0;
}

static int add(struct spanpair *p, uint32_t thread, int64_t ts_ns, str_id name, uint32_t bit)
{
	int rc = thread & END_BIT ? -E2BIG : spanpair_seen(p, thread, ts_ns);
	struct event e = {(uint64_t)ts_ns + TS_BIAS, name, thread | bit};
	return rc ? rc : extsort_add(p->events, &e);
}

static int feed(struct spanpair *p, const struct trace_edge *e)
{
	struct thread *t = &p->threads.data[e->thread];
	struct trace_edge spoilt = {.kind = TRACE_SPOILT};
	bool late = e->ns < t->edge_ns, named = e->kind == TRACE_END && e->name && t->len;
	if (late || (named && t->data[t->len - 1].name != e->name))
		return tell(p, &spoilt);
	t->edge_ns = e->ns;
	if (e->kind == TRACE_BEGIN) {
		struct open_begin b = {e->ns, e->name};
		t->held = *e;
		t->holds = true;
		return vec_push(t, b);
	}
	if (!t->len) {
		p->unopened++;
		return 0;
	}
	t->len--;
	return tell(p, e);
}

int spanpair_begin(struct spanpair *p, uint32_t thread, int64_t ts_ns, str_id name)
{
	struct trace_edge e = {TRACE_BEGIN, thread, ts_ns, name};
	int rc = add(p, thread, ts_ns, name, 0);
	return rc || !p->eager ? rc : feed(p, &e);
}

int spanpair_end(struct spanpair *p, uint32_t thread, int64_t ts_ns, str_id name)
{
	struct trace_edge e = {TRACE_END, thread, ts_ns, name};
	int rc = add(p, thread, ts_ns, name, END_BIT);
	return rc || !p->eager ? rc : feed(p, &e);
}

/* What is open in a thread ends at its last time. */
static int end_thread(struct spanpair *p, uint32_t thread)
{
	struct thread *t = &p->threads.data[thread];
	struct trace_edge end = {TRACE_END, thread, t->last_ns, 0};
	bool alone = t->holds && t->held.ns == t->last_ns;
	int rc = t->holds && !alone ? tell_held(p, t) : 0;
	p->unclosed += t->len;
	for (size_t n = t->len - alone; n && p->eager && !rc; n--)
		rc = tell(p, &end);
	if (alone && p->eager && !rc)
		rc = tell_held(p, t);
	if (alone && p->eager && !rc)
		rc = tell(p, &end);
	return rc;
}

static int end_eagerly(struct spanpair *p)
{
	int rc = 0;
	p->unclosed = 0;
	for (uint32_t i = 0; i < p->threads.len && !rc && p->eager; i++)
		rc = end_thread(p, i);
	if (!rc && p->eager)
		rc = tell(p, &(struct trace_edge){.kind = TRACE_DONE});
	return rc;
}

/* What has ended in @t, the outermost first. */
static int deliver(struct thread *t, const struct trace_sink *trace)
{
	int rc = 0;
	while (t->ended.len && !rc)
		rc = trace->ops->span(trace->ctx, &t->ended.data[--t->ended.len]);
	return rc;
}

static struct trace_span span_of(uint32_t thread, const struct open_begin *b, int64_t end_ns)
{
	uint64_t dur = (uint64_t)end_ns - (uint64_t)b->ts_ns;
	return (struct trace_span){b->ts_ns, end_ns > b->ts_ns ? dur : 0, b->name, thread};
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
	int64_t now = (int64_t)(e->ts - TS_BIAS);
	struct trace_span s = span_of(thread, &b, now);
	bool waits = i > 1 && t->data[i - 2].ts_ns == b.ts_ns;
	if (!waits && !t->ended.len)
		return trace->ops->span(trace->ctx, &s);
	const struct trace_span *other = t->ended.data; /* of one moment, and so is the end */
	int rc = t->ended.len && (other->start_ns != s.start_ns || other->dur_ns != s.dur_ns)
			 ? deliver(t, trace)
			 : 0;
	rc = rc ? rc : vec_push(&t->ended, s);
	return rc || waits ? rc : deliver(t, trace);
}

int spanpair_finish(struct spanpair *p)
{
	const struct trace_sink *trace = p->trace;
	int rc = p->eager ? end_eagerly(p) : 0;
	if (rc || p->eager)
		return rc;
	p->unclosed = 0;
	rc = extsort_finish(p->events);
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
		for (size_t k = 0; k < t->len && !rc; k++) {
			struct trace_span s = span_of(i, &t->data[k], t->last_ns);
			rc = trace->ops->span(trace->ctx, &s);
		}
		rc = rc ? rc : deliver(t, trace);
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
