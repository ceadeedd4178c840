/* callcount: calls of a child that calls at its own pace, threads that are gone, addresses nobody
 * runs. */
#include "sample/callcount.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#define CALLS_A_ROUND 100

static __attribute__((noinline)) void called(void)
{
	__asm__ volatile("" ::: "memory");
}
static __attribute__((noinline)) void never_called(void)
{
	__asm__ volatile("nop" ::: "memory");
}

/* Calls in bunches with rests, so that most of its time is not spent calling; tells how many by the
 * pipe. */
static pid_t caller(int *ret_fd)
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		for (;;) {
			for (int i = 0; i < CALLS_A_ROUND; i++)
				called();
			if (write(fds[1], "r", 1) != 1)
				_exit(0);
			nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		}
	}
	close(fds[1]);
	*ret_fd = fds[0];
	return pid;
}

static void end(pid_t pid, int fd)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
}

static uint64_t rounds_so_far(int fd)
{
	static char buf[65536];
	ssize_t n = read(fd, buf, sizeof buf);

	return n > 0 ? (uint64_t)n : 0;
}

static bool refused(int rc, const struct err *err)
{
	if (rc == -EACCES || rc == -EPERM || rc == -ENOENT || rc == -EOPNOTSUPP || rc == -ENOSPC ||
	    rc == -ENODEV) {
		assert_true(strlen(err->msg) > 10);
		print_message("[  SKIPPED ] %s\n", err->msg);
		return true;
	}
	return false;
}

static void test_counts(void **state)
{
	int fd;
	pid_t pid = caller(&fd);
	struct calls_place place = {pid, (uint64_t)(uintptr_t)called};
	struct calls_result r;
	struct err err = {0};
	int rc;

	(void)state;
	rounds_so_far(fd); /* it runs */
	rc = calls_count(&place, 1, NULL, &r, &err);
	uint64_t rounds = rounds_so_far(fd);
	end(pid, fd);
	if (refused(rc, &err))
		skip();
	assert_int_equal(rc, 0);
	assert_int_equal(r.threads, 1);
	assert_int_equal(r.unwatched, 0);
	assert_true(r.cost_ns > 0);
	/* Between two readings of the pipe there was a little more than the count. */
	assert_true(r.calls <= (rounds + 1) * CALLS_A_ROUND);
	assert_true(r.calls + 40 * CALLS_A_ROUND >= rounds * CALLS_A_ROUND);
	assert_true(r.calls > 0);
	assert_true(r.calls < CALLS_ENOUGH ? r.elapsed_ns >= CALLS_MOST_NS : true);
	assert_true(r.error > 0);
}

/* What was counted of never_called in a new caller; skips where nothing can be counted. */
static struct calls_result count_never(const atomic_bool *stop)
{
	int fd;
	pid_t pid = caller(&fd);
	struct calls_place place = {pid, (uint64_t)(uintptr_t)never_called};
	struct calls_result r;
	struct err err = {0};
	int rc = calls_count(&place, 1, stop, &r, &err);

	end(pid, fd);
	if (refused(rc, &err))
		skip();
	assert_int_equal(rc, 0);
	return r;
}

static void test_never_called(void **state)
{
	struct calls_result r = count_never(NULL);

	(void)state;
	assert_int_equal(r.calls, 0);
	assert_true(r.cpu_ns > 0);
	assert_true(r.elapsed_ns >= CALLS_MOST_NS);
}

static void test_stops(void **state)
{
	atomic_bool stop = true;
	struct calls_result r = count_never(&stop);

	(void)state;
	assert_true(r.elapsed_ns < CALLS_MOST_NS / 2);
}

static void test_gone(void **state)
{
	int fd;
	pid_t pid = caller(&fd);
	struct calls_place place = {pid, (uint64_t)(uintptr_t)called};
	struct calls_result r;
	struct err err = {0};

	(void)state;
	end(pid, fd);
	assert_int_equal(calls_count(&place, 1, NULL, &r, &err), -ESRCH);
	assert_non_null(strstr(err.msg, "no thread"));
	assert_int_equal(calls_count(NULL, 0, NULL, &r, &err), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_never_called),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
