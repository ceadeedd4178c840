/* Events: readings of the whole target, metrics, reasons, and sets that were in use before. */
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

enum { CLOCK, CYCLES, INSTRUCTIONS, STALLS }; /* 0 is the script's, of set 0 */
enum { PER_S, COUNT, OVER, SAMPLES, RUNNING, CELLS };

static void count(struct script *s, uint16_t event, uint64_t second, uint64_t value, uint8_t state)
{
	struct raw_count c = {.time_ns = 3000 * MS + second * 1000 * MS,
			      .event = event,
			      .state = state,
			      .value = value,
			      .enabled_ns = second * 1000 * MS,
			      .running_ns = second * (event == INSTRUCTIONS ? 250 : 1000) * MS};

	s->sink->ops->count(s->sink->ctx, &c);
}

/* Two seconds of the clock, then four of a set in which cycles are sampled every millisecond. */
static void play(struct script *s)
{
	static const char *const names[] = {[CYCLES] = "cycles:u",
					    [INSTRUCTIONS] = "instructions:u",
					    [STALLS] = "stalled-cycles-backend:u"};
	frame_id frame = script_frame(s->tables, "f", 0x100);

	for (uint64_t i = 0; i < 100; i++)
		script_sample(s, 1000 * MS + i * 10 * MS, 7, 7, 10 * MS, &frame, 1);
	for (uint16_t i = CYCLES; i <= STALLS; i++) {
		struct event_desc d = {.sampled = i == CYCLES, .leader = CYCLES, .set = 1};
		strcpy(d.name, names[i]);
		strcpy(d.set_name, "t");
		s->sink->ops->event(s->sink->ctx, i, &d);
	}
	for (uint64_t second = 0; second <= 4; second++) {
		count(s, CYCLES, second, 7000 + second * 2000 * (second + 1), VALUE_OK);
		count(s, INSTRUCTIONS, second, second * 3000, VALUE_SCALED);
		count(s, STALLS, second, 0, VALUE_NOTHING);
	}
	/* A reading between, in which nothing had time to happen. */
	s->sink->ops->count(s->sink->ctx, &(struct raw_count){.time_ns = 7001 * MS,
							      .event = CYCLES,
							      .value = 7000 + 4 * 2000 * 5,
							      .enabled_ns = 4000 * MS,
							      .running_ns = 4000 * MS});
	for (uint64_t i = 0; i < 50; i++) {
		struct sample_value v[] = {
			{.event = CYCLES, .count = 800, .running = 1},
			{.event = INSTRUCTIONS,
			 .count = 400,
			 .running = 0.25f,
			 .state = VALUE_SCALED},
			{.event = STALLS, .running = 1},
		};
		struct raw_sample raw = {.time_ns = 3000 * MS + i * 80 * MS,
					 .pid = 7,
					 .tid = 7,
					 .event = CYCLES,
					 .weight = 800,
					 .frames = &frame,
					 .nframes = 1,
					 .values = v,
					 .nvalues = 3};
		s->sink->ops->sample(s->sink->ctx, &raw);
	}
}

/* Switches were asked of the user's code alone, where there are none. */
static void play_hidden(struct script *s)
{
	struct event_desc d = {.name = "context-switches:u", .hidden = true};
	frame_id frame = script_frame(s->tables, "f", 0x100);

	s->sink->ops->event(s->sink->ctx, 1, &d);
	for (uint64_t second = 0; second <= 4; second++)
		count(s, 1, second, 0, VALUE_OK);
	for (uint64_t i = 0; i < 50; i++) {
		struct sample_value v = {.event = 1, .running = 1};
		struct raw_sample raw = {.time_ns = 1000 * MS + i * 10 * MS,
					 .pid = 7,
					 .tid = 7,
					 .weight = 10 * MS,
					 .frames = &frame,
					 .nframes = 1,
					 .values = &v,
					 .nvalues = 1};
		s->sink->ops->sample(s->sink->ctx, &raw);
	}
}

/* Cycles at 1,000 Hz for four seconds, 4,000,000 counted; @lost_percent of the samples do not come.
 */
static unsigned lost_percent;
static bool by_period; /* every thousandth cycle is asked for, at no rate */
static void play_lossy(struct script *s)
{
	struct event_desc d = {
		.name = "cycles", .sampled = true, .leader = 1, .freq_hz = by_period ? 0 : 1000};
	frame_id frame = script_frame(s->tables, "f", 0x100);

	s->sink->ops->event(s->sink->ctx, 1, &d);
	for (uint64_t second = 0; second <= 4; second++)
		count(s, 1, second, second * 1000000, VALUE_OK);
	for (uint64_t i = 0; i < 4000 * (100 - lost_percent) / 100; i++) {
		struct raw_sample raw = {.time_ns = 3000 * MS + i * MS,
					 .pid = 7,
					 .tid = 7,
					 .event = 1,
					 .weight = 1000,
					 .frames = &frame,
					 .nframes = 1};
		s->sink->ops->sample(s->sink->ctx, &raw);
	}
}

static struct bed bed;
static struct event_set sets[1];

static int up(void **state)
{
	static const char text[] = "event c = cycles\nevent i = instructions\n"
				   "event s = stalled-cycles-backend\n"
				   "metric IPC = i / c\nmeaning Per cycle.\nnext Look.\n"
				   "metric BE% = s / c\nmeaning Stalls.\n";
	struct engine_setup setup = {.live = false, .sets = sets, .nsets = 1};

	(void)state;
	bed = (struct bed){.script = {.play = play}};
	assert_int_equal(event_set_parse("t", text, &sets[0], NULL), 0);
	bed_up(&bed, &setup);
	return 0;
}

static int down(void **state)
{
	(void)state;
	bed_down(&bed);
	return 0;
}

/* Four milliseconds say nothing per second. */
static void play_short(struct script *s)
{
	frame_id frame = script_frame(s->tables, "f", 0x100);

	script_sample(s, 1000 * MS, 7, 7, 10, &frame, 1);
	script_sample(s, 1000 * MS + 4000000, 7, 7, 10, &frame, 1);
}

/* Half a second of running, one and a half of waiting: all of it is counted. */
static void play_wall(struct script *s)
{
	struct event_desc d = {.name = "wall", .unit = EVENT_NS, .sampled = true, .set = 1};
	frame_id frame = script_frame(s->tables, "f", 0x100);

	s->sink->ops->event(s->sink->ctx, 1, &d);
	for (uint64_t i = 0; i < 100; i++) {
		struct raw_sample raw = {.time_ns = 1000 * MS + i * 10 * MS,
					 .pid = 7,
					 .tid = 7,
					 .event = 1,
					 .flags = i % 2 ? SAMPLE_BLOCKED : 0,
					 .weight = i % 2 ? 30 * MS : 10 * MS,
					 .frames = &frame,
					 .nframes = 1};
		s->sink->ops->sample(s->sink->ctx, &raw);
	}
}

static void test_wall(void **state)
{
	static struct bed b;
	struct engine_setup setup = {.live = false};

	(void)state;
	b = (struct bed){.script = {.play = play_wall}};
	bed_up(&b, &setup);
	const struct answer *a = bed_ask(&b, bed_question(VIEW_EVENTS), 100);
	assert_non_null(a);
	assert_true(bed_row(a, "wall")->cells[COUNT] == 2000.0 * MS);
	assert_true(bed_row(a, "wall")->cells[SAMPLES] == 100);
	answer_unref(a);
	bed_down(&b);
}

static void test_short(void **state)
{
	static struct bed b;
	struct engine_setup setup = {.live = false};

	(void)state;
	b = (struct bed){.script = {.play = play_short}};
	bed_up(&b, &setup);
	const struct answer *a = bed_ask(&b, bed_question(VIEW_EVENTS), 2);
	assert_non_null(a);
	assert_int_equal(a->status.covered_ns, 4000000);
	assert_true(bed_row(a, "cpu-clock")->cells[COUNT] == 20);
	assert_true(isnan(bed_row(a, "cpu-clock")->cells[PER_S]));
	assert_true(isnan(bed_row(a, "cpu-clock")->cells[OVER])); /* 0.0 it is not */
	answer_unref(a);
	bed_down(&b);
}

static const struct answer *ask(uint16_t set)
{
	struct query q = bed_question(VIEW_EVENTS);

	q.set = set;
	const struct answer *a = bed_ask(&bed, q, q.set ? 150 : 100);
	assert_non_null(a);
	return a;
}

static void test_counted(void **state)
{
	(void)state;
	const struct answer *a = ask(UINT16_MAX);
	const double *cycles = bed_row(a, "cycles:u")->cells;

	assert_int_equal(a->ncells, CELLS);
	/* What was there before the first reading is not the set's. */
	assert_true(cycles[COUNT] == 4 * 2000 * 5);
	assert_true(cycles[PER_S] == 16000); /* 4·5 − 3·4 thousand pairs in the last second */
	assert_true(cycles[SAMPLES] == 50);
	assert_true(cycles[RUNNING] == 100);
	assert_true(cycles[OVER] > 3.9 && cycles[OVER] < 4.01);
	assert_int_equal(bed_row(a, "cycles:u")->nspark, 4);
	assert_true(bed_row(a, "cycles:u")->spark[3] == 1);
	const struct row *scaled = bed_row(a, "instructions:u");
	assert_true(scaled->cells[COUNT] == 12000 && scaled->cells[RUNNING] == 25);
	assert_true(isnan(scaled->cells[SAMPLES]));
	assert_non_null(strstr(scaled->note, "scaled"));
	/* Nothing at all is not 0. */
	const struct row *nothing = bed_row(a, "stalled-cycles-backend:u");
	assert_true(isnan(nothing->cells[COUNT]) && isnan(nothing->cells[PER_S]));
	assert_non_null(strstr(nothing->note, "counted nothing"));
	answer_unref(a);
}

/* In one row nothing is of the window and nothing beside it of all the time. */
static void test_spans_of_a_row(void **state)
{
	struct query q = bed_question(VIEW_EVENTS);
	(void)state;
	q.window_ns = 1000 * MS;
	const struct answer *a = bed_ask(&bed, q, 10);
	assert_non_null(a);
	const double *cycles = bed_row(a, "cycles:u")->cells, *ipc = bed_row(a, "IPC")->cells;
	assert_true(cycles[SAMPLES] == 50 && cycles[COUNT] == 4 * 2000 * 5);
	assert_true(cycles[OVER] > 3.9);
	assert_true(ipc[OVER] < 1.01);
	const double *now = bed_row(a, "now: t")->cells;
	assert_true(now[OVER] > 3.9 && now[OVER] < 4.01 && isnan(now[COUNT]));
	const double *before = bed_row(a, "before: cpu-clock")->cells;
	assert_true(before[OVER] > 0.98 && before[OVER] < 1.01);
	answer_unref(a);
}

static void test_metrics(void **state)
{
	(void)state;
	const struct answer *a = ask(UINT16_MAX);
	const struct row *ipc = bed_row(a, "IPC"), *be = bed_row(a, "BE%");

	assert_int_equal(ipc->key.kind, ROW_METRIC);
	assert_true(fabs(ipc->cells[PER_S] - 0.5) < 1e-9);
	assert_true(fabs(ipc->cells[RUNNING] - 25) < 0.1);
	assert_string_equal(ipc->hint, "Per cycle. Look.");
	assert_non_null(strstr(ipc->note, "25 % of the time"));
	assert_true(isnan(be->cells[PER_S]));
	assert_non_null(strstr(be->note, "stalled-cycles-backend"));
	answer_unref(a);
}

/* Older sets stand below the newest, and can be asked for: nothing is mixed. */
static void test_older_set(void **state)
{
	(void)state;
	const struct answer *a = ask(UINT16_MAX);
	assert_string_equal(a->rows[0].name, "now: t");
	const struct row *older = bed_row(a, "before: cpu-clock");
	assert_non_null(older);
	assert_int_equal(older->key.b, 0);
	assert_true(bed_row(a, "cpu-clock") > older);
	/* A second of the clock in its own second, whatever else the window covers. */
	const double *clock = bed_row(a, "cpu-clock")->cells;
	assert_true(clock[SAMPLES] == 100 && clock[COUNT] == 1e9);
	assert_true(clock[OVER] > 0.98 && clock[OVER] < 1.01);
	assert_true(fabs(clock[PER_S] - 1e9) < 2e7);
	const double *ipc = bed_row(a, "IPC")->cells;
	assert_true(ipc[OVER] > 3.9 && ipc[OVER] < 4.01);
	answer_unref(a);

	a = ask(0);
	assert_string_equal(a->rows[0].name, "again: cpu-clock");
	assert_null(bed_row(a, "IPC"));
	assert_true(bed_row(a, "cycles:u") > bed_row(a, "now: t"));
	assert_string_equal(a->status.event_set, "cpu-clock");
	answer_unref(a);

	struct query q = bed_question(VIEW_FUNCTIONS);
	q.set = 0;
	a = bed_ask(&bed, q, q.set ? 150 : 100);
	assert_int_equal(bed_row(a, "f")->self_samples, 100);
	answer_unref(a);
	q.set = 1;
	a = bed_ask(&bed, q, q.set ? 150 : 100);
	assert_int_equal(bed_row(a, "f")->self_samples, 50);
	answer_unref(a);
}

static void test_hidden(void **state)
{
	static const char text[] = "event c = cpu-clock\nevent s = context-switches\nrare s\n"
				   "metric SWITCH/ms = s * 1000000 / c\nmeaning Switches.\n";
	static struct event_set set;
	static struct bed own;
	(void)state;
	assert_int_equal(event_set_parse("t", text, &set, NULL), 0);
	own = (struct bed){.script = {.play = play_hidden}};
	struct engine_setup setup = {.live = true, .sets = &set, .nsets = 1};
	bed_up(&own, &setup);
	const struct answer *a = bed_ask(&own, bed_question(VIEW_EVENTS), 50);
	assert_non_null(a);
	const struct row *r = bed_row(a, "context-switches:u"), *m = bed_row(a, "SWITCH/ms");
	assert_non_null(r);
	assert_true(isnan(r->cells[COUNT]) && isnan(r->cells[PER_S]));
	assert_string_equal(r->note, value_reason(VALUE_HIDDEN));
	assert_non_null(m);
	assert_true(isnan(m->cells[PER_S]));
	assert_int_equal(m->self_metric[0].state, VALUE_HIDDEN);
	answer_unref(a);
	const struct snapshot *s = engine_snapshot(own.engine, 0, 1000);
	assert_non_null(s);
	assert_int_equal(s->events[0].state, VALUE_OK);
	assert_int_equal(s->events[1].state, VALUE_HIDDEN);
	snapshot_unref(s);
	bed_down(&own);
}

/* A counter whose interrupts get lost counts right and is sampled wrongly. */
static void test_astray(void **state)
{
	static struct bed own;
	struct engine_setup setup = {.live = true};

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		by_period = i % 2;
		lost_percent = 10 + i / 2 * 20;
		bool astray = lost_percent > 20;

		own = (struct bed){.script = {.play = play_lossy}};
		bed_up(&own, &setup);
		const struct answer *a = bed_ask(&own, bed_question(VIEW_EVENTS),
						 40 * (100 - lost_percent));
		assert_non_null(a);
		const char *note = bed_row(a, "cycles")->note;
		assert_int_equal(strstr(note, "do not trust its shares") != NULL, astray);
		answer_unref(a);
		const struct snapshot *s = engine_snapshot(own.engine, 0, 1000);
		assert_non_null(s);
		double share = s->events[1].astray;
		assert_true(astray ? fabs(share - (100 - lost_percent) / 100.0) < 1e-9
				   : share == 0);
		snapshot_unref(s);
		bed_down(&own);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wall),    cmocka_unit_test(test_short),
		cmocka_unit_test(test_counted), cmocka_unit_test(test_spans_of_a_row),
		cmocka_unit_test(test_metrics), cmocka_unit_test(test_older_set),
		cmocka_unit_test(test_hidden),  cmocka_unit_test(test_astray),
	};
	return cmocka_run_group_tests_name("show_events", tests, up, down);
}
