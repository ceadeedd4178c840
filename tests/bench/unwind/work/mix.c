/* Sorting by callback, formatting, parsing, allocation, recursion. For ever. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static __attribute__((noinline)) long fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(void)
{
	volatile long sink = 0;
	for (;;) {
		char *texts[300], date[64];
		for (int i = 0; i < 300; i++) {
			texts[i] = malloc(64);
			snprintf(texts[i], 64, "%08.3f %d", i * 7919 % 1009 / 3.0, i);
		}
		qsort(texts, 300, sizeof *texts, by_text);
		for (int i = 0; i < 300; i++) {
			time_t when = (time_t)strtol(texts[i] + 9, NULL, 10) * 86400;
			struct tm tm;
			strftime(date, sizeof date, "%A %e %B %Y", gmtime_r(&when, &tm));
			sink = sink + date[3];
			free(texts[i]);
		}
		sink = sink + fib(14);
	}
}
