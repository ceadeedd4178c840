/* chrome: times to the nanosecond, and traces of several chunks: what their borders cut, what is
 * lenient, damaged or missing behind them; spans in any order; cancelling. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "counting_sink.h"
#include "import/chromeparse.h"

static struct counting c;
static struct err err;
static const struct analyser_options options = {.pattern = PATTERN_DURATION};

static int read_text(const struct strbuf *text)
{
	counting_init(&c);
	err = (struct err){0};
	return counting_text(&c, text->buf, text->len, &options, &err);
}

static double cell(const char *name, const char *title)
{
	int row = c.nanalyses ? counting_row(c.analyses[0], c.tables, name) : -1;
	return row < 0 ? -1 : counting_cell(c.analyses[0], row, title);
}

/* --- times --- */

static void test_times(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns; /* INT64_MIN: refused */
	} times[] = {
		{"0", 0},
		{"7", 7000},
		{"12.3456", 12346},
		{"12.3454", 12345},
		{"-12.3456", -12346},
		{"+1.5", 1500},
		{"0.0005", 1},
		{"0.00049", 0},
		{"0.00005", 0},
		{"0.0000000009", 0},
		{"1.", 1000},
		{".5", 500},
		{"1e3", 1000000},
		{"1.5E-3", 2},
		{"2e-4", 0},
		{"123456789012345.678", 123456789012345678},
		{"999999999999999", 999999999999999000},
		{"9223372036854775.807", INT64_MAX},
		{"9223372036854775.808", INT64_MIN},
		{"0.00000000000000000000000000000000000000000000001", 0},
		{"", INT64_MIN},
		{".", INT64_MIN},
		{"-", INT64_MIN},
		{"1.2.3", INT64_MIN},
		{"x", INT64_MIN},
		{"1x", INT64_MIN},
		{"1e", INT64_MIN},
		{" 1", INT64_MIN},
	};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		int64_t ns = 1;
		bool good = chrome_ns(times[i].text, strlen(times[i].text), &ns);
		if (good != (times[i].ns != INT64_MIN) || (good && ns != times[i].ns))
			fail_msg("%s: %d %lld", times[i].text, good, (long long)ns);
	}
	char digits[600]; /* more digits than any number has */
	int64_t big = 0;
	memset(digits, '0', sizeof digits);
	memcpy(digits + 390, "1234567.0005", 12);
	assert_true(chrome_ns(digits, sizeof digits, &big));
	assert_int_equal(big, 1234567001);
	memset(digits + 396, '9', sizeof digits - 396);
	digits[397] = '.';
	assert_true(chrome_ns(digits, sizeof digits, &big));
	assert_int_equal(big, 1234570000);
	assert_false(chrome_ns(digits + 398, 200, &big));
	for (uint64_t n = 1; n < 4000000000000000000ull; n = n * 3 + 7) {
		char text[64];
		int64_t ns = 0;
		int len = snprintf(text, sizeof text, "%llu.%03llu", (unsigned long long)n / 1000,
				   (unsigned long long)n % 1000);
		assert_true(chrome_ns(text, (size_t)len, &ns));
		assert_int_equal(ns, n);
	}
}

/* --- chunks --- */

struct made {
	struct strbuf text;
	unsigned n, plain, escaped, late;
	size_t at; /* of the newest event */
};

static void event(struct made *m, const char *name, const char *more)
{
	if (m->n)
		strbuf_puts(&m->text, ",\n");
	m->at = m->text.len;
	strbuf_printf(
		&m->text,
		"{\"args\":{\"ts\":5,\"name\":\"no\",\"deep\":[{\"name\":\"no\",\"ph\":\"B\"}]},"
		"\"ph\":\"X\",\"ts\":%u.5,\"pid\":\"1\",\"tid\":%u,\"dur\":0.25,%s\"name\":\"%s\"}",
		m->n * 10, m->n % 3, more, name);
	m->n++;
}

/* Events until @bytes, one in five with an escape. */
static void fill(struct made *m, size_t bytes)
{
	while (m->text.len < bytes) {
		bool escaped = m->n % 5 == 0;
		event(m, escaped ? "\\u0041 \\\"b\\\"" : "plain", "");
		m->escaped += escaped;
		m->plain += !escaped;
	}
}

static void begin(struct made *m, unsigned pad)
{
	*m = (struct made){0};
	strbuf_init(&m->text);
	strbuf_printf(&m->text, "{\"traceEvents\":%*s[", (int)pad, "");
}

static void check_made(const struct made *m)
{
	assert_int_equal(c.hits, m->n);
	assert_true(cell("plain", "count") == m->plain);
	assert_true(cell("plain", "total") == m->plain * 250.0);
	assert_true(cell("A \"b\"", "count") == m->escaped);
	assert_true(cell("no", "count") == -1);
}

/* Wherever the chunks' borders cut an event. */
static void test_borders(void **state)
{
	(void)state;
	for (unsigned pad = 1; pad < 260; pad += 3) {
		struct made m;
		begin(&m, pad);
		fill(&m, 2 * CHROME_CHUNK + 1000);
		strbuf_puts(&m.text, "]}");
		assert_int_equal(read_text(&m.text), 0);
		check_made(&m);
		assert_int_equal(c.said.len, 0);
		counting_fini(&c);
		strbuf_fini(&m.text);
	}
}

/* Names longer than what is kept of one chunk for the next, and than a chunk. */
static void test_long_events(void **state)
{
	(void)state;
	static const size_t lengths[] = {CHROME_LEAD - 40, CHROME_LEAD + 1, CHROME_CHUNK - 3,
					 3 * CHROME_CHUNK, (1u << 20) + 5};
	for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
		struct made m;
		size_t n = lengths[i / 2];
		char *name = malloc(n + 3);
		memset(name, 'x', n);
		memcpy(name + n, i % 2 ? "\\\\" : "yz", 3);
		begin(&m, 1);
		fill(&m, CHROME_CHUNK - 100);
		event(&m, name, "");
		fill(&m, m.text.len + CHROME_CHUNK);
		strbuf_puts(&m.text, "]}");
		assert_int_equal(read_text(&m.text), 0);
		check_made(&m);
		memcpy(name + n, i % 2 ? "\\" : "yz", i % 2 ? 2 : 3);
		assert_true(cell(name, "count") == 1);
		counting_fini(&c);
		strbuf_fini(&m.text);
		free(name);
	}
}

/* From the first event that is not strict on, wherever it lies across a border: none lost, none
 * twice. */
static void test_lenient(void **state)
{
	(void)state;
	static const char *const loose[] = {"\"a\":[1,2,],", "\"a\":{\"b\":1,},", "\"a\":NaN,",
					    "\"a\":\"tab\there\",", "\"a\":\"\\q\","};
	for (unsigned pad = 1; pad < 300; pad += 2) {
		struct made m;
		begin(&m, pad);
		fill(&m, CHROME_CHUNK - 200);
		event(&m, "loose", loose[pad / 2 % 5]);
		fill(&m, 2 * CHROME_CHUNK);
		event(&m, "loose", loose[pad / 2 % 3]);
		fill(&m, 2 * CHROME_CHUNK + 500);
		strbuf_puts(&m.text, ",]}");
		assert_int_equal(read_text(&m.text), 0);
		check_made(&m);
		assert_true(cell("loose", "count") == 2);
		counting_fini(&c);
		strbuf_fini(&m.text);
	}
}

/* Bare values among the events and behind a key's value belong to no event. */
static void test_bare_values(void **state)
{
	(void)state;
	struct strbuf text;
	strbuf_init(&text);
	strbuf_puts(&text,
		    "[{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"a\"},\"b\",3,[\"c\"],null,"
		    "{\"ts\":[7,{\"ts\":8}],\"ph\":\"X\",\"dur\":4,\"name\":{\"name\":\"d\"},"
		    "\"ts\":5},{\"name\":[\"e\"],\"ph\":\"X\",\"ts\":9,\"dur\":1},true]");
	assert_int_equal(read_text(&text), 0);
	assert_int_equal(c.hits, 3);
	assert_true(cell("a", "total") == 2000);
	assert_true(cell("(no name)", "count") == 2);
	assert_true(cell("(no name)", "total") == 5000);
	counting_fini(&c);
	strbuf_fini(&text);
}

/* Cut off anywhere around a border: all whole events, and a sentence. */
static void test_cut(void **state)
{
	(void)state;
	struct made m;
	begin(&m, 3);
	fill(&m, CHROME_CHUNK - 1);
	size_t end = m.text.len;
	for (size_t len = m.at - 2; len <= end; len++) {
		struct strbuf cut = {.buf = m.text.buf, .len = len};
		assert_int_equal(read_text(&cut), -EBADMSG);
		assert_non_null(strstr(err.msg, "cut off"));
		assert_int_equal(c.hits, m.n - (len < end));
		counting_fini(&c);
	}
	strbuf_fini(&m.text);
}

/* What no second try can mend: where it is, to the byte, and what came before it. */
static void test_damage(void **state)
{
	(void)state;
	struct made m;
	begin(&m, 3);
	fill(&m, 2 * CHROME_CHUNK + 777);
	strbuf_puts(&m.text, "],\"more\":{\"a\":}}");
	assert_int_equal(read_text(&m.text), -EBADMSG);
	const char *at = strstr(err.msg, "damaged near byte ");
	assert_non_null(at);
	unsigned long byte = strtoul(at + strlen("damaged near byte "), NULL, 10);
	assert_in_range(byte, m.text.len - 3, m.text.len);
	check_made(&m);
	counting_fini(&c);
	strbuf_fini(&m.text);
}

/* A bare text longer than what can be tried again: no second try begins inside it. */
static void test_long_bare_text(void **state)
{
	(void)state;
	static const char *const ends[] = {
		"\",{\"ph\":\"X\",\"ts\":5,\"dur\":2,\"name\":\"b\",},]",
		"\",,{\"ph\":\"X\",\"ts\":5,\"dur\":2,\"name\":\"b\"}]",
	};
	for (int i = 0; i < 2; i++) {
		struct strbuf text;
		strbuf_init(&text);
		strbuf_puts(&text, "[{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"a\"},\"");
		while (text.len < 6 * CHROME_CHUNK)
			strbuf_puts(&text, "1,");
		size_t comma = text.len + 2;
		strbuf_puts(&text, ends[i]);
		assert_int_equal(read_text(&text), i ? -EBADMSG : 0);
		assert_int_equal(c.hits, 2 - i);
		const char *at = strstr(err.msg, "damaged near byte ");
		if (i)
			assert_in_range(at ? strtoul(at + 18, NULL, 10) : 0, comma - 1, comma + 1);
		counting_fini(&c);
		strbuf_fini(&text);
	}
}

/* Without end: a text, brackets, texts of one event that have escapes. */
static void test_endless(void **state)
{
	(void)state;
	static const struct {
		const char *piece, *why;
	} endless[] = {
		{"xxxxxxxxxxxxxxxx", "longer than 16 MiB"},
		{"\\u0041\\u0042", "longer than 16 MiB"},
		{"\",\"name\":\"\\u0041xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "16 MiB of texts"},
		{"\",\"a\":{\"b\":\"", "in more than 65,536 others"}};
	for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
		struct strbuf text;
		strbuf_init(&text);
		strbuf_puts(&text, "[{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"a\"},{\"b\":\"");
		while (text.len < 28 << 20)
			strbuf_puts(&text, endless[i].piece);
		assert_int_equal(read_text(&text), -EBADMSG);
		assert_non_null(strstr(err.msg, endless[i].why));
		assert_int_equal(c.hits, 1);
		counting_fini(&c);
		strbuf_fini(&text);
	}
}

/* One value behind another, and what is none. */
static void test_several_values(void **state)
{
	(void)state;
	static const char one[] = "[{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"a\"}]";
	struct strbuf text;
	strbuf_init(&text);
	strbuf_printf(&text, "%s\r\n%s {\"traceEvents\":%s}\n", one, one, one);
	assert_int_equal(read_text(&text), 0);
	assert_int_equal(c.hits, 3);
	counting_fini(&c);
	strbuf_puts(&text, "and more");
	assert_int_equal(read_text(&text), -EBADMSG);
	assert_non_null(strstr(err.msg, "damaged near byte"));
	assert_int_equal(c.hits, 3);
	counting_fini(&c);
	strbuf_fini(&text);
}

/* --- threads --- */

/* Names of processes reach their threads whenever they are told, and cost nothing the more they
 * are. */
static void test_thread_names(void **state)
{
	(void)state;
	struct strbuf text;
	strbuf_init(&text);
	strbuf_puts(&text, "[");
	for (unsigned i = 0; i < 60000; i++)
		strbuf_printf(
			&text,
			"{\"ph\":\"X\",\"ts\":%u,\"dur\":2,\"pid\":1,\"tid\":%u},"
			"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"p%u\"}},",
			i, i, i);
	strbuf_puts(
		&text,
		"{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":\"client\",\"tid\":\"9007199254740993\"},"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":\"5\","
		"\"args\":{\"name\":\"five\"}}]");
	clock_t before = clock();
	assert_int_equal(read_text(&text), 0);
	double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
	assert_true(seconds < 20); /* 3,600 million renamings would take longer */
	assert_int_equal(c.comm_records, 60001);
	assert_non_null(strstr(c.comms.buf, "1/4 p59999\n1/5 five\n1/6 p59999\n"));
	assert_non_null(strstr(c.comms.buf, " 9007199254740993\n"));
	counting_fini(&c);
	strbuf_fini(&text);
}

/* More threads than are told apart: a row of their own, in which nothing lies in anything. */
static void test_too_many_threads(void **state)
{
	(void)state;
	enum { MORE = 3 };
	struct strbuf text;
	strbuf_init(&text);
	strbuf_puts(&text, "[");
	for (unsigned i = 0; i < TRACE_THREADS_MOST + MORE; i++)
		strbuf_printf(&text,
			      "{\"ph\":\"X\",\"ts\":%u,\"dur\":%u,\"pid\":%u,\"name\":\"a\"},",
			      i / 2, i % 2 ? 8 : 9, i);
	strbuf_printf(&text, "{\"ph\":\"B\",\"ts\":5,\"pid\":\"x\",\"name\":\"b\"},"
			     "{\"ph\":\"X\",\"ts\":5,\"dur\":1,\"pid\":7,\"name\":\"inner\"}]");
	assert_int_equal(read_text(&text), 0);
	assert_true(cell("a", "count") == TRACE_THREADS_MOST + MORE);
	assert_int_equal(c.hits, TRACE_THREADS_MOST + MORE + 1);
	assert_non_null(strstr(c.folded.buf, "a;inner 1000\n"));
	assert_null(strstr(c.folded.buf, "a;a "));
	assert_non_null(strstr(c.comms.buf, "0/0 [overflow]\n"));
	assert_non_null(strstr(c.said.buf, "left out: 1 begins and ends of threads in [overflow]"));
	counting_fini(&c);
	strbuf_fini(&text);
}

/* --- spans --- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The weight of all samples by path: the lines of folded with the same path, added up. */
static char *weights(void)
{
	static char *lines[100000];
	size_t n = 0;
	for (char *line = strtok(c.folded.buf, "\n"); line; line = strtok(NULL, "\n"))
		lines[n++] = line;
	qsort(lines, n, sizeof *lines, by_text);
	struct strbuf out;
	strbuf_init(&out);
	unsigned long long sum = 0;
	for (size_t i = 0; i < n; i++) {
		size_t path = (size_t)(strrchr(lines[i], ' ') - lines[i]);
		sum += strtoull(lines[i] + path, NULL, 10);
		if (i + 1 < n && !strncmp(lines[i], lines[i + 1], path + 1))
			continue;
		strbuf_printf(&out, "%.*s %llu\n", (int)path, lines[i], sum);
		sum = 0;
	}
	return out.buf;
}

static void span(struct strbuf *text, unsigned i)
{
	unsigned outer = i / 4 * 40;
	strbuf_printf(text,
		      "{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"dur\":%u,\"name\":\"n%u\"},",
		      i % 2, i % 4 < 2 ? outer : outer + 5 + i % 3, i % 4 < 2 ? 30 + i % 3 : 7,
		      i % 4 < 2 ? i % 5 : 5 + i % 7);
}

/* In order they are nested as they come, else once all are there: the same numbers. */
static void test_order(void **state)
{
	(void)state;
	enum { SPANS = 40000, PRIME = 7919 };
	static const unsigned steps[] = {1, PRIME};
	double *cells = NULL;
	char *told = NULL;
	for (int i = 0; i < 2; i++) {
		struct strbuf text;
		strbuf_init(&text);
		strbuf_putc(&text, '[');
		for (unsigned k = 0; k < SPANS; k++)
			span(&text, (unsigned)((uint64_t)k * steps[i] % SPANS));
		assert_int_equal(read_text(&text), 0);
		assert_int_equal(c.hits, SPANS);
		assert_int_equal(c.backwards, 0);
		const struct analysis *a = c.analyses[0];
		size_t bytes = sizeof(double) * a->ncolumns;
		assert_int_equal(a->nrows, 12);
		double *now = malloc(12 * bytes);
		for (unsigned r = 0; r < 12; r++) {
			char name[8];
			snprintf(name, sizeof name, "n%u", r);
			memcpy(now + r * a->ncolumns,
			       a->cells + (size_t)counting_row(a, c.tables, name) * a->ncolumns,
			       bytes);
		}
		assert_true(c.samples < 1000); /* some 24 paths in four tenths of a second */
		char *paths = weights();
		if (i) {
			assert_memory_equal(cells, now, 12 * bytes);
			assert_string_equal(told, paths);
		}
		free(cells);
		free(told);
		cells = now;
		told = paths;
		counting_fini(&c);
		strbuf_fini(&text);
	}
	free(cells);
	free(told);
}

/* From the first begin to the last end, whichever spans those are of and in whatever order. */
static void test_extent(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"[{\"ph\":\"X\",\"ts\":0,\"dur\":10000,\"tid\":1,\"name\":\"a\"},"
		"{\"ph\":\"X\",\"ts\":9000,\"dur\":1,\"tid\":2,\"name\":\"b\"},"
		"{\"ph\":\"X\",\"ts\":9500,\"dur\":1,\"tid\":1,\"name\":\"b\"}]",
		"[{\"ph\":\"X\",\"ts\":1000,\"dur\":1,\"tid\":2,\"name\":\"b\"},"
		"{\"ph\":\"E\",\"ts\":-1,\"tid\":2,\"name\":\"a\"},"
		"{\"ph\":\"B\",\"ts\":-9000.0,\"tid\":2,\"name\":\"a\"},"
		"{\"ph\":\"i\",\"ts\":90000.0,\"tid\":2,\"name\":\"no span\"},"
		"{\"ph\":\"X\",\"ts\":-1,\"dur\":1001,\"tid\":1,\"name\":\"c\"}]",
	};
	static const uint64_t lengths[] = {10000000, 10001000};
	for (int i = 0; i < 2; i++) {
		struct strbuf text = {.buf = (char *)(uintptr_t)texts[i], .len = strlen(texts[i])};
		assert_int_equal(read_text(&text), 0);
		assert_int_equal(c.extents, 1);
		assert_int_equal(c.extent_ns, lengths[i]);
		assert_int_equal(c.backwards, 0);
		assert_int_equal(c.last_time_ns, c.extent_from_ns + lengths[i]);
		counting_fini(&c);
	}
	struct strbuf none = {.buf = (char *)(uintptr_t) "[{\"ph\":\"i\",\"ts\":5}]", .len = 19};
	assert_int_equal(read_text(&none), 0);
	assert_int_equal(c.extents, 0);
	counting_fini(&c);
}

static void read_literal(const char *text)
{
	struct strbuf b = {.buf = (char *)(uintptr_t)text, .len = strlen(text)};
	assert_int_equal(read_text(&b), 0);
}

/* Of spans that begin and end in one moment the one that began first in the file is the outer. */
static void test_one_moment(void **state)
{
	(void)state;
	read_literal(
		"[{\"ph\":\"B\",\"ts\":1,\"name\":\"a\"},{\"ph\":\"B\",\"ts\":1,\"name\":\"b\"},"
		"{\"ph\":\"B\",\"ts\":1,\"name\":\"c\"},{\"ph\":\"E\",\"ts\":2},{\"ph\":\"E\",\"ts\":2},"
		"{\"ph\":\"E\",\"ts\":2},{\"ph\":\"B\",\"ts\":11,\"name\":\"a\"},"
		"{\"ph\":\"B\",\"ts\":11,\"name\":\"d\"},{\"ph\":\"E\",\"ts\":12},"
		"{\"ph\":\"B\",\"ts\":12,\"name\":\"e\"},{\"ph\":\"E\",\"ts\":13},"
		"{\"ph\":\"E\",\"ts\":13}]");
	assert_int_equal(c.hits, 6);
	assert_non_null(strstr(c.folded.buf, "a;b;c 1000\n"));
	assert_non_null(strstr(c.folded.buf, "a;d 1000\n"));
	assert_non_null(strstr(c.folded.buf, "a;e 1000\n"));
	assert_true(cell("a", "avg_child_nb") == 1.5);
	counting_fini(&c);
}

/* Times as far apart as they can be: no wrap, and the person is told. */
static void test_far_apart(void **state)
{
	(void)state;
	read_literal("[{\"ph\":\"X\",\"ts\":-9223372036854775.807,\"dur\":5,\"name\":\"a\"},"
		     "{\"ph\":\"X\",\"ts\":9223372036854775.806,\"dur\":0.001,\"name\":\"a\"},"
		     "{\"ph\":\"Xtra\",\"ts\":1,\"dur\":1,\"name\":\"b\"}]");
	assert_int_equal(c.hits, 2);
	assert_int_equal(c.backwards, 0);
	assert_int_equal(c.last_time_ns, 1ull << 62);
	assert_true(c.extent_ns > (1ull << 62) - 200000000 && c.extent_ns < 1ull << 62);
	assert_non_null(strstr(c.analyses[0]->note, "more than 146 years"));
	counting_fini(&c);
}

/* More paths than are kept at once, below one that stays open all the time. */
static void test_many_paths(void **state)
{
	(void)state;
	enum { SPANS = 300000 };
	struct strbuf text;
	strbuf_init(&text);
	strbuf_printf(&text, "[{\"ph\":\"X\",\"ts\":0,\"dur\":%u,\"name\":\"all\"}", SPANS + 1);
	for (unsigned i = 0; i < SPANS; i++)
		strbuf_printf(&text, ",{\"ph\":\"X\",\"ts\":%u,\"dur\":0.5,\"name\":\"%x\"}", i, i);
	strbuf_putc(&text, ']');
	assert_int_equal(read_text(&text), 0);
	assert_int_equal(c.hits, SPANS + 1);
	assert_int_equal(c.weight, (SPANS + 1) * 1000ull);
	assert_int_equal(c.backwards, 0);
	assert_true(cell("all", "avg_child_nb") == SPANS);
	assert_true(cell("all", "avg_loop_size") == 1);
	assert_non_null(strstr(c.folded.buf, "\nall;493df 500\n"));
	assert_non_null(strstr(c.folded.buf, "\nall 150001000\n"));
	counting_fini(&c);
	strbuf_fini(&text);
}

/* What was read before is shown. */
static void test_cancel(void **state)
{
	(void)state;
	struct made m;
	begin(&m, 1);
	fill(&m, 40 * CHROME_CHUNK);
	counting_init(&c);
	c.stop_after = 10;
	err = (struct err){0};
	assert_int_equal(counting_text(&c, m.text.buf, m.text.len, &options, &err), -ECANCELED);
	assert_true(c.hits > 1000 && c.hits < m.n);
	assert_true(cell("plain", "count") + cell("A \"b\"", "count") == (double)c.hits);
	counting_fini(&c);
	strbuf_fini(&m.text);
}

/* clang writes a sum of each name's spans behind them: what it sums up is not there twice. */
static void test_sums_of_spans(void **state)
{
	static const char text[] =
		"{\"traceEvents\":["
		"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":10,\"dur\":30,\"name\":\"Source\",\"args\":{\"detail\":\"a.h\"}},"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":50,\"dur\":20,\"name\":\"Total work\",\"args\":{\"count\":1}},"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":30,\"name\":\"Total Source\",\"args\":{\"count\":1,\"avg ms\":30}},"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":90,\"dur\":5,\"name\":\"late\"}]}";
	struct strbuf b = {0};

	(void)state;
	strbuf_puts(&b, text);
	assert_int_equal(read_text(&b), 0);
	assert_true(cell("Source", "count") == 1);
	assert_true(cell("Total work", "count") == 1);
	assert_true(cell("Total Source", "count") == -1);
	assert_true(cell("late", "count") == 1);
	assert_non_null(strstr(c.said.buf, "left out: 1 sums of spans"));
	counting_fini(&c);
	strbuf_fini(&b);
}

/* "samples" with "stackFrames" are stacks of a profiler: what is called so elsewhere is none. */
static void test_samples_beside(void **state)
{
	(void)state;
	struct strbuf text = {0};
	strbuf_puts(&text,
		    "{\"samples\":[{\"ts\":\"1\",\"args\":[{}],\"sf\":1},{\"ts\":\"2\",\"sf\":2}],"
		    "\"stackFrames\":{\"1\":{\"name\":\"f\"},\"2\":{\"name\":\"g\"}},"
		    "\"traceEvents\":[{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\","
		    "\"args\":{\"name\":\"js\",\"samples\":[{}]}},"
		    "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":3}]}\n");
	assert_int_equal(read_text(&text), 0);
	assert_non_null(strstr(c.said.buf, "2 samples of a sampling profiler"));
	counting_fini(&c);
	strbuf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),         cmocka_unit_test(test_borders),
		cmocka_unit_test(test_long_events),   cmocka_unit_test(test_lenient),
		cmocka_unit_test(test_cut),           cmocka_unit_test(test_damage),
		cmocka_unit_test(test_order),         cmocka_unit_test(test_many_paths),
		cmocka_unit_test(test_cancel),        cmocka_unit_test(test_bare_values),
		cmocka_unit_test(test_extent),        cmocka_unit_test(test_one_moment),
		cmocka_unit_test(test_far_apart),     cmocka_unit_test(test_long_bare_text),
		cmocka_unit_test(test_endless),       cmocka_unit_test(test_several_values),
		cmocka_unit_test(test_thread_names),  cmocka_unit_test(test_too_many_threads),
		cmocka_unit_test(test_sums_of_spans), cmocka_unit_test(test_samples_beside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
