/*
 * demo_jobs: the jobs that need nobody else: sorting, matrices, compressing, logging.
 *
 * Runs in the child of --demo. Every step is a function of its own that is never inlined: the point
 * is call paths and shares that a person can read.
 */
#include "demo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEP static __attribute__((noinline))

/* Sorting. */

#define RECORDS 4000

struct record {
	uint32_t key;
	char name[12];
};

STEP void fill_records(struct demo_thread *t, struct record *records)
{
	for (int i = 0; i < RECORDS; i++) {
		records[i].key = demo_random(t, 1000);
		snprintf(records[i].name, sizeof records[i].name, "%08x",
			 demo_random(t, UINT32_MAX));
	}
}

STEP int compare_names(const struct record *a, const struct record *b)
{
	return strcmp(a->name, b->name);
}

STEP int compare_records(const void *pa, const void *pb)
{
	const struct record *a = pa, *b = pb;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return compare_names(a, b);
}

void demo_sort_records(struct demo_thread *t)
{
	struct record *records = malloc(RECORDS * sizeof *records);
	if (!records)
		return;
	fill_records(t, records);
	qsort(records, RECORDS, sizeof *records, compare_records);
	t->sum += records[RECORDS / 2].key;
	free(records);
}

/* Matrices: a scene graph walked recursively, a product at each node. */

#define SIDE  32
#define DEPTH 5

STEP void multiply_matrices(const double *restrict a, const double *restrict b, double *restrict c)
{
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++) {
			double sum = 0;
			for (int k = 0; k < SIDE; k++)
				sum += a[i * SIDE + k] * b[k * SIDE + j];
			c[i * SIDE + j] = sum;
		}
}

STEP double normalize_matrix(double *m)
{
	double most = 1e-9;
	for (int i = 0; i < SIDE * SIDE; i++)
		most = m[i] > most ? m[i] : most;
	for (int i = 0; i < SIDE * SIDE; i++)
		m[i] /= most;
	return most;
}

STEP double visit_node(double *level, unsigned depth)
{
	double *next = level + SIDE * SIDE;
	multiply_matrices(level, level, next);
	double norm = normalize_matrix(next);
	for (unsigned child = 0; child < 2 && depth; child++)
		norm += visit_node(next, depth - 1);
	return norm;
}

void demo_transform_scene(struct demo_thread *t)
{
	if (!t->matrices)
		t->matrices = malloc((DEPTH + 3) * SIDE * SIDE * sizeof *t->matrices);
	if (!t->matrices)
		return;
	for (int i = 0; i < SIDE * SIDE; i++)
		t->matrices[i] = demo_random(t, 1000) / 1000.0;
	t->sum += (uint64_t)visit_node(t->matrices, DEPTH);
}

/* Compressing: longest matches in a window, greedy. */

#define WINDOW 256

STEP void make_text(struct demo_thread *t)
{
	static const char *const words[] = {"the ",   "quick ", "brown ",  "fox ",
					    "jumps ", "over ",  "lazy ",   "dog ",
					    "lorem ", "ipsum ", "sample ", "stack "};
	size_t at = 0;
	while (at + 16 < DEMO_TEXT_BYTES / 8) {
		const char *word = words[demo_random(t, sizeof words / sizeof *words)];
		size_t len = strlen(word);
		memcpy(t->text + at, word, len);
		at += len;
	}
	memset(t->text + at, 0, DEMO_TEXT_BYTES / 8 - at);
}

STEP size_t match_length(const char *a, const char *b, size_t most)
{
	size_t n = 0;
	while (n < most && a[n] == b[n])
		n++;
	return n;
}

STEP size_t find_match(const char *text, size_t at, size_t end, size_t *ret_from)
{
	size_t best = 0, from = at > WINDOW ? at - WINDOW : 0;
	for (; from < at; from++) {
		size_t n = match_length(text + from, text + at, end - at);
		if (n > best) {
			best = n;
			*ret_from = from;
		}
	}
	return best;
}

STEP void write_block(struct demo_thread *t, const char *data, size_t len)
{
	if (pwrite(t->fd, data, len, (off_t)demo_random(t, 64) * 4096) > 0)
		t->sum += len;
}

void demo_compress_block(struct demo_thread *t)
{
	make_text(t);
	size_t end = DEMO_TEXT_BYTES / 8, out = 0;
	for (size_t at = 0, from = 0; at < end;) {
		size_t n = find_match(t->text, at, end, &from);
		if (n > 3) {
			out += (size_t)snprintf(t->page + out, 16, "<%zu,%zu>", at - from, n);
			at += n;
		} else {
			t->page[out++] = t->text[at++];
		}
	}
	write_block(t, t->page, out);
}

/* Logging: mostly asleep. */

STEP size_t format_line(struct demo_thread *t, char *line, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];
	localtime_r(&now, &tm);
	strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &tm);
	int n = snprintf(line, size, "%s GET /item/%u 200 %u ms\n", stamp, demo_random(t, 9999),
			 demo_random(t, 80));
	return n > 0 ? (size_t)n : 0;
}

void demo_write_log(struct demo_thread *t)
{
	char line[128];
	for (int i = 0; i < 20; i++)
		write_block(t, line, format_line(t, line, sizeof line));
}
