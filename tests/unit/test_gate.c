/* gate: nobody is inside while it is closed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/gate.h"

static atomic_bool quit, in;
static atomic_uint turns;

static void *passer(void *arg)
{
	while (!quit) {
		gate_enter();
		in = true;
		for (volatile int i = 0; i < 500; i++)
			;
		in = false;
		gate_leave();
		turns++;
	}
	return arg;
}

static void nobody_inside_while_closed(void **state)
{
	pthread_t t;
	unsigned before;

	(void)state;
	pthread_create(&t, NULL, passer, NULL);
	for (int i = 0; i < 200; i++) {
		while (!turns)
			usleep(100);
		assert_true(gate_close(2000));
		before = turns;
		assert_false(in);
		usleep(200);
		assert_false(in);
		assert_true(turns - before <= 1); /* it may have left just before */
		gate_open();
	}
	before = turns;
	for (int i = 0; i < 1000 && turns == before; i++)
		usleep(1000);
	assert_true(turns > before);
	quit = true;
	pthread_join(t, NULL);
}

static void closing_does_not_wait_for_ever(void **state)
{
	(void)state;
	gate_enter();
	assert_false(gate_close(5));
	gate_leave();
	assert_true(gate_close(5));
	gate_open();
	gate_enter();
	gate_leave();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_inside_while_closed),
		cmocka_unit_test(closing_does_not_wait_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
