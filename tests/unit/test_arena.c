/* arena: alignment, zeroing, big requests, reset, byte accounting. */
#include "base/arena.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_aligned_and_zeroed(void **state)
{
	(void)state;
	struct arena a;
	arena_init(&a);
	unsigned char *before = NULL;
	for (size_t n = 1; n < 3000; n = n * 3 / 2 + 1) {
		unsigned char *p = arena_alloc(&a, n);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, n);
		assert_ptr_not_equal(p, before);
		before = p;
	}
	arena_fini(&a);
	assert_int_equal(a.bytes, 0);
}

static void test_big_request_keeps_current_block(void **state)
{
	(void)state;
	struct arena a;
	arena_init(&a);
	char *first = arena_alloc(&a, 16);
	char *big = arena_alloc(&a, 8 << 20);
	char *second = arena_alloc(&a, 16);
	assert_non_null(big);
	assert_ptr_equal(second, first + 16);
	assert_true(a.bytes > 8 << 20);
	assert_null(arena_alloc(&a, SIZE_MAX - 8));
	assert_null(arena_alloc(&a, SIZE_MAX - 100));
	arena_fini(&a);
}

static void test_reset(void **state)
{
	(void)state;
	struct arena a;
	arena_init(&a);
	for (int i = 0; i < 1000; i++)
		memset(arena_alloc(&a, 1000), 1, 1000);
	size_t before = a.bytes;
	arena_reset(&a);
	assert_true(a.bytes > 0 && a.bytes < before);
	unsigned char *p = arena_alloc(&a, 64);
	for (int i = 0; i < 64; i++)
		assert_int_equal(p[i], 0);
	arena_fini(&a);
	arena_reset(&a); /* of an empty one: nothing */
	assert_int_equal(a.bytes, 0);
}

static void test_text(void **state)
{
	(void)state;
	struct arena a;
	arena_init(&a);
	assert_string_equal(arena_strdup(&a, "worker"), "worker");
	assert_string_equal(arena_printf(&a, "%s+0x%x", "libc.so.6", 0x1234), "libc.so.6+0x1234");
	assert_string_equal(arena_printf(&a, "%s", ""), "");
	arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aligned_and_zeroed),
		cmocka_unit_test(test_big_request_keeps_current_block),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_text),
	};
	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
