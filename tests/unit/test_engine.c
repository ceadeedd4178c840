/* engine: a scripted source end to end: sink, queue, profile, answers, status, commands, leaving.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine_bed.h"

static int saved;
static int fake_save(const struct snapshot *s, const char *path, enum snapshot_format format,
		     bool replace, struct err *err)
{
	(void)format;
	if (strcmp(path, "there") == 0 && !replace)
		return err_set(err, EEXIST, "there is there");
	if (strcmp(path, "full") == 0)
		return err_set(err, ENOSPC, "the disk is full");
	saved = (int)s->ncells;
	snprintf(err->msg, sizeof err->msg, "%s", strcmp(path, "x.folded") ? "" : "a remark");
	return 0;
}

static void tear_down(struct bed *b)
{
	uint64_t start = clock_mono_ns();
	bed_down(b);
	assert_true(clock_mono_ns() - start < 3000 * MS); /* 50 ms where the CPUs are free */
}

static const struct answer *ask(struct bed *b, struct query q, uint64_t samples)
{
	const struct answer *a = bed_ask(b, q, samples);
	assert_non_null(a);
	return a;
}

/* main calls hot 60 times and cold 40 times; hot recurses once. */
static void play_two(struct script *s)
{
	frame_id in_main = script_frame(s->tables, "main", 0x100);
	frame_id hot = script_frame(s->tables, "hot", 0x200);
	frame_id cold = script_frame(s->tables, "cold", 0x300);
	uint64_t now = clock_mono_ns();
	for (int i = 0; i < 100; i++) {
		frame_id a[] = {hot, hot, in_main}, c[] = {cold, in_main};
		if (i < 60)
			script_sample(s, now + (uint64_t)i, 7, 7, MS, a, 3);
		else
			script_sample(s, now + (uint64_t)i, 7, 8, MS, c, 2);
	}
}

static void test_functions(void **state)
{
	(void)state;
	static struct bed b;
	b = (struct bed){.script = {.play = play_two}};
	struct engine_setup setup = {.live = true, .save = fake_save};
	bed_up(&b, &setup);
	const struct answer *a = ask(&b, bed_question(VIEW_FUNCTIONS), 100);
	assert_int_equal(a->nrows, 3);
	const struct row *hot = bed_row(a, "hot"), *in_main = bed_row(a, "main");
	assert_non_null(hot);
	assert_ptr_equal(hot, &a->rows[0]);
	assert_int_equal(hot->self_samples, 60);
	assert_int_equal(hot->total_samples, 60);
	assert_true(hot->self > 0.599 && hot->self < 0.601);
	assert_int_equal(in_main->self_samples, 0);
	assert_int_equal(in_main->total_samples, 100);
	assert_string_equal(hot->module, "prog");
	assert_string_equal(a->status.target, "7 prog");
	assert_string_equal(a->status.arrangement, "script");
	answer_unref(a);

	struct query q = bed_question(VIEW_FUNCTIONS);
	strcpy(q.filter, "COL");
	a = ask(&b, q, 100);
	assert_int_equal(a->nrows, 1);
	assert_string_equal(a->rows[0].name, "cold");
	answer_unref(a);

	q = bed_question(VIEW_FUNCTIONS);
	q.sort = COLUMN_NAME;
	q.max_rows = 2;
	a = ask(&b, q, 100);
	assert_int_equal(a->nrows, 3);
	assert_string_equal(a->rows[0].name, "cold");
	assert_string_equal(a->rows[1].name, "hot");
	assert_int_equal(a->rows[2].key.kind, ROW_REST);
	answer_unref(a);
	tear_down(&b);
}

/* One stack in four ends where frame pointers do. */
static void play_chains(struct script *s)
{
	frame_id hot = script_frame(s->tables, "hot", 0x2000);
	uint64_t chain[] = {0x5000}, now = clock_mono_ns() - 1000 * MS;
	const struct raw_sample cut = {
		.time_ns = now, .pid = 7, .tid = 8, .weight = MS, .user = chain, .nuser = 1};

	for (int i = 0; i < 25; i++) {
		s->sink->ops->sample(s->sink->ctx, &cut);
		for (int k = 0; k < 3; k++)
			script_sample(s, now, 7, 8, MS, &hot, 1);
	}
}

static void test_cut_advice(void **state)
{
	(void)state;
	static const enum view_kind views[] = {VIEW_FUNCTIONS, VIEW_TREE};
	static struct bed b;
	b = (struct bed){.script = {.play = play_chains}};
	struct engine_setup setup = {.live = true};
	bed_up(&b, &setup);
	for (size_t i = 0; i < 2; i++) {
		struct query q = bed_question(views[i]);
		q.flags = QUERY_EXPAND_ALL;
		const struct answer *a = ask(&b, q, 100);
		const struct row *cut = bed_row(a, i ? "[truncated] ▸ [unknown]" : "[truncated]");
		const struct row *hot = bed_row(a, "hot");
		assert_non_null(cut);
		assert_non_null(strstr(cut->hint, "25.00 % of the stacks: watch without"));
		assert_non_null(hot);
		assert_string_equal(hot->hint, "");
		answer_unref(a);
	}
	tear_down(&b);
}

/* A process that is watched by its name executes other programs, and so does one beside it. */
static void play_execs(struct script *s)
{
	const struct raw_task execs[] = {
		{.pid = 7, .tid = 7, .comm = "renamed"},
		{.pid = 8, .tid = 8, .comm = "other", .exec = true},
		{.pid = 7, .tid = 7, .comm = s->ctx, .exec = true},
	};

	for (size_t i = 0; i < 3; i++)
		s->sink->ops->comm(s->sink->ctx, &execs[i]);
	play_two(s);
}

static void shows_exec(const char *comm, uint32_t name_len, const char *target, const char *title)
{
	static struct bed b;
	b = (struct bed){.script = {.play = play_execs, .ctx = (void *)(uintptr_t)comm}};
	struct engine_setup setup = {
		.live = true, .title = "altpttop -p 7: 7 prog", .named = 7, .name_len = name_len};
	bed_up(&b, &setup);
	const struct answer *a = ask(&b, bed_question(VIEW_FUNCTIONS), 100);
	assert_string_equal(a->status.target, target);
	answer_unref(a);
	const struct snapshot *s = engine_snapshot(b.engine, 0, 1000);
	assert_non_null(s);
	assert_string_equal(s->title, title);
	snapshot_unref(s);
	tear_down(&b);
}

static void test_exec(void **state)
{
	(void)state;
	shows_exec("shares", 4, "7 shares", "altpttop -p 7: 7 prog, then shares");
	shows_exec("a\nb", 4, "7 a?b", "altpttop -p 7: 7 prog, then a?b");
	shows_exec("prog", 4, "7 prog", "altpttop -p 7: 7 prog");
	shows_exec("og", 4, "7 og", "altpttop -p 7: 7 prog, then og");
	shows_exec("shares", 40, "7 prog", "altpttop -p 7: 7 prog"); /* no such place */
}

static void test_save(void **state)
{
	(void)state;
	static struct bed b;
	b = (struct bed){.script = {.play = play_two}};
	struct engine_setup setup = {.live = true, .save = fake_save};
	struct notice n;
	bed_up(&b, &setup);
	answer_unref(ask(&b, bed_question(VIEW_FUNCTIONS), 100));

	struct command c = {.kind = COMMAND_SAVE, .text = "new.pb.gz"};
	engine_command(b.engine, &c);
	assert_true(bed_notice(&b, NOTICE_SAVED, &n));
	assert_non_null(strstr(n.text, "new.pb.gz"));
	assert_int_equal(saved, 2);
	strcpy(c.text, "there");
	engine_command(b.engine, &c);
	assert_true(bed_notice(&b, NOTICE_EXISTS, &n));
	strcpy(c.text, "full");
	engine_command(b.engine, &c);
	assert_true(bed_notice(&b, NOTICE_ERROR, &n));
	assert_string_equal(n.text, "the disk is full");
	tear_down(&b);
}

/* Two and a half seconds up to now. */
static void play_a_while(struct script *s)
{
	frame_id f = script_frame(s->tables, "f", 0x100);
	uint64_t now = clock_mono_ns();
	for (uint64_t i = 0; i <= 25; i++)
		script_sample(s, now - 2500 * MS + i * 100 * MS, 7, 7, MS, &f, 1);
}

/* The seconds that a file holds are told, not those of the window that was asked for. */
static void test_save_tells_its_span(void **state)
{
	(void)state;
	static struct bed b;
	struct engine_setup setup = {.live = true, .save = fake_save};
	struct query q = bed_question(VIEW_FUNCTIONS);
	struct command c = {.kind = COMMAND_SAVE, .text = "x.folded"};
	struct notice n;
	double s = 0;
	b = (struct bed){.script = {.play = play_a_while}};
	q.window_ns = 60000 * MS;
	bed_up(&b, &setup);
	answer_unref(ask(&b, q, 26));
	uint64_t now = clock_mono_ns();
	engine_command(b.engine, &c);
	assert_true(bed_notice(&b, NOTICE_SAVED, &n));
	assert_int_equal(sscanf(n.text, "x.folded: the last %lf s; a remark", &s), 1);
	assert_true(s >= 2.4 && s < 55);
	assert_non_null(strstr(n.text, "; a remark"));
	/* What was on a screen that was frozen a second ago. */
	c.number = now - 1000 * MS;
	strcpy(c.text, "y.pb.gz");
	engine_command(b.engine, &c);
	assert_true(bed_notice(&b, NOTICE_SAVED, &n));
	assert_non_null(strstr(n.text, " s, until the screen was frozen"));
	assert_null(strchr(n.text, ';'));
	q.window_ns = 0;
	answer_unref(ask(&b, q, 26));
	c.number = 0;
	engine_command(b.engine, &(struct command){.kind = COMMAND_MARK});
	engine_command(b.engine, &c);
	assert_true(bed_notice(&b, NOTICE_SAVED, &n));
	assert_true(strstr(n.text, " s since the mark") || strstr(n.text, ": all"));
	tear_down(&b);
}

static void test_snapshot(void **state)
{
	(void)state;
	static struct bed b;
	b = (struct bed){.script = {.play = play_two, .ends = true}};
	struct engine_setup setup = {.live = true, .save = fake_save};
	struct notice n;
	bed_up(&b, &setup);
	assert_true(bed_notice(&b, NOTICE_FINISHED, &n));
	assert_true(engine_finished(b.engine));
	assert_int_equal(engine_result(b.engine, NULL), 0);
	const struct snapshot *s = engine_snapshot(b.engine, 0, 1000);
	assert_non_null(s);
	assert_int_equal(s->nnodes, 4); /* main, main→hot, main→hot→hot, main→cold */
	assert_int_equal(s->ncells, 2);
	assert_int_equal(s->nevents, 1);
	assert_int_equal(s->events[0].samples, 100);
	assert_int_equal(s->events[0].weight, 100 * MS);
	for (uint32_t i = 0; i < s->nnodes; i++)
		assert_true(s->nodes[i].parent == SNAPSHOT_ROOT || s->nodes[i].parent < i);
	snapshot_unref(s);
	tear_down(&b);
}

/* A recording whose samples tell no time lasted as long as it says. */
static void play_timeless(struct script *s)
{
	frame_id frame = script_frame(s->tables, "main", 0x10);
	struct raw_origin origin = {.wall_start_ns = 1700000000000000000, .duration_ns = 2000 * MS};
	s->sink->ops->origin(s->sink->ctx, &origin);
	for (int i = 0; i < 50; i++)
		script_sample(s, 0, 1, 1, 10 * MS, &frame, 1);
}

static void test_timeless(void **state)
{
	(void)state;
	static struct bed b;
	b = (struct bed){.script = {.play = play_timeless, .ends = true}};
	struct engine_setup setup = {.save = fake_save};
	bed_up(&b, &setup);
	const struct answer *a = bed_ask(&b, bed_question(VIEW_FUNCTIONS), 50);
	assert_non_null(a);
	assert_int_equal(a->status.covered_ns, 2000 * MS);
	assert_int_equal(a->status.elapsed_ns, 2000 * MS);
	assert_float_equal(a->status.cpu, 0.25, 1e-9);
	answer_unref(a);
	struct query q = bed_question(VIEW_FUNCTIONS); /* there is no last second */
	q.window_ns = 1000 * MS;
	a = bed_ask(&b, q, 50);
	assert_non_null(a);
	assert_int_equal(a->status.covered_ns, 2000 * MS);
	assert_int_equal(a->status.set_covered_ns, 2000 * MS);
	answer_unref(a);
	const struct snapshot *s = engine_snapshot(b.engine, 0, 1000);
	assert_non_null(s);
	assert_int_equal(s->end_ns - s->start_ns, 2000 * MS);
	assert_int_equal(s->wall_start_ns, 1700000000000000000);
	snapshot_unref(s);
	tear_down(&b);
}

/* A recording that tells over which time it reaches, at whose end its only samples stand. */
static void play_extent(struct script *s)
{
	frame_id frame = script_frame(s->tables, "main", 0x10);
	s->sink->ops->extent(s->sink->ctx, 40 * MS, 2040 * MS);
	for (int i = 0; i < 50; i++)
		script_sample(s, (1990 + i) * MS, 1, 1, 10 * MS, &frame, 1);
}

static void test_extent(void **state)
{
	(void)state;
	static struct bed b;
	b = (struct bed){.script = {.play = play_extent, .ends = true}};
	struct engine_setup setup = {.save = fake_save};
	bed_up(&b, &setup);
	const struct answer *a = bed_ask(&b, bed_question(VIEW_FUNCTIONS), 50);
	assert_non_null(a);
	assert_int_equal(a->status.covered_ns, 2000 * MS);
	assert_int_equal(a->status.elapsed_ns, 2000 * MS);
	assert_int_equal(a->status.set_covered_ns, 2000 * MS);
	assert_float_equal(a->status.cpu, 0.25, 1e-9);
	answer_unref(a);
	a = bed_ask(&b, bed_question(VIEW_THREADS), 50);
	assert_non_null(a);
	assert_float_equal(a->rows[0].cpu, 0.25, 1e-9);
	answer_unref(a);
	const struct snapshot *s = engine_snapshot(b.engine, 0, 1000);
	assert_non_null(s);
	assert_int_equal(s->end_ns - s->start_ns, 2000 * MS);
	snapshot_unref(s);
	tear_down(&b);
}

static void assert_note(struct bed *b, struct query q, const char *note)
{
	const struct answer *a = ask(b, q, 0);
	assert_int_equal(a->nrows, 0);
	assert_string_equal(a->note, note);
	answer_unref(a);
}

/* Nothing to show: "idle" is only one of the reasons, and never a recording's. */
static void test_why_empty(void **state)
{
	(void)state;
	static struct bed b;
	b = (struct bed){.script = {.play = play_timeless, .ends = true}};
	struct engine_setup setup = {.save = fake_save};
	struct query q = bed_question(VIEW_FUNCTIONS);
	bed_up(&b, &setup);
	answer_unref(ask(&b, q, 50));
	q.flags = QUERY_NO_USER;
	assert_note(&b, q, "no samples in this window outside the hidden code");
	q.flags = 0;
	engine_command(b.engine, &(struct command){.kind = COMMAND_MARK});
	assert_note(&b, q, "no samples after the mark, which is at the recording's end");
	q.window_ns = 1000 * MS;
	assert_note(&b, q, "no samples after the mark, which is at the recording's end");
	tear_down(&b);
}

/* Once the target has ended its last second stays the last second. */
static void test_profile_outlives_target(void **state)
{
	(void)state;
	struct bed b = {.script = {.play = play_two, .ends = true}};
	struct engine_setup setup = {.live = true};
	struct notice n;
	bed_up(&b, &setup);
	assert_true(bed_notice(&b, NOTICE_FINISHED, &n));
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_sec = 2, .tv_nsec = 100 * MS},
			NULL);
	struct query q = bed_question(VIEW_FUNCTIONS);
	q.window_ns = 1000 * MS;
	const struct answer *a = ask(&b, q, 100);
	assert_int_equal(a->nrows, 3);
	assert_true(a->status.finished);
	assert_true(a->status.elapsed_ns < 2000 * MS);
	answer_unref(a);
	tear_down(&b);
}

static void play_failing(struct script *s)
{
	s->sink->ops->say(s->sink->ctx, "kernel frames are hidden");
	s->result = -EIO;
}

static void test_failing_source(void **state)
{
	(void)state;
	static struct bed b;
	b = (struct bed){.script = {.play = play_failing, .ends = true}};
	struct engine_setup setup = {.live = true, .save = fake_save};
	struct notice n;
	struct err err;
	bed_up(&b, &setup);
	assert_true(bed_notice(&b, NOTICE_WARN, &n));
	assert_string_equal(n.text, "kernel frames are hidden");
	assert_true(bed_notice(&b, NOTICE_ERROR, &n));
	assert_string_equal(n.text, "the script failed");
	assert_int_equal(engine_result(b.engine, &err), -EIO);
	const struct answer *a = ask(&b, bed_question(VIEW_FUNCTIONS), 0);
	assert_int_equal(a->nrows, 0);
	assert_string_equal(a->note, "no samples yet");
	assert_true(a->status.finished);
	answer_unref(a);
	tear_down(&b);
}

#define SENTENCES 300

static void play_talkative(struct script *s)
{
	char text[64];

	for (int i = 0; i < SENTENCES; i++) {
		snprintf(text, sizeof text, "sentence %d", i);
		s->sink->ops->say(s->sink->ctx, text);
	}
}

/* Whoever does not look gets to know the first ones, in order, and how many more there were. */
static void test_sentences_beyond_the_room(void **state)
{
	(void)state;
	static struct bed b;
	b = (struct bed){.script = {.play = play_talkative, .ends = true}};
	struct engine_setup setup = {.live = true};
	struct notice n;
	char text[64];
	unsigned told = 0, lost = 0, more;
	bed_up(&b, &setup);
	while (!engine_finished(b.engine))
		sched_yield();
	answer_unref(ask(&b, bed_question(VIEW_FUNCTIONS), 0)); /* the end was told as well */
	while (engine_notice(b.engine, &n)) {
		snprintf(text, sizeof text, "sentence %u", told);
		if (sscanf(n.text, "%u more message", &more) == 1) {
			lost += more;
			continue;
		}
		assert_string_equal(n.text, text);
		told++;
	}
	assert_in_range(told, 10, SENTENCES - 1);
	assert_int_equal(told + lost, SENTENCES + 1);
	tear_down(&b);
}

/* A recording delivers faster than the engine takes: nothing is lost, and its clock is its own. */
static void play_recording(struct script *s)
{
	frame_id in_main = script_frame(s->tables, "main", 0x100);
	for (uint64_t i = 0; i < 80000; i++) {
		frame_id f[] = {script_frame(s->tables, "f", 0x1000 + i % 64), in_main};
		script_sample(s, 1000 + i * MS / 5, 7, 7, 1, f, 2);
		if (!s->sink->ops->progress(s->sink->ctx, i, 80000))
			return;
	}
}

static void test_recording(void **state)
{
	(void)state;
	static struct bed b;
	b = (struct bed){.script = {.play = play_recording, .ends = true}};
	struct engine_setup setup = {.live = false};
	bed_up(&b, &setup);
	const struct answer *a = ask(&b, bed_question(VIEW_FUNCTIONS), 80000);
	assert_int_equal(a->status.loss[LOSS_QUEUE], 0);
	assert_int_equal(bed_row(a, "f")->self_samples, 80000);
	assert_true(a->status.recording);
	answer_unref(a);
	struct query q = bed_question(VIEW_FUNCTIONS);
	q.window_ns = 10000 * MS; /* 5,000 samples a second of recorded time */
	a = ask(&b, q, 1);
	assert_true(a->status.samples >= 49000 && a->status.samples <= 51000);
	answer_unref(a);
	tear_down(&b);
}

static char *fake_doctor(void *ctx)
{
	(void)ctx;
	usleep(300000); /* the recording is read long before */
	return strdup("perf events   yes");
}

/* Nothing moves any more when the doctor's text comes, and yet it is shown. */
static void test_doctor_of_a_recording(void **state)
{
	(void)state;
	static struct bed b;
	b = (struct bed){.script = {.play = play_two, .ends = true}};
	struct engine_setup setup = {.live = false, .doctor = fake_doctor};
	struct notice n;
	bed_up(&b, &setup);
	assert_true(bed_notice(&b, NOTICE_FINISHED, &n));
	const struct answer *a = ask(&b, bed_question(VIEW_DOCTOR), 100);
	uint64_t until = clock_mono_ns() + 20000 * MS;
	while ((!a || !a->nrows) && clock_mono_ns() < until) {
		answer_unref(a);
		usleep(10000);
		a = engine_answer(b.engine); /* without another question */
	}
	assert_non_null(a);
	assert_int_equal(a->nrows, 1);
	assert_string_equal(a->rows[0].name, "perf events   yes");
	answer_unref(a);
	tear_down(&b);
}

/* Two threads of which neither runs: 100 samples of 10 ms each in every second of either. */
static void play_waiting(struct script *s)
{
	frame_id f = script_frame(s->tables, "wait", 0x100);
	struct event_desc d = {.name = "wall", .unit = EVENT_NS, .sampled = true, .leader = 1};
	s->sink->ops->event(s->sink->ctx, 1, &d);
	for (uint64_t i = 0; i < 400; i++) {
		struct raw_sample x = {.time_ns = 1000 * MS + i / 2 * 10 * MS,
				       .pid = 7,
				       .tid = 7 + (pid_t)(i % 2),
				       .event = 1,
				       .weight = 10 * MS,
				       .hits = 1,
				       .frames = &f,
				       .nframes = 1};
		s->sink->ops->sample(s->sink->ctx, &x);
	}
}

static void test_wall_rate(void **state)
{
	(void)state;
	static struct bed b;
	b = (struct bed){.script = {.play = play_waiting, .ends = true}};
	struct engine_setup setup = {.live = false};
	bed_up(&b, &setup);
	struct query q = bed_question(VIEW_FUNCTIONS);
	q.event = 1;
	const struct answer *a = ask(&b, q, 400);
	assert_true(a->status.delivered_hz > 99.9 && a->status.delivered_hz < 100.1);
	answer_unref(a);
	tear_down(&b);
}

static void test_commands(void **state)
{
	(void)state;
	static struct bed b;
	b = (struct bed){.script = {.play = play_two}};
	struct engine_setup setup = {.live = true, .save = fake_save};
	bed_up(&b, &setup);
	answer_unref(ask(&b, bed_question(VIEW_FUNCTIONS), 100));
	struct command rate = {.kind = COMMAND_RATE, .number = 4000};
	engine_command(b.engine, &rate);
	for (int i = 0; i < 1000 && !b.script.commands; i++)
		usleep(1000);
	assert_int_equal(b.script.last.kind, SOURCE_SET_RATE);
	assert_int_equal(b.script.last.rate_hz, 4000);

	struct command mark = {.kind = COMMAND_MARK};
	engine_command(b.engine, &mark);
	const struct answer *a = ask(&b, bed_question(VIEW_FUNCTIONS), 0);
	assert_true(a->status.marked);
	assert_int_equal(a->status.samples, 0);
	answer_unref(a);
	engine_command(b.engine, &mark);
	a = ask(&b, bed_question(VIEW_FUNCTIONS), 100);
	assert_false(a->status.marked);
	answer_unref(a);
	tear_down(&b);
}

static uint64_t begin_ns;

static void account(struct script *s, uint64_t time_ns, uint64_t cpu_ns, uint64_t user_ns)
{
	struct raw_account a = {.time_ns = time_ns,
				.pid = 7,
				.cpu_ns = cpu_ns,
				.user_ns = user_ns,
				.system_ns = cpu_ns - user_ns,
				.state = 'R'};
	s->sink->ops->account(s->sink->ctx, &a);
}

/* A second of CPU time: 200 ms in the kernel below main, 300 ms in main; 500 ms of nobody. */
static void play_modes(struct script *s)
{
	frame_id in_main = script_frame(s->tables, "main", 0x100);
	frame_id sys = tables_frame(s->tables,
				    &(struct frame){.addr = 0xffff1, .flags = FRAME_KERNEL});
	struct loc_line line = {.func = script_func(s->tables, "sys")};
	tables_resolve(s->tables, sys, &line, 1);
	frame_id a[] = {sys, in_main}, c[] = {in_main};
	account(s, begin_ns, 0, 0);
	for (int i = 0; i < 500; i++) {
		bool kernel = i % 5 < 2;
		script_sample(s, begin_ns + (uint64_t)i * MS, 7, 7, MS, kernel ? a : c,
			      kernel ? 2 : 1);
	}
	account(s, begin_ns + 999 * MS, 1000 * MS, 800 * MS);
}

static const struct snapshot *hidden(struct bed *b, struct engine_setup setup, uint32_t flags)
{
	struct notice n;
	*b = (struct bed){.script = {.play = play_modes, .ends = true}};
	begin_ns = clock_mono_ns() - 2000 * MS;
	bed_up(b, &setup);
	assert_true(bed_notice(b, NOTICE_FINISHED, &n));
	struct query q = bed_question(VIEW_FUNCTIONS);
	q.flags = flags;
	const struct answer *a = ask(b, q, 500);
	assert_true(!bed_row(a, "[unsampled]") == (setup.no_kernel || setup.no_user));
	answer_unref(a);
	const struct snapshot *s = engine_snapshot(b->engine, 0, 1000);
	assert_non_null(s);
	assert_true(s->no_kernel == (flags == QUERY_NO_KERNEL));
	assert_true(s->no_user == (flags == QUERY_NO_USER));
	return s;
}

/* What -K and -U hide is in no snapshot, and is not [unsampled] either. */
static void test_hidden(void **state)
{
	(void)state;
	static struct bed b;
	const struct snapshot *s = hidden(&b, (struct engine_setup){.live = true}, 0);
	assert_int_equal(s->events[0].weight, 1000 * MS); /* 500 ms of them [unsampled] */
	snapshot_unref(s);
	tear_down(&b);

	for (int live = 0; live < 2; live++) {
		s = hidden(&b, (struct engine_setup){.live = live, .no_user = true}, QUERY_NO_USER);
		assert_int_equal(s->events[0].weight, 200 * MS);
		assert_int_equal(s->nnodes, 1); /* what called into the kernel is hidden too */
		assert_int_equal(s->nodes[0].parent, SNAPSHOT_ROOT);
		snapshot_unref(s);
		tear_down(&b);

		s = hidden(&b, (struct engine_setup){.live = live, .no_kernel = true},
			   QUERY_NO_KERNEL);
		assert_int_equal(s->events[0].weight, 300 * MS);
		assert_int_equal(s->nnodes, 1);
		snapshot_unref(s);
		tear_down(&b);
	}
	/* The screen showed the kernel's part of a recording again. */
	s = hidden(&b, (struct engine_setup){.no_kernel = true}, 0);
	assert_int_equal(s->events[0].samples, 500);
	assert_int_equal(s->nnodes, 2);
	snapshot_unref(s);
	tear_down(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_cut_advice),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_save),
		cmocka_unit_test(test_save_tells_its_span),
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_timeless),
		cmocka_unit_test(test_extent),
		cmocka_unit_test(test_why_empty),
		cmocka_unit_test(test_profile_outlives_target),
		cmocka_unit_test(test_failing_source),
		cmocka_unit_test(test_sentences_beyond_the_room),
		cmocka_unit_test(test_recording),
		cmocka_unit_test(test_doctor_of_a_recording),
		cmocka_unit_test(test_wall_rate),
		cmocka_unit_test(test_commands),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
