/* Verdicts on waiting: what waits for a lock is told apart from what else the same function waits
 * for, whichever language's library lies between; and what has no name is no recursion, and asks
 * for no system call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "wall_parts.h"

static const struct wall_part *parts;
static unsigned nparts;

static void play(struct script *s)
{
	wall_parts_play(s, parts, nparts, true, NULL);
}

static struct bed bed;

static const struct answer *verdicts_of(const struct wall_part *all, unsigned n)
{
	parts = all;
	nparts = n;
	wall_parts_read(&bed, play);
	const struct answer *a = bed_ask(&bed, bed_question(VIEW_VERDICTS), WALL_TURNS * n);
	assert_non_null(a);
	return a;
}

static void done(const struct answer *a)
{
	answer_unref(a);
	bed_down(&bed);
}

static const struct row *verdict(const struct answer *a, const char *kind, const char *where)
{
	for (uint32_t i = 0; i < a->nrows; i++)
		if (!strcmp(a->rows[i].module, kind) && !strcmp(a->rows[i].name, where))
			return &a->rows[i];
	return NULL;
}

static void test_lock_and_sleep(void **state)
{
	static const struct wall_part mixed[] = {
		{{"hash", "work"}, 20, 0},
		{{"__gthread_mutex_lock(pthread_mutex_t*)", "std::mutex::lock()", "work"},
		 30,
		 SAMPLE_BLOCKED},
		{{"std::this_thread::sleep_for<long>()", "work"}, 50, SAMPLE_BLOCKED},
	};
	const struct answer *a = verdicts_of(mixed, 3);
	const struct row *lock = verdict(a, "lock wait", "work"),
			 *sleep = verdict(a, "waiting", "work");

	(void)state;
	assert_non_null(lock);
	assert_true(fabs(lock->total - 0.3) < 0.001 && fabs(lock->cells[0] - 1 / 0.7) < 0.01);
	assert_non_null(strstr(lock->note, "30.0 % of wall time"));
	assert_non_null(strstr(lock->note, " 100 samples"));
	assert_non_null(sleep);
	assert_true(fabs(sleep->total - 0.5) < 0.001);
	assert_non_null(strstr(sleep->note, " 100 samples"));
	done(a);
}

/* Python's lock of all and its locks for programs are made of conditions and semaphores. */
static void test_python(void **state)
{
	static const struct wall_part python[] = {
		{{"eval"}, 40, 0},
		{{"__futex_abstimed_wait_common", "pthread_cond_timedwait", "take_gil", "eval"},
		 30,
		 SAMPLE_BLOCKED},
		{{"sem_wait", "PyThread_acquire_lock_timed", "eval"}, 20, SAMPLE_BLOCKED},
		{{"pthread_cond_wait", "queue_get", "eval"}, 10, SAMPLE_BLOCKED},
	};
	const struct answer *a = verdicts_of(python, 4);

	(void)state;
	assert_non_null(verdict(a, "lock wait", "__futex_abstimed_wait_common"));
	assert_non_null(verdict(a, "lock wait", "sem_wait"));
	assert_null(verdict(a, "lock wait", "pthread_cond_wait"));
	done(a);
}

static void test_nameless(void **state)
{
	static const char *const names[] = {"[generated code]", "compare"};

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct wall_part deep = {.ms = 10};
		for (int i = 0; i < WALL_FRAMES; i++)
			deep.frames[i] = names[k];
		const struct answer *a = verdicts_of(&deep, 1);
		assert_true((verdict(a, "deep recursion", names[k]) != NULL) == (k == 1));
		assert_true((strstr(a->title, "; 1 recursive") != NULL) == (k == 1));
		done(a);
	}
}

static frame_id frame_of(struct tables *t, enum module_kind kind, const char *module,
			 const char *name, uint32_t flags)
{
	str_id file = tables_str(t, module), text = tables_str(t, name);
	module_id m = tables_module(t, &(struct module){.kind = kind, .path = file, .name = file});
	func_id func = tables_func(
		t, &(struct func){.module = m, .raw = text, .name = text, .shown = text});
	frame_id frame = tables_frame(t, &(struct frame){.module = m, .addr = 16, .flags = flags});

	tables_resolve(t, frame, &(struct loc_line){.func = func}, 1);
	return frame;
}

/* Stacks that were cut in the C library: nobody knows who called it. */
static void play_cut(struct script *s)
{
	const frame_id frames[] = {
		frame_of(s->tables, MODULE_KERNEL, "[kernel]", "vfs_write", FRAME_KERNEL),
		frame_of(s->tables, MODULE_FILE, "libc.so.6", "write", 0), FRAME_TRUNCATED};

	for (uint64_t i = 1; i <= 100; i++)
		script_sample(s, 1000 * MS + i * MS, 7, 8, MS, frames, 3);
}

static void test_cut(void **state)
{
	(void)state;
	wall_parts_read(&bed, play_cut);
	const struct answer *a = bed_ask(&bed, bed_question(VIEW_VERDICTS), 100);
	assert_non_null(a);
	assert_non_null(verdict(a, "system calls", "write"));
	assert_null(verdict(a, "system calls", "[truncated]"));
	assert_null(strstr(a->title, "[truncated]"));
	done(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock_and_sleep),
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
