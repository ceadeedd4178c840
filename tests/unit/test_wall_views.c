/* The wall clock in the engine: what Functions, Threads and Verdicts tell of one profile agrees,
 * and nothing is told of a file that does not tell who waited. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "engine_bed.h"

#define TURNS 100

/* Of each 100 ms of a thread: 30 it works under a lock, 50 it sleeps for it, 10 it has been woken
 * and waits for a CPU, 10 it hands the lock on. Another sleeps. */
static void play_turns(struct script *s, bool states)
{
	static const struct {
		const char *frames[3]; /* innermost first */
		unsigned ms;
		uint16_t flags;
	} parts[] = {{{"under_lock", "take_turns"}, 30, 0},
		     {{"futex_wait", "__lll_lock_wait", "take_turns"}, 50, SAMPLE_BLOCKED},
		     {{"futex_wait", "__lll_lock_wait", "take_turns"}, 10, 0},
		     {{"__lll_lock_wake", "pthread_rwlock_unlock", "take_turns"}, 10, 0}};
	struct event_desc d = {
		.name = "wall", .unit = EVENT_NS, .sampled = true, .states = states, .set = 1};
	uint64_t now = 1000 * MS;

	s->sink->ops->event(s->sink->ctx, 1, &d);
	for (unsigned i = 0; i < TURNS; i++)
		for (unsigned k = 0; k < sizeof parts / sizeof *parts; k++) {
			frame_id frames[3];
			uint32_t n = 0;
			for (; n < 3 && parts[k].frames[n]; n++)
				frames[n] = script_frame(s->tables, parts[k].frames[n],
							 0x1000 + 0x100 * k + 0x10 * n);
			struct raw_sample raw = {.time_ns = now += parts[k].ms * MS,
						 .pid = 7,
						 .tid = 8,
						 .event = 1,
						 .flags = parts[k].flags,
						 .weight = parts[k].ms * MS,
						 .frames = frames,
						 .nframes = n};
			s->sink->ops->sample(s->sink->ctx, &raw);
			frames[0] = script_frame(s->tables, "doze", 0x5000);
			raw.tid = 9;
			raw.flags = SAMPLE_BLOCKED;
			raw.nframes = 1;
			s->sink->ops->sample(s->sink->ctx, &raw);
		}
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

static void begin(void (*play)(struct script *s))
{
	static struct engine_setup setup;

	setup = (struct engine_setup){.live = false};
	bed = (struct bed){.script = {.play = play, .ends = true}};
	bed_up(&bed, &setup);
}

static const struct answer *ask(enum view_kind view)
{
	const struct answer *a = bed_ask(&bed, bed_question(view), 8 * TURNS);

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
	begin(play_known);
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
	begin(play_known);
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
	begin(play_unknown);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_unknown),
	};
	return cmocka_run_group_tests_name("wall_views", tests, NULL, NULL);
}
