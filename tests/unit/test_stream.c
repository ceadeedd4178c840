/* stream and jsonfix: lines of any length, reading twice through every wrapper, lenient JSON in
 * pieces of any size. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <cmocka.h>

#include "codec/jsonfix.h"
#include "codec/stream.h"

/* What lies behind the cut of a line that is too long is no line of its own. */
static void test_long_line(void **state)
{
	(void)state;
	size_t longest = 3u * STREAM_PEEK_MAX + 17, n = 0;
	char *text = malloc(longest + 64), *line;
	n += (size_t)sprintf(text, "first\n");
	memset(text + n, 'x', longest);
	n += longest;
	n += (size_t)sprintf(text + n, "\nsecond\r\nlast");
	struct stream *s;
	size_t len;
	assert_int_equal(stream_memory(text, n, &s), 0);
	assert_true(stream_line(s, &line, &len));
	assert_int_equal(len, 5);
	assert_true(stream_line(s, &line, &len));
	assert_true(len >= STREAM_PEEK_MAX - 1 && len <= STREAM_PEEK_MAX);
	assert_true(stream_line(s, &line, &len));
	assert_int_equal(len, 6);
	assert_memory_equal(line, "second", 6);
	assert_true(stream_line(s, &line, &len));
	assert_int_equal(len, 4);
	assert_memory_equal(line, "last", 4);
	assert_false(stream_line(s, &line, &len));
	stream_close(s);
	free(text);
}

static void lines_are(struct stream *s, unsigned n)
{
	char *line, expected[32];
	size_t len;
	for (unsigned i = 0; i < n; i++) {
		assert_true(stream_line(s, &line, &len));
		assert_int_equal(len, (size_t)sprintf(expected, "line %u", i));
		assert_memory_equal(line, expected, len);
	}
	assert_false(stream_line(s, &line, &len));
}

static void twice(struct stream *s, unsigned n)
{
	struct err err;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(stream_rewind(s, &err), 0);
		stream_utf8(s);
		lines_are(s, n);
	}
	stream_close(s);
}

static void test_rewind(void **state)
{
	(void)state;
	enum { N = 200000 };
	char *text = malloc(N * 16), path[] = "/tmp/altpttop-test-XXXXXX";
	size_t n = (size_t)sprintf(text, "\xef\xbb\xbf"); /* a BOM is no part of the first line */
	for (unsigned i = 0; i < N; i++)
		n += (size_t)sprintf(text + n, "line %u\n", i);
	struct stream *s;
	struct err err;
	assert_int_equal(stream_memory(text, n, &s), 0);
	stream_utf8(s);
	twice(s, N);
	int fd = mkstemp(path);
	assert_int_equal(write(fd, text, n), (ssize_t)n);
	close(fd);
	assert_int_equal(stream_open(path, &s, &err), 0);
	stream_utf8(s);
	twice(s, N);
	gzFile gz = gzopen(path, "wb1");
	assert_int_equal(gzwrite(gz, text, (unsigned)n), (int)n);
	gzclose(gz);
	assert_int_equal(stream_open(path, &s, &err), 0);
	stream_utf8(s);
	twice(s, N);
	unlink(path);
	free(text);
}

/* How many bytes come of these; whether damage is told. */
static size_t drained(const uint8_t *data, size_t n, bool *ret_damaged)
{
	struct stream *s;
	static uint8_t out[4096];
	size_t sum = 0, got;
	assert_int_equal(stream_memory(data, n, &s), 0);
	assert_string_equal(stream_wrapper(s), "zstd");
	while ((got = stream_read(s, out, sizeof out)) > 0)
		sum += got;
	*ret_damaged = stream_damage(s) != NULL;
	stream_close(s);
	return sum;
}

/* Whole frames, one or two, are whole; one that ends anywhere before its end is told. */
static void test_zstd(void **state)
{
	(void)state;
	static const size_t sizes[] = {1, 100, 256u << 10, 3000000};
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		size_t n = sizes[k], room = ZSTD_compressBound(n);
		uint8_t *text = malloc(n), *packed = malloc(2 * room);
		uint32_t x = 1;
		for (size_t i = 0; i < n; i++)
			text[i] = (uint8_t)('a' + ((x = x * 1664525 + 1013904223) >> 29));
		size_t first = ZSTD_compress(packed, room, text, n, 1);
		size_t both = first + ZSTD_compress(packed + first, room, text, n, 3);
		bool damaged;
		assert_int_equal(drained(packed, first, &damaged), n);
		assert_false(damaged);
		assert_int_equal(drained(packed, both, &damaged), 2 * n);
		assert_false(damaged);
		const size_t cuts[] = {5, first / 2, first - 1, first + 3, both - 1};
		for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
			if (cuts[i] < 4)
				continue;
			assert_true(drained(packed, cuts[i], &damaged) <= 2 * n);
			assert_true(damaged);
		}
		free(text);
		free(packed);
	}
}

static void test_json(void **state)
{
	(void)state;
	static const char in[] =
		"[{\"a\":-Infinity,\"b\":-1,\"c\":NaN,\"d\":-2.5e-3,\"e\":\"-Infinity\\q\t\",},-7,]";
	static const char out[] =
		"[{\"a\":null,\"b\":-1,\"c\":null,\"d\":-2.5e-3,\"e\":\"-Infinity\\\\q \"},-7]";
	for (size_t piece = 1; piece < sizeof in; piece++) {
		struct jsonfix f = {0};
		uint8_t made[JSONFIX_ROOM(sizeof in)];
		size_t n = 0;
		for (size_t at = 0; at < sizeof in - 1; at += piece) {
			size_t len = sizeof in - 1 - at < piece ? sizeof in - 1 - at : piece;
			n += jsonfix_run(&f, (const uint8_t *)in + at, len, made + n);
		}
		made[n] = 0;
		assert_string_equal((char *)made, out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_rewind),
		cmocka_unit_test(test_zstd),
		cmocka_unit_test(test_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
