/* guard: a mapped file that shrinks is an error code; a SIGBUS elsewhere is not swallowed. */
#include "base/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PAGES 4

struct file {
	int fd;
	size_t page;
	unsigned char *map;
};

static int setup(void **state)
{
	static struct file f;
	f.page = (size_t)sysconf(_SC_PAGESIZE);
	f.fd = memfd_create("guard", MFD_CLOEXEC);
	assert_int_equal(ftruncate(f.fd, (off_t)(PAGES * f.page)), 0);
	f.map = mmap(NULL, PAGES * f.page, PROT_READ, MAP_SHARED, f.fd, 0);
	assert_ptr_not_equal(f.map, MAP_FAILED);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct file *f = *state;
	munmap(f->map, PAGES * f->page);
	close(f->fd);
	return 0;
}

static void test_copy(void **state)
{
	guard_install(); /* cmocka put a handler of its own before us */
	struct file *f = *state;
	unsigned char *out = malloc(PAGES * f->page);
	assert_int_equal(pwrite(f->fd,
				"\x7f"
				"ELF",
				4, (off_t)(3 * f->page)),
			 4);
	assert_int_equal(guard_copy(out, f->map, PAGES * f->page), 0);
	assert_memory_equal(out + 3 * f->page,
			    "\x7f"
			    "ELF",
			    4);
	assert_int_equal(ftruncate(f->fd, (off_t)f->page), 0);
	for (int i = 0; i < 3; i++) { /* again and again: the mask and the list are restored */
		assert_int_equal(guard_copy(out, f->map, PAGES * f->page), -EFAULT);
		assert_int_equal(guard_copy(out, f->map, f->page), 0);
	}
	free(out);
}

struct nested {
	struct file *f;
	int inner;
	int reached;
};

static void inner_elsewhere(void *ctx)
{
	struct nested *n = ctx;
	volatile unsigned char *p = n->f->map + 2 * n->f->page;
	n->reached = *p + 1;
}

static void outer_body(void *ctx)
{
	struct nested *n = ctx;
	n->inner = guard_call(n->f->map, n->f->page, inner_elsewhere, n); /* not its range */
	n->reached = 100;
}

static void test_nested(void **state)
{
	guard_install(); /* cmocka put a handler of its own before us */
	struct file *f = *state;
	struct nested n = {.f = f, .inner = 7};
	unsigned char byte;
	assert_int_equal(ftruncate(f->fd, (off_t)f->page), 0);
	assert_int_equal(guard_call(f->map, PAGES * f->page, outer_body, &n), -EFAULT);
	assert_int_equal(n.inner, 7); /* both were left: the fault belonged to the outer */
	assert_int_equal(n.reached, 0);
	assert_int_equal(guard_copy(&byte, f->map, 1), 0);
}

static void *fault_often(void *arg)
{
	struct file *f = arg;
	long ok = 0;
	for (int i = 0; i < 500; i++) {
		unsigned char byte;
		ok += guard_copy(&byte, f->map + 3 * f->page, 1) == -EFAULT;
	}
	return (void *)ok;
}

static void test_threads(void **state)
{
	guard_install(); /* cmocka put a handler of its own before us */
	struct file *f = *state;
	pthread_t a, b;
	void *na, *nb;
	assert_int_equal(ftruncate(f->fd, (off_t)f->page), 0);
	pthread_create(&a, NULL, fault_often, f);
	pthread_create(&b, NULL, fault_often, f);
	pthread_join(a, &na);
	pthread_join(b, &nb);
	assert_int_equal((long)na, 500);
	assert_int_equal((long)nb, 500);
}

static void crash_handler(int signo)
{
	_exit(signo == SIGBUS ? 42 : 43);
}

/* In a child: @handler is there first, one guard is used, then a fault outside any guard. */
static int status_of_fault(struct file *f, void (*handler)(int))
{
	pid_t pid = fork();
	if (!pid) {
		unsigned char byte;
		signal(SIGBUS, handler);
		guard_install();
		if (guard_copy(&byte, f->map, 1))
			_exit(1);
		volatile unsigned char *p = f->map + 3 * f->page;
		_exit(*p);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void test_elsewhere(void **state)
{
	struct file *f = *state;
	assert_int_equal(ftruncate(f->fd, (off_t)f->page), 0);
	int status = status_of_fault(f, crash_handler);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
	status = status_of_fault(f, SIG_DFL);
#ifdef __SANITIZE_ADDRESS__
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status));
#else
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
#endif
}

/* A screen comes and goes while other threads read: their guards hold, before and after. */
static void test_behind(void **state)
{
	guard_install(); /* cmocka put a handler of its own before us */
	struct file *f = *state;
	struct sigaction sa = {.sa_handler = crash_handler}, first, old;
	unsigned char byte;
	pthread_t a;
	void *n;

	sigemptyset(&sa.sa_mask);
	assert_int_equal(ftruncate(f->fd, (off_t)f->page), 0);
	pthread_create(&a, NULL, fault_often, f);
	for (int i = 0; i < 2000; i++) {
		guard_sigaction(&sa, &old);
		assert_true(old.sa_handler != crash_handler);
		guard_sigaction(&old, &first);
		assert_true(first.sa_handler == crash_handler);
	}
	pthread_join(a, &n);
	assert_int_equal((long)n, 500);
	assert_int_equal(guard_copy(&byte, f->map + 2 * f->page, 1), -EFAULT);

	pid_t pid = fork();
	if (!pid) {
		guard_sigaction(&sa, NULL);
		volatile unsigned char *p = f->map + 3 * f->page;
		_exit(*p);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nested, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_behind, setup, teardown),
	};
	return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
