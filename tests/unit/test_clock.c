/* clock: real clocks advance, fake ones stand still. */
#include "base/clock.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_advances(void **state)
{
	(void)state;
	uint64_t mono = clock_mono_ns(), cpu = clock_thread_cpu_ns();
	uint64_t process = clock_process_cpu_ns();
	volatile unsigned spin = 0;
	while (clock_thread_cpu_ns() < cpu + 1000000)
		spin++;
	assert_true(clock_mono_ns() >= mono + 900000);
	assert_true(clock_process_cpu_ns() >= process + 900000);
	assert_true(clock_real_ns() > 1600000000ull * 1000000000);
}

static void test_fake(void **state)
{
	(void)state;
	clock_fake(5000, 7000);
	assert_int_equal(clock_mono_ns(), 5000);
	assert_int_equal(clock_real_ns(), 7000);
	assert_int_equal(clock_mono_ns(), 5000);
	assert_true(clock_thread_cpu_ns() > 0);
	clock_fake(0, 0);
	assert_true(clock_mono_ns() != 5000);
	assert_true(clock_real_ns() != 7000);
}

/* Two clocks cannot be read at once: the difference must not fall below 0. */
static void test_asleep(void **state)
{
	(void)state;
	uint64_t most = 0;
	for (int i = 0; i < 1000; i++) {
		uint64_t asleep = clock_asleep_ns();
		most = asleep > most ? asleep : most;
	}
	assert_true(most < UINT64_MAX / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_advances),
		cmocka_unit_test(test_fake),
		cmocka_unit_test(test_asleep),
	};
	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
