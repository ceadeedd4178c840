/* idset: every id is found by its hash, equal tags are all walked, growth loses none. */
#include "base/idset.h"

#include "base/hash.h"

#include <pthread.h>
#include <stdbool.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static bool holds(const struct idset *s, uint64_t hash, uint32_t id)
{
	struct idset_walk w = idset_walk(s, hash);
	for (uint32_t got; (got = idset_next(&w));)
		if (got == id)
			return true;
	return false;
}

static void test_finds_all(void **state)
{
	(void)state;
	struct idset s;
	idset_init(&s);
	assert_false(holds(&s, 5, 1));
	for (uint32_t id = 1; id <= 50000; id++)
		assert_int_equal(idset_add(&s, hash_mix(id), id), 0);
	for (uint32_t id = 1; id <= 50000; id++)
		assert_true(holds(&s, hash_mix(id), id));
	assert_false(holds(&s, hash_mix(1), 2));
	assert_true(s.bytes >= 50000 * 8);
	idset_fini(&s);
}

static void test_equal_tags(void **state)
{
	(void)state;
	struct idset s;
	idset_init(&s);
	for (uint32_t id = 1; id <= 100; id++)
		assert_int_equal(idset_add(&s, 0xffffffffu, id), 0); /* wraps round the end */
	assert_int_equal(idset_add(&s, 0, 200), 0);
	unsigned sum = 0, n = 0;
	struct idset_walk w = idset_walk(&s, 0xffffffffu);
	for (uint32_t id; (id = idset_next(&w)); n++)
		sum += id;
	assert_int_equal(n, 100);
	assert_int_equal(sum, 5050);
	assert_true(holds(&s, 0, 200));
	idset_fini(&s);
}

static struct idset shared;
static _Atomic uint32_t added;

static void *add_many(void *arg)
{
	(void)arg;
	for (uint32_t id = 1; id <= 100000; id++) {
		idset_add(&shared, hash_mix(id), id);
		added = id;
	}
	return NULL;
}

static void test_reader(void **state)
{
	(void)state;
	pthread_t t;
	idset_init(&shared);
	pthread_create(&t, NULL, add_many, NULL);
	for (uint32_t id = 0; id < 100000;) {
		id = added;
		if (id)
			assert_true(holds(&shared, hash_mix(id), id));
	}
	pthread_join(t, NULL);
	idset_fini(&shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_all),
		cmocka_unit_test(test_equal_tags),
		cmocka_unit_test(test_reader),
	};
	return cmocka_run_group_tests_name("idset", tests, NULL, NULL);
}
