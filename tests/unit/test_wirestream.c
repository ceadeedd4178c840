/* wirestream: the same fields as of a message in memory, whatever their length, and where it ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "codec/wirestream.h"

enum { FIELDS = 8000, LONG = 5 << 20 };

static uint8_t *message;
static size_t len;
static uint32_t all, some; /* fields met, of the whole message and of a part */

static void varint(uint64_t v)
{
	for (; v > 127; v >>= 7)
		message[len++] = (uint8_t)(v | 128);
	message[len++] = (uint8_t)v;
}

/* Fields of all types; some longer than any window, one behind the other. */
static int make(void **state)
{
	(void)state;
	uint32_t seed = 7;
	message = malloc(FIELDS * 920 + 2 * LONG);
	for (uint32_t n = 0; n < FIELDS; n++) {
		seed = seed * 1664525 + 1013904223;
		uint32_t type = n == 5000 || n == 5001 ? 2 : (seed >> 28) % 8;
		type = type == 1 || type == 5 || type == 0 ? type : 2;
		varint((1 + (seed >> 20) % 40) << 3 | type);
		size_t bytes = type == 1 ? 8 : type == 5 ? 4 : 0;
		if (type == 0)
			varint((uint64_t)seed << (seed >> 28));
		if (type == 2)
			varint(bytes = n == 5000 || n == 5001 ? LONG / 2 + n : (seed >> 8) % 900);
		for (size_t i = 0; i < bytes; i++)
			message[len++] = (uint8_t)(i * seed >> 16);
	}
	return 0;
}

static int drop(void **state)
{
	(void)state;
	free(message);
	return 0;
}

/* Both ways through the first @n bytes. */
static void compare(size_t n)
{
	struct stream *in;
	assert_int_equal(stream_memory(message, n, &in), 0);
	struct wirestream x = wirestream_of(in);
	struct wire w = wire_of(message, n);
	struct wire_field a, b;
	uint32_t fields = 0;
	while (wire_next(&w, &a)) {
		assert_true(wirestream_next(&x, &b));
		assert_int_equal(a.number, b.number);
		assert_int_equal(a.type, b.type);
		assert_true(a.type != 2 || a.len == b.len);
		if (a.type == 2)
			assert_int_equal(hash_bytes(a.data, a.len), hash_bytes(b.data, b.len));
		else
			assert_int_equal(a.value, b.value);
		fields++;
	}
	assert_false(wirestream_next(&x, &b));
	assert_false(wirestream_next(&x, &b));
	assert_int_equal(x.damaged, w.damaged);
	*(n == len ? &all : &some) = fields;
	wirestream_fini(&x);
	stream_close(in);
}

static void test_whole(void **state)
{
	(void)state;
	compare(len);
	assert_int_equal(all, FIELDS);
	compare(0);
	assert_int_equal(some, 0);
	compare(1);
}

static void test_cut(void **state)
{
	(void)state;
	for (size_t i = 1; i < 12; i++)
		compare(len - i);
	for (size_t i = 1; i < 40; i++)
		compare(len / 40 * i + i);
}

/* What makes no sense ends it, in the first bytes and behind many. */
static void test_nonsense(void **state)
{
	(void)state;
	for (size_t at = 0; at < len; at += len / 7) {
		uint8_t keep[16];
		memcpy(keep, message + at, sizeof keep);
		memset(message + at, 0xff, sizeof keep);
		compare(len);
		memcpy(message + at, keep, sizeof keep);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_nonsense),
	};
	return cmocka_run_group_tests(tests, make, drop);
}
