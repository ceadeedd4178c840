/*
 * import against the corpus: every file holds as many samples as other tools counted, as the
 * manifest tells; what must be refused is refused; nothing is read twice.
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

#define CORPUS "../shared/corpus/"

/* The number that stands before or behind @mark in a manifest row; -1: none. */
static long number_behind(const char *row, const char *mark)
{
	const char *at = strstr(row, mark);
	return at ? strtol(at + strlen(mark), NULL, 10) : -1;
}

static long number_before(const char *row, const char *mark)
{
	const char *at = strstr(row, mark);
	if (!at)
		return -1;
	while (at > row && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return strtol(at, NULL, 10);
}

/* Rows whose file lies in @kind: call @check with the file's path and the row. Returns how many
 * rows. */
static unsigned each_row(const char *kind, void (*check)(const char *path, const char *row))
{
	FILE *f = fopen(CORPUS "MANIFEST.md", "r");
	assert_non_null(f);
	char *row = NULL;
	size_t cap = 0;
	unsigned n = 0;
	while (getline(&row, &cap, f) > 0) {
		char name[256], path[512];
		if (sscanf(row, "| ★ | %255[^ ] |", name) != 1 &&
		    sscanf(row, "| | %255[^ ] |", name) != 1)
			continue;
		snprintf(path, sizeof path, CORPUS "%s/%s", kind, name);
		FILE *there = fopen(path, "r");
		if (!there)
			continue;
		fclose(there);
		check(path, row);
		n++;
	}
	free(row);
	fclose(f);
	return n;
}

static void check_perf_data(const char *path, const char *row)
{
	long samples = number_behind(row, "'SAMPLE': "), comms = number_behind(row, "'COMM': ");
	if (samples < 0 || strstr(path, ".txt"))
		return;
	struct counting c;
	counting_init(&c);
	struct err err = {0};
	int rc = counting_read(&c, path, NULL, &err);
	if (rc || c.samples != (uint64_t)samples ||
	    c.comm_records != (uint64_t)(comms > 0 ? comms : 0))
		fail_msg("%s: %d %s, %llu samples instead of %ld, %llu names instead of %ld", path,
			 rc, err.msg, (unsigned long long)c.samples, samples,
			 (unsigned long long)c.comm_records, comms);
	assert_int_equal(c.loss[LOSS_BAD_RECORD], 0);
	assert_int_equal(c.loss[LOSS_UNKNOWN_ID], 0);
	counting_fini(&c);
}

static void check_perf_script(const char *path, const char *row)
{
	long samples = number_before(row, " timed headers");
	if (samples <= 0 || strstr(row, "branch lines"))
		return;
	struct counting c;
	counting_init(&c);
	struct err err = {0};
	int rc = counting_read(&c, path, NULL, &err);
	if (rc || c.samples != (uint64_t)samples)
		fail_msg("%s: %d %s, %llu samples instead of %ld", path, rc, err.msg,
			 (unsigned long long)c.samples, samples);
	counting_fini(&c);
}

static void check_branch_trace(const char *path, const char *row)
{
	long branches = number_before(row, " branch lines");
	if (branches <= 0)
		return;
	struct counting c;
	counting_init(&c);
	struct err err = {0};
	struct analyser_options options = {.pattern = PATTERN_AUTO};
	int rc = counting_read(&c, path, &options, &err);
	if (rc || c.nanalyses != 2)
		fail_msg("%s: %d %s, %u analyses", path, rc, err.msg, c.nanalyses);
	/* Every branch line but those where tracing starts is one step of its function's own. */
	double own = 0;
	const struct analysis *a = c.analyses[0];
	for (uint32_t i = 0; i < a->nrows; i++)
		own += counting_cell(a, (int)i, "self_inst") * counting_cell(a, (int)i, "count");
	long starts = number_behind(row, "'tr strt': ");
	assert_float_equal(own, (double)(branches - (starts > 0 ? starts : 0)),
			   0.01 * (double)branches + 1);
	counting_fini(&c);
}

static void check_pprof(const char *path, const char *row)
{
	const char *at = strstr(row, "raw rc 0; ");
	struct counting c;
	counting_init(&c);
	struct err err = {0};
	int rc = counting_read(&c, path, NULL, &err);
	if (!at) {
		if (!rc && !strstr(path, ".string"))
			fail_msg("%s is no pprof and was read", path);
	} else if (rc || c.samples != (uint64_t)number_behind(at, "raw rc 0; ")) {
		fail_msg("%s: %d %s, %llu samples", path, rc, err.msg,
			 (unsigned long long)c.samples);
	}
	counting_fini(&c);
}

static long spans; /* hits of them; what a sampling profiler saw beside them is none */

static void count_spans(struct counting *c, const struct raw_sample *s)
{
	spans += strcmp(c->events[s->event].name, "span-time") ? 0 : (long)s->hits;
}

static void check_chrome(const char *path, const char *row)
{
	if (strstr(path, ".txt"))
		return;
	struct counting c;
	counting_init(&c);
	c.each_sample = count_spans;
	spans = 0;
	struct err err = {0};
	struct analyser_options options = {.pattern = PATTERN_AUTO};
	int rc = counting_read(&c, path, &options, &err);
	bool refused = strstr(row, "must be refused") || strstr(row, "not this format");
	if (refused ? !rc : rc != 0)
		fail_msg("%s: %d %s", path, rc, err.msg);
	/* Spans: every X with a good time that is no sum of others, every B (each is closed
	 * somehow). */
	const char *left_out = strstr(c.said.buf ? c.said.buf : "", " sums of spans");
	long sums = 0;
	for (const char *p = left_out; p && p > c.said.buf && p[-1] >= '0' && p[-1] <= '9';)
		sums = strtol(--p, NULL, 10);
	long x = number_behind(row, "'X': "), b = number_behind(row, "'B': ");
	long most = (x > 0 ? x : 0) + (b > 0 ? b : 0) - sums;
	if (strstr(row, "json ok") && !strstr(row, "XXX"))
		assert_true(spans <= most);
	if (strstr(row, "json ok") && !strstr(c.said.buf ? c.said.buf : "", "good time"))
		assert_true(spans >= most);
	counting_fini(&c);
}

static void corpus(const char *kind, void (*check)(const char *, const char *))
{
	if (!counting_corpus())
		skip();
	assert_in_range(each_row(kind, check), 20, 1000);
}

static void test_perf_data(void **state)
{
	(void)state;
	corpus("perfdata", check_perf_data);
}

static void test_perf_script(void **state)
{
	(void)state;
	corpus("perfscript", check_perf_script);
}

static void test_branch_traces(void **state)
{
	(void)state;
	corpus("perfscript", check_branch_trace);
}

static void test_pprof_files(void **state)
{
	(void)state;
	corpus("pprof", check_pprof);
}

static void test_chrome_traces(void **state)
{
	(void)state;
	corpus("chrometrace", check_chrome);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perf_data),     cmocka_unit_test(test_perf_script),
		cmocka_unit_test(test_branch_traces), cmocka_unit_test(test_pprof_files),
		cmocka_unit_test(test_chrome_traces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
