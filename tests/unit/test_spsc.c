/* spsc: order, wrapping, a full ring, and waking without a lost wake-up. */
#include "base/spsc.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_order_and_wrap(void **state)
{
	(void)state;
	struct spsc *r = spsc_new(4096);
	size_t len;
	assert_null(spsc_peek(r, &len));
	for (uint32_t i = 0; i < 10000; i++) {
		size_t want = 4 + i * 7 % 900;
		unsigned char *p = spsc_reserve(r, want);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 8, 0);
		memset(p, (int)(i & 0xff), want);
		spsc_commit(r);
		assert_true(spsc_used(r) >= want);
		const unsigned char *q = spsc_peek(r, &len);
		assert_non_null(q);
		assert_int_equal(len, want);
		assert_int_equal(q[0], i & 0xff);
		assert_int_equal(q[want - 1], i & 0xff);
		assert_ptr_equal(spsc_peek(r, &len), q); /* stays until released */
		spsc_release(r);
		assert_int_equal(spsc_used(r), 0);
	}
	spsc_free(r);
}

static void test_full_drops(void **state)
{
	(void)state;
	struct spsc *r = spsc_new(4096);
	unsigned fits = 0;
	void *p;
	size_t len;
	while ((p = spsc_reserve(r, 100))) {
		memcpy(p, &fits, sizeof fits);
		spsc_commit(r);
		fits++;
	}
	assert_in_range(fits, 36, 40);
	for (unsigned i = 0; i < fits; i++) {
		const void *q = spsc_peek(r, &len);
		assert_memory_equal(q, &i, sizeof i);
		spsc_release(r);
	}
	assert_null(spsc_peek(r, &len));
	assert_null(spsc_reserve(r, 5000)); /* never fits */
	assert_null(spsc_reserve(r, SIZE_MAX));
	assert_non_null(spsc_reserve(r, 0)); /* an empty record is one */
	spsc_commit(r);
	assert_non_null(spsc_peek(r, &len));
	assert_int_equal(len, 0);
	spsc_free(r);
	spsc_free(NULL);
}

/* Several records are looked at before all of them are released. */
static void test_several(void **state)
{
	(void)state;
	struct spsc *r = spsc_new(4096);
	uint32_t put = 0, taken = 0;
	size_t len;
	while (taken < 5000) {
		uint32_t *p, ahead = 0;
		while ((p = spsc_reserve(r, 4 + put * 13 % 300))) {
			*p = put++;
			spsc_commit(r);
		}
		const uint32_t *first = spsc_peek(r, &len), *q = first;
		for (; q && ahead < 1 + taken % 7; q = spsc_peek_next(r, &len)) {
			assert_int_equal(*q, taken + ahead);
			assert_int_equal(len, 4 + *q * 13 % 300);
			ahead++;
		}
		/* The last one that was looked at is taken as well. */
		taken += ahead + (q ? 1 : 0);
		assert_int_equal(*first, taken - ahead - (q ? 1 : 0));
		spsc_release(r);
	}
	while (spsc_peek(r, &len))
		spsc_release(r);
	assert_null(spsc_peek_next(r, &len));
	memset(spsc_reserve(r, 8), 1, 8);
	spsc_commit(r);
	assert_non_null(spsc_peek_next(r, &len));
	spsc_release(r);
	assert_int_equal(spsc_used(r), 0);
	spsc_free(r);
}

/* A reservation that is never committed leaves no trace. */
static void test_uncommitted(void **state)
{
	(void)state;
	struct spsc *r = spsc_new(4096);
	size_t len;
	assert_non_null(spsc_reserve(r, 64));
	assert_null(spsc_peek(r, &len));
	memcpy(spsc_reserve(r, 8), "eight..", 8);
	spsc_commit(r);
	assert_string_equal(spsc_peek(r, &len), "eight..");
	assert_int_equal(len, 8);
	spsc_free(r);
}

static bool readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	return poll(&p, 1, ms) == 1;
}

static void test_arm(void **state)
{
	(void)state;
	struct spsc *r = spsc_new(4096);
	size_t len;
	memset(spsc_reserve(r, 8), 0, 8);
	spsc_commit(r);
	assert_false(readable(spsc_fd(r), 0)); /* nobody asked */
	spsc_arm(r);
	assert_true(readable(spsc_fd(r), 0)); /* something waited already */
	assert_non_null(spsc_peek(r, &len));
	spsc_release(r);
	spsc_arm(r);
	assert_false(readable(spsc_fd(r), 0));
	memset(spsc_reserve(r, 8), 0, 8);
	spsc_commit(r);
	assert_true(readable(spsc_fd(r), 0));
	spsc_free(r);
}

#define MANY 200000

static void *produce(void *arg)
{
	struct spsc *r = arg;
	for (uint32_t i = 0; i < MANY;) {
		size_t len = 8 + (i * 13) % 200;
		uint32_t *p = spsc_reserve(r, len);
		if (!p)
			continue;
		memset(p, 0, len);
		p[0] = i++;
		p[len / 4 - 1] = p[0];
		spsc_commit(r);
	}
	return NULL;
}

static void test_two_threads(void **state)
{
	(void)state;
	struct spsc *r = spsc_new(16384);
	pthread_t t;
	pthread_create(&t, NULL, produce, r);
	for (uint32_t next = 0; next < MANY;) {
		size_t len;
		const uint32_t *p = spsc_peek(r, &len);
		if (!p) {
			spsc_arm(r);
			assert_true(
				readable(spsc_fd(r), 10000)); /* a lost wake-up would end here */
			continue;
		}
		assert_int_equal(len, 8 + (next * 13) % 200);
		assert_int_equal(p[0], next);
		assert_int_equal(p[len / 4 - 1], next);
		next++;
		spsc_release(r);
	}
	pthread_join(t, NULL);
	spsc_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_and_wrap),
		cmocka_unit_test(test_full_drops),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_uncommitted),
		cmocka_unit_test(test_arm),
		cmocka_unit_test(test_two_threads),
	};
	return cmocka_run_group_tests_name("spsc", tests, NULL, NULL);
}
