/* extsort: order in memory and through the disk, and an end that is told when the disk loses what
 * was written. */
#include "base/extsort.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static int compare(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;
	return a[0] < b[0] ? -1 : a[0] > b[0];
}

static struct extsort *filled(uint64_t n, size_t cap)
{
	struct extsort *x = extsort_new(16, cap, compare);
	assert_non_null(x);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t record[2] = {(i * 7919) % n, i};
		assert_int_equal(extsort_add(x, record), 0);
	}
	return x;
}

static void in_order(struct extsort *x, uint64_t n)
{
	const uint64_t *r;
	uint64_t at = 0;
	while ((r = extsort_next(x)))
		assert_int_equal(r[0], at++);
	assert_int_equal(at, n);
	assert_int_equal(extsort_error(x), 0);
}

static void test_order(void **state)
{
	(void)state;
	for (int spilled = 0; spilled < 2; spilled++) {
		struct extsort *x = filled(50000, spilled ? 64 << 10 : 16 << 20);
		assert_int_equal(extsort_finish(x), 0);
		assert_int_equal(extsort_spilled(x), spilled);
		in_order(x, 50000);
		assert_int_equal(extsort_rewind(x), 0);
		in_order(x, 50000);
		extsort_free(x);
	}
}

/* The descriptor of the temporary file: the only regular file without a name that we have open. */
static int temporary_fd(void)
{
	DIR *d = opendir("/proc/self/fd");
	int found = -1;
	for (struct dirent *e; (e = readdir(d));) {
		struct stat st;
		int fd = atoi(e->d_name);
		if (fd > 2 && fd != dirfd(d) && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		    !st.st_nlink)
			found = fd;
	}
	closedir(d);
	return found;
}

/* A file that became shorter under us must not look like a shorter recording. */
static void test_lost(void **state)
{
	(void)state;
	struct extsort *x = filled(200000, 1 << 20);
	assert_int_equal(extsort_finish(x), 0);
	int fd = temporary_fd();
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 700000), 0);
	uint64_t n = 0;
	while (extsort_next(x))
		n++;
	assert_in_range(n, 1, 199999);
	assert_int_equal(extsort_error(x), -EIO);
	assert_null(extsort_next(x));
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(extsort_rewind(x), -EIO);
	assert_null(extsort_next(x));
	extsort_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
