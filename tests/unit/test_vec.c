/* vec: pushing, reserving, refusing sizes that overflow. */
#include "base/vec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_push(void **state)
{
	(void)state;
	struct {
		VEC(uint32_t)
	} v = {0};
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(vec_push(&v, i * 3), 0);
	assert_int_equal(v.len, 10000);
	assert_true(v.cap >= v.len);
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(v.data[i], i * 3);
	vec_fini(&v);
	assert_null(v.data);
	assert_int_equal(v.len + v.cap, 0);
}

static void test_reserve_overflow(void **state)
{
	(void)state;
	struct {
		VEC(uint64_t)
	} v = {0};
	assert_int_equal(vec_push(&v, 7), 0);
	assert_int_equal(vec_reserve(&v, SIZE_MAX / 4), -ENOMEM);
	assert_int_equal(v.len, 1);
	assert_int_equal(v.data[0], 7);
	vec_fini(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_push),
		cmocka_unit_test(test_reserve_overflow),
	};
	return cmocka_run_group_tests_name("vec", tests, NULL, NULL);
}
