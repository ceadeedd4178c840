/* wants: who waits until nothing is wanted any more waits no longer than that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>

#include "symbol/wants.h"

#define REST_MS 20000 /* the worker's, when it finds nothing */

struct worker {
	struct wants *wants;
	atomic_bool rested;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	frame_id frame;

	while (wants_take(w->wants, REST_MS, &frame) == WANT_NAME)
		wants_named(w->wants, frame, false);
	atomic_store(&w->rested, true);
	return NULL;
}

/* A frame that was asked for twice is skipped the second time, and that was all. */
static void test_asked_twice(void **state)
{
	struct worker w = {.wants = wants_new()};
	const frame_id frames[] = {5, 5, 5};
	pthread_t thread;

	(void)state;
	for (int round = 0; round < 200; round++) {
		atomic_store(&w.rested, false);
		wants_add(w.wants, frames, 3);
		wants_again(w.wants, 5);
		wants_add(w.wants, frames, 3);
		assert_int_equal(pthread_create(&thread, NULL, work, &w), 0);
		assert_true(wants_settle(w.wants, 3 * REST_MS));
		assert_false(atomic_load(&w.rested));
		wants_wake(w.wants);
		pthread_join(thread, NULL);
		wants_free(w.wants);
		w.wants = wants_new();
	}
	wants_free(w.wants);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_asked_twice)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
