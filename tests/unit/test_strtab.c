/* strtab: equal bytes have equal ids, from any thread; the cap refuses and counts. */
#include "base/strtab.h"

#include <pthread.h>
#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_interns(void **state)
{
	(void)state;
	struct strtab t;
	strtab_init(&t, 1 << 24);
	str_id a = strtab_add(&t, "malloc", 6), b = strtab_add(&t, "free", 4);
	assert_int_not_equal(a, 0);
	assert_int_not_equal(a, b);
	assert_int_equal(strtab_add(&t, "malloc_hook", 6), a);
	assert_string_equal(strtab_text(&t, a), "malloc");
	assert_string_equal(strtab_text(&t, b), "free");
	assert_int_equal(strtab_add(&t, "", 0), 0);
	assert_int_equal(strtab_add(&t, NULL, 3), 0);
	assert_string_equal(strtab_text(&t, 0), "");
	assert_string_equal(strtab_text(&t, 12345), "");
	assert_int_equal(strtab_add(&t, "free\0junk", 9), b); /* C strings end at a NUL */
	strtab_fini(&t);
}

static void test_cap(void **state)
{
	(void)state;
	struct strtab t;
	char name[64];
	unsigned kept = 0;
	strtab_init(&t, 100000);
	for (int i = 0; i < 20000; i++) {
		int n = snprintf(name, sizeof name, "a_function_with_a_name_%d", i);
		kept += strtab_add(&t, name, (size_t)n) != 0;
	}
	assert_true(kept > 100 && kept < 5000);
	assert_int_equal(t.refused, 20000 - kept);
	assert_true(strtab_bytes(&t) < 250000);
	assert_int_not_equal(strtab_add(&t, "a_function_with_a_name_0", 24), 0); /* still found */
	strtab_fini(&t);
}

static struct strtab shared;
static str_id ids[3][20000];

static void *add_all(void *arg)
{
	str_id *mine = arg;
	for (int i = 0; i < 20000; i++) {
		char name[32];
		int n = snprintf(name, sizeof name, "name_%d", i);
		mine[i] = strtab_add(&shared, name, (size_t)n);
		if (strcmp(strtab_text(&shared, mine[i]), name))
			mine[i] = 0;
	}
	return NULL;
}

static void test_threads(void **state)
{
	(void)state;
	pthread_t t[3];
	strtab_init(&shared, 1 << 26);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, add_all, ids[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 20000; i++) {
		assert_int_not_equal(ids[0][i], 0);
		assert_int_equal(ids[0][i], ids[1][i]);
		assert_int_equal(ids[0][i], ids[2][i]);
	}
	assert_int_equal(chunk_len(&shared.entries), 20000);
	strtab_fini(&shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interns),
		cmocka_unit_test(test_cap),
		cmocka_unit_test(test_threads),
	};
	return cmocka_run_group_tests_name("strtab", tests, NULL, NULL);
}
