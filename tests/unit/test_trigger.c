/* trigger: an engine with a scripted target that changes its behaviour: what is saved, how often,
 * and what is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include "base/clock.h"
#include "engine_bed.h"
#include "insight/rule.h"

static struct {
	int n;
	char path[4][1024];
	double calm[4], hot[4], seconds[4];
	uint64_t start_ns[4], end_ns[4];
} saved;
static _Atomic uint64_t changed_ns[3]; /* when the scripted target became hot */

static void sum_up(const struct snapshot *s, int at)
{
	double all = 0;

	for (uint32_t i = 0; i < s->ncells; i++) {
		const struct snapshot_cell *c = &s->cells[i];
		if (c->event || c->node >= s->nnodes)
			continue;
		uint64_t addr = tables_frame_get(s->tables, s->nodes[c->node].frame)->addr;
		all += (double)c->weight;
		*(addr == 1 ? &saved.calm[at] : &saved.hot[at]) += (double)c->weight;
	}
	saved.calm[at] /= all;
	saved.hot[at] /= all;
}

static unsigned taken; /* names that are */

static int keep(const struct snapshot *s, const char *path, enum snapshot_format format,
		bool replace, struct err *err)
{
	(void)err;
	assert_false(replace);
	assert_int_equal(format, FORMAT_FOLDED);
	if (taken) { /* another profiler's file is there */
		taken--;
		return -EEXIST;
	}
	if (saved.n < 4) {
		snprintf(saved.path[saved.n], sizeof saved.path[0], "%s", path);
		saved.start_ns[saved.n] = s->start_ns;
		saved.end_ns[saved.n] = s->end_ns;
		saved.seconds[saved.n] = (double)(s->end_ns - s->start_ns) / 1e9;
		sum_up(s, saved.n);
	}
	saved.n++;
	return 0;
}

/* One sample a millisecond as it passes. */
static void play_for(struct script *s, frame_id frame, uint64_t ms, uint16_t event)
{
	uint64_t at = clock_mono_ns(), end = at + ms * MS;

	while (at < end && !script_stopped(s)) {
		struct raw_sample raw = {.time_ns = at,
					 .pid = 7,
					 .tid = 7,
					 .weight = MS,
					 .event = event,
					 .frames = &frame,
					 .nframes = 1};

		s->sink->ops->sample(s->sink->ctx, &raw);
		at += MS;
		uint64_t now = clock_mono_ns();
		if (at > now)
			usleep((useconds_t)((at - now) / 1000));
	}
}

static void play_times(struct script *s, int times)
{
	frame_id calm = script_frame(s->tables, "calm", 1);
	frame_id hot = script_frame(s->tables, "hot(int)", 2);

	for (int i = 0; i < times; i++) {
		play_for(s, calm, 1200, 0);
		changed_ns[i] = clock_mono_ns();
		play_for(s, hot, 1500, 0);
	}
	play_for(s, calm, 300, 0);
}

static void play_changes(struct script *s)
{
	play_times(s, 2);
}

static void play_thrice(struct script *s)
{
	play_times(s, 3);
}

static void play_access(struct script *s)
{
	struct event_desc d = {.name = "mem:0x10:w", .sampled = true, .leader = 1, .period = 1};
	frame_id calm = script_frame(s->tables, "calm", 1);

	s->sink->ops->event(s->sink->ctx, 1, &d);
	play_for(s, calm, 1000, 0);
	changed_ns[0] = clock_mono_ns();
	play_for(s, calm, 2, 1);
	play_for(s, calm, 1000, 0);
}

static void run(struct bed *bed, void (*play)(struct script *), const char *text, uint32_t files)
{
	static struct rule rule;
	struct err err = {0};

	memset(&saved, 0, sizeof saved);
	if (rule_parse(text, NULL, &rule, &err))
		fail_msg("%s", err.msg);
	struct engine_setup setup = {.live = true,
				     .save = keep,
				     .triggers = {.rules = &rule,
						  .nrules = 1,
						  .before_ns = 500 * MS,
						  .after_ns = 300 * MS,
						  .files = files,
						  .prefix = "/tmp/t",
						  .suffix = ".folded",
						  .format = FORMAT_FOLDED}};
	*bed = (struct bed){.script = {.play = play, .ends = true}};
	bed_up(bed, &setup);
}

static void assert_near_ms(uint64_t a, uint64_t b, uint64_t slack_ms)
{
	uint64_t off = a > b ? a - b : b - a;

	if (off > slack_ms * MS)
		fail_msg("%.0f ms apart, at most %u expected", (double)off / 1e6,
			 (unsigned)slack_ms);
}

static void a_share_trips(void **state)
{
	struct bed bed;
	struct notice n;

	(void)state;
	run(&bed, play_thrice, "self(hot*)>60% for 500ms", 1);
	assert_true(bed_notice(&bed, NOTICE_INFO, &n));
	assert_non_null(strstr(n.text, "self(hot*)>60% for 500ms holds since"));
	assert_true(bed_notice(&bed, NOTICE_SAVED, &n));
	assert_non_null(strstr(n.text, "/tmp/t-20"));
	assert_non_null(strstr(n.text, "when the trigger self(hot*)>60% for 500ms held (it was "));
	/* Then there is a file already, which is said each time. */
	for (int i = 0; i < 2; i++) {
		assert_true(bed_notice(&bed, NOTICE_WARN, &n));
		assert_non_null(strstr(n.text, "not saved, there are 1 files already"));
	}
	assert_true(bed_notice(&bed, NOTICE_FINISHED, &n));
	bed_down(&bed);
	assert_int_equal(saved.n, 1);
	assert_non_null(strstr(saved.path[0], "-1.folded"));
	/* From 0.5 s before it held to 0.3 s after it tripped, by looks of a quarter second. */
	assert_near_ms(saved.start_ns[0], changed_ns[0] - 300 * MS, 500);
	assert_true(saved.seconds[0] > 1.0 && saved.seconds[0] < 1.8);
	assert_true(saved.calm[0] > 0.05 && saved.hot[0] > 0.4);
}

static void what_is_due_later_is_saved_at_the_end(void **state)
{
	struct bed bed;
	struct notice n;

	(void)state;
	run(&bed, play_changes, "cpu>5 for 3600ms", 5); /* trips in the last second */
	assert_true(bed_notice(&bed, NOTICE_INFO, &n));
	assert_true(bed_notice(&bed, NOTICE_SAVED, &n));
	bed_down(&bed);
	assert_int_equal(saved.n, 1);
	if (saved.seconds[0] < 3.5)
		fail_msg("%g s", saved.seconds[0]);
}

static void an_access_trips(void **state)
{
	struct bed bed;
	struct notice n;

	(void)state;
	taken = 2;
	run(&bed, play_access, "mem:0x10:w", 5);
	assert_true(bed_notice(&bed, NOTICE_INFO, &n));
	assert_non_null(strstr(n.text, "mem:0x10:w holds since"));
	assert_true(bed_notice(&bed, NOTICE_SAVED, &n));
	assert_non_null(strstr(n.text, "2 accesses"));
	assert_non_null(strstr(n.text, "-3.folded: "));
	bed_down(&bed);
	assert_int_equal(saved.n, 1);
	assert_non_null(strstr(saved.path[0], "-3.folded"));
	assert_near_ms(saved.start_ns[0], changed_ns[0] - 500 * MS, 200);
	assert_near_ms(saved.end_ns[0], changed_ns[0] + 300 * MS, 200);
}

static void what_never_tripped_is_told(void **state)
{
	struct bed bed;
	struct notice n;

	(void)state;
	run(&bed, play_changes, "cpu>100000 for 100ms", 5);
	assert_true(bed_notice(&bed, NOTICE_WARN, &n));
	assert_string_equal(n.text, "trigger cpu>100000 for 100ms never held");
	bed_down(&bed);
	taken = 2;
	run(&bed, play_access, "mem:0x20:w", 5); /* not what is accessed */
	assert_true(bed_notice(&bed, NOTICE_WARN, &n));
	assert_string_equal(n.text, "trigger mem:0x20:w was never hit");
	bed_down(&bed);
}

static void nothing_trips_by_few_samples(void **state)
{
	struct bed bed;
	struct notice n;

	(void)state;
	run(&bed, play_access, "self(nothing)<=0 for 100ms", 5);
	/* The share of what is not there is 0 as soon as there are enough samples, not before. */
	assert_true(bed_notice(&bed, NOTICE_SAVED, &n));
	bed_down(&bed);
	run(&bed, play_access, "self(calm)<50% for 100ms", 5);
	assert_true(bed_notice(&bed, NOTICE_FINISHED, &n));
	bed_down(&bed);
	assert_int_equal(saved.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_share_trips),
		cmocka_unit_test(what_is_due_later_is_saved_at_the_end),
		cmocka_unit_test(an_access_trips),
		cmocka_unit_test(nothing_trips_by_few_samples),
		cmocka_unit_test(what_never_tripped_is_told),
	};
	return cmocka_run_group_tests_name("trigger", tests, NULL, NULL);
}
