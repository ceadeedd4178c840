/* altstack: a thread whose stack has overflowed still runs the handler that tells of it. */
#include "base/altstack.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define TOLD 7

static void tell(int number)
{
	(void)number;
	_exit(TOLD);
}

/* Until the stack is full. */
static int deep(volatile char *above, unsigned levels)
{
	volatile char room[1024];

	room[0] = *above;
	return levels ? deep(room, levels - 1) + room[0] : room[0];
}

static void *overflow(void *with)
{
	volatile char c = 0;

	if (with)
		altstack_use();
	deep(&c, 1u << 30);
	return NULL;
}

/* How a process ends of which a thread overflows. */
static int end_of(bool with)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		struct sigaction sa = {.sa_handler = tell, .sa_flags = SA_ONSTACK};
		pthread_t thread;

		sigaction(SIGSEGV, &sa, NULL);
		if (!pthread_create(&thread, NULL, overflow, with ? &sa : NULL))
			pthread_join(thread, NULL);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void test_overflow(void **state)
{
	(void)state;
	int status = end_of(true);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), TOLD);
}

static void *use_and_end(void *arg)
{
	stack_t now;

	altstack_use();
	altstack_use();
	if (!sigaltstack(NULL, &now) && !(now.ss_flags & SS_DISABLE))
		return arg;
	return NULL;
}

static void test_many_threads(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		pthread_t thread;
		void *result;
		assert_int_equal(pthread_create(&thread, NULL, use_and_end, state), 0);
		assert_int_equal(pthread_join(thread, &result), 0);
		assert_ptr_equal(result, state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_many_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
