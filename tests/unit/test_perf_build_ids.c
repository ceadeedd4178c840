/* perf.data as a stream with many mappings and many build ids: each finds its own, in time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "counting_sink.h"

enum { ATTR = 64, BUILD_ID = 67, MMAP = 1, USER = 2 };

struct header {
	uint32_t type;
	uint16_t misc, size;
};

/* A task clock's attribute, as the first perf wrote it. */
struct attr {
	struct header h;
	uint32_t type, size;
	uint64_t config, period, sample_type, read_format, flags, wakeup, bp;
};

struct build_id {
	struct header h;
	uint32_t pid;
	uint8_t id[24];
	char path[36];
};

struct mapping {
	struct header h;
	uint32_t pid, tid;
	uint64_t start, size, pgoff;
	char path[40];
};

static unsigned wrong, seen;

static void check_mapping(struct counting *c, const struct raw_mmap *m)
{
	uint32_t number = (uint32_t)(m->start >> 16);
	(void)c;
	seen++;
	wrong += m->build_id_size != 20 || memcmp(m->build_id, &number, sizeof number) != 0;
}

/* CPU time of reading @n mappings of as many files, of each of which the build id is told. */
static double read_many(uint32_t n)
{
	size_t size = 16 + sizeof(struct attr) +
		      n * (sizeof(struct build_id) + sizeof(struct mapping));
	char *data = malloc(size), *p = data;
	struct attr a = {.h = {ATTR, 0, sizeof a}, .type = 1, .size = 64, .config = 1};
	struct counting c;
	struct err err = {0};
	assert_non_null(data);
	memcpy(p, "PERFILE2\x10\0\0\0\0\0\0\0", 16);
	p += 16;
	memcpy(p, &a, sizeof a);
	p += sizeof a;
	for (uint32_t i = 0; i < n; i++) {
		struct build_id b = {.h = {BUILD_ID, USER, sizeof b}};
		memcpy(b.id, &i, sizeof i);
		snprintf(b.path, sizeof b.path, "/made/up/library-%u.so", i);
		memcpy(p, &b, sizeof b);
		p += sizeof b;
	}
	for (uint32_t i = n; i-- > 0;) {
		struct mapping m = {.h = {MMAP, USER, sizeof m},
				    .pid = 7,
				    .tid = 7,
				    .start = (uint64_t)i << 16,
				    .size = 4096};
		snprintf(m.path, sizeof m.path, "/made/up/library-%u.so", i);
		memcpy(p, &m, sizeof m);
		p += sizeof m;
	}
	counting_init(&c);
	c.each_mmap = check_mapping;
	wrong = seen = 0;
	uint64_t start = clock_thread_cpu_ns();
	int rc = counting_text(&c, data, size, NULL, &err);
	start = clock_thread_cpu_ns() - start;
	if (rc)
		fail_msg("%s", err.msg);
	assert_int_equal(seen, n);
	assert_int_equal(wrong, 0);
	counting_fini(&c);
	free(data);
	return (double)start;
}

/* Files cost what they are many, not its square. */
static void test_many_build_ids(void **state)
{
	(void)state;
	read_many(100);
	double few = read_many(5000), many = read_many(80000);
	print_message("16 times the files take %.1f times as long\n", many / few);
	assert_true(many < 60 * few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_build_ids)};
	return cmocka_run_group_tests_name("perf build ids", tests, NULL, NULL);
}
