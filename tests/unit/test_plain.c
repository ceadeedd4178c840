/* plain: whatever a terminal would obey is spelled out, the rest stays as it is, cuts are clean. */
#include "base/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "err.h"

static void test_spelled_out(void **state)
{
	static const struct {
		const char *text, *plain;
	} cases[] = {
		{"", ""},
		{"plain text, 23.1 \xc2\xb1 0.8 \xe2\x89\x88",
		 "plain text, 23.1 \xc2\xb1 0.8 \xe2\x89\x88"},
		{"\x1b[31mred", "\\x1b[31mred"},
		{"a\nb\r\nc", "a b  c"},
		{"tab\there\x7f", "tab\\x09here\\x7f"},
		{"c1 \xc2\x9b"
		 "31m",
		 "c1 \\xc2\\x9b31m"},
		{"\xff\xfe", "\\xff\\xfe"},
		{"half \xe2\x80", "half \\xe2\\x80"},
		{"surrogate \xed\xa0\x80", "surrogate \\xed\\xa0\\x80"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[256], copy[256];
		plain_copy(copy, sizeof copy, cases[i].text);
		assert_string_equal(copy, cases[i].plain);
		snprintf(text, sizeof text, "%s", cases[i].text);
		plain_in_place(text, sizeof text);
		assert_string_equal(text, cases[i].plain);
		plain_in_place(text, sizeof text); /* what is plain stays */
		assert_string_equal(text, cases[i].plain);
	}
}

static void test_cut(void **state)
{
	char full[8], small[6] = "x";
	(void)state;
	memcpy(full, "abcd\xe2\x80\xa6", 8); /* whole: kept though it fills the buffer */
	plain_in_place(full, sizeof full);
	assert_string_equal(full, "abcd\xe2\x80\xa6");
	memcpy(full, "abcde\xe2\x80", 8); /* cut by the buffer: dropped, not spelled out */
	plain_in_place(full, sizeof full);
	assert_string_equal(full, "abcde");
	plain_copy(small, sizeof small,
		   "ab\x1b"
		   "c"); /* no half of a spelling */
	assert_string_equal(small, "ab");
	plain_copy(small, 0, "nothing");
	assert_string_equal(small, "ab");
}

/* Every byte, the way that sentences take. */
static void test_sentences(void **state)
{
	(void)state;
	for (int c = 1; c < 256; c++) {
		struct err err;
		err_set(&err, 1, "no file %c here", c);
		for (const char *p = err.msg; *p; p++)
			assert_in_range((unsigned char)*p, 0x20, 0x7e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spelled_out),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_sentences),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
