/* pprof as it is read: samples before what they refer to, in pieces; which stacks are distinct. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counting_sink.h"

enum { LONG = 3 << 20, SAMPLES = 200000 };

struct bytes {
	uint8_t *data;
	size_t n, cap;
};

static void byte(struct bytes *b, uint8_t v)
{
	if (b->n == b->cap) {
		b->cap = b->cap ? 2 * b->cap : 64;
		b->data = realloc(b->data, b->cap);
		assert_non_null(b->data);
	}
	b->data[b->n++] = v;
}

static void varint(struct bytes *b, uint64_t v)
{
	for (; v > 127; v >>= 7)
		byte(b, (uint8_t)(v | 128));
	byte(b, (uint8_t)v);
}

static void number(struct bytes *b, unsigned field, uint64_t v)
{
	varint(b, field << 3);
	varint(b, v);
}

static void text(struct bytes *b, const char *s, size_t n)
{
	varint(b, 6 << 3 | 2);
	varint(b, n);
	for (size_t i = 0; i < n; i++)
		byte(b, (uint8_t)s[i]);
}

/* @inner as @field of @b; it is empty afterwards. */
static void put(struct bytes *b, unsigned field, struct bytes *inner)
{
	varint(b, field << 3 | 2);
	varint(b, inner->n);
	for (size_t i = 0; i < inner->n; i++)
		byte(b, inner->data[i]);
	inner->n = 0;
}

static void sample(struct bytes *b, const uint8_t *ids, size_t n)
{
	struct bytes s = {0}, list = {0};
	for (size_t i = 0; i < n; i++)
		varint(&list, ids[i]);
	put(&s, 1, &list);
	varint(&list, 10);
	put(&s, 2, &list);
	put(b, 2, &s);
	free(s.data);
	free(list.data);
}

/* Locations 1 to 4 of one module, 5 of another, 6 with an inlined function, 7 as 1 in another line.
 */
static void tables(struct bytes *b)
{
	static const char *const names[] = {"",  "cpu", "nanoseconds", "a",    "b",
					    "c", "d",   "e",           "/one", "/two"};
	struct bytes x = {0}, line = {0};
	for (uint64_t i = 1; i <= 2; i++) {
		number(&x, 1, i);
		number(&x, 5, 7 + i);
		put(b, 3, &x);
	}
	for (uint64_t i = 1; i <= 5; i++) {
		number(&x, 1, i);
		number(&x, 2, 2 + i);
		put(b, 5, &x);
	}
	for (uint64_t i = 1; i <= 7; i++) {
		uint64_t function = i == 7 ? 1 : i == 6 ? 2 : i;
		number(&x, 1, i);
		number(&x, 2, i == 5 ? 2 : 1);
		number(&line, 1, function);
		number(&line, 2, 10 * i);
		put(&x, 4, &line);
		if (i == 6) {
			number(&line, 1, 3);
			put(&x, 4, &line);
		}
		put(b, 4, &x);
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		text(b, names[i], strlen(names[i]));
	char *lengthy = calloc(1, LONG);
	text(b, memset(lengthy, 'x', LONG), LONG);
	free(lengthy);
	free(x.data);
	free(line.data);
}

static unsigned distinct;

static void note(struct counting *c, const struct raw_sample *s)
{
	(void)c;
	distinct += (s->flags & SAMPLE_DISTINCT) != 0;
}

static void begin(struct bytes *b)
{
	struct bytes type = {0};
	number(&type, 1, 1);
	number(&type, 2, 2);
	put(b, 1, &type);
	free(type.data);
}

static unsigned read_one(const uint8_t *ids, size_t n, const char *folded)
{
	struct bytes b = {0};
	struct counting c;
	struct err err;
	counting_init(&c);
	c.each_sample = note;
	begin(&b);
	sample(&b, ids, n);
	tables(&b);
	distinct = 0;
	assert_int_equal(counting_text(&c, (const char *)b.data, b.n, NULL, &err), 0);
	assert_int_equal(c.samples, 1);
	assert_string_equal(c.folded.buf, folded);
	counting_fini(&c);
	free(b.data);
	return distinct;
}

static void test_distinct(void **state)
{
	(void)state;
	assert_int_equal(read_one((const uint8_t[]){1, 2, 3, 4}, 4, "d;c;b;a 10\n"), 1);
	assert_int_equal(read_one((const uint8_t[]){1, 2, 3, 1}, 4, "a;c;b;a 10\n"), 0);
	assert_int_equal(read_one((const uint8_t[]){1, 2, 7}, 3, "a;b;a 10\n"), 0);
	assert_int_equal(read_one((const uint8_t[]){1, 2, 5}, 3, "e;b;a 10\n"), 0);
	assert_int_equal(read_one((const uint8_t[]){1, 6}, 2, "c;b;a 10\n"), 0);
	assert_int_equal(read_one((const uint8_t[]){1, 99}, 2, "[unknown];a 10\n"), 0);
}

/* Many samples before the tables: more than is looked at together. Cut off anywhere it is told. */
static void test_pieces(void **state)
{
	(void)state;
	struct bytes b = {0};
	begin(&b);
	for (uint32_t i = 0; i < SAMPLES; i++)
		sample(&b, (const uint8_t[]){(uint8_t)(1 + i % 4), (uint8_t)(1 + i / 4 % 4), 3}, 3);
	size_t samples = b.n;
	tables(&b);
	for (size_t n = b.n; n > samples; n -= LONG / 2 + 12345) {
		struct counting c;
		struct err err;
		counting_init(&c);
		int rc = counting_text(&c, (const char *)b.data, n, NULL, &err);
		assert_int_equal(rc, n == b.n ? 0 : -EBADMSG);
		assert_int_equal(c.samples, SAMPLES);
		assert_int_equal(c.weight, 10ull * SAMPLES);
		counting_fini(&c);
	}
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distinct),
		cmocka_unit_test(test_pieces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
