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
		extsort_free(x);
	}
}

struct tied {
	uint64_t key;
	uint32_t second, came;
};

/* By the word, then falling; what is equal in both stays as it came. */
static int compare_tied(const void *pa, const void *pb)
{
	const struct tied *a = pa, *b = pb;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->second > b->second ? -1 : a->second < b->second;
}

/* Keys over the whole range, many of them equal, few, and all; in several runs and through the
 * disk. */
static void test_words(void **state)
{
	(void)state;
	static const uint64_t different[] = {1, 3, 1000, UINT64_MAX};
	for (unsigned i = 0; i < 12; i++) {
		struct extsort *x = extsort_new_words(sizeof(struct tied),
						      i % 3 ? 1 << 19 : 1 << 20, compare_tied,
						      i % 3 == 2 ? 0 : 1);
		const struct tied *r;
		struct tied last = {0};
		uint64_t seed = 88172645463325252ull, n = 0, sum = 0;
		for (uint32_t k = 0; k < 50000; k++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			struct tied t = {seed % different[i / 3] * 0x123456789abull,
					 (uint32_t)(seed >> 61), k};
			sum += t.key ^ k;
			assert_int_equal(extsort_add(x, &t), 0);
		}
		assert_int_equal(extsort_finish(x), 0);
		assert_int_equal(extsort_spilled(x), i % 3 != 0);
		for (; (r = extsort_next(x)); last = *r) {
			int order = n++ ? compare_tied(&last, r) : -1;
			assert_true(order < 0 || (!order && last.came < r->came));
			sum -= r->key ^ r->came;
		}
		assert_int_equal(n, 50000);
		assert_int_equal(sum, 0);
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
	extsort_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
