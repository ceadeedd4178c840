/* chunk: entries stay where they are, the cap holds, readers see whole entries. */
#include "base/chunk.h"

#include <pthread.h>
#include <stdbool.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_never_moves(void **state)
{
	(void)state;
	struct chunk c;
	chunk_init(&c, sizeof(uint64_t), 100000);
	assert_null(chunk_get(&c, 0));
	uint64_t *first = chunk_next(&c);
	*first = 0;
	assert_null(chunk_get(&c, 0)); /* not published */
	assert_int_equal(chunk_publish(&c), 0);
	for (uint32_t i = 1; i < 100000; i++) {
		uint64_t *p = chunk_next(&c);
		assert_non_null(p);
		assert_int_equal(*p, 0);
		*p = i;
		assert_int_equal(chunk_publish(&c), i);
	}
	assert_ptr_equal(chunk_get(&c, 0), first);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(*(uint64_t *)chunk_get(&c, i), i);
	assert_null(chunk_next(&c)); /* the cap */
	assert_null(chunk_get(&c, 100000));
	assert_null(chunk_get(&c, UINT32_MAX));
	assert_true(c.bytes >= 800000);
	chunk_fini(&c);
}

static void *append(void *arg)
{
	struct chunk *c = arg;
	for (uint64_t i = 0; i < 300000; i++) {
		uint64_t *p = chunk_next(c);
		p[0] = i;
		p[1] = ~i;
		chunk_publish(c);
	}
	return NULL;
}

static void test_reader(void **state)
{
	(void)state;
	struct chunk c;
	pthread_t t;
	chunk_init(&c, 2 * sizeof(uint64_t), UINT32_MAX);
	pthread_create(&t, NULL, append, &c);
	for (uint32_t n = 0; n < 300000;) {
		n = chunk_len(&c);
		if (!n)
			continue;
		const uint64_t *p = chunk_get(&c, n - 1);
		assert_int_equal(p[0], n - 1);
		assert_int_equal(p[1], ~(uint64_t)(n - 1));
	}
	pthread_join(t, NULL);
	chunk_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never_moves),
		cmocka_unit_test(test_reader),
	};
	return cmocka_run_group_tests_name("chunk", tests, NULL, NULL);
}
