/* pprof profiles of other producers, made here byte by byte: what makes no sense in them is said.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "counting_sink.h"

static void put_varint(struct strbuf *b, uint64_t v)
{
	for (; v > 127; v >>= 7)
		strbuf_putc(b, (char)(v | 128));
	strbuf_putc(b, (char)v);
}

static void put_number(struct strbuf *b, unsigned field, uint64_t v)
{
	put_varint(b, field << 3);
	put_varint(b, v);
}

static void put_part(struct strbuf *b, unsigned field, const char *bytes, size_t n)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, n);
	for (size_t i = 0; i < n; i++)
		strbuf_putc(b, bytes[i]);
}

static void put_message(struct strbuf *b, unsigned field, uint64_t one, uint64_t two)
{
	struct strbuf part = {0};
	put_number(&part, 1, one);
	put_number(&part, 2, two);
	put_part(b, field, part.buf, part.len);
	strbuf_fini(&part);
}

/* One sample of 7 ns in one location at 0x10; @texts: with its string table. */
static void put_profile(struct strbuf *b, bool texts, uint64_t time, uint64_t duration,
			const char *unit)
{
	const char *const strings[] = {"", "CPU", unit};
	put_message(b, 1, 1, 2);
	put_message(b, 2, 5, 7);
	put_message(b, 2, 5, 7);
	put_message(b, 4, 5, 0);
	for (size_t i = 0; texts && i < 3; i++)
		put_part(b, 6, strings[i], strlen(strings[i]));
	put_number(b, 9, time);
	put_number(b, 10, duration);
}

static struct counting c;
static struct err err;

static int read_profile(bool texts, uint64_t time, uint64_t duration)
{
	struct strbuf b = {0};
	put_profile(&b, texts, time, duration, "nanoseconds");
	counting_init(&c);
	err = (struct err){0};
	int rc = counting_text(&c, b.buf, b.len, NULL, &err);
	strbuf_fini(&b);
	return rc;
}

/* A duration that was counted from 1970 is none. */
static void test_duration(void **state)
{
	(void)state;
	assert_int_equal(read_profile(true, 1700000000000000000, 30000000000), 0);
	assert_int_equal(c.weight, 14);
	assert_int_equal(c.duration_ns, 30000000000);
	assert_int_equal(c.said.len, 0);
	counting_fini(&c);
	assert_int_equal(read_profile(true, 1700000000000000000, 1700000000700000000), 0);
	assert_int_equal(c.weight, 14);
	assert_int_equal(c.duration_ns, 0);
	assert_non_null(strstr(c.said.buf, "53 years"));
	counting_fini(&c);
}

/* Other protobuf has fields of the same numbers, but no texts: no numbers are shown of it. */
static void test_other_protobuf(void **state)
{
	(void)state;
	assert_int_equal(read_profile(false, 1, 1), -EINVAL);
	assert_int_equal(c.samples, 0);
	assert_int_equal(c.nevents, 0);
	assert_non_null(strstr(err.msg, "not a pprof profile"));
	counting_fini(&c);
}

/* A row that says 0 samples has values of other events alone: it is no sample of this one. */
static void test_no_hits(void **state)
{
	(void)state;
	static const char *const strings[] = {"",      "samples", "count", "cpu", "nanoseconds",
					      "alloc", "bytes"};
	static const uint64_t values[][3] = {{3, 30, 0}, {0, 0, 53}, {0, 0, 1}};
	struct strbuf b = {0};
	put_message(&b, 1, 1, 2);
	put_message(&b, 1, 3, 4);
	put_message(&b, 1, 5, 6);
	for (size_t i = 0; i < 3; i++) {
		struct strbuf part = {0};
		put_number(&part, 1, 5);
		for (size_t k = 0; k < 3; k++)
			put_number(&part, 2, values[i][k]);
		put_part(&b, 2, part.buf, part.len);
		strbuf_fini(&part);
	}
	put_message(&b, 4, 5, 0);
	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
		put_part(&b, 6, strings[i], strlen(strings[i]));
	put_number(&b, 14, 3);
	counting_init(&c);
	err = (struct err){0};
	assert_int_equal(counting_text(&c, b.buf, b.len, NULL, &err), 0);
	assert_int_equal(c.hits, 3);
	assert_int_equal(c.weight, 30);
	assert_string_equal(c.events[0].name, "cpu");
	assert_int_equal(c.values[1], 54);
	counting_fini(&c);
	strbuf_fini(&b);
}

/* Values of one sample in location 5, and labels: a key and a number or a text. */
static void put_sample(struct strbuf *b, const uint64_t *values, size_t nvalues,
		       const uint64_t (*labels)[3], size_t nlabels)
{
	struct strbuf part = {0};
	put_number(&part, 1, 5);
	for (size_t i = 0; i < nvalues; i++)
		put_number(&part, 2, values[i]);
	for (size_t i = 0; i < nlabels; i++) {
		struct strbuf label = {0};
		for (unsigned k = 0; k < 3; k++)
			if (labels[i][k])
				put_number(&label, k + 1, labels[i][k]);
		put_part(&part, 3, label.buf, label.len);
		strbuf_fini(&label);
	}
	put_part(b, 2, part.buf, part.len);
	strbuf_fini(&part);
}

static int read_made(struct strbuf *b, const char *const *strings, size_t n)
{
	put_message(b, 4, 5, 0);
	for (size_t i = 0; i < n; i++)
		put_part(b, 6, strings[i], strlen(strings[i]));
	counting_init(&c);
	err = (struct err){0};
	int rc = counting_text(&c, b->buf, b->len, NULL, &err);
	strbuf_fini(b);
	return rc;
}

/* Of times without a default the last that is more than 0 is shown, not one that never was. */
static void test_empty_values(void **state)
{
	(void)state;
	static const char *const strings[] = {"", "cpu", "nanoseconds", "alloc", "bytes", "lock"};
	static const struct {
		uint64_t values[2][4], fallback;
		const char *shown;
	} cases[] = {{{{30, 7, 0, 0}, {12, 0, 0, 0}}, 0, "cpu"},
		     {{{30, 7, 0, 0}, {12, 0, 1, 0}}, 0, "lock"},
		     {{{0, 7, 0, 0}, {0, 0, 0, 0}}, 0, "alloc"},
		     {{{0, 0, 0, 0}, {0, 0, 0, 0}}, 0, "lock"},
		     {{{30, 7, 0, 0}, {12, 0, 0, 0}}, 5, "lock"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct strbuf b = {0};
		put_message(&b, 1, 1, 2);
		put_message(&b, 1, 3, 4);
		put_message(&b, 1, 5, 2);
		for (size_t k = 0; k < 2; k++)
			put_sample(&b, cases[i].values[k], 3, NULL, 0);
		if (cases[i].fallback)
			put_number(&b, 14, cases[i].fallback);
		assert_int_equal(read_made(&b, strings, 6), 0);
		if (strcmp(c.events[0].name, cases[i].shown) != 0)
			fail_msg("%zu: %s", i, c.events[0].name);
		counting_fini(&c);
	}
}

static char who[256];

static void note_thread(struct counting *counting, const struct raw_sample *s)
{
	(void)counting;
	size_t n = strlen(who);
	snprintf(who + n, sizeof who - n, "%d/%d ", s->pid, s->tid);
}

/* Threads by the labels of several producers: numbers or texts, the kernel's before a language's.
 */
static void test_threads(void **state)
{
	(void)state;
	static const char *const strings[] = {"",
					      "cpu",
					      "nanoseconds",
					      "thread id",
					      "thread native id",
					      "thread name",
					      "Process ID",
					      "main",
					      "12 (77)",
					      "os thread id",
					      "Thread ID",
					      "8"};
	static const uint64_t value[] = {1},
			      labels[][3] = {{3, 0, 140123456789}, {4, 0, 41}, {5, 7, 0},
					     {6, 0, 40},           {3, 8, 0},  {9, 11, 0},
					     {10, 0, 43}};
	static const struct {
		size_t from, n;
	} samples[] = {{0, 4}, {0, 1}, {4, 1}, {4, 2}, {6, 1}, {0, 1}};
	struct strbuf b = {0};
	put_message(&b, 1, 1, 2);
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		put_sample(&b, value, 1, labels + samples[i].from, samples[i].n);
	put_message(&b, 4, 5, 0);
	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
		put_part(&b, 6, strings[i], strlen(strings[i]));
	counting_init(&c);
	c.each_sample = note_thread;
	who[0] = 0;
	err = (struct err){0};
	assert_int_equal(counting_text(&c, b.buf, b.len, NULL, &err), 0);
	assert_string_equal(who, "40/41 0/1073741824 0/12 0/8 0/43 0/1073741824 ");
	assert_string_equal(c.comms.buf, "40/41 main\n");
	counting_fini(&c);
	strbuf_fini(&b);
}

/* Units have short and plural names. */
static void test_units(void **state)
{
	(void)state;
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {
		{"ns", 1},           {"nanosecond", 1},       {"us", 1000},    {"\u03bcs", 1000},
		{"\u00b5s", 1000},   {"microseconds", 1000},  {"ms", 1000000}, {"s", 1000000000},
		{"sec", 1000000000}, {"seconds", 1000000000}, {"bytes", 0},    {"", 0}};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		struct strbuf b = {0};
		put_profile(&b, true, 0, 0, units[i].unit);
		counting_init(&c);
		err = (struct err){0};
		assert_int_equal(counting_text(&c, b.buf, b.len, NULL, &err), 0);
		if (c.weight != 14 * (units[i].ns ? units[i].ns : 1) ||
		    (c.events[0].unit == EVENT_NS) != !!units[i].ns ||
		    c.events[0].cpu_time != !!units[i].ns)
			fail_msg("%s: %llu", units[i].unit, (unsigned long long)c.weight);
		counting_fini(&c);
		strbuf_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_duration),     cmocka_unit_test(test_other_protobuf),
		cmocka_unit_test(test_no_hits),      cmocka_unit_test(test_units),
		cmocka_unit_test(test_empty_values), cmocka_unit_test(test_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
