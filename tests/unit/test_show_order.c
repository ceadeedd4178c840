/* Rows: the order they are asked for in, where what is unknown stands, and what did not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine_bed.h"

static uint64_t begin_ns;

static void account(struct script *s, uint64_t time_ns, uint64_t cpu_ns)
{
	struct raw_account a = {
		.time_ns = time_ns, .pid = 7, .cpu_ns = cpu_ns, .user_ns = cpu_ns, .state = 'R'};
	s->sink->ops->account(s->sink->ctx, &a);
}

/*
 * A second of CPU time: 100 ms each in high, low, near and far, called by main, and 600 ms of
 * nobody. Kernel addresses: near and far lie closer together than a double can tell.
 */
static void play(struct script *s)
{
	static const struct {
		const char *name;
		uint64_t addr;
	} leaves[] = {{"high", 0x9000}, {"low", 0x200}, {"far", ~0xefull}, {"near", ~0xffull}};
	frame_id in_main = script_frame(s->tables, "main", 0x100);

	begin_ns = clock_mono_ns() - 2000 * MS;
	account(s, begin_ns, 0);
	for (uint64_t i = 0; i < 400; i++) {
		frame_id at = script_frame(s->tables, leaves[i / 100].name, leaves[i / 100].addr);
		frame_id frames[] = {at, in_main};
		script_sample(s, begin_ns + i * MS, 7, 7, MS, frames, 2);
	}
	account(s, begin_ns + 999 * MS, 1000 * MS);
}

static struct bed b;

static int up(void **state)
{
	(void)state;
	b = (struct bed){.script = {.play = play}};
	struct engine_setup setup = {.live = true};
	bed_up(&b, &setup);
	return 0;
}

static int down(void **state)
{
	(void)state;
	bed_down(&b);
	return 0;
}

static const struct answer *ask(struct query q)
{
	const struct answer *a = bed_ask(&b, q, 400);

	assert_non_null(a);
	return a;
}

static void assert_names(struct query q, const char *names)
{
	const struct answer *a = ask(q);
	char got[300] = "";

	for (uint32_t i = 0; i < a->nrows; i++)
		snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "",
			 a->rows[i].name);
	assert_string_equal(got, names);
	answer_unref(a);
}

/* Time that no sample covered has no samples: by time it is first, by samples last. */
static void test_unsampled(void **state)
{
	(void)state;
	struct query q = bed_question(VIEW_FUNCTIONS);
	const struct answer *a = ask(q);

	assert_string_equal(a->rows[0].name, "[unsampled]");
	answer_unref(a);
	for (int i = 0; i < 2; i++) {
		q.view = i ? VIEW_MODULES : VIEW_FUNCTIONS;
		q.sort = COLUMN_SAMPLES;
		a = ask(q);
		assert_true(a->nrows >= 2);
		assert_int_equal(a->rows[0].self_samples, i ? 400 : 100);
		assert_non_null(bed_row(a, "[unsampled]"));
		answer_unref(a);
		q.sort = COLUMN_TOTAL_SAMPLES;
		a = ask(q);
		assert_int_equal(a->rows[0].total_samples, 400);
		assert_string_equal(a->rows[a->nrows - 1].name, "[unsampled]");
		answer_unref(a);
	}
}

static void test_addresses(void **state)
{
	(void)state;
	struct query q = bed_question(VIEW_FUNCTIONS);

	q.sort = COLUMN_ADDRESS;
	q.flags = QUERY_ADDRESSES;
	assert_names(q, "main low high near far [unsampled]");
	q.flags |= QUERY_REVERSE;
	assert_names(q, "far near high low main [unsampled]");
}

/* What did not fit is counted, and nothing is told of it that is not known. */
static void test_rest(void **state)
{
	(void)state;
	struct query q = bed_question(VIEW_FUNCTIONS);

	q.max_rows = 3;
	q.flags = QUERY_REVERSE; /* [unsampled] among the rest */
	const struct answer *a = ask(q);
	assert_int_equal(a->nrows, 4);
	const struct row *rest = &a->rows[3];
	assert_int_equal(rest->key.kind, ROW_REST);
	assert_string_equal(rest->name, "\xe2\x80\xa6 3 more");
	assert_true(fabs(rest->self - 0.8) < 1e-6);
	assert_true(rest->total < 0); /* rows overlap: not known */
	answer_unref(a);

	q = bed_question(VIEW_TREE);
	q.flags = QUERY_EXPAND_ALL;
	q.max_rows = 2;
	a = ask(q);
	rest = &a->rows[a->nrows - 1];
	assert_int_equal(rest->key.kind, ROW_REST);
	assert_true(rest->self < 0 && rest->total < 0);
	answer_unref(a);
}

static void test_callers_rest(void **state)
{
	(void)state;
	struct query q = bed_question(VIEW_CALLERS);

	q.focus = (struct row_key){.kind = ROW_FUNCTION, .a = script_func(b.tables, "main")};
	q.max_rows = 3;
	const struct answer *a = ask(q);
	assert_int_equal(a->nrows, 4);
	assert_int_equal(a->rows[0].key.kind, ROW_SELF);
	assert_int_equal(a->rows[3].key.kind, ROW_REST);
	assert_string_equal(a->rows[3].name, "\xe2\x80\xa6 2 more callees");
	answer_unref(a);
}

/* Lines that do not fit are counted, with their share. */
static void test_source_rest(void **state)
{
	(void)state;
	struct query q = bed_question(VIEW_SOURCE);

	q.focus = (struct row_key){.kind = ROW_FUNCTION, .a = script_func(b.tables, "far")};
	const struct answer *a = ask(q);
	uint32_t all = a->nrows;
	assert_true(all >= 2); /* a heading and its line */
	answer_unref(a);
	q.max_rows = all - 1;
	a = ask(q);
	assert_int_equal(a->nrows, all);
	assert_int_equal(a->rows[all - 1].key.kind, ROW_REST);
	assert_string_equal(a->rows[all - 1].name, "\xe2\x80\xa6 1 more");
	assert_true(fabs(a->rows[all - 1].self - 0.1) < 1e-6);
	assert_true(a->focus_row < a->nrows);
	assert_false(a->rows[all - 1].flags & ROW_CURRENT);
	answer_unref(a);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, up, down)
	const struct CMUnitTest tests[] = {
		T(test_unsampled),    T(test_addresses),   T(test_rest),
		T(test_callers_rest), T(test_source_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
