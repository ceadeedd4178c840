/* use: the target's CPU time in the header where that of some processes is told by nobody: whole
 * CPUs are sampled, and processes come and go between two looks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/clock.h"
#include "engine_bed.h"

static void tell(struct script *s, uint64_t time_ns, pid_t pid, uint64_t cpu_ns)
{
	struct raw_account a = {.time_ns = time_ns, .pid = pid, .cpu_ns = cpu_ns, .state = 'R'};
	s->sink->ops->account(s->sink->ctx, &a);
}

/* For a second, each for every 20 ms: 7 uses a tenth of a CPU and is accounted, @others are not. */
static void play(struct script *s, uint16_t event, int others)
{
	frame_id frame = script_frame(s->tables, "main", 0x10);
	uint64_t from = clock_mono_ns() - 1000 * MS;

	for (uint64_t i = 0; i <= 50; i++) {
		uint64_t now = from + i * 20 * MS;
		tell(s, now, 7, 1000 * MS + i * 2 * MS);
		for (pid_t k = 0; k <= others; k++) {
			struct raw_sample x = {.time_ns = now,
					       .pid = k ? 1000 + (pid_t)i : 7,
					       .tid = k ? 1000 + (pid_t)i : 7,
					       .event = event,
					       .weight = 2 * MS,
					       .hits = 1,
					       .frames = &frame,
					       .nframes = 1};
			s->sink->ops->sample(s->sink->ctx, &x);
		}
	}
}

static void play_alone(struct script *s)
{
	play(s, 0, 0);
}

static void play_crowd(struct script *s)
{
	play(s, 0, 4);
}

static void announce_cycles(struct script *s)
{
	struct event_desc d = {.name = "cycles", .unit = EVENT_COUNT, .sampled = true, .leader = 1};
	s->sink->ops->event(s->sink->ctx, 1, &d);
}

static void play_cycles_alone(struct script *s)
{
	announce_cycles(s);
	play(s, 1, 0);
}

static void play_cycles_crowd(struct script *s)
{
	announce_cycles(s);
	play(s, 1, 4);
}

static struct answer_status status_of(void (*how)(struct script *s), uint16_t event)
{
	static struct bed b;
	struct engine_setup setup = {.live = true};
	struct query q = bed_question(VIEW_FUNCTIONS);
	struct notice n;

	b = (struct bed){.script = {.play = how, .ends = true}};
	q.event = event;
	bed_up(&b, &setup);
	assert_true(bed_notice(&b, NOTICE_FINISHED, &n));
	const struct answer *a = bed_ask(&b, q, 51);
	assert_non_null(a);
	struct answer_status s = a->status;
	answer_unref(a);
	bed_down(&b);
	return s;
}

static void test_clock(void **state)
{
	(void)state;
	struct answer_status s = status_of(play_alone, UINT16_MAX);
	assert_true(s.cpu > 0.09 && s.cpu < 0.11);
	assert_true(s.delivered_hz > 450 && s.delivered_hz < 550);
	s = status_of(play_crowd, UINT16_MAX); /* five times as much, by the samples */
	assert_true(s.cpu > 0.45 && s.cpu < 0.55);
	assert_true(s.delivered_hz > 450 && s.delivered_hz < 550);
}

static void test_other_event(void **state)
{
	(void)state;
	struct answer_status s = status_of(play_cycles_alone, 1);
	assert_true(s.cpu > 0.09 && s.cpu < 0.11);
	assert_true(s.delivered_hz > 450 && s.delivered_hz < 550);
	s = status_of(play_cycles_crowd, 1);
	assert_true(s.cpu < 0); /* unknown */
	assert_true(s.delivered_hz < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_other_event),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
