/* test_number: figures keep their decimals, and the unknown is never 0. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "view/number.h"

static char text[NUMBER_TEXT];

static void percents(void **state)
{
	(void)state;
	assert_string_equal(number_percent(text, 0.231), "23.1");
	assert_string_equal(number_percent(text, 0), "0.0");
	assert_string_equal(number_percent(text, 1), "100.0");
	assert_string_equal(number_percent(text, 12.5), "1250.0");
	assert_string_equal(number_percent(text, -1), NUMBER_DASH);
	assert_string_equal(number_percent(text, NAN), NUMBER_DASH);
	assert_true(strlen(number_percent(text, 1e300)) < NUMBER_TEXT);
}

static void counts(void **state)
{
	(void)state;
	assert_string_equal(number_grouped(text, 0), "0");
	assert_string_equal(number_grouped(text, 999), "999");
	assert_string_equal(number_grouped(text, 38163), "38,163");
	assert_string_equal(number_grouped(text, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(number_short(text, 912), "912");
	assert_string_equal(number_short(text, 38163), "38.2k");
	assert_string_equal(number_short(text, 999.6), "1.0k");
	assert_string_equal(number_short(text, 999960), "1.0M");
	assert_string_equal(number_short(text, 123456789), "123M");
	assert_string_equal(number_short(text, -38163), "-38.2k");
	assert_string_equal(number_short(text, NAN), NUMBER_DASH);
	assert_true(strlen(number_short(text, 1e300)) < NUMBER_TEXT);
}

static void fixed(void **state)
{
	(void)state;
	assert_string_equal(number_fixed(text, 0.42, 2), "0.42");
	assert_string_equal(number_fixed(text, 0.424, 1), "0.4");
	assert_string_equal(number_fixed(text, 2.9e9, 2), "2.9G");
	assert_string_equal(number_fixed(text, NAN, 2), NUMBER_DASH);
	assert_string_equal(number_fixed(text, 1, -3), "1");
}

static void times(void **state)
{
	(void)state;
	assert_string_equal(number_ns(text, 812), "812 ns");
	assert_string_equal(number_ns(text, 1230), "1.23 \xc2\xb5s");
	assert_string_equal(number_ns(text, 12300), "12.3 \xc2\xb5s");
	assert_string_equal(number_ns(text, 123000), "123 \xc2\xb5s");
	assert_string_equal(number_ns(text, 999600), "1.00 ms");
	assert_string_equal(number_ns(text, 2.5e9), "2.50 s");
	assert_string_equal(number_ns(text, 2.5e12), "2500 s");
	assert_string_equal(number_ns(text, NAN), NUMBER_DASH);
	assert_true(strlen(number_ns(text, 1e300)) < NUMBER_TEXT);
	assert_string_equal(number_elapsed(text, 83000000000ULL), "1:23");
	assert_string_equal(number_elapsed(text, 7269000000000ULL), "2:01:09");
	assert_string_equal(number_elapsed(text, 400000ULL * 1000000000ULL), "4d15h");
	assert_string_equal(number_window(text, 0), "all");
	assert_string_equal(number_window(text, 10000000000ULL), "10 s");
	assert_string_equal(number_window(text, 1500000000ULL), "1.5 s");
}

static void sizes(void **state)
{
	(void)state;
	assert_string_equal(number_bytes(text, 512), "512 B");
	assert_string_equal(number_bytes(text, 1023.9), "1.0 KiB");
	assert_string_equal(number_bytes(text, 37.0 * 1048576), "37.0 MiB");
	assert_string_equal(number_bytes(text, -1), NUMBER_DASH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percents), cmocka_unit_test(counts), cmocka_unit_test(fixed),
		cmocka_unit_test(times),    cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
