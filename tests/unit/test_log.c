/* log: newest lines, whole lines under concurrency. */
#include "base/log.h"

#include <pthread.h>
#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char lines[300][LOG_LINE_BYTES];

static void test_newest_last(void **state)
{
	(void)state;
	unsigned start = log_count();
	for (int i = 0; i < 10; i++)
		log_say("sentence %d", i);
	assert_int_equal(log_count(), start + 10);
	assert_int_equal(log_read(start, lines, 300), 10);
	assert_string_equal(lines[0], "sentence 0");
	assert_string_equal(lines[9], "sentence 9");
	assert_int_equal(log_read(start, lines, 3), 3);
	assert_string_equal(lines[2], "sentence 9");
	assert_int_equal(log_read(start + 8, lines, 300), 2);
	assert_string_equal(lines[0], "sentence 8");
	assert_int_equal(log_read(start + 10, lines, 300), 0);
}

static void test_long_is_cut(void **state)
{
	(void)state;
	char text[500];
	memset(text, 'y', sizeof text);
	text[499] = 0;
	log_say("%s", text);
	assert_int_equal(log_read(log_count() - 1, lines, 1), 1);
	assert_int_equal(strlen(lines[0]), LOG_LINE_BYTES - 1);
}

static void *talk(void *arg)
{
	for (int i = 0; i < 2000; i++)
		log_say("%s %s", (const char *)arg, (const char *)arg);
	return NULL;
}

static void test_threads(void **state)
{
	(void)state;
	pthread_t a, b;
	unsigned start = log_count();
	pthread_create(&a, NULL, talk, "aaaa");
	pthread_create(&b, NULL, talk, "bbbb");
	for (int i = 0; i < 100; i++) {
		unsigned n = log_read(start, lines, 300);
		for (unsigned k = 0; k < n; k++)
			assert_true(!strcmp(lines[k], "aaaa aaaa") ||
				    !strcmp(lines[k], "bbbb bbbb"));
	}
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert_int_equal(log_count(), start + 4000);
	assert_in_range(log_read(start, lines, 300), 100, 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_last),
		cmocka_unit_test(test_long_is_cut),
		cmocka_unit_test(test_threads),
	};
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
