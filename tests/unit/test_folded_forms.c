/* Folded stacks whose counts are no samples: sums of periods, and Austin's microseconds. */
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

static struct counting c;
static struct err err;
static char who[256];

static void note_thread(struct counting *counting, const struct raw_sample *s)
{
	(void)counting;
	size_t n = strlen(who);
	snprintf(who + n, sizeof who - n, "%d/%d ", s->pid, s->tid);
}

static void read_text(const char *text)
{
	counting_init(&c);
	c.each_sample = note_thread;
	who[0] = 0;
	err = (struct err){0};
	assert_int_equal(counting_text(&c, text, strlen(text), NULL, &err), 0);
}

/* Sums of a clock's period tell how many samples there were; other counts are samples. */
static void test_periods(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t hits, weight;
	} texts[] = {
		{"main;f 7500000\nmain;g 250000\n", 31, 7750000},
		{"# a remark\nmain;f 30303030\nmain;g 10101010\nmain;h 20202020\n", 6, 60606060},
		{"main;f 30\nmain;g 10\n", 40, 40},
		{"main;f 7500000\nmain;g 250001\n", 7750001, 7750001},
		{"main;f 7500000\n", 7500000, 7500000},
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		read_text(texts[i].text);
		if (c.hits != texts[i].hits || c.weight != texts[i].weight ||
		    !c.said.len != (c.hits == c.weight))
			fail_msg("%s%llu hits, %llu: %s", texts[i].text, (unsigned long long)c.hits,
				 (unsigned long long)c.weight, c.said.len ? c.said.buf : "");
		counting_fini(&c);
	}
	/* fractions and our own nanoseconds say what they are */
	read_text("main;f 1000.5\nmain;g 3000.5\n");
	assert_int_equal(c.hits, 4002);
	counting_fini(&c);
	read_text("# nanoseconds of cpu-clock, 8 samples\nmain;f 6000000\nmain;g 2000000\n");
	assert_int_equal(c.hits, 8);
	assert_int_equal(c.said.len, 0);
	counting_fini(&c);
	/* of times without a number of samples each line is one */
	read_text("# nanoseconds of cpu-clock, few\nmain;f 6000000\nmain;g 2000000\n");
	assert_int_equal(c.hits, 2);
	assert_int_equal(c.weight, 8000000);
	counting_fini(&c);
}

static void test_austin(void **state)
{
	(void)state;
	read_text("# austin: 3.4.1\n# interval: 1000\n# mode: wall\n\n"
		  "P12;T12;/a b.py:<module>:3;<frozen x>:load:94 1000\n"
		  "P12;T0:13;/a b.py:<module>:3;/c.py:C.run:7 1500\nP12;T13 20\n"
		  "P12;T0:8306874560;/c.py:C.run:7 5\n# duration: 2520\n");
	assert_int_equal(c.nevents, 1);
	assert_string_equal(c.events[0].name, "wall");
	assert_int_equal(c.events[0].unit, EVENT_NS);
	assert_false(c.events[0].cpu_time);
	assert_int_equal(c.hits, 4);
	assert_int_equal(c.weight, 2525000);
	assert_string_equal(who, "12/12 12/13 12/13 0/0 ");
	assert_string_equal(c.folded.buf, "<module>;load 1000000\n<module>;C.run 1500000\n"
					  "[unknown] 20000\nP12;T0:8306874560;C.run 5000\n");
	counting_fini(&c);
	read_text("# austin: 3.4.1\n# mode: cpu\nP1;T1;/a.py:f:3 7\nP1;T1;/a.py:f:4 7\n");
	assert_true(c.events[0].cpu_time);
	assert_int_equal(c.weight, 14000);
	counting_fini(&c);
	/* bytes are no time, and without its words at the top it
	 * is any folded text */
	read_text("# austin: 3.4.1\n# mode: memory\nP1;T1;/a.py:f:3 7\n");
	assert_int_equal(c.events[0].unit, EVENT_COUNT);
	assert_int_equal(c.weight, 7);
	counting_fini(&c);
	read_text("P1;T1;/a.py:f:3 7\n");
	assert_string_equal(c.folded.buf, "P1;T1;/a.py:f:3 7\n");
	counting_fini(&c);
}

static void note_values(struct counting *counting, const struct raw_sample *s)
{
	(void)counting;
	size_t n = strlen(who);
	snprintf(who + n, sizeof who - n, "%llu→%llu ",
		 s->nvalues ? (unsigned long long)s->values[0].count : 0ull,
		 (unsigned long long)s->weight);
}

/* Two counts a line: what was before is no part of a frame's name. */
static void test_difference(void **state)
{
	(void)state;
	static const char text[] = "main;read_[k] 3 5\nmain;gone 2 0\nmain;new 0 4.5\n";
	counting_init(&c);
	c.each_sample = note_values;
	who[0] = 0;
	err = (struct err){0};
	assert_int_equal(counting_text(&c, text, strlen(text), NULL, &err), 0);
	assert_int_equal(c.nevents, 2);
	assert_string_equal(c.events[0].name, "samples");
	assert_string_equal(c.events[1].name, "before");
	assert_false(c.events[1].sampled);
	assert_string_equal(who, "3000000→5000000 2000000→0 0→4500000 ");
	assert_string_equal(c.folded.buf, "main;read 5000000\nmain;gone 0\nmain;new 4500000\n");
	assert_null(strstr(c.said.buf, "left out"));
	counting_fini(&c);
	/* one line without a second count, and all are as they stand */
	read_text("main;f 3 5\nmain;g 4\n");
	assert_string_equal(c.folded.buf, "main;f 3 5\nmain;g 4\n");
	counting_fini(&c);
}

/* Samples whose stack is empty count; a point may stand behind the number. */
static void test_empty(void **state)
{
	(void)state;
	read_text("main;f 3\n 34\n; 2\nmain;g 6.\n");
	assert_string_equal(c.folded.buf, "main;f 3000000\n[unknown] 34000000\n"
					  "[unknown] 2000000\nmain;g 6000000\n");
	assert_int_equal(c.said.len, 0);
	counting_fini(&c);
}

/* async-profiler's threads and what it says of how frames were compiled. */
static void test_async_profiler(void **state)
{
	(void)state;
	read_text("[main tid=17];java/A.run_[0];java/A.f_[1];read_[k] 3\n[G1 [x] tid=18] 2\n"
		  "[tid=19];java/A.f_[j] 4\n[unknown];java/A.g_[i] 1\n[x tid=];f 1\n[tid=20;f 1\n");
	assert_string_equal(who, "0/17 0/18 0/19 0/0 0/0 0/0 ");
	assert_string_equal(c.comms.buf, "0/17 main\n0/18 G1 [x]\n");
	assert_string_equal(c.folded.buf, "java/A.run;java/A.f;read 3\n[unknown] 2\njava/A.f 4\n"
					  "[unknown];java/A.g 1\n[x tid=];f 1\n[tid=20;f 1\n");
	counting_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_periods),        cmocka_unit_test(test_austin),
		cmocka_unit_test(test_difference),     cmocka_unit_test(test_empty),
		cmocka_unit_test(test_async_profiler),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
