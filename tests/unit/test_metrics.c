/* metrics: which derived columns the counted events allow, their values, and why there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "engine/metrics.h"
#include "engine_bed.h"

static void test_names(void **state)
{
	(void)state;
	assert_true(metrics_same_event("cycles", "cycles"));
	assert_true(metrics_same_event("cycles:u", "cycles"));
	assert_true(metrics_same_event("cycles:pP", "cycles"));
	assert_true(metrics_same_event("cycles", "cycles:u"));
	assert_false(metrics_same_event("cycles-other", "cycles"));
	assert_false(metrics_same_event("cycles:flavour=2", "cycles"));
	assert_false(metrics_same_event("", "cycles"));
}

static void test_grades(void **state)
{
	(void)state;
	struct set_metric ipc = {
		.has_good = true, .has_bad = true, .high_is_good = true, .good = 1.5, .bad = 0.7};
	assert_int_equal(metrics_grade(&ipc, 2), 1);
	assert_int_equal(metrics_grade(&ipc, 1), 2);
	assert_int_equal(metrics_grade(&ipc, 0.5), 3);
	assert_int_equal(metrics_grade(&ipc, NAN), 0);
	struct set_metric miss = {.has_good = true, .has_bad = true, .good = 1, .bad = 3};
	assert_int_equal(metrics_grade(&miss, 0.5), 1);
	assert_int_equal(metrics_grade(&miss, 2), 2);
	assert_int_equal(metrics_grade(&miss, 4), 3);
	assert_int_equal(metrics_grade(&(struct set_metric){.good = 1}, 4), 0);
}

enum { CYCLES = 1, INSTRUCTIONS = 2 };

/* slow: 10 samples of 1000 cycles and 500 instructions; fast: 40 of 1000 and 3000. */
static void play(struct script *s)
{
	const uint8_t *how = s->ctx;
	struct event_desc d = {.name = "cycles:u", .sampled = true, .leader = CYCLES, .set = 1};
	s->sink->ops->event(s->sink->ctx, CYCLES, &d);
	d = (struct event_desc){.name = "instructions:u", .leader = CYCLES, .set = 1};
	s->sink->ops->event(s->sink->ctx, INSTRUCTIONS, &d);
	frame_id in_main = script_frame(s->tables, "main", 0x100);
	frame_id slow[] = {script_frame(s->tables, "slow", 0x200), in_main};
	frame_id fast[] = {script_frame(s->tables, "fast", 0x300), in_main};
	for (int i = 0; i < 50; i++) {
		struct sample_value v[] = {{.event = CYCLES, .count = 1000, .running = 1},
					   {.event = INSTRUCTIONS,
					    .state = *how,
					    .running = 1,
					    .count = *how > VALUE_SCALED ? 0
						     : i < 10            ? 500
									 : 3000}};
		if (*how == VALUE_SCALED)
			v[1].running = 0.25f;
		if (*how == VALUE_NOTHING) { /* delivered in good faith, and always 0 */
			v[1].state = VALUE_OK;
			v[1].count = 0;
		}
		struct raw_sample raw = {.time_ns = 1000000 + (uint64_t)i * 1000,
					 .pid = 7,
					 .tid = 7,
					 .event = CYCLES,
					 .weight = 1000,
					 .frames = i < 10 ? slow : fast,
					 .nframes = 2,
					 .values = v,
					 .nvalues = 2};
		s->sink->ops->sample(s->sink->ctx, &raw);
	}
}

static struct event_set sets[1];

static void up(struct bed *b, uint8_t *how)
{
	*b = (struct bed){.script = {.play = play, .ctx = how}};
	struct engine_setup setup = {.live = false, .sets = sets, .nsets = 1};
	static const char text[] = "about Instructions per cycle\n"
				   "event cycles = cycles\n"
				   "event instructions = instructions\n"
				   "metric IPC = instructions / cycles\n"
				   "good > 1.5\n"
				   "bad < 0.7\n"
				   "meaning Instructions retired in a cycle.\n";
	assert_int_equal(event_set_parse("ipc", text, &sets[0], NULL), 0);
	bed_up(b, &setup);
}

static const struct answer *ask(struct bed *b, uint8_t *how, struct query q)
{
	up(b, how);
	const struct answer *a = bed_ask(b, q, 50);
	assert_non_null(a);
	return a;
}

static int ipc_of(const struct answer *a)
{
	for (int i = 0; i < a->nmetrics; i++)
		if (strcmp(a->metrics[i].name, "IPC") == 0)
			return i;
	fail_msg("no IPC among %d metrics", a->nmetrics);
	return 0;
}

static void test_functions(void **state)
{
	(void)state;
	static struct bed b;
	uint8_t how = VALUE_OK;
	const struct answer *a = ask(&b, &how, bed_question(VIEW_FUNCTIONS));
	int ipc = ipc_of(a);
	const struct row *slow = bed_row(a, "slow"), *fast = bed_row(a, "fast");
	const struct row *in_main = bed_row(a, "main");
	assert_true(fabs(slow->self_metric[ipc].v - 0.5) < 1e-9);
	assert_true(fabs(fast->self_metric[ipc].v - 3) < 1e-9);
	assert_int_equal(slow->self_metric[ipc].state, VALUE_OK);
	assert_int_equal(slow->self_metric[ipc].grade, 3);
	assert_int_equal(fast->self_metric[ipc].grade, 1);
	/* Σ instructions / Σ cycles, and no average of ratios: (10 × 500 + 40 × 3000) / 50000. */
	assert_true(fabs(in_main->total_metric[ipc].v - 2.5) < 1e-9);
	assert_int_equal(in_main->self_metric[ipc].state, VALUE_NONE);
	assert_true(isnan(in_main->self_metric[ipc].v));
	assert_true(fabs(slow->self - 0.2) < 1e-9); /* shares are of the sampled event */
	answer_unref(a);
	struct query q = bed_question(VIEW_FUNCTIONS);
	q.sort = COLUMN_METRIC + (uint32_t)ipc;
	q.flags = QUERY_REVERSE;
	a = bed_ask(&b, q, 50);
	assert_string_equal(a->rows[0].name, "slow");
	assert_string_equal(a->rows[1].name, "fast");
	assert_string_equal(a->rows[2].name, "main"); /* not known: last in either order */
	answer_unref(a);
	bed_down(&b);
}

static void test_other_views(void **state)
{
	(void)state;
	static struct bed b;
	uint8_t how = VALUE_OK;
	struct query q = bed_question(VIEW_TREE);
	q.flags = QUERY_EXPAND_ALL;
	const struct answer *a = ask(&b, &how, q);
	int ipc = ipc_of(a);
	assert_true(fabs(bed_row(a, "slow")->total_metric[ipc].v - 0.5) < 1e-9);
	assert_true(fabs(a->rows[0].total_metric[ipc].v - 2.5) < 1e-9);
	answer_unref(a);

	q.flags |= QUERY_BOTTOM_UP;
	q.focus = (struct row_key){.kind = ROW_FUNCTION, .a = script_func(b.tables, "slow")};
	a = bed_ask(&b, q, 50);
	assert_true(fabs(a->rows[0].total_metric[ipc].v - 0.5) < 1e-9);
	answer_unref(a);

	q = bed_question(VIEW_CALLERS);
	q.focus = (struct row_key){.kind = ROW_FUNCTION, .a = script_func(b.tables, "main")};
	a = bed_ask(&b, q, 50);
	assert_true(fabs(a->rows[a->focus_row].total_metric[ipc].v - 2.5) < 1e-9);
	assert_true(fabs(bed_row(a, "fast")->total_metric[ipc].v - 3) < 1e-9);
	answer_unref(a);

	q = bed_question(VIEW_SOURCE);
	q.focus = (struct row_key){.kind = ROW_FUNCTION, .a = script_func(b.tables, "slow")};
	a = bed_ask(&b, q, 50);
	assert_true(fabs(a->rows[a->focus_row].self_metric[ipc].v - 0.5) < 1e-9);
	answer_unref(a);

	const enum view_kind all[] = {VIEW_MODULES, VIEW_THREADS};
	for (int i = 0; i < 2; i++) {
		a = bed_ask(&b, bed_question(all[i]), 50);
		assert_int_equal(a->nrows, 1);
		assert_true(fabs(a->rows[0].self_metric[ipc].v - 2.5) < 1e-9);
		answer_unref(a);
	}
	bed_down(&b);
}

/* Unknown is never 0. */
static void test_unknown(void **state)
{
	(void)state;
	static struct bed b;
	const uint8_t hows[] = {VALUE_NOT_RUNNING, VALUE_UNSUPPORTED, VALUE_NOTHING};
	for (size_t i = 0; i < sizeof hows; i++) {
		uint8_t how = hows[i];
		const struct answer *a = ask(&b, &how, bed_question(VIEW_FUNCTIONS));
		const struct metric_value *v = &bed_row(a, "slow")->self_metric[ipc_of(a)];
		assert_int_equal(v->state, hows[i]);
		assert_true(isnan(v->v));
		answer_unref(a);
		bed_down(&b);
	}
}

static void test_scaled(void **state)
{
	(void)state;
	static struct bed b;
	uint8_t how = VALUE_SCALED;
	const struct answer *a = ask(&b, &how, bed_question(VIEW_FUNCTIONS));
	const struct metric_value *v = &bed_row(a, "slow")->self_metric[ipc_of(a)];
	assert_int_equal(v->state, VALUE_SCALED);
	assert_true(fabs(v->v - 0.5) < 1e-9);
	assert_true(fabsf(v->running - 0.25f) < 1e-3f);
	answer_unref(a);
	bed_down(&b);
}

/* The clock alone has no ratios. */
static void test_none(void **state)
{
	(void)state;
	static struct bed b;
	uint8_t how = VALUE_OK;
	struct query q = bed_question(VIEW_FUNCTIONS);
	q.set = 0;
	up(&b, &how);
	q.event = 0; /* the clock, which has no samples here */
	const struct answer *a = bed_ask(&b, q, 0);
	assert_int_equal(a->nmetrics, 0);
	answer_unref(a);
	bed_down(&b);
}

/* Two kinds of cores: sums over both, never one's cycles under the other's instructions. */
static void play_hybrid(struct script *s)
{
	static const char *const names[] = {"cpu_atom/cycles/u", "cpu_core/cycles/u",
					    "cpu_core/instructions/u", "cpu_atom/instructions/u",
					    "cpu_core/slots/u"};
	static const uint64_t counts[] = {1000, 3000, 9000, 500, 4};
	frame_id f = script_frame(s->tables, "f", 0x100);

	for (uint16_t i = 0; i < 5; i++) {
		struct event_desc d = {.sampled = i < 2, .leader = 1, .set = 1};
		strcpy(d.name, names[i]);
		s->sink->ops->event(s->sink->ctx, (uint16_t)(i + 1), &d);
	}
	for (int k = 0; k < 50; k++) {
		struct sample_value v[5];
		for (uint16_t i = 0; i < 5; i++)
			v[i] = (struct sample_value){
				.event = (uint16_t)(i + 1), .count = counts[i], .running = 1};
		struct raw_sample raw = {.time_ns = 1000000 + (uint64_t)k * 1000,
					 .pid = 7,
					 .tid = 7,
					 .event = 1,
					 .weight = 1000,
					 .frames = &f,
					 .nframes = 1,
					 .values = v,
					 .nvalues = 5};
		s->sink->ops->sample(s->sink->ctx, &raw);
	}
}

static void test_hybrid(void **state)
{
	static struct bed b;
	static struct event_set two[1];
	struct engine_setup setup = {.live = false, .sets = two, .nsets = 1};
	static const char text[] = "event cycles = cycles\nevent instructions = instructions\n"
				   "event slots = slots\n"
				   "metric IPC = instructions / cycles\nmeaning m\n"
				   "metric S = slots / cycles\nmeaning m\n";

	(void)state;
	b = (struct bed){.script = {.play = play_hybrid}};
	assert_int_equal(event_set_parse("t", text, &two[0], NULL), 0);
	bed_up(&b, &setup);
	const struct answer *a = bed_ask(&b, bed_question(VIEW_FUNCTIONS), 50);
	const struct row *f = bed_row(a, "f");
	assert_int_equal(a->nmetrics, 2);
	assert_true(fabs(f->self_metric[0].v - 9500.0 / 4000) < 1e-9);
	assert_true(fabs(f->self_metric[1].v - 4.0 / 3000) < 1e-9); /* the core's alone */
	answer_unref(a);
	bed_down(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),     cmocka_unit_test(test_grades),
		cmocka_unit_test(test_functions), cmocka_unit_test(test_other_views),
		cmocka_unit_test(test_unknown),   cmocka_unit_test(test_scaled),
		cmocka_unit_test(test_none),      cmocka_unit_test(test_hybrid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
