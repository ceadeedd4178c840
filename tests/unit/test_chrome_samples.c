/* What a sampling profiler saw, in a Chrome trace: chunks in any order, beside spans, in order of
 * time; samples of the Trace Event Format with weights. */
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
static char who[512];
static const struct analyser_options options = {.pattern = PATTERN_DURATION};

static uint64_t first_ns; /* of the first sample */

static void note_sample(struct counting *counting, const struct raw_sample *s)
{
	(void)counting;
	size_t n = strlen(who);
	first_ns = n ? first_ns : s->time_ns;
	snprintf(who + n, sizeof who - n, "%u:%d/%d:%llu@%llu ", s->event, s->pid, s->tid,
		 (unsigned long long)s->weight / 1000,
		 (unsigned long long)(s->time_ns - first_ns) / 1000000);
}

static int read_text(const char *text)
{
	counting_init(&c);
	c.each_sample = note_sample;
	who[0] = 0;
	err = (struct err){0};
	return counting_text(&c, text, strlen(text), &options, &err);
}

#define PROFILE(start) \
	"{\"ph\":\"P\",\"name\":\"Profile\",\"pid\":3,\"tid\":4,\"id\":\"0x1\",\"ts\":1,\"args\":{" \
	"\"data\":{\"startTime\":" #start "}}}"
#define CHUNK(ts, nodes, samples, deltas) \
	"{\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[" nodes "],\"samples\":[" samples \
	"]},\"timeDeltas\":[" deltas "]}},\"ph\":\"P\",\"name\":\"ProfileChunk\",\"pid\":3," \
	"\"tid\":99,\"id\":\"0x1\",\"ts\":" #ts "}"
#define NODE(id, parent, name) \
	"{\"id\":" #id ",\"parent\":" #parent ",\"callFrame\":{\"functionName\":\"" name \
	"\",\"url\":\"a.js\",\"lineNumber\":-1}}"
#define SPAN(ts, dur) \
	"{\"ph\":\"X\",\"name\":\"Task\",\"pid\":3,\"tid\":4,\"ts\":" #ts ",\"dur\":" #dur "}"

/* The second chunk stands first; spans end between the samples; other events' nodes are none. */
static void test_chunks(void **state)
{
	(void)state;
	assert_int_equal(
		read_text("{\"traceEvents\":[" CHUNK(900, NODE(3, 2, "g"), "3,2", "300000,100000") "," SPAN(
			1000000,
			450000) ",{\"ph\":\"I\",\"name\":\"x\","
				"\"ts\":1,\"args\":{\"data\":{"
				"\"nodes\":[" NODE(
					2, 0,
					"wrong") "],\"samples\":[2]}}}"
						 "," CHUNK(
							 800,
							 "{\"id\":1,\"callFrame\":{\"functionName\":\"("
							 "root)\"}}," NODE(2, 1, "f"),
							 "2,2",
							 "0,100000") "," PROFILE(1000000) "]}"),
		0);
	assert_int_equal(c.nevents, 2);
	assert_string_equal(c.events[0].name, "span-time");
	assert_string_equal(c.events[1].name, "wall");
	assert_string_equal(c.folded.buf, "f 100000000\nf 300000000\nTask 450000000\n"
					  "f;g 100000000\nf 166666666\n");
	assert_string_equal(who, "1:3/4:100000@0 1:3/4:300000@300 0:3/4:450000@350 "
				 "1:3/4:100000@400 1:3/4:166666@566 ");
	assert_int_equal(c.backwards, 0);
	assert_int_equal(c.extent_ns, 666666666);
	assert_int_equal(c.nanalyses, 1);
	assert_int_equal(counting_row(c.analyses[0], c.tables, "Task"), 0);
	assert_string_equal(c.said.buf, "left out: 1 instant\n4 samples of a sampling profiler lie "
					"beside the spans: they are the event wall (-s wall)\n");
	counting_fini(&c);
}

/* Where the profile's begin is not told, its first chunk ends when it was written. */
static void test_no_begin(void **state)
{
	(void)state;
	assert_int_equal(read_text("[" SPAN(1000000, 100) "," CHUNK(1400000, NODE(1, 0, "f"), "1,1",
								    "100000,300000") "]"),
			 0);
	assert_int_equal(c.extent_ns, 700000000);
	assert_string_equal(c.folded.buf, "Task 100000\nf 300000000\nf 300000000\n");
	counting_fini(&c);
}

/* A trace that was cut between events, as killed programs leave it: each chunk counts once. */
static void test_cut(void **state)
{
	(void)state;
	static const char *const ends[] = {"", ",", ",{\"ph\":\"X\",\"na"};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		char text[1024];
		snprintf(text, sizeof text, "[%s%s",
			 PROFILE(1000000) "," CHUNK(1400000, NODE(1, 0, "f"), "1,1",
						    "100000,300000"),
			 ends[i]);
		int rc = read_text(text);
		assert_int_equal(rc, i == 2 ? -EBADMSG : 0);
		assert_string_equal(c.folded.buf, "f 300000000\nf 300000000\n");
		assert_string_equal(who, "1:3/4:300000@0 1:3/4:300000@300 ");
		counting_fini(&c);
	}
}

/* Chunks and named samples never come together; if they do, it is said whose event is which. */
static void test_both(void **state)
{
	(void)state;
	assert_int_equal(
		read_text("{\"traceEvents\":[" PROFILE(1000000) "," SPAN(1000000, 5) "," CHUNK(
			1400000, NODE(1, 0, "f"), "1,1",
			"100000,300000") "],\"samples\":[{\"name\":\"cycles\",\"ts\":2000,"
					 "\"tid\":2,\"sf\":7}],\"stackFrames\":{\"7\":{"
					 "\"name\":\"main\"}}}"),
		0);
	assert_string_equal(c.folded.buf, "Task 5000\nf 300000000\nf 300000000\n");
	assert_non_null(strstr(c.said.buf, "event wall (-s wall)"));
	counting_fini(&c);
}

/* Weights that are told count, under the name of their event. */
static void test_weights(void **state)
{
	(void)state;
	assert_int_equal(
		read_text("{\"traceEvents\":[" SPAN(
			1000, 5000) "],"
				    "\"stackFrames\":{\"5\":{\"name\":\"main\"},\"7\":{\"name\":"
				    "\"work\",\"parent\":\"5\"}},\"samples\":["
				    "{\"name\":\"cycles:HG\",\"weight\":3120.5,\"ts\":2000.5,"
				    "\"cpu\":1,\"comm\":\"perf\",\"tid\":21,\"sf\":7},"
				    "{\"name\":\"cycles:HG\",\"weight\":70,\"ts\":2001,"
				    "\"cpu\":1,\"comm\":\"perf\",\"tid\":21,\"sf\":\"8\"}]}"),
		0);
	assert_string_equal(c.events[1].name, "cycles:HG");
	assert_int_equal(c.events[1].unit, EVENT_COUNT);
	assert_non_null(strstr(c.comms.buf, "0/21 perf\n"));
	assert_string_equal(c.folded.buf, "main;work 3121\n[unknown] 70\nTask 5000000\n");
	assert_non_null(strstr(c.said.buf, "1 of its samples have no time"));
	counting_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chunks),  cmocka_unit_test(test_no_begin),
		cmocka_unit_test(test_cut),     cmocka_unit_test(test_both),
		cmocka_unit_test(test_weights),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
