/* intake, lives, output: whose life an observation belongs to, queueing, losses, repeated stacks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/intake.h"
#include "engine/output.h"
#include "engine/record.h"
#include "script_source.h"

#define MS 1000000ull
#define S  1000000000ull

struct bed {
	struct tables *t;
	struct shared shared;
	struct spsc *ring;
	char said[512];
	int nsaid;
	struct intake *in;
	const struct sink *sink;
};

static void take_sentence(void *ctx, const char *sentence)
{
	struct bed *b = ctx;
	snprintf(b->said, sizeof b->said, "%s", sentence);
	b->nsaid++;
}

static void up_as(struct bed *b, size_t ring_bytes, bool live)
{
	b->t = tables_new();
	assert_int_equal(shared_init(&b->shared), 0);
	b->ring = spsc_new(ring_bytes);
	/* Live, so that a full queue drops; the made-up pids are nowhere in /proc. */
	struct intake_config config = {.tables = b->t,
				       .shared = &b->shared,
				       .ring = b->ring,
				       .say = take_sentence,
				       .say_ctx = b,
				       .live = live,
				       .max_frames = live ? 0 : 8};
	b->in = intake_new(&config);
	assert_non_null(b->in);
	b->sink = intake_sink(b->in);
	struct event_desc d = {.name = "cpu-clock", .sampled = true};
	b->sink->ops->event(b->sink->ctx, 0, &d);
}

static void up(struct bed *b, size_t ring_bytes)
{
	up_as(b, ring_bytes, true);
}

static void down(struct bed *b)
{
	intake_free(b->in);
	spsc_free(b->ring);
	shared_fini(&b->shared);
	tables_free(b->t);
}

#define PID 999999937 /* above any pid_max */

static void sample(struct bed *b, uint64_t time_ns, pid_t tid, frame_id frame)
{
	struct raw_sample raw = {
		.time_ns = time_ns, .pid = PID, .tid = tid, .frames = &frame, .nframes = 1};
	b->sink->ops->sample(b->sink->ctx, &raw);
}

static void task_event(struct bed *b, void (*tell)(void *, const struct raw_task *),
		       uint64_t time_ns, pid_t pid, pid_t tid, const char *comm)
{
	struct raw_task t = {
		.time_ns = time_ns, .pid = pid, .tid = tid, .ppid = PID, .ptid = PID, .comm = comm};
	tell(b->sink->ctx, &t);
}

/* The next sample in the queue; it stays until the call after. */
static const struct sample *next(struct bed *b)
{
	static struct {
		struct sample s;
		char rest[4096];
	} copy;
	size_t len;
	const struct record_head *head = spsc_peek(b->ring, &len);
	if (!head)
		return NULL;
	assert_int_equal(head->kind, RECORD_SAMPLE);
	assert_true(head->bytes <= sizeof copy);
	memcpy(&copy, head + 1, head->bytes);
	spsc_release(b->ring);
	return &copy.s;
}

static void test_lives(void **state)
{
	(void)state;
	struct bed b = {0};
	up(&b, 1 << 20);
	const struct sink_ops *o = b.sink->ops;
	frame_id f = script_frame(b.t, "f", 1);
	sample(&b, 1 * S, PID, f);
	sample(&b, 1 * S + 1, PID, f);
	task_id first = next(&b)->task, process = next(&b)->process;
	assert_int_equal(tables_task_get(b.t, first)->tid, PID);
	assert_int_equal(tables_task_get(b.t, process)->tid, 0);
	assert_int_equal(tables_task_get(b.t, process)->pid, PID);

	/* A thread is born, renamed, ends; its tid comes again as another. */
	task_event(&b, o->comm, 1 * S + 2, PID, PID, "server");
	task_event(&b, o->fork, 1 * S + 3, PID, PID + 1, NULL);
	sample(&b, 1 * S + 4, PID + 1, f);
	task_id thread = next(&b)->task;
	assert_int_not_equal(thread, first);
	assert_string_equal(tables_text(b.t, tables_task_get(b.t, thread)->comm), "server");
	task_event(&b, o->comm, 1 * S + 5, PID, PID + 1, "worker");
	assert_string_equal(tables_text(b.t, tables_task_get(b.t, thread)->comm), "worker");
	assert_string_equal(tables_text(b.t, tables_task_get(b.t, process)->comm), "server");
	task_event(&b, o->exit, 1 * S + 6, PID, PID + 1, NULL);
	assert_int_equal(tables_task_get(b.t, thread)->gone_ns, 1 * S + 6);
	/* Taken before it ended, delivered after: still the same life. */
	sample(&b, 1 * S + 7, PID + 1, f);
	assert_int_equal(next(&b)->task, thread);
	task_event(&b, o->fork, 1 * S + 8, PID, PID + 1, NULL);
	sample(&b, 1 * S + 9, PID + 1, f);
	task_id reborn = next(&b)->task;
	assert_int_not_equal(reborn, thread);
	assert_string_equal(tables_text(b.t, tables_task_get(b.t, thread)->comm), "worker");
	down(&b);
}

/*
 * A thread that is not the first executes a program: it gets the first one's number, whose end is
 * told before. That stays one row, however long it runs; nobody tells the end of the others.
 */
static void test_exec_by_another_thread(void **state)
{
	(void)state;
	struct bed b = {0};
	up(&b, 1 << 20);
	const struct sink_ops *o = b.sink->ops;
	frame_id f = script_frame(b.t, "f", 1);
	struct raw_task exec = {
		.time_ns = 2 * S + 1, .pid = PID, .tid = PID, .comm = "new", .exec = true};
	task_id tasks[3];
	for (pid_t i = 0; i < 3; i++) {
		task_event(&b, o->fork, 1 * S, PID, PID + i, "old");
		sample(&b, 1 * S + 1, PID + i, f);
		tasks[i] = next(&b)->task;
	}
	task_event(&b, o->exit, 2 * S, PID, PID, NULL);
	o->comm(b.sink->ctx, &exec);
	for (uint64_t s = 2; s < 10; s++) {
		sample(&b, s * S + 2, PID, f);
		assert_int_equal(next(&b)->task, tasks[0]);
	}
	assert_int_equal(tables_task_get(b.t, tasks[0])->gone_ns, 0);
	assert_string_equal(tables_text(b.t, tables_task_get(b.t, tasks[0])->comm), "new");
	assert_int_equal(tables_task_get(b.t, tasks[1])->gone_ns, 2 * S + 1);
	assert_int_equal(tables_task_get(b.t, tasks[2])->gone_ns, 2 * S + 1);
	task_event(&b, o->exit, 10 * S, PID, PID, NULL);
	assert_int_equal(tables_task_get(b.t, tasks[0])->gone_ns, 10 * S);
	/* the last of its process: that is over as well */
	sample(&b, 10 * S + 1, PID, f);
	assert_int_equal(tables_task_get(b.t, next(&b)->process)->gone_ns, 10 * S);
	down(&b);
}

static void test_tid_in_another_process(void **state)
{
	(void)state;
	struct bed b = {0};
	up(&b, 1 << 20);
	frame_id f = script_frame(b.t, "f", 1);
	sample(&b, 1 * S, PID + 5, f);
	task_id one = next(&b)->task;
	struct raw_sample raw = {
		.time_ns = 2 * S, .pid = PID + 9, .tid = PID + 5, .frames = &f, .nframes = 1};
	b.sink->ops->sample(b.sink->ctx, &raw);
	const struct sample *s = next(&b);
	assert_int_not_equal(s->task, one);
	assert_int_equal(tables_task_get(b.t, s->process)->pid, PID + 9);
	down(&b);
}

/* How much samples say comes from a file, which may claim anything. */
static void test_effective(void **state)
{
	static const struct {
		uint64_t hits;
		double told, want;
	} cases[] = {{100, 25, 25},  {100, 0.5, 0.5},    {100, 0, 100}, {100, 1e9, 100},
		     {100, -3, 100}, {100, 1e-300, 100}, {0, 7, 1},     {100, NAN, 100}};

	(void)state;
	struct bed b = {0};
	up_as(&b, 1 << 20, false);
	frame_id f = script_frame(b.t, "f", 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct raw_sample raw = {.time_ns = S,
					 .pid = 1,
					 .tid = 1,
					 .hits = cases[i].hits,
					 .effective = cases[i].told,
					 .frames = &f,
					 .nframes = 1};
		b.sink->ops->sample(b.sink->ctx, &raw);
		assert_float_equal(next(&b)->effective, cases[i].want, 1e-9);
	}
	down(&b);
}

/* Recordings: the threads of each process can be numbered anew. */
static void test_same_tids(void **state)
{
	(void)state;
	struct bed b = {0};
	up_as(&b, 1 << 20, false);
	frame_id f = script_frame(b.t, "f", 1);
	task_id tasks[3] = {0};
	for (int i = 0; i < 30; i++) {
		struct raw_sample raw = {
			.time_ns = S + i, .pid = 1 + i % 3, .tid = 7, .frames = &f, .nframes = 1};
		b.sink->ops->sample(b.sink->ctx, &raw);
		const struct sample *s = next(&b);
		assert_true(!tasks[i % 3] || tasks[i % 3] == s->task);
		tasks[i % 3] = s->task;
	}
	assert_int_equal(tables_task_get(b.t, tasks[2])->pid, 3);
	assert_int_equal(tables_task_get(b.t, tasks[2])->tid, 7);
	down(&b);
}

/* Threads that live a millisecond: told apart up to a limit, then their process stands for them. */
static void test_turnover(void **state)
{
	(void)state;
	struct bed b = {0};
	up(&b, 1 << 20);
	const struct sink_ops *o = b.sink->ops;
	frame_id f = script_frame(b.t, "f", 1);
	uint64_t now = S;
	task_id last = 0, process = 0;
	size_t half = 0;
	for (unsigned i = 0; i < LIVES_MAX + 100; i++) {
		pid_t tid = PID + 1 + (pid_t)(i % 30000);
		task_event(&b, o->fork, now, PID, tid, NULL);
		sample(&b, now + 1, tid, f);
		const struct sample *s = next(&b);
		last = s->task;
		process = s->process;
		task_event(&b, o->exit, now + 2, PID, tid, NULL);
		now += MS;
		if (i == LIVES_MAX / 2)
			half = b.shared.intake_bytes;
	}
	assert_int_equal(last, process);
	assert_in_range(tables_task_count(b.t), LIVES_MAX, LIVES_MAX + 10);
	assert_true(half > 0 && b.shared.intake_bytes <= half + (64 << 10));
	down(&b);
}

/* Processes that come and go unmet cost nothing in the end. */
static void test_unmet_processes(void **state)
{
	(void)state;
	struct bed b = {0};
	up(&b, 1 << 20);
	const struct sink_ops *o = b.sink->ops;
	frame_id f = script_frame(b.t, "f", 1);
	size_t half = 0;
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t now = S + i * 100 * MS;
		pid_t pid = PID + 1 + (pid_t)i;
		struct raw_mmap m = {.time_ns = now,
				     .pid = pid,
				     .tid = pid,
				     .start = 0x1000,
				     .size = 0x1000,
				     .prot = 5,
				     .path = "/bin/none"};
		o->mmap(b.sink->ctx, &m);
		if (i % 2)
			task_event(&b, o->exit, now + 1, pid, pid, NULL);
		sample(&b, now + 2, PID, f);
		next(&b);
		if (i == 10000)
			half = b.shared.intake_bytes;
	}
	assert_true(half > 0 && b.shared.intake_bytes <= half + (64 << 10));
	down(&b);
}

static void test_full_queue(void **state)
{
	(void)state;
	struct bed b = {0};
	up(&b, 4096);
	frame_id f = script_frame(b.t, "f", 1);
	unsigned got = 0;
	for (unsigned i = 0; i < 1000; i++)
		sample(&b, S + i, PID, f);
	while (next(&b))
		got++;
	assert_true(got > 10 && got < 1000);
	assert_int_equal(b.shared.loss[LOSS_QUEUE], 1000 - got);
	down(&b);
}

static void test_unknown_event(void **state)
{
	(void)state;
	struct bed b = {0};
	up(&b, 1 << 16);
	frame_id f = script_frame(b.t, "f", 1);
	struct raw_sample raw = {.event = 3, .pid = PID, .tid = PID, .frames = &f, .nframes = 1};
	b.sink->ops->sample(b.sink->ctx, &raw);
	raw.event = 60000;
	b.sink->ops->sample(b.sink->ctx, &raw);
	assert_null(next(&b));
	assert_int_equal(b.shared.loss[LOSS_UNKNOWN_ID], 2);
	down(&b);
}

/* Weights of a damaged recording: no sum may wrap. */
static void test_sums_hold(void **state)
{
	(void)state;
	struct bed b = {0};
	up(&b, 1 << 16);
	frame_id f = script_frame(b.t, "f", 1);
	struct sample_value v = {.event = 0, .count = UINT64_MAX - 5};
	struct raw_sample raw = {.pid = PID,
				 .tid = PID,
				 .weight = (uint64_t)-5,
				 .hits = 1,
				 .frames = &f,
				 .nframes = 1};
	b.sink->ops->sample(b.sink->ctx, &raw);
	raw.weight = 1ull << 61;
	b.sink->ops->sample(b.sink->ctx, &raw);
	raw.hits = UINT64_MAX;
	raw.weight = 1;
	b.sink->ops->sample(b.sink->ctx, &raw);
	raw.hits = 1;
	raw.values = &v;
	raw.nvalues = 1;
	b.sink->ops->sample(b.sink->ctx, &raw);
	raw.nvalues = 0;
	raw.weight = (1ull << 61) + 1;
	b.sink->ops->sample(b.sink->ctx, &raw);
	raw.weight = 7;
	b.sink->ops->sample(b.sink->ctx, &raw);
	assert_int_equal(next(&b)->weight, 1ull << 61);
	assert_int_equal(next(&b)->weight, 7);
	assert_null(next(&b));
	assert_int_equal(b.shared.loss[LOSS_BAD_RECORD], 4);
	down(&b);
}

static void test_repeated(void **state)
{
	(void)state;
	struct bed b = {0};
	up(&b, 1 << 16);
	frame_id f = script_frame(b.t, "f", 1);
	sample(&b, S, PID, f);
	next(&b);
	struct raw_sample raw = {.time_ns = S + MS,
				 .pid = PID,
				 .tid = PID,
				 .weight = 5,
				 .flags = SAMPLE_REPEATED | SAMPLE_BLOCKED};
	b.sink->ops->sample(b.sink->ctx, &raw);
	const struct sample *s = next(&b);
	assert_int_equal(s->nframes, 1);
	assert_int_equal(sample_frames(s)[0], f);
	assert_int_equal(s->weight, 5);
	down(&b);
}

/* A stack that weighs nothing yet is kept, and told by what repeats it. */
static void test_begins(void **state)
{
	(void)state;
	struct bed b = {0};
	up(&b, 1 << 16);
	frame_id f = script_frame(b.t, "f", 1), g = script_frame(b.t, "g", 2);
	sample(&b, S, PID, f);
	next(&b);
	struct raw_sample raw = {.time_ns = S + MS,
				 .pid = PID,
				 .tid = PID,
				 .frames = &g,
				 .nframes = 1,
				 .flags = SAMPLE_BEGINS};
	b.sink->ops->sample(b.sink->ctx, &raw);
	raw = (struct raw_sample){.time_ns = S + 2 * MS,
				  .pid = PID,
				  .tid = PID,
				  .weight = 7,
				  .flags = SAMPLE_REPEATED};
	b.sink->ops->sample(b.sink->ctx, &raw);
	const struct sample *s = next(&b);
	assert_int_equal(s->weight, 7);
	assert_int_equal(s->hits, 1);
	assert_int_equal(s->nframes, 1);
	assert_int_equal(sample_frames(s)[0], g);
	down(&b);
}

static void test_values_travel(void **state)
{
	(void)state;
	struct bed b = {0};
	up(&b, 1 << 16);
	frame_id f[] = {script_frame(b.t, "f", 1), script_frame(b.t, "g", 2)};
	struct sample_value v[] = {{.event = 1, .count = 77, .running = 1},
				   {.event = 2, .count = 88, .running = 0.5f}};
	struct raw_sample raw = {.time_ns = S,
				 .pid = PID,
				 .tid = PID,
				 .frames = f,
				 .nframes = 2,
				 .values = v,
				 .nvalues = 2,
				 .hits = 3};
	b.sink->ops->sample(b.sink->ctx, &raw);
	const struct sample *s = next(&b);
	assert_int_equal(s->nvalues, 2);
	assert_int_equal(sample_values(s)[1].count, 88);
	assert_int_equal(sample_frames(s)[0], f[0]);
	assert_int_equal(sample_frames(s)[1], f[1]);
	assert_int_equal(s->hits, 3);
	down(&b);
}

static void test_say_and_progress(void **state)
{
	(void)state;
	struct bed b = {0};
	up(&b, 1 << 16);
	b.sink->ops->say(b.sink->ctx, "kernel frames are hidden");
	assert_string_equal(b.said, "kernel frames are hidden");
	assert_int_equal(b.nsaid, 1);
	assert_true(b.sink->ops->progress(b.sink->ctx, 5, 10));
	assert_int_equal(b.shared.progress_done, 5);
	b.shared.cancelled = true;
	assert_false(b.sink->ops->progress(b.sink->ctx, 6, 10));
	down(&b);
}

static void test_output(void **state)
{
	(void)state;
	struct output o;
	char line[64];
	assert_int_equal(output_init(&o), 0);
	for (int i = 0; i < 100000; i++) {
		int n = snprintf(line, sizeof line, "line %d\n", i);
		output_add(&o, line, (size_t)n);
	}
	assert_true(o.used <= OUTPUT_BYTES);
	uint64_t kept = 0;
	const char *last = o.text;
	for (size_t i = 0; i < o.used; i += strlen(o.text + i) + 1) {
		last = o.text + i;
		kept++;
	}
	assert_string_equal(last, "line 99999");
	assert_int_equal(kept + o.dropped, 100000);
	assert_true(strncmp(o.text, "line ", 5) == 0);
	/* No newline in sight: broken into pieces, never beyond the buffer. */
	for (int i = 0; i < 1000000; i++)
		output_add(&o, "y", 1);
	assert_true(o.used <= OUTPUT_BYTES && o.partial <= OUTPUT_LINE);
	output_fini(&o);
}

/* A recording's stack that comes again travels as its number, and now and then as its frames. */
static void test_numbered_stacks(void **state)
{
	(void)state;
	enum { TIMES = 1000, DEEP = 2000 };
	static frame_id frames[DEEP];
	uint32_t whole = 0, cut = 0;
	struct bed b = {0};
	up_as(&b, 1 << 20, false);
	for (int i = 0; i < DEEP; i++)
		frames[i] = script_frame(b.t, "f", (uint64_t)i + 1);
	struct raw_sample raw = {.pid = PID, .tid = PID, .frames = frames, .nframes = 3};
	raw.recurring = 9;
	for (int i = 0; i < TIMES; i++) {
		b.sink->ops->sample(b.sink->ctx, &raw);
		const struct sample *s = next(&b);
		assert_int_equal(s->stack, 9);
		assert_true(i || s->nframes == 3);
		if (s->nframes)
			assert_memory_equal(sample_frames(s), frames, 3 * sizeof *frames);
		whole += s->nframes != 0;
	}
	assert_in_range(whole, 2, TIMES / 20);
	/* The number now means others. */
	raw.renumbered = true;
	raw.frames = frames + 1;
	b.sink->ops->sample(b.sink->ctx, &raw);
	const struct sample *s = next(&b);
	assert_int_equal(s->nframes, 3);
	assert_int_equal(sample_frames(s)[0], frames[1]);
	/* Beyond the numbers there are: as if it had none. */
	raw.recurring = STACKS_MAX;
	b.sink->ops->sample(b.sink->ctx, &raw);
	s = next(&b);
	assert_int_equal(s->stack, 0);
	assert_int_equal(s->nframes, 3);
	/* What is cut says so each time. */
	raw = (struct raw_sample){
		.pid = PID, .tid = PID, .frames = frames, .nframes = DEEP, .recurring = 10};
	for (int i = 0; i < 10; i++) {
		b.sink->ops->sample(b.sink->ctx, &raw);
		cut += next(&b)->cut != CUT_NONE;
	}
	assert_int_equal(cut, 10);
	down(&b);

	/* A live source has no numbers. */
	up(&b, 1 << 20);
	raw.nframes = 3;
	b.sink->ops->sample(b.sink->ctx, &raw);
	b.sink->ops->sample(b.sink->ctx, &raw);
	assert_int_equal(next(&b)->stack, 0);
	assert_int_equal(next(&b)->nframes, 3);
	down(&b);
}

/* Whether names that were recorded are a whole stack the recording's reader tells; they stay. */
static void test_recorded_cut(void **state)
{
	(void)state;
	struct bed b = {0};
	up_as(&b, 1 << 16, false);
	frame_id f = script_frame(b.t, "f", 1);
	struct raw_sample raw = {
		.pid = PID, .tid = PID, .frames = &f, .nframes = 1, .cut = CUT_NO_ROOT};
	b.sink->ops->sample(b.sink->ctx, &raw);
	const struct sample *s = next(&b);
	assert_int_equal(s->cut, CUT_NO_ROOT);
	assert_int_equal(s->nframes, 1);
	assert_int_equal(sample_frames(s)[0], f);
	down(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded_cut),
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_exec_by_another_thread),
		cmocka_unit_test(test_tid_in_another_process),
		cmocka_unit_test(test_turnover),
		cmocka_unit_test(test_same_tids),
		cmocka_unit_test(test_effective),
		cmocka_unit_test(test_full_queue),
		cmocka_unit_test(test_unmet_processes),
		cmocka_unit_test(test_unknown_event),
		cmocka_unit_test(test_sums_hold),
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_numbered_stacks),
		cmocka_unit_test(test_begins),
		cmocka_unit_test(test_values_travel),
		cmocka_unit_test(test_say_and_progress),
		cmocka_unit_test(test_output),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
