/* hash: the map against a plain array as oracle, and mixing that spreads. */
#include "base/hash.h"

#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define KEYS 2000

static void test_against_oracle(void **state)
{
	(void)state;
	struct map64 m;
	uint32_t value[KEYS] = {0}; /* 0: not there */
	uint64_t random = 1;
	size_t count = 0;

	map64_init(&m);
	for (uint32_t step = 1; step < 200000; step++) {
		random = hash_mix(random + step);
		uint64_t key = random % KEYS;
		if (random >> 62) {
			assert_int_equal(map64_put(&m, key, step), 0);
			count += !value[key];
			value[key] = step;
		} else {
			assert_int_equal(map64_del(&m, key), value[key] != 0);
			count -= value[key] != 0;
			value[key] = 0;
		}
		assert_int_equal(m.count, count);
		if (step % 5000)
			continue;
		for (uint64_t k = 0; k < KEYS; k++) {
			uint32_t got = 0;
			assert_int_equal(map64_get(&m, k, &got), value[k] != 0);
			assert_int_equal(got, value[k]);
		}
	}
	map64_fini(&m);
}

static void test_empty_and_clear(void **state)
{
	(void)state;
	struct map64 m;
	uint32_t v = 9;
	map64_init(&m);
	assert_false(map64_get(&m, 0, &v));
	assert_false(map64_del(&m, 0));
	assert_int_equal(map64_put(&m, 0, 5), 0);
	assert_int_equal(map64_put(&m, UINT64_MAX, 6), 0);
	assert_true(map64_get(&m, 0, &v));
	assert_int_equal(v, 5);
	assert_true(map64_get(&m, UINT64_MAX, NULL));
	map64_clear(&m);
	assert_int_equal(m.count, 0);
	assert_false(map64_get(&m, 0, &v));
	assert_int_equal(map64_put(&m, 0, 7), 0);
	assert_true(map64_get(&m, 0, &v));
	assert_int_equal(v, 7);
	map64_fini(&m);
}

static void test_bytes(void **state)
{
	(void)state;
	const char text[] = "0123456789abcdefXYZ";
	assert_int_equal(hash_bytes(text, 19), hash_bytes(text, 19));
	for (size_t n = 1; n < 19; n++)
		assert_int_not_equal(hash_bytes(text, n), hash_bytes(text, n - 1));
	assert_int_not_equal(hash_bytes("\0", 1), hash_bytes("\0\0", 2));

	/* Low bits pick the slot: similar names must not pile up in few of them. */
	unsigned bucket[256] = {0}, most = 0;
	for (int i = 0; i < 25600; i++) {
		char name[32];
		size_t len = (size_t)snprintf(name, sizeof name, "ns::function_%d", i);
		unsigned n = ++bucket[hash_bytes(name, len) & 255];
		most = n > most ? n : most;
	}
	assert_true(most < 160);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_oracle),
		cmocka_unit_test(test_empty_and_clear),
		cmocka_unit_test(test_bytes),
	};
	return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
