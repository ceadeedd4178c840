/* Top-down: parts of the slots, the functions that cause them, and what is said where none is told.
 */
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

static const char set_text[] = "about Slots\n"
			       "event cycles = cycles\n"
			       "event retired = retired\n"
			       "event empty = empty\n"
			       "event wrong = wrong\n"
			       "event memory = memory\n"
			       "rare wrong\n"
			       "let total = 4 * cycles\n"
			       "let lost = empty + wrong\n"
			       "slots total\n"
			       "metric RETIRE% = 100 * retired / total\n"
			       "part retiring\ngood > 50\nbad < 20\nmeaning Useful work.\n"
			       "metric SPEC% = 100 * wrong / total\n"
			       "part bad speculation\nbad > 10\nmeaning Wrong guesses.\n"
			       "metric FRONT% = 100 * empty / total\n"
			       "part front-end bound\nbad > 25\nmeaning No instructions.\n"
			       "metric BACK% = 100 * (total - retired - lost) / total\n"
			       "part back-end bound\ngood < 20\nbad > 40\n"
			       "meaning Waits.\nnext Look at the memory.\n"
			       "metric MEM% = 100 * memory / total\n"
			       "part memory bound\nof BACK%\nbad > 20\n"
			       "meaning Waits for data.\nnext Choose the set memory.\n";

enum { CYCLES, RETIRED, EMPTY, WRONG, MEMORY, EVENTS };
#define FIRST 1 /* event 0 is the script's clock, of set 0 */
static const char *const names[EVENTS] = {"cycles:u", "retired:u", "empty:u", "wrong:u",
					  "memory:u"};

/* What one sample of each function counts: 1000 cycles, so 4000 slots. */
static const struct {
	const char *name;
	int samples;
	uint64_t counts[EVENTS];
} functions[] = {
	{"waits", 60, {1000, 400, 200, 0, 3000}}, /* 3400 of 4000 in the back end */
	{"works", 36, {1000, 3600, 100, 100, 100}},
	{"seldom", 4, {1000, 0, 4000, 0, 0}},
};

static uint8_t how; /* state of MEMORY's values */
static bool no_empty;

static void play(struct script *s)
{
	int at = 0;

	for (uint16_t i = 0; i < EVENTS; i++) {
		struct event_desc d = {.sampled = i == CYCLES, .leader = FIRST + CYCLES, .set = 1};
		strcpy(d.name, names[i]);
		s->sink->ops->event(s->sink->ctx, (uint16_t)(FIRST + i), &d);
	}
	for (int f = 0; f < 3; f++)
		for (int k = 0; k < functions[f].samples; k++) {
			frame_id frame = script_frame(s->tables, functions[f].name,
						      0x100u + (unsigned)f * 0x100u);
			struct sample_value v[EVENTS];
			for (uint16_t i = 0; i < EVENTS; i++)
				v[i] = (struct sample_value){.event = (uint16_t)(FIRST + i),
							     .running = 1,
							     .count = functions[f].counts[i]};
			v[MEMORY].state = how;
			v[MEMORY].running = how == VALUE_SCALED ? 0.5f : 1;
			if (how > VALUE_SCALED)
				v[MEMORY].count = 0;
			if (no_empty)
				v[EMPTY].count = 0;
			struct raw_sample raw = {.time_ns = 1000000 + (uint64_t)++at * 1000,
						 .pid = 7,
						 .tid = 7,
						 .event = FIRST + CYCLES,
						 .weight = 1000,
						 .frames = &frame,
						 .nframes = 1,
						 .values = v,
						 .nvalues = EVENTS};
			s->sink->ops->sample(s->sink->ctx, &raw);
		}
}

static struct event_set sets[4];
static size_t nsets = 2;
static struct bed bed;

static void up(const char *text, bool live)
{
	struct err err = {0};
	struct engine_setup setup = {.live = live, .sets = sets, .nsets = nsets, .event_set = "t"};

	bed = (struct bed){.script = {.play = play}};
	if (event_set_parse("t", text, &sets[0], &err))
		fail_msg("%s", err.msg);
	assert_int_equal(event_set_parse("other",
					 "event f = page-faults\nmetric F = f\nmeaning m\n",
					 &sets[1], NULL),
			 0);
	bed_up(&bed, &setup);
}

static const struct answer *ask(uint32_t flags)
{
	struct query q = bed_question(VIEW_TOPDOWN);

	q.flags = flags;
	const struct answer *a = bed_ask(&bed, q, 100);
	assert_non_null(a);
	return a;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

/* The row of a function under the part @part. */
static const struct row *under(const struct answer *a, const char *part, const char *name)
{
	uint32_t i = 0;

	while (i < a->nrows && strcmp(a->rows[i].name, part))
		i++;
	for (uint16_t depth = a->rows[i].depth; ++i < a->nrows && a->rows[i].depth > depth;)
		if (a->rows[i].depth == depth + 1 && strcmp(a->rows[i].name, name) == 0)
			return &a->rows[i];
	return NULL;
}

static void test_parts(void **state)
{
	static const struct {
		const char *name;
		double percent;
		int depth, grade;
	} want[] = {
		/* Of 400,000 slots: 60 × 400 + 36 × 3600 retired; 60 × 200 + 36 × 100 + 4 × 4000
		 * empty; 36 × 100 wrong; the rest waited, of them 60 × 3000 + 36 × 100 for memory.
		 */
		{"retiring", 38.4, 0, 2},
		{"bad speculation", 0.9, 0, 2},
		{"front-end bound", 7.9, 0, 2},
		{"back-end bound", 52.8, 0, 3},
	};

	(void)state;
	how = VALUE_OK;
	up(set_text, false);
	const struct answer *a = ask(0);
	assert_int_equal(a->nrows, 4);
	for (int i = 0; i < 4; i++) {
		const struct row *r = &a->rows[i];
		assert_string_equal(r->name, want[i].name);
		assert_int_equal(r->key.kind, ROW_METRIC);
		assert_int_equal(r->depth, want[i].depth);
		assert_true(near(r->self_metric[0].v, want[i].percent));
		assert_true(near(r->total, want[i].percent / 100));
		assert_int_equal(r->self_metric[0].grade, want[i].grade);
		assert_int_equal(r->flags & (ROW_EXPANDABLE | ROW_EXPANDED), ROW_EXPANDABLE);
	}
	/* The sentence names the part, what it mostly is, and the next step of that. */
	assert_non_null(strstr(a->title, "back-end bound 52.8 %, mostly memory bound"));
	assert_non_null(strstr(a->title, "Choose the set memory."));
	assert_string_equal(a->rows[3].hint, "Waits. Look at the memory.");
	answer_unref(a);
	bed_down(&bed);
}

static void test_causes(void **state)
{
	(void)state;
	how = VALUE_OK;
	up(set_text, false);
	const struct answer *a = ask(QUERY_EXPAND_ALL);
	/* Back end: waits 60 × 3400, works 36 × 200 of 211,200 slots. */
	const struct row *waits = under(a, "back-end bound", "waits");
	const struct row *works = under(a, "back-end bound", "works");
	assert_true(waits && works && waits < works);
	assert_true(near(waits->cells[0], 100.0 * 204000 / 211200));
	assert_true(near(waits->cells[1], 85));
	assert_true(near(waits->total, 204000.0 / 400000));
	assert_true(near(works->cells[0], 100.0 * 7200 / 211200));
	assert_int_equal(waits->key.kind, ROW_FUNCTION);
	assert_null(under(a, "back-end bound", "seldom"));
	/* Level 2 stands under its part, with its own causes. */
	const struct row *memory = under(a, "back-end bound", "memory bound");
	assert_non_null(memory);
	assert_true(near(memory->self_metric[0].v, 100.0 * 183600 / 400000));
	assert_int_equal(under(a, "memory bound", "waits")->depth, 2);
	/* Most of the empty slots are in a function with too few samples to be ranked. */
	const struct row *first = under(a, "front-end bound", "waits");
	const struct row *seldom = under(a, "front-end bound", "seldom");
	assert_true(first && seldom && first < seldom);
	assert_true(seldom->cells[0] > first->cells[0]);
	assert_true(seldom->flags & ROW_UNRANKED);
	assert_false(first->flags & ROW_UNRANKED);
	answer_unref(a);

	/* One part opened by its key. */
	struct row_key open = {.kind = ROW_METRIC, .a = 1};
	struct query q = bed_question(VIEW_TOPDOWN);
	q.expanded = &open;
	q.nexpanded = 1;
	a = bed_ask(&bed, q, 100);
	assert_true(a->rows[0].flags & ROW_EXPANDED);
	assert_non_null(under(a, "retiring", "works"));
	assert_null(under(a, "back-end bound", "waits"));
	answer_unref(a);
	bed_down(&bed);
}

/* Unknown is not 0, and does not spoil what is known. */
static void test_unknown(void **state)
{
	static const struct {
		uint8_t how;
		const char *reason;
	} cases[] = {
		{VALUE_UNSUPPORTED, "no such event (memory)"},
		{VALUE_NOT_RUNNING, "never got a counter (memory)"},
		{VALUE_SCALED, "50 % of the time"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		how = cases[i].how;
		up(set_text, false);
		const struct answer *a = ask(QUERY_EXPAND_ALL);
		const struct row *r = under(a, "back-end bound", "memory bound");
		assert_int_equal(r->self_metric[0].state, how);
		assert_non_null(strstr(r->note, cases[i].reason));
		assert_true(isnan(r->self_metric[0].v) == (how != VALUE_SCALED));
		assert_true((under(a, "memory bound", "waits") != NULL) == (how == VALUE_SCALED));
		assert_true(near(bed_row(a, "back-end bound")->self_metric[0].v, 52.8));
		answer_unref(a);
		bed_down(&bed);
	}
	/* What never counted is no 0 % front end, and takes the back end along. */
	how = VALUE_OK;
	no_empty = true;
	up(set_text, false);
	const struct answer *a = ask(0);
	assert_int_equal(bed_row(a, "front-end bound")->self_metric[0].state, VALUE_NOTHING);
	assert_non_null(strstr(bed_row(a, "front-end bound")->note, "counted nothing"));
	assert_int_equal(bed_row(a, "back-end bound")->self_metric[0].state, VALUE_NOTHING);
	assert_true(near(bed_row(a, "retiring")->self_metric[0].v, 38.4));
	answer_unref(a);
	bed_down(&bed);
	no_empty = false;
}

/* A set that tells only stalls says what the parts leave over. */
static void test_rest(void **state)
{
	static const char text[] = "event cycles = cycles\nevent empty = empty\n"
				   "slots 4 * cycles\nrest retiring or bad speculation\n"
				   "metric FRONT% = 100 * empty / (4 * cycles)\n"
				   "part front-end bound\nmeaning m\n";

	(void)state;
	how = VALUE_OK;
	up(text, false);
	const struct answer *a = ask(0);
	assert_true(near(bed_row(a, "retiring or bad speculation")->total, 1 - 0.079));
	answer_unref(a);
	bed_down(&bed);
	no_empty = true;
	up(text, false);
	a = ask(0);
	const struct row *rest = bed_row(a, "retiring or bad speculation");
	assert_int_equal(rest->self_metric[0].state, VALUE_NONE);
	answer_unref(a);
	bed_down(&bed);
	no_empty = false;
}

/* Parts that exceed the whole leave nothing, not less. */
static void test_no_rest(void **state)
{
	static const char text[] = "event cycles = cycles\nevent empty = empty\n"
				   "slots 4 * cycles\nrest retiring\n"
				   "metric FRONT% = 1500 * empty / (4 * cycles)\n"
				   "part front-end bound\nmeaning m\n";

	(void)state;
	how = VALUE_OK;
	up(text, false);
	const struct answer *a = ask(0);
	const struct row *rest = bed_row(a, "retiring");
	assert_true(rest->self_metric[0].v == 0 && rest->total == 0);
	assert_non_null(strstr(rest->note, "add up to 118"));
	answer_unref(a);
	bed_down(&bed);
}

/* Events that tell nothing of slots: what would, and why it cannot be had. */
static void test_offer(void **state)
{
	static const char text[] = "about Nowhere\ncpu nosuchcpu\nevent a = nosuch:event\n"
				   "slots a\nmetric A% = a / a\npart all\nmeaning m\n";
	static const char software[] = "about Faults as slots\nevent a = page-faults\n"
				       "slots a\nmetric A% = a / a\npart all\nmeaning m\n";
	bool said = false;

	(void)state;
	how = VALUE_OK;
	up(text, true);
	const struct answer *a = ask(0);
	assert_non_null(strstr(a->rows[0].name, "t: that does not tell"));
	assert_non_null(strstr(a->rows[1].name, "No set that does fits"));
	assert_non_null(strstr(a->rows[2].name, "t: it is for nosuchcpu"));
	answer_unref(a);
	bed_down(&bed);

	/* Several with one reason: it is said once, and names stand together. */
	const struct event_set first = sets[0];
	sets[2] = sets[3] = first;
	strcpy(sets[2].name, "u");
	strcpy(sets[3].name, "v");
	nsets = 4;
	up(text, true);
	a = ask(0);
	assert_non_null(strstr(a->rows[2].name, "this CPU is "));
	assert_non_null(strstr(a->rows[3].name, "t: it is for nosuchcpu"));
	assert_non_null(strstr(a->rows[4].name, "u: it is for nosuchcpu"));
	assert_non_null(strstr(a->rows[5].name, "v: it is for nosuchcpu"));
	for (uint32_t i = 3; i < a->nrows; i++)
		assert_null(strstr(a->rows[i].name, "this CPU"));
	answer_unref(a);
	bed_down(&bed);
	nsets = 2;

	/* This one fits wherever perf works at all. */
	up(software, true);
	a = ask(0);
	for (uint32_t i = 0; i < a->nrows; i++)
		said |= strstr(a->rows[i].name, "t: Faults as slots") != NULL;
	assert_true(said || strstr(a->rows[1].name, "No set"));
	answer_unref(a);
	bed_down(&bed);
}

static void test_other_spellings(void **state)
{
	(void)state;
	assert_true(metrics_same_event("slots", "cpu/slots/"));
	assert_true(metrics_same_event("cpu_core/topdown-retiring/u", "topdown-retiring"));
	assert_true(metrics_same_event("uops_issued.any:u", "UOPS_ISSUED:ANY"));
	assert_true(metrics_same_event("skl::UOPS_ISSUED:ANY", "UOPS_ISSUED:ANY"));
	assert_false(metrics_same_event("cpu/event=0x3c/", "event=0x3c"));
	assert_false(metrics_same_event("cpu/slots/", "topdown-retiring"));
	assert_false(metrics_same_event("skl::", ""));
	assert_true(metrics_same_event("cpu_atom/cycles:ppp/", "cycles"));
	assert_true(metrics_same_event("cpu_atom/cycles/uP", "cycles:k"));
	assert_false(metrics_same_event("cpu_atom/cycles,name=x/", "cycles"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),           cmocka_unit_test(test_causes),
		cmocka_unit_test(test_unknown),         cmocka_unit_test(test_rest),
		cmocka_unit_test(test_no_rest),         cmocka_unit_test(test_offer),
		cmocka_unit_test(test_other_spellings),
	};
	return cmocka_run_group_tests_name("topdown", tests, NULL, NULL);
}
