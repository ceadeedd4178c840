/* output: what a command writes for a terminal becomes lines of text, bounded in bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/output.h"

static struct output o;

static int up(void **state)
{
	(void)state;
	return output_init(&o);
}

static int down(void **state)
{
	(void)state;
	output_fini(&o);
	return 0;
}

/* @want: the lines, each ended by '|', the last without when it has no end yet. */
static void assert_lines(const char *written, const char *want)
{
	char got[200];

	output_fini(&o);
	assert_int_equal(output_init(&o), 0);
	for (const char *c = written; *c; c++) /* as it comes through a pipe */
		output_add(&o, c, 1);
	assert_true(o.used < sizeof got);
	memcpy(got, o.text, o.used);
	for (size_t i = 0; i < o.used; i++)
		if (!got[i])
			got[i] = '|';
	got[o.used] = '\0';
	assert_string_equal(got, want);
}

static void lines(void **state)
{
	(void)state;
	assert_lines("one\ntwo\r\nhalf", "one|two|half");
	assert_lines("a\tb\n", "a       b|");
	assert_lines("bell\a\n", "bell.|");
}

static void sequences(void **state)
{
	(void)state;
	assert_lines("\033[1;31mred\033[0m\n", "red|");
	assert_lines("\033(Bplain\n", "plain|");
	assert_lines("\033]0;a title\atext\n", "text|");
	assert_lines("\033]8;;http://x\033\\link\033]8;;\033\\\n", "link|");
	assert_lines("\033]0;without end\nnext\n", "|next|");
	assert_lines("\033[31\nnext\n", "|next|");
}

/* Progress that is written over itself: the newest of it is what a terminal shows. */
static void carriage_returns(void **state)
{
	(void)state;
	assert_lines("10%\r20%\r100%\ndone\n", "100%|done|");
	assert_lines("10%\r", "10%");
	assert_lines("first\n10%\r\n20%\r\n", "first|10%|20%|");
}

static void bounded(void **state)
{
	static char line[1000];

	(void)state;
	memset(line, 'x', sizeof line);
	for (int i = 0; i < 5000; i++)
		output_add(&o, line, sizeof line); /* one line of 5 MB: it is broken */
	assert_true(o.used <= OUTPUT_BYTES && o.partial <= OUTPUT_LINE && o.dropped > 0);
	for (int i = 0; i < 5000; i++) {
		output_add(&o, "\r", 1);
		output_add(&o, line, sizeof line);
	}
	assert_true(o.used <= OUTPUT_BYTES && o.partial <= OUTPUT_LINE);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, up, down)
	const struct CMUnitTest tests[] = {T(lines), T(sequences), T(carriage_returns), T(bounded)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
