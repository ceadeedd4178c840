/*
 * spanpair: a trace that was cut off is nested as it comes, too: the last begin of a thread lies in
 * nothing when all around it ends at its moment, and the analysis takes every edge.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "counting_sink.h"
#include "import/spanpair.h"

/* What the analysis is told, and how often it would not have it. */
static struct hearing {
	const struct trace_sink *analysis;
	unsigned edges, refused, spans;
} heard;

static int on_edge(void *ctx, const struct trace_edge *e)
{
	struct hearing *h = ctx;
	int rc = h->analysis->ops->edge(h->analysis->ctx, e);
	h->edges += e->kind != TRACE_DONE;
	h->refused += rc == 1;
	return rc;
}

static int on_span(void *ctx, const struct trace_span *s)
{
	struct hearing *h = ctx;
	h->spans++;
	return h->analysis->ops->span(h->analysis->ctx, s);
}

struct edge {
	char kind; /* B, E, X */
	int64_t ns;
	const char *name;
	unsigned dur_ns;
};

static void read_edges(struct counting *c, const struct edge *edges, unsigned n)
{
	static const struct trace_ops ops = {.edge = on_edge, .span = on_span};
	static const struct analyser_options options = {.pattern = PATTERN_DURATION};
	struct trace_sink trace = {&ops, &heard};
	struct analyser *a;
	struct err err = {0};
	counting_init(c);
	assert_int_equal(analyser_new(&options, c->tables, &c->sink, &a, &err), 0);
	heard = (struct hearing){.analysis = analyser_sink(a)};
	void *ctx = heard.analysis->ctx;
	assert_int_equal(heard.analysis->ops->begin(ctx, TRACE_SPANS), 0);
	struct spanpair *p = spanpair_new(&trace);
	for (unsigned i = 0; i < n; i++) {
		str_id name = tables_str(c->tables, edges[i].name);
		struct trace_span s = {edges[i].ns, edges[i].dur_ns, name, 0};
		int rc = edges[i].kind == 'B' ? spanpair_begin(p, 0, edges[i].ns, name)
			 : edges[i].kind == 'E'
				 ? spanpair_end(p, 0, edges[i].ns, name)
				 : spanpair_seen(p, 0, edges[i].ns + edges[i].dur_ns);
		assert_int_equal(rc, 0);
		if (edges[i].kind == 'X')
			assert_int_equal(on_span(&heard, &s), 0);
	}
	assert_int_equal(spanpair_finish(p), 0);
	heard.analysis->ops->thread(ctx, 0, 1, 1, "");
	assert_int_equal(heard.analysis->ops->end(ctx, &err), 0);
	spanpair_free(p);
	analyser_free(a);
}

static double total(struct counting *c, const char *name)
{
	int row = counting_row(c->analyses[0], c->tables, name);
	return row < 0 ? -1 : counting_cell(c->analyses[0], row, "total");
}

static void test_cut_off(void **state)
{
	(void)state;
	static const struct edge edges[] = {
		{'B', 10, "outer", 0}, {'B', 20, "middle", 0}, {'B', 25, "done", 0},
		{'E', 28, "done", 0},  {'B', 30, "last", 0},
	};
	struct counting c;
	read_edges(&c, edges, 5);
	assert_int_equal(heard.edges, 8);
	assert_int_equal(heard.refused, 0);
	assert_int_equal(heard.spans, 0);
	assert_true(total(&c, "outer") == 20);
	assert_true(total(&c, "middle") == 10);
	assert_true(total(&c, "done") == 3);
	assert_true(total(&c, "last") == 0);
	assert_non_null(strstr(c.folded.buf, "outer;middle;done 3\n"));
	assert_null(strstr(c.folded.buf, "middle;last"));
	counting_fini(&c);
}

/* A whole span that lasts longer than the last begin: that one lasts as long. */
static void test_cut_off_in_a_span(void **state)
{
	(void)state;
	static const struct edge edges[] = {
		{'X', 10, "whole", 50}, {'B', 20, "outer", 0}, {'B', 30, "last", 0}};
	struct counting c;
	read_edges(&c, edges, 3);
	assert_int_equal(heard.refused, 0);
	assert_int_equal(heard.spans, 1);
	assert_true(total(&c, "outer") == 40);
	assert_true(total(&c, "last") == 30);
	assert_non_null(strstr(c.folded.buf, "whole;outer;last 30\n"));
	counting_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_cut_off_in_a_span),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
