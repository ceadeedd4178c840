/* clock: real clocks advance, fake ones stand still. */
#include "base/clock.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

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

/* Whose children will have a time namespace of their own has none itself yet. */
static int clock_before_children(void)
{
	struct timespec t;
	FILE *f;

	if (unshare(CLONE_NEWTIME) || !(f = fopen("/proc/self/timens_offsets", "we")))
		return 2;
	if (fprintf(f, "monotonic 1000 0\n") < 0 || fclose(f))
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return clock_mono_ns() / 1000000000u - (uint64_t)t.tv_sec <= 100 ? 0 : 1;
}

static void test_namespace(void **state)
{
	(void)state;
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(clock_before_children());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 2)
		skip(); /* not allowed, or an old kernel */
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_namespace), /* before the clock is asked */
		cmocka_unit_test(test_advances),
		cmocka_unit_test(test_fake),
		cmocka_unit_test(test_asleep),
	};
	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
