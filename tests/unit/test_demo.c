/* demo: its threads are named and work, the jobs stay in their buffers, it dies with its parent. */
#include "app/demo.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* The names of @pid's threads, as one text. */
static unsigned thread_names(pid_t pid, char *out, size_t size)
{
	char path[300];
	unsigned n = 0;
	size_t at = 0;
	snprintf(path, sizeof path, "/proc/%d/task", pid);
	DIR *d = opendir(path);
	if (!d)
		return 0;
	for (struct dirent *e; (e = readdir(d));) {
		snprintf(path, sizeof path, "/proc/%d/task/%s/comm", pid, e->d_name);
		FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (!f)
			continue;
		size_t got = fread(out + at, 1, size - at - 1, f);
		at += got;
		n += got > 0;
		fclose(f);
	}
	closedir(d);
	out[at] = 0;
	return n;
}

static bool named(const char *names)
{
	return strstr(names, "http-worker-0\n") && strstr(names, "indexer\n") &&
	       strstr(names, "log-writer");
}

static void test_threads_and_death(void **state)
{
	(void)state;
	int up[2];
	char names[1024] = "";
	assert_int_equal(pipe(up), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid_t parent = fork();
	if (!parent) {
		pid_t demo = fork();
		if (!demo)
			_exit(demo_workload());
		if (write(up[1], &demo, sizeof demo) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(up[1]);
	pid_t demo = 0;
	assert_int_equal(read(up[0], &demo, sizeof demo), sizeof demo);
	close(up[0]);
	unsigned n = 0;
	/* Each thread names itself once it runs. */
	for (int i = 0; i < 500 && (n < 10 || !named(names)); i++) {
		usleep(10000);
		n = thread_names(demo, names, sizeof names);
	}
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	assert_int_equal(n, 10);
	assert_true(named(names));
	int status = 0;
	assert_int_equal(waitpid(demo, &status, 0), demo); /* it is our child now */
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_jobs(void **state)
{
	(void)state;
	static void (*const jobs[])(struct demo_thread *) = {
		demo_sort_records, demo_transform_scene, demo_compress_block,
		demo_write_log,    demo_serve_request,   demo_reindex,
	};
	struct demo_thread *t = calloc(1, sizeof *t);
	t->random = 88172645463325252ull;
	t->fd = memfd_create("demo", MFD_CLOEXEC);
	for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
		uint64_t before = t->sum;
		for (int k = 0; k < 20; k++)
			jobs[i](t);
		assert_int_not_equal(t->sum, before);
		assert_true(t->fd >= 0);
	}
	close(t->fd);
	free(t->matrices);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_threads_and_death),
	};
	return cmocka_run_group_tests_name("demo", tests, NULL, NULL);
}
