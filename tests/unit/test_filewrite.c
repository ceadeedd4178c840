/* filewrite: whole or not at all, never over a file unasked, links and devices, sentences. */
#include "base/filewrite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char dir[64], path[128];

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/altpttop-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/out.csv", dir);
	return 0;
}

/* Everything in the directory is removed; returns how many entries there were. */
static unsigned empty_dir(void)
{
	unsigned n = 0;
	DIR *d = opendir(dir);
	for (struct dirent *e; (e = readdir(d));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		unlinkat(dirfd(d), e->d_name, 0);
		n++;
	}
	closedir(d);
	return n;
}

static int teardown(void **state)
{
	(void)state;
	empty_dir();
	return rmdir(dir);
}

static void assert_holds(const char *file, const char *text)
{
	char got[256] = {0};
	int fd = open(file, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof got - 1), strlen(text));
	close(fd);
	assert_string_equal(got, text);
}

static void test_creates(void **state)
{
	(void)state;
	struct err e = {0};
	struct filewrite w;
	struct stat st;
	mode_t mask = umask(027);
	assert_int_equal(filewrite_open(&w, path, false, &e), 0);
	umask(mask);
	filewrite_add(&w, "function,", 9);
	assert_int_not_equal(access(path, F_OK), 0); /* not before it is whole */
	filewrite_add(&w, "module\n", 7);
	assert_int_equal(filewrite_commit(&w, &e), 0);
	assert_holds(path, "function,module\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(empty_dir(), 1); /* no temporary left */
}

static void test_big(void **state)
{
	(void)state;
	struct err e;
	struct filewrite w;
	struct stat st;
	static unsigned char block[100000];
	assert_int_equal(filewrite_open(&w, path, false, &e), 0);
	for (size_t n = 0, i = 0; i < 50; i++, n = (n * 7 + 1234) % sizeof block) {
		memset(block, (int)i, sizeof block);
		filewrite_add(&w, block, n);
	}
	unsigned long long expected = w.bytes + w.used;
	assert_int_equal(filewrite_commit(&w, &e), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal((unsigned long long)st.st_size, expected);
	assert_true(expected > 1000000);
}

static void test_replaces_only_when_told(void **state)
{
	(void)state;
	struct err e;
	struct stat st;
	assert_int_equal(filewrite_all(path, false, "old", 3, &e), 0);
	chmod(path, 0600);
	assert_int_equal(filewrite_all(path, false, "new", 3, &e), -EEXIST);
	assert_non_null(strstr(e.msg, "exists already"));
	assert_holds(path, "old");
	assert_int_equal(filewrite_all(path, true, "new", 3, &e), 0);
	assert_holds(path, "new");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(empty_dir(), 1);
}

/* A file that appears between opening and committing survives. */
static void test_appears_meanwhile(void **state)
{
	(void)state;
	struct err e;
	struct filewrite w;
	assert_int_equal(filewrite_open(&w, path, false, &e), 0);
	filewrite_add(&w, "mine", 4);
	assert_int_equal(filewrite_all(path, false, "theirs", 6, &e), 0);
	assert_int_equal(filewrite_commit(&w, &e), -EEXIST);
	assert_holds(path, "theirs");
	assert_int_equal(empty_dir(), 1);
}

static void test_abort(void **state)
{
	(void)state;
	struct err e;
	struct filewrite w;
	assert_int_equal(filewrite_all(path, false, "old", 3, &e), 0);
	assert_int_equal(filewrite_open(&w, path, true, &e), 0);
	filewrite_add(&w, "half", 4);
	filewrite_abort(&w);
	filewrite_abort(&w);
	assert_holds(path, "old");
	assert_int_equal(empty_dir(), 1);
	assert_int_equal(filewrite_commit(&w, &e), -EBADF);
}

static void test_links(void **state)
{
	(void)state;
	struct err e;
	char link[160];
	struct stat st;
	snprintf(link, sizeof link, "%s/link", dir);
	assert_int_equal(symlink("out.csv", link), 0);
	assert_int_equal(filewrite_all(link, true, "x", 1, &e), -ENOENT);
	assert_non_null(strstr(e.msg, "link leads nowhere"));
	assert_int_equal(filewrite_all(path, false, "old", 3, &e), 0);
	assert_int_equal(filewrite_all(link, true, "new", 3, &e), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_holds(path, "new");
}

static void test_devices(void **state)
{
	(void)state;
	struct err e = {0};
	assert_int_equal(filewrite_all("/dev/null", false, "x", 1, &e), 0);
	int rc = filewrite_all("/dev/full", false, "x", 1, &e);
	assert_int_equal(rc, -ENOSPC);
	assert_int_equal(e.no, ENOSPC);
	assert_non_null(strstr(e.msg, "cannot write /dev/full: No space left on device"));
	assert_int_equal(access("/dev/full", F_OK), 0);
}

static void test_refusals(void **state)
{
	(void)state;
	struct err e;
	assert_int_equal(filewrite_all(dir, true, "x", 1, &e), -EISDIR);
	assert_int_equal(filewrite_all("", true, "x", 1, &e), -ENOENT);
	char gone[160], longest[PATH_MAX + 10];
	snprintf(gone, sizeof gone, "%s/no/such/out", dir);
	assert_int_equal(filewrite_all(gone, true, "x", 1, &e), -ENOENT);
	assert_non_null(strstr(e.msg, gone));
	memset(longest, 'x', sizeof longest);
	longest[sizeof longest - 1] = 0;
	assert_int_equal(filewrite_all(longest, true, "x", 1, &e), -ENAMETOOLONG);
}

/* The disk fills up half way: the old file stays as it was. A file size limit stands for it. */
static void test_no_room(void **state)
{
	(void)state;
	struct err e;
	assert_int_equal(filewrite_all(path, false, "old", 3, &e), 0);
	pid_t pid = fork();
	if (!pid) {
		static char big[1 << 20];
		struct rlimit limit = {100000, 100000};
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		int rc = filewrite_all(path, true, big, sizeof big, &e);
		_exit(rc == -EFBIG && strstr(e.msg, "out.csv") ? 0 : 1);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_holds(path, "old");
	assert_int_equal(empty_dir(), 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_creates), T(test_big),      T(test_replaces_only_when_told),
		T(test_abort),   T(test_links),    T(test_appears_meanwhile),
		T(test_devices), T(test_refusals), T(test_no_room),
	};
	return cmocka_run_group_tests_name("filewrite", tests, NULL, NULL);
}
