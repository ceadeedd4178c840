/* What the exporters write, the importers read: every stack, sample and weight of a profile built
 * by hand. */
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
#include "export/escape.h"
#include "made_snapshot.h"

/* @text as a recording. The trace analyses stand ready, so a profile taken for a trace shows. */
static void read_text(struct counting *c, const char *text, size_t len)
{
	struct analyser_options options = {0};
	struct err err = {0};
	counting_init(c);
	int rc = counting_text(c, text, len, &options, &err);
	if (rc)
		fail_msg("%d %s", rc, err.msg);
	assert_int_equal(c->nanalyses, 0);
	assert_int_equal(c->loss[LOSS_BAD_RECORD], 0);
}

static void has(const struct strbuf *b, const char *part)
{
	if (!strstr(b->buf, part))
		fail_msg("no \"%s\" in:\n%s", part, b->buf);
}

static void test_chrome(void **state)
{
	(void)state;
	struct made m;
	struct counting c;
	size_t len;
	made_init(&m);
	char *text = made_export(&m, FORMAT_CHROME, NULL, &len);
	read_text(&c, text, len);
	assert_int_equal(c.nevents, 1);
	assert_string_equal(c.events[0].name, "cpu-clock");
	assert_int_equal(c.events[0].unit, EVENT_NS);
	assert_true(c.events[0].cpu_time);
	assert_int_equal(c.hits, 100);
	assert_int_equal(c.weight, 100 * MADE_WEIGHT);
	char line[64];
	snprintf(line, sizeof line, "main;outer();inner(int) %llu\n", 40 * MADE_WEIGHT);
	has(&c.folded, line);
	snprintf(line, sizeof line, "main;outer();inner(int) %llu\n", 20 * MADE_WEIGHT);
	has(&c.folded, line);
	snprintf(line, sizeof line, "main;rec;rec %llu\n", 10 * MADE_WEIGHT);
	has(&c.folded, line);
	snprintf(line, sizeof line, "[truncated];kernel_fn %llu\n", 2 * MADE_WEIGHT);
	has(&c.folded, line);
	has(&c.comms, "100/100 main\n");
	has(&c.comms, "100/101 wor;ker\n");
	counting_fini(&c);
	/* A file that is cut off is read up to there, and that is said. */
	struct err err = {0};
	counting_init(&c);
	assert_int_equal(counting_text(&c, text, len * 2 / 3, NULL, &err), -EBADMSG);
	assert_non_null(strstr(err.msg, "cut off"));
	assert_in_range(c.hits, 1, 99);
	counting_fini(&c);
	free(text);
	made_fini(&m);
}

/* What pprof's file says of when, where and who. */
static void test_pprof(void **state)
{
	(void)state;
	struct made m;
	struct counting c;
	size_t len;
	made_init(&m);
	strcpy(m.s.host, "Linux box 6.1.2-rc3 x86_64");
	str_id name = tables_str(m.tables, "server"), thread = tables_str(m.tables, "late");
	tables_task(m.tables, 200, 0, 1, name);
	task_id late = tables_task(m.tables, 200, 202, 1, thread);
	m.cells[m.s.ncells++] = (struct snapshot_cell){
		.node = 4, .task = late, .samples = 5, .weight = 5 * MADE_WEIGHT};
	m.cells[m.s.ncells++] = (struct snapshot_cell){
		.node = SNAPSHOT_ROOT, .task = late, .weight = 9 * MADE_WEIGHT};
	char *text = made_export(&m, FORMAT_PPROF, NULL, &len);
	read_text(&c, text, len);
	assert_true(c.events[0].cpu_time);
	assert_int_equal(c.hits, 105);
	assert_int_equal(c.weight, 114 * MADE_WEIGHT);
	assert_int_equal(c.accounted, 9 * MADE_WEIGHT);
	assert_int_equal(c.kernel_weight, 2 * MADE_WEIGHT);
	assert_int_equal(c.wall_start_ns, m.s.wall_start_ns);
	assert_int_equal(c.duration_ns, m.s.end_ns - m.s.start_ns);
	assert_string_equal(c.host, "box");
	assert_string_equal(c.release, "6.1.2-rc3");
	has(&c.comms, "100/101 wor;ker");
	has(&c.comms, "200/200 server\n");
	has(&c.comms, "200/202 late\n");
	counting_fini(&c);
	free(text);
	made_fini(&m);
}

/* References that lead nowhere or in circles end the stack, and nothing else. */
static void test_chrome_hostile(void **state)
{
	(void)state;
	static const char text[] =
		"{\"otherData\":{\"producer\":\"altpttop profile\",\"event\":\"x\",\"unit\":\"count\"},\"traceEvents\":["
		"{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"args\":{\"samples\":1,\"self\":5,\"node\":1,\"caller\":1}},"
		"{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"args\":{\"samples\":1,\"self\":5,\"node\":2,\"caller\":9}},"
		"{\"ph\":\"X\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"args\":{\"samples\":1,\"self\":5,\"node\":9,\"caller\":2}},"
		"{\"ph\":\"X\",\"name\":\"d\",\"pid\":1,\"tid\":1,\"args\":{\"samples\":1,\"self\":7,\"node\":2,\"caller\":9}},"
		"{\"ph\":\"X\",\"name\":\"e\",\"pid\":1,\"args\":{\"samples\":1,\"self\":7,\"node\":99999999999,\"caller\":9}},"
		"{\"ph\":\"M\"},{},{\"ph\":\"X\"}]}";
	struct analyser_options options = {0};
	struct counting c;
	struct err err = {0};
	counting_init(&c);
	assert_int_equal(counting_text(&c, text, sizeof text - 1, &options, &err), 0);
	assert_int_equal(c.weight, 22);
	has(&c.folded, "a 5\n");
	has(&c.folded, "b;c 5\n");
	assert_int_equal(c.loss[LOSS_BAD_RECORD], 2);
	counting_fini(&c);
}

/* Where samples weigh differently, folded counts are time; what was read so is time again. */
static void test_folded_time(void **state)
{
	(void)state;
	struct made m;
	struct counting c;
	size_t len;
	made_init(&m);
	/* One observation of a long wait. */
	m.cells[3].samples = 1;
	m.cells[3].weight_sq = (double)m.cells[3].weight * (double)m.cells[3].weight;
	m.s.events = m.events;
	char *text = made_export(&m, FORMAT_FOLDED, NULL, &len);
	static const char head[] = "# nanoseconds of cpu-clock, 76 samples worth 14.3\n";
	assert_memory_equal(text, head, sizeof head - 1);
	read_text(&c, text, len);
	assert_string_equal(c.events[0].name, "cpu-clock");
	assert_int_equal(c.events[0].unit, EVENT_NS);
	assert_int_equal(c.weight, 100 * MADE_WEIGHT);
	assert_in_range(c.hits, 74, 78);
	counting_fini(&c);
	free(text);
	made_fini(&m);
}

/* A profile of the wall clock: 7 samples of 3 ms wait where 40 run. */
static void make_wall(struct made *m)
{
	made_init(m);
	m->events[0].desc.cpu_time = false;
	m->events[0].desc.states = true;
	strcpy(m->events[0].desc.name, "wall");
	m->cells[m->s.ncells++] = (struct snapshot_cell){.node = m->cells[0].node,
							 .task = m->cells[0].task,
							 .flags = SAMPLE_BLOCKED,
							 .samples = 7,
							 .weight = 21 * MADE_WEIGHT};
}

/* What waited does not come back as CPU time, and what a file does not tell stays unknown. */
static void test_wall(void **state)
{
	static const struct {
		enum snapshot_format format;
		const char *title;
		bool states;
	} kinds[] = {{FORMAT_PPROF, "altpttop --clock wall", true},
		     {FORMAT_CHROME, "altpttop --clock wall", true},
		     {FORMAT_PPROF, "another profiler", false},
		     {FORMAT_FOLDED, "altpttop --clock wall", false}};

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct made m;
		struct counting c;
		size_t len;
		make_wall(&m);
		strcpy(m.s.title, kinds[i].title);
		char *text = made_export(&m, kinds[i].format, NULL, &len);
		read_text(&c, text, len);
		assert_string_equal(c.events[0].name, "wall");
		assert_int_equal(c.events[0].unit, EVENT_NS);
		assert_false(c.events[0].cpu_time);
		assert_int_equal(c.events[0].states, kinds[i].states);
		assert_int_equal(c.weight, 121 * MADE_WEIGHT);
		assert_in_range(c.hits, 106, 108); /* folded stacks tell only the sum */
		assert_int_equal(c.waiting, kinds[i].states ? 21 * MADE_WEIGHT : 0);
		assert_int_equal(c.waiting_hits, kinds[i].states ? 7 : 0);
		counting_fini(&c);
		free(text);
		made_fini(&m);
	}
}

/* Samples that weigh differently say less, and no file makes more of them. */
static void test_uneven(void **state)
{
	static const enum snapshot_format formats[] = {FORMAT_PPROF, FORMAT_CHROME, FORMAT_FOLDED};

	(void)state;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		struct made m;
		struct counting c;
		size_t len;
		double squares = 0;
		make_wall(&m);
		struct snapshot_cell *waits = &m.cells[m.s.ncells - 1];
		waits->weight_sq = (double)waits->weight * (double)waits->weight / 1.5;
		for (uint32_t k = 0; k < m.s.ncells; k++) {
			m.cells[k].weight_sq *= m.cells[k].samples > 10 ? 2.5 : 1;
			squares += m.cells[k].weight_sq;
		}
		char *text = made_export(&m, formats[i], NULL, &len);
		read_text(&c, text, len);
		assert_float_equal(c.squares / squares, 1, 0.01);
		if (formats[i] != FORMAT_FOLDED)
			assert_float_equal(c.waiting_squares / waits->weight_sq, 1, 0.001);
		counting_fini(&c);
		free(text);
		made_fini(&m);
	}
}

/* Fractions anywhere in the file, and sums that need another unit. */
static void test_folded_fractions(void **state)
{
	(void)state;
	struct counting c;
	size_t n = 0, room = 3 << 20;
	char *text = malloc(room);
	while (n < (5 << 18)) /* beyond what is looked at to recognise the kind */
		n += (size_t)sprintf(text + n, "main;work 3\n");
	uint64_t lines = n / 12;
	n += (size_t)sprintf(text + n, "main;late 0.25\n");
	read_text(&c, text, n);
	assert_float_equal(c.events[0].scale, 1e-6, 1e-18);
	assert_int_equal(c.weight, lines * 3000000 + 250000);
	counting_fini(&c);
	n = (size_t)sprintf(text, "a;b 9000000000000000.5\na;c 9000000000000000\na;d 9e9\n");
	struct err err = {0};
	counting_init(&c);
	assert_int_equal(counting_text(&c, text, n, NULL, &err), 0);
	double sum = (double)c.weight * c.events[0].scale;
	assert_true(sum > 1.79999e16 && sum < 1.80001e16);
	assert_int_equal(c.loss[LOSS_BAD_RECORD], 1);
	counting_fini(&c);
	free(text);
}

static void test_long_name(void **state)
{
	(void)state;
	struct strbuf b;
	char name[1001];
	strbuf_init(&b);
	memset(name, 'n', sizeof name);
	memcpy(name, "begin", 5);
	memcpy(name + 997, "end", 4);
	strbuf_puts(&b, "> ");
	escape_name(&b, name);
	assert_int_equal(b.len, 2 + ESCAPE_NAME_MAX - 1 + 3);
	assert_memory_equal(b.buf, "> begin", 7);
	assert_memory_equal(b.buf + b.len - 3, "end", 4);
	assert_non_null(strstr(b.buf, "n\xe2\x80\xa6n"));
	strbuf_reset(&b);
	for (int i = 0; i < 400; i++) /* characters, not bytes, and none is torn */
		memcpy(name + 2 * i, "\xc3\xbc", 3);
	escape_name(&b, name);
	size_t count = 0;
	for (const char *p = b.buf; *p; p += utf8_length(p), count++)
		assert_true(utf8_length(p) > 0);
	assert_int_equal(count, ESCAPE_NAME_MAX);
	strbuf_fini(&b);
}

/* What the samples of a file count stands at its end, in its strings: where that is cut off. */
static void test_pprof_cut(void **state)
{
	(void)state;
	static const char bytes[] = "\x0a\x04\x08\x01\x10\x02" /* two sample types */
				    "\x0a\x04\x08\x03\x10\x04"
				    "\x12\x07\x0a\x01\x01\x12\x02\x02\x07" /* a sample: 2 and 7 */
				    "\x22\x04\x08\x01\x18\x40"             /* its location */
				    "\x32\x00"                             /* the string 0 */
				    "\x32\x07sam";                         /* and the damage */
	struct counting c;
	struct err err = {0};
	counting_init(&c);
	assert_int_equal(counting_text(&c, bytes, sizeof bytes - 1, NULL, &err), -EBADMSG);
	assert_int_equal(c.samples, 1);
	assert_int_equal(c.nevents, 2);
	assert_string_equal(c.events[0].name, "unknown-2"); /* the last is what shares are of */
	assert_string_equal(c.events[1].name, "unknown");
	assert_int_equal(c.weight, 7);
	assert_int_equal(c.values[1], 2);
	assert_int_equal(c.events[0].unit, EVENT_COUNT);
	assert_non_null(strstr(c.said.buf, "behind the damage"));
	counting_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chrome),      cmocka_unit_test(test_chrome_hostile),
		cmocka_unit_test(test_folded_time), cmocka_unit_test(test_folded_fractions),
		cmocka_unit_test(test_long_name),   cmocka_unit_test(test_pprof),
		cmocka_unit_test(test_wall),        cmocka_unit_test(test_pprof_cut),
		cmocka_unit_test(test_uneven),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
