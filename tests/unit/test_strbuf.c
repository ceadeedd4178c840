/* strbuf: growing, taking, and surviving a failed allocation. */
#include "base/strbuf.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_builds(void **state)
{
	(void)state;
	struct strbuf b;
	strbuf_init(&b);
	assert_string_equal(b.buf, "");
	strbuf_puts(&b, "self");
	strbuf_putc(&b, ' ');
	strbuf_printf(&b, "%.1f %%", 23.14);
	strbuf_add(&b, "\0x", 2);
	assert_int_equal(b.len, 13);
	assert_memory_equal(b.buf, "self 23.1 %\0x", 14);
	strbuf_reset(&b);
	assert_string_equal(b.buf, "");
	for (int i = 0; i < 1000; i++)
		strbuf_printf(&b, "%03d,", i);
	assert_int_equal(b.len, 4000);
	assert_memory_equal(b.buf + 3992, "998,999,", 9);
	assert_false(b.failed);
	strbuf_fini(&b);
	assert_string_equal(b.buf, "");
}

/* Whatever room there is, what is printed is whole. */
static void test_prints_to_the_brim(void **state)
{
	(void)state;
	for (int filled = 0; filled < 140; filled++)
		for (int more = 0; more < 140; more++) {
			struct strbuf b;
			strbuf_init(&b);
			for (int i = 0; i < filled; i++)
				strbuf_putc(&b, 'x');
			strbuf_printf(&b, "%.*s", more, "");
			strbuf_printf(&b, "%*d", more, 7);
			size_t n = (size_t)filled + (size_t)(more ? more : 1);
			assert_int_equal(b.len, n);
			assert_int_equal(strlen(b.buf), n);
			assert_int_equal(b.buf[n - 1], '7');
			assert_true(n < b.cap);
			strbuf_fini(&b);
		}
}

static void test_take(void **state)
{
	(void)state;
	struct strbuf b;
	strbuf_init(&b);
	char *nothing = strbuf_take(&b);
	assert_string_equal(nothing, "");
	free(nothing);
	strbuf_puts(&b, "text");
	char *text = strbuf_take(&b);
	assert_string_equal(text, "text");
	free(text);
	assert_int_equal(b.len, 0);
	strbuf_puts(&b, "again");
	assert_string_equal(b.buf, "again");
	strbuf_fini(&b);
}

static void test_refuses_overflow(void **state)
{
	(void)state;
	struct strbuf b;
	strbuf_init(&b);
	strbuf_puts(&b, "kept");
	strbuf_add(&b, "x", SIZE_MAX - 2);
	assert_true(b.failed);
	assert_string_equal(b.buf, "kept");
	strbuf_puts(&b, "more"); /* no hole in the middle of a text */
	assert_string_equal(b.buf, "kept");
	strbuf_reset(&b);
	assert_false(b.failed);
	strbuf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builds),
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_prints_to_the_brim),
		cmocka_unit_test(test_refuses_overflow),
	};
	return cmocka_run_group_tests_name("strbuf", tests, NULL, NULL);
}
