/* err: sentences are filled, bounded, one line; the return value carries the errno. */
#include "err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_fills(void **state)
{
	(void)state;
	struct err e;
	assert_int_equal(err_set(&e, ENOENT, "no process %d", 42), -ENOENT);
	assert_int_equal(e.no, ENOENT);
	assert_string_equal(e.msg, "no process 42");
}

static void test_null_and_zero(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, EPERM, "x"), -EPERM);
	struct err e;
	assert_int_equal(err_set(&e, 0, "usage"), -EINVAL);
	assert_int_equal(e.no, 0);
}

static void test_one_line(void **state)
{
	(void)state;
	struct err e;
	err_set(&e, EIO, "a\nb\r\nc");
	assert_string_equal(e.msg, "a b  c");
}

static void test_cut_at_character(void **state)
{
	(void)state;
	struct err e;
	char text[2 * sizeof e.msg];
	for (size_t shift = 0; shift < 4; shift++) {
		memset(text, 'x', shift);
		for (size_t i = shift; i + 3 < sizeof text; i += 3)
			memcpy(text + i, "\xe2\x80\xa6", 4); /* … */
		err_set(&e, EIO, "%s", text);
		size_t n = strlen(e.msg);
		assert_in_range(n, sizeof e.msg - 4, sizeof e.msg - 1);
		assert_int_equal((n - shift) % 3, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fills),
		cmocka_unit_test(test_null_and_zero),
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_cut_at_character),
	};
	return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
