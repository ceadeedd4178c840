/* Profiles of JavaScript engines: V8's .cpuprofile and .heapprofile, old and new, and Hermes'
 * samples. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "counting_sink.h"
#include "import/stackprofile.h"

static struct counting c;
static struct err err;
static char who[256];

static void note_thread(struct counting *counting, const struct raw_sample *s)
{
	(void)counting;
	size_t n = strlen(who);
	snprintf(who + n, sizeof who - n, "%d/%d@%llu ", s->pid, s->tid,
		 (unsigned long long)s->time_ns / 1000);
}

static int read_text(const char *text)
{
	counting_init(&c);
	c.each_sample = note_thread;
	who[0] = 0;
	err = (struct err){0};
	return counting_text(&c, text, strlen(text), NULL, &err);
}

#define CALL(name, url, line, column) \
	"\"callFrame\":{\"functionName\":\"" name "\",\"scriptId\":\"7\",\"url\":\"" url \
	"\",\"lineNumber\":" #line ",\"columnNumber\":" #column "}"
#define TREE \
	"{\"id\":1," CALL( \
		"(root)", "", -1, \
		-1) ",\"hitCount\":0,\"children\":[2,3,6]}," \
		    "{\"id\":2," CALL( \
			    "(idle)", "", -1, \
			    -1) "}," \
				"{\"id\":3," CALL( \
					"main", "file:///x/app.js", 4, \
					9) ",\"children\":[4,5]}," \
					   "{\"id\":4," CALL( \
						   "", "file:///x/app.js", 6, \
						   1) "}," \
						      "{\"id\":5," CALL( \
							      "e", "file:///x/app.js", 8, \
							      0) "}," \
								 "{\"id\":6," CALL( \
									 "e", "file:///x/app.js", \
									 9, 2) "}"

/* A sample stands until the next; the last one as long as they do on average. */
static void test_cpuprofile(void **state)
{
	(void)state;
	assert_int_equal(read_text("{\"nodes\":[" TREE "],\"startTime\":1000,\"endTime\":9999,"
				   "\"samples\":[2,4,4,5,6],"
				   "\"timeDeltas\":[100,50,20,30,100]}"),
			 0);
	assert_int_equal(c.nevents, 1);
	assert_string_equal(c.events[0].name, "wall");
	assert_int_equal(c.events[0].unit, EVENT_NS);
	assert_false(c.events[0].cpu_time);
	assert_int_equal(c.samples, 5);
	assert_int_equal(c.hits, 5);
	assert_int_equal(c.weight, 250000);
	assert_string_equal(c.folded.buf, "(idle) 50000\n"
					  "main;(anonymous) 7:2 20000\n"
					  "main;(anonymous) 7:2 30000\n"
					  "main;e 9:1 100000\n"
					  "e 10:3 50000\n");
	assert_string_equal(who, "0/0@100050 0/0@100070 0/0@100100 0/0@100200 0/0@100250 ");
	assert_int_equal(c.said.len, 0);
	counting_fini(&c);
	/* within "profile", lists before nodes, a delta below 0 (a late sample), parents told */
	assert_int_equal(
		read_text(
			"{\"profile\":{\"samples\":[2,3,2],\"timeDeltas\":[100,50,-20],"
			"\"startTime\":0,\"nodes\":[{\"id\":1," CALL(
				"(root)", "", -1,
				-1) "},{\"id\":2,\"parent\":1," CALL("a", "", -1,
								     -1) "},"
									 "{\"id\":3,\"parent\":2," CALL(
										 "b", "", -1,
										 -1) "}]}}"),
		0);
	assert_string_equal(c.folded.buf, "a 30000\na 20000\na;b 25000\n");
	counting_fini(&c);
}

/* Callers that lead to themselves, nodes that are not there, samples without a time. */
static void test_damage(void **state)
{
	(void)state;
	assert_int_equal(
		read_text("{\"nodes\":[{\"id\":1," CALL(
			"a", "", -1,
			-1) ",\"children\":[2]},"
			    "{\"id\":2," CALL(
				    "b", "", -1,
				    -1) ",\"children\":[1]}],"
					"\"startTime\":1,\"endTime\":9,\"samples\":[2,9,1,1],"
					"\"timeDeltas\":[1,2,3]}"),
		0);
	assert_int_equal(c.samples, 3);
	assert_non_null(strstr(c.folded.buf, "[unknown] 3000\n"));
	assert_string_equal(c.said.buf,
			    "2 samples have no time, or stand where no call is known\n");
	counting_fini(&c);
	/* cut off: what came before it counts, and the exit status tells */
	assert_int_equal(read_text("{\"nodes\":[" TREE "],\"startTime\":1000,"
				   "\"timeDeltas\":[100,50],\"samples\":[2,3,"),
			 -EBADMSG);
	assert_int_equal(c.weight, 100000);
	assert_non_null(strstr(err.msg, "cut off"));
	counting_fini(&c);
	/* what stands behind the profile makes nothing of it count twice */
	assert_int_equal(read_text("{\"nodes\":[" TREE "],\"startTime\":1000,"
				   "\"timeDeltas\":[100,50],\"samples\":[2,3]} x"),
			 -EBADMSG);
	assert_int_equal(c.weight, 100000);
	counting_fini(&c);
	assert_int_equal(read_text("{\"nodes\":[" TREE "],\"startTime\":1000,"
				   "\"timeDeltas\":[100,50],\"samples\":[2,3]}{}"),
			 0);
	assert_int_equal(c.weight, 100000);
	counting_fini(&c);
	assert_int_equal(read_text("{\"nodes\":[" TREE "],\"startTime\":1000,\"samples\":[]}"),
			 -EINVAL);
	counting_fini(&c);
}

/* Nodes that stand in one another; one time more than samples ends the last. */
static void test_old(void **state)
{
	(void)state;
#define OLD(name, id, hits, children) \
	"{\"functionName\":\"" name "\",\"url\":\"s.js\",\"lineNumber\":3,\"callUID\":" #id \
	",\"children\":[" children "],\"hitCount\":" #hits ",\"id\":" #id "}"
	static const char head[] =
		"{\"typeId\":\"CPU\",\"uid\":\"1\",\"title\":\"p\",\"head\":" OLD(
			"(root)", 1, 0, OLD("f", 2, 3, OLD("g", 3, 5, "")) "," OLD("h", 4, 1, ""));
	char text[2048];
	snprintf(text, sizeof text,
		 "%s,\"startTime\":1.5,\"endTime\":2.5,\"samples\":[3,2,4],"
		 "\"timestamps\":[1500000,1500010,1500030,1500037]}",
		 head);
	assert_int_equal(read_text(text), 0);
	assert_string_equal(c.folded.buf, "f;g 10000\nf 20000\nh 7000\n");
	counting_fini(&c);
	/* places without columns tell names apart */
	assert_int_equal(
		read_text("{\"head\":{\"functionName\":\"f\",\"url\":\"s.js\",\"lineNumber\":3,"
			  "\"id\":1,\"children\":[{\"functionName\":\"f\",\"url\":\"s.js\","
			  "\"lineNumber\":9,\"id\":2,\"children\":[]}]},\"samples\":[2],"
			  "\"timestamps\":[10,20]}"),
		0);
	assert_string_equal(c.folded.buf, "f 3;f 9 10000\n");
	counting_fini(&c);
	/* without samples the nodes' own counts are what there is */
	snprintf(text, sizeof text, "%s,\"startTime\":1.5,\"endTime\":2.5}", head);
	assert_int_equal(read_text(text), 0);
	assert_string_equal(c.events[0].name, "samples");
	assert_string_equal(c.folded.buf, "f 3\nf;g 5\nh 1\n");
	assert_int_equal(c.hits, 9);
	counting_fini(&c);
}

static void test_heap(void **state)
{
	(void)state;
	assert_int_equal(
		read_text("{\"head\":{" CALL("(root)", "", -1, -1) ",\"selfSize\":0,\"id\":1,\"children\":[{" CALL(
			"f", "a.js", 0,
			0) ",\"selfSize\":4096,"
			   "\"id\":2,\"children\":[{" CALL(
				   "g", "a.js", 5,
				   0) ",\"selfSize\":64,\"id\":3,\"children\":[]}]}]},"
				      "\"samples\":[{\"size\":4096,\"nodeId\":2,\"ordinal\":1}]}"),
		0);
	assert_string_equal(c.events[0].name, "inuse_space");
	assert_int_equal(c.events[0].unit, EVENT_COUNT);
	assert_string_equal(c.folded.buf, "f 4096\nf;g 64\n");
	counting_fini(&c);
}

/* Hermes: texts instead of numbers, threads, frames behind the samples that name them. */
static void test_hermes(void **state)
{
	(void)state;
#define AT(ts, tid, sf) \
	"{\"cpu\":\"-1\",\"name\":\"\",\"ts\":\"" #ts "\",\"pid\":7,\"tid\":\"" #tid \
	"\",\"weight\":\"1\",\"sf\":" #sf "}"
	assert_int_equal(
		read_text(
			"{\"traceEvents\":[{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":7,"
			"\"tid\":\"9\",\"ts\":\"1\",\"args\":{\"name\":\"mqt_js\"}}],"
			"\"samples\":[" AT(100, 9, 1) "," AT(110, 9, 3) "," AT(105, 8, 2) "," AT(
				130, 9,
				3) "," AT(125, 8,
					  4) "],\"stackFrames\":{\"1\":{\"name\":\"[root]\","
					     "\"category\":\"root\"},\"2\":{\"name\":\"f(http://h:8081/b.js?x=(1):12:3)\","
					     "\"category\":\"JavaScript\",\"parent\":1},\"3\":{\"name\":"
					     "\"g(http://h:8081/b.js?x=(1):2:4)\",\"parent\":2},\"4\":{\"name\":"
					     "\"(native)\",\"parent\":\"1\"}}}"),
		0);
	assert_string_equal(c.events[0].name, "wall");
	assert_string_equal(c.folded.buf, "[root] 10000\n"
					  "f 20000\n"
					  "f;g 20000\n"
					  "f;g 15000\n"
					  "(native) 20000\n");
	assert_string_equal(who, "7/9@100010 7/8@100025 7/9@100030 7/9@100045 7/8@100045 ");
	counting_fini(&c);
}

/* CPU time of reading as many threads with a sample each. */
static double many_threads(unsigned n)
{
	struct strbuf text;
	uint64_t start;

	strbuf_init(&text);
	strbuf_puts(&text, "{\"traceEvents\":[],\"samples\":[");
	for (unsigned i = 1; i <= n; i++)
		strbuf_printf(&text, "%s{\"ts\":\"%u\",\"pid\":7,\"tid\":\"%u\",\"sf\":1}",
			      i > 1 ? "," : "", i, i);
	strbuf_puts(&text, "],\"stackFrames\":{\"1\":{\"name\":\"f\"}}}");
	start = clock_thread_cpu_ns();
	assert_int_equal(read_text(text.buf), 0);
	start = clock_thread_cpu_ns() - start;
	assert_int_equal(c.samples, n);
	counting_fini(&c);
	strbuf_fini(&text);
	return (double)start;
}

/* Threads cost what they are many, not its square. */
static void test_many_threads(void **state)
{
	(void)state;
	double few = many_threads(5000), many = many_threads(80000);
	print_message("16 times the threads take %.1f times as long\n", many / few);
	assert_true(many < 60 * few);
}

/* More nodes than are kept: what stands in them has no place, and both are told. */
static void test_more_nodes_than_are_kept(void **state)
{
	(void)state;
	struct strbuf b;
	strbuf_init(&b);
	strbuf_puts(&b, "{\"nodes\":[{\"id\":1," CALL("kept", "a.js", 3, 4) "}");
	for (unsigned i = 1; i < STACKPROFILE_NODES_MOST; i++)
		strbuf_puts(&b, ",{}");
	strbuf_puts(&b, ",{\"id\":7," CALL(
				"left", "a.js", 5,
				6) "},{}],"
				   "\"startTime\":1,\"samples\":[1,7],\"timeDeltas\":[10,20]}");
	assert_int_equal(read_text(b.buf), 0);
	assert_int_equal(c.samples, 2);
	assert_string_equal(c.folded.buf, "kept 20000\n[unknown] 20000\n");
	assert_non_null(strstr(c.said.buf,
			       "1 samples have no time, or stand where no call is known\n"
			       "2 samples and calls are left out"));
	counting_fini(&c);
	strbuf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpuprofile),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_hermes),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_more_nodes_than_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
