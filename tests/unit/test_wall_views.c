/* The wall clock in the engine: what Functions, Threads and Verdicts tell of one profile agrees,
 * and nothing is told of a file that does not tell who waited. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "wall_parts.h"

/* Of each 100 ms of a thread: 30 it works under a lock, 50 it sleeps for it, 10 it has been woken
 * and waits for a CPU, 10 it hands the lock on. Another sleeps. */
static void play_turns(struct script *s, bool states)
{
	static const struct wall_part parts[] = {
		{{"under_lock", "take_turns"}, 30, 0},
		{{"futex_wait", "__lll_lock_wait", "take_turns"}, 50, SAMPLE_BLOCKED},
		{{"futex_wait", "__lll_lock_wait", "take_turns"}, 10, 0},
		{{"__lll_lock_wake", "pthread_rwlock_unlock", "take_turns"}, 10, 0}};

	wall_parts_play(s, parts, sizeof parts / sizeof *parts, states, "doze");
}

static void play_known(struct script *s)
{
	play_turns(s, true);
}

static void play_unknown(struct script *s)
{
	play_turns(s, false);
}

static struct bed bed;

static const struct answer *ask(enum view_kind view)
{
	const struct answer *a = bed_ask(&bed, bed_question(view), 8 * WALL_TURNS);

	assert_non_null(a);
	return a;
}

static const struct row *verdict(const struct answer *a, const char *kind)
{
	for (uint32_t i = 0; i < a->nrows; i++)
		if (!strcmp(a->rows[i].module, kind))
			return &a->rows[i];
	return NULL;
}

static void near(double v, double want)
{
	if (!(fabs(v - want) < 0.001))
		fail_msg("%f is not %f", v, want);
}

static void test_verdicts(void **state)
{
	(void)state;
	wall_parts_read(&bed, play_known);
	const struct answer *a = ask(VIEW_FUNCTIONS), *v = ask(VIEW_VERDICTS);
	near(bed_row(a, "__lll_lock_wait")->total, 0.3);
	const struct row *lock = verdict(v, "lock wait");
	assert_non_null(lock);
	assert_string_equal(lock->name, "futex_wait"); /* all of one module */
	near(lock->total, 0.3);
	assert_non_null(strstr(lock->note, "30.0 % of wall time"));
	assert_non_null(strstr(lock->note, " 200 samples"));
	const struct row *hot = verdict(v, "hot function");
	assert_non_null(hot);
	assert_string_equal(hot->name, "under_lock");
	near(hot->total, bed_row(a, "under_lock")->self);
	assert_non_null(strstr(hot->note, " 100 samples"));
	const struct row *waits = verdict(v, "waiting");
	assert_non_null(waits);
	assert_string_equal(waits->name, "doze");
	near(waits->total, 0.5);
	assert_true(waits->total_margin > 0);
	/* The header is of all samples, on this screen too. */
	assert_true(fabs(v->status.delivered_hz - a->status.delivered_hz) < 0.01);
	answer_unref(a);
	answer_unref(v);
	bed_down(&bed);
}

static void test_threads(void **state)
{
	(void)state;
	wall_parts_read(&bed, play_known);
	const struct answer *a = ask(VIEW_THREADS);
	for (uint32_t i = 0; i < a->nrows; i++) {
		const struct row *r = &a->rows[i];
		if (r->tid != 8 && r->tid != 9)
			continue;
		/* It ran or had no CPU: nobody knows which. */
		assert_true(r->cpu < 0 && r->user < 0 && r->system < 0 && r->ready < 0);
		near(r->blocked / (r->tid == 8 ? 0.5 : 1), 10.0 / 9.97);
	}
	answer_unref(a);
	bed_down(&bed);
}

static void test_unknown(void **state)
{
	(void)state;
	wall_parts_read(&bed, play_unknown);
	const struct answer *a = ask(VIEW_VERDICTS);
	assert_int_equal(a->nrows, 0);
	assert_non_null(strstr(a->note, "not CPU time"));
	answer_unref(a);
	a = ask(VIEW_THREADS);
	for (uint32_t i = 0; i < a->nrows; i++)
		assert_true(a->rows[i].cpu < 0 && a->rows[i].blocked < 0);
	answer_unref(a);
	bed_down(&bed);
}

/* Of a file: 300 samples each that say as much as 75 of equal weight. */
static void play_uneven(struct script *s)
{
	const char *const names[] = {"one", "other"};

	for (unsigned i = 0; i < 2; i++) {
		frame_id f = script_frame(s->tables, names[i], 0x100 * (i + 1));
		struct raw_sample raw = {.time_ns = 1000 * MS,
					 .pid = 7,
					 .tid = 8,
					 .weight = 900 * MS,
					 .hits = 300,
					 .effective = 75,
					 .frames = &f,
					 .nframes = 1};
		s->sink->ops->sample(s->sink->ctx, &raw);
	}
}

static void test_uneven(void **state)
{
	(void)state;
	wall_parts_read(&bed, play_uneven);
	const struct answer *a = bed_ask(&bed, bed_question(VIEW_FUNCTIONS), 600);
	assert_non_null(a);
	near(bed_row(a, "one")->self, 0.5);
	near(bed_row(a, "one")->self_margin, 1.96 * sqrt(0.25 / 150));
	answer_unref(a);
	bed_down(&bed);
}

/* On the CPU clock: thread 8 has 30 % of a CPU, 10 or 30 % of its time ready for one, and is put on
 * one every @run; thread 9 has a little; a third came and went. */
static uint64_t ready_ms, run_us;

static void tell(struct script *s, pid_t tid, uint64_t time_ns, uint64_t cpu_ns, uint64_t ready_ns)
{
	struct raw_account a = {.time_ns = time_ns,
				.pid = 7,
				.tid = tid,
				.cpu_ns = cpu_ns,
				.user_ns = cpu_ns,
				.ready_ns = ready_ns,
				.runs = cpu_ns / (run_us * 1000),
				.detailed = tid != 0,
				.state = 'S'};
	s->sink->ops->account(s->sink->ctx, &a);
}

static void play_cpu(struct script *s)
{
	uint64_t begin = 1000 * MS;
	frame_id f = script_frame(s->tables, "work", 0x100);
	struct raw_task main_thread = {.time_ns = begin, .pid = 7, .tid = 7, .comm = "server"};
	struct raw_task worker = {.time_ns = begin, .pid = 7, .tid = 8, .comm = "worker"};

	s->sink->ops->comm(s->sink->ctx, &main_thread);
	s->sink->ops->comm(s->sink->ctx, &worker);
	for (uint64_t i = 0; i <= 10; i++) {
		uint64_t now = begin + i * 1000 * MS;
		tell(s, 0, now, i * 310 * MS, 0);
		tell(s, 8, now, i * 300 * MS, i * ready_ms * MS);
		tell(s, 9, now, i * 10 * MS, 0);
		for (uint64_t k = 0; i < 10 && k < 31; k++)
			script_sample(s, now + k * MS, 7, k ? 8 : 9, 10 * MS, &f, 1);
	}
}

static void judge(uint64_t ready, uint64_t run, bool off, bool runs)
{
	ready_ms = ready;
	run_us = run;
	wall_parts_read(&bed, play_cpu);
	const struct answer *a = bed_ask(&bed, bed_question(VIEW_VERDICTS), 310);
	assert_non_null(a);
	const struct row *o = verdict(a, "off the CPU"), *r = verdict(a, "short runs");
	assert_int_equal(o != NULL, off);
	assert_int_equal(r != NULL, runs);
	assert_null(verdict(a, "no CPU")); /* of the wall clock alone */
	if (o) {
		assert_string_equal(o->name, "the thread worker");
		near(o->total, 1 - 0.3 - (double)ready / 1e3);
		assert_non_null(strstr(o->hint, "--clock wall"));
	}
	answer_unref(a);
	bed_down(&bed);
}

static void test_target(void **state)
{
	(void)state;
	judge(190, 1000, true, false); /* it waits for 51 % of its time */
	judge(210, 1000, false, false);
	judge(210, 190, false, true); /* 5,263 times a CPU second */
	judge(210, 210, false, false);
	judge(650, 190, false, false); /* but waits for 5 % alone */
}

/* On the wall clock: of each second thread 8 runs for 300 ms, has no CPU for some, and waits. */
static void play_ready(struct script *s)
{
	struct event_desc d = {
		.name = "wall", .unit = EVENT_NS, .sampled = true, .states = true, .set = 1};
	frame_id f = script_frame(s->tables, "work", 0x100);

	s->sink->ops->event(s->sink->ctx, 1, &d);
	for (uint64_t i = 0; i <= 10; i++) {
		uint64_t now = (1000 + i * 1000) * MS;
		tell(s, 0, now, i * 300 * MS, 0);
		tell(s, 8, now, i * 300 * MS, i * ready_ms * MS);
		for (uint64_t ms = 0; i < 10 && ms < 1000; ms += 10) {
			struct raw_sample raw = {.time_ns = now + ms * MS,
						 .pid = 7,
						 .tid = 8,
						 .event = 1,
						 .flags = ms < 300 + ready_ms ? 0 : SAMPLE_BLOCKED,
						 .weight = 10 * MS,
						 .frames = &f,
						 .nframes = 1};
			s->sink->ops->sample(s->sink->ctx, &raw);
		}
	}
}

/* A quarter of 400 samples that do not wait is at least a fifth; 23.1 % of 390 may be less. */
static void test_no_cpu(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		ready_ms = i ? 90 : 100;
		run_us = 1000;
		wall_parts_read(&bed, play_ready);
		const struct answer *a = bed_ask(&bed, bed_question(VIEW_VERDICTS), 1000);
		assert_non_null(a);
		const struct row *r = verdict(a, "no CPU");
		assert_int_equal(r != NULL, !i);
		if (r) {
			near(r->total, 0.1);
			assert_non_null(strstr(r->note, "at least 21 % of the time that is not"));
			assert_non_null(strstr(r->hint, "altpttop -a"));
		}
		answer_unref(a);
		bed_down(&bed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_unknown),  cmocka_unit_test(test_target),
		cmocka_unit_test(test_uneven),   cmocka_unit_test(test_no_cpu),
	};
	return cmocka_run_group_tests_name("wall_views", tests, NULL, NULL);
}
