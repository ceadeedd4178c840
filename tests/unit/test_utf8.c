/* test_utf8: text that nobody vouches for: decoding, widths, what is replaced or skipped. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "view/utf8.h"

static void decodes(void **state)
{
	const char *s = "a\xc3\xa9\xe6\x95\xb0\xf0\x9f\x98\x80";

	(void)state;
	assert_int_equal(utf8_next(&s), 'a');
	assert_int_equal(utf8_next(&s), 0xe9);
	assert_int_equal(utf8_next(&s), 0x6570);
	assert_int_equal(utf8_next(&s), 0x1f600);
	assert_int_equal(utf8_next(&s), 0);
	assert_int_equal(utf8_next(&s), 0); /* stays at the end */
}

/* Each of these bytes makes no sense by itself: one replacement a byte, and the end is found. */
static void broken_bytes(void **state)
{
	static const struct {
		const char *text;
		int cells;
	} cases[] = {
		{"\x80", 1},
		{"\xff\xfe", 2},
		{"\xc0\xaf", 2}, /* overlong */
		{"\xe2\x82", 2},
		{"\xed\xa0\x80", 3},     /* surrogate */
		{"\xf4\x90\x80\x80", 4}, /* beyond Unicode */
		{"\xe0\x80\xaf", 3},
		{"\xf8\x88\x80\x80\x80", 5},
		{"\xc3", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *s = cases[i].text;
		uint32_t c;
		int n = 0;

		while ((c = utf8_next(&s))) {
			assert_int_equal(c, UTF8_REPLACEMENT);
			n++;
		}
		assert_int_equal(n, cases[i].cells);
		assert_ptr_equal(s, cases[i].text + strlen(cases[i].text));
	}
}

/* Nothing that moves a terminal's cursor or turns its writing direction comes through. */
static void controls(void **state)
{
	const char *s = "\x1b[2J\r\n\t\x7f\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8";
	uint32_t c;

	(void)state;
	while ((c = utf8_next(&s)))
		assert_true(c == UTF8_REPLACEMENT || (c > 0x20 && c < 0x7f));
	s = "x\xe2\x80\x8d\xef\xb8\x8f\xc2\xad\xef\xbb\xbfy"; /* joiner, selector, soft hyphen, BOM
							       */
	assert_int_equal(utf8_next(&s), 'x');
	assert_int_equal(utf8_next(&s), 'y');
}

static void widths(void **state)
{
	(void)state;
	assert_int_equal(utf8_width('a'), 1);
	assert_int_equal(utf8_width(0x6570), 2);
	assert_int_equal(utf8_width(0x0301), 0);
	assert_int_equal(utf8_width(UTF8_REPLACEMENT), 1);
	assert_int_equal(utf8_width(0x10ffff), 1); /* unassigned: drawn as something */
	assert_int_equal(utf8_cells("cafe\xcc\x81", 99), 4);
	assert_int_equal(utf8_cells("\xe6\x95\xb0\xe6\x8d\xae", 99), 4);
	assert_int_equal(utf8_cells("\xe6\x95\xb0\xe6\x8d\xae", 3), 3); /* counted up to max */
	assert_int_equal(utf8_cells("", 9), 0);
}

static void steps(void **state)
{
	const char *s = "a\xe6\x95\xb0z";

	(void)state;
	assert_int_equal(utf8_forward(s, 0), 1);
	assert_int_equal(utf8_forward(s, 1), 3);
	assert_int_equal(utf8_forward(s, 5), 0);
	assert_int_equal(utf8_back(s, 4), 3);
	assert_int_equal(utf8_back(s, 1), 1);
	assert_int_equal(utf8_back(s, 0), 0);
}

static void encodes(void **state)
{
	static const uint32_t chars[] = {'a', 0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0x10fffe};

	(void)state;
	for (size_t i = 0; i < sizeof chars / sizeof *chars; i++) {
		char bytes[5] = "";
		int n = utf8_put(bytes, chars[i]);

		assert_int_equal(n, chars[i] < 0x80      ? 1
				    : chars[i] < 0x800   ? 2
				    : chars[i] < 0x10000 ? 3
							 : 4);
		assert_int_equal(strlen(bytes), n);
	}
	char bytes[5] = "";
	const char *s = bytes;

	utf8_put(bytes, 0x20ac);
	assert_int_equal(utf8_next(&s), 0x20ac);
}

static void searching(void **state)
{
	(void)state;
	assert_true(utf8_holds("row_Search_MVCC", "SEARCH"));
	assert_true(utf8_holds("anything", ""));
	assert_true(utf8_holds("\xe6\x95\xb0\xe6\x8d\xae", "\xe6\x8d\xae"));
	assert_false(utf8_holds("short", "shorter"));
	assert_false(utf8_holds("", "x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes),   cmocka_unit_test(broken_bytes),
		cmocka_unit_test(controls),  cmocka_unit_test(widths),
		cmocka_unit_test(steps),     cmocka_unit_test(encodes),
		cmocka_unit_test(searching),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
