/*
 * chrome_ahead: whatever a trace holds and wherever its chunks end, what was parsed ahead changes
 * nothing: records, the place and kind of damage, what is left out. And it is made use of.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "import/chromeahead.h"

static uint64_t random_state = 88172645463325252ull;

static uint32_t dice(uint32_t sides) /* xorshift64 (Marsaglia 2003) */
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % sides;
}

static const char *const names[] = {
	"plain",
	"},{",
	"},  {\\\"ph\\\":\\\"X\\\"}",
	"\\u0041\\\"b\\\"",
	"",
	"a longer name than that",
	"},",
	"\\\\",
	"[[{",
};
static const char *const args[] = {
	"{}",
	"{\"n\":[{\"ph\":\"X\",\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"ts\":2,\"dur\":2}]}",
	"{\"name\":\"inner\",\"deep\":{\"a\":{},\"b\":[{},{}]}}",
	"{\"avg ms\":2}",
	"[{},\n{},{\"a\":\"},{\"}]",
	"{\"s\":\"/* no comment */\"}",
};
/* What is wrong or rare, between events or in their midst. */
static const char *const oddities[] = {
	"",
	",",
	"]",
	"}",
	"5,",
	"null,",
	"\"},{\",",
	"[{},{}],",
	"/* },{ */",
	"// },{\n",
	"NaN,",
	"\"",
	"{\"a\":1,},",
	"] [",
	"],\"more\":[{},{}],\"traceEvents\":[",
	"\\",
	"{\"name\":\"tab\there\"},",
	"{}}",
};

#define ONE_OF(list) (list)[dice(sizeof(list) / sizeof *(list))]

static void put_event(struct strbuf *b)
{
	static const char phases[] = "XXXXBEMiC";
	strbuf_printf(b,
		      "{\"ph\":\"%c\",\"name\":\"%s\",\"pid\":%u,\"tid\":\"%u\",\"ts\":%u.%u,"
		      "\"dur\":%u,\"args\":%s}",
		      phases[dice(sizeof phases - 1)], ONE_OF(names), dice(3), dice(3), dice(1000),
		      dice(1000), dice(50), ONE_OF(args));
}

static void make(struct strbuf *b, bool odd)
{
	static const char *const begins[] = {"[", "{\"traceEvents\":[",
					     "{\"a\":[{},{}],\"traceEvents\": ["};
	static const char *const ends[] = {"]", "", "]}", ",]"};
	strbuf_init(b);
	strbuf_puts(b, ONE_OF(begins));
	for (unsigned n = dice(60); n-- > 0;) {
		put_event(b);
		if (n)
			strbuf_puts(b, dice(3) ? ",\n" : dice(2) ? "," : " ,  ");
		if (odd && !dice(30))
			strbuf_puts(b, ONE_OF(oddities));
	}
	strbuf_puts(b, ONE_OF(ends));
	if (odd && !dice(4) && b->len)
		b->buf[dice((uint32_t)b->len)] = "{}[],\"x\\ \n"[dice(10)];
}

/* All that reading tells, as text. */
static void outcome(const struct strbuf *text, uint32_t piece, bool ahead, struct strbuf *told,
		    uint64_t *io_taken)
{
	struct tables *tables = tables_new();
	struct chrome_events *events = chrome_events_new(tables);
	struct chrome_parser *p = chrome_parser_new(events);
	struct chrome_ahead *a = chrome_ahead_new();
	struct chrome_chunk chunks[2];
	char summary[CHROME_SUMMARY];
	int rc = 0;
	uint64_t keep = random_state;
	assert_false(chrome_chunk_init(&chunks[0]) || chrome_chunk_init(&chunks[1]));
	strbuf_init(told);
	size_t at = 0;
	for (unsigned i = 0; at < text->len && !rc; i++) {
		struct chrome_chunk *c = &chunks[i % 2];
		chrome_chunk_clear(c);
		c->offset = at;
		c->n = 1 + dice(piece);
		c->n = c->n < text->len - at ? c->n : text->len - at;
		memcpy(c->data, text->buf + at, c->n);
		at += c->n;
		if (ahead)
			chrome_ahead_run(a, c);
		rc = chrome_parser_run(p, c, i ? &chunks[(i + 1) % 2] : NULL);
		*io_taken += rc || chrome_parser_is_lenient(p) ? 0 : c->ahead.len;
		for (size_t k = 0; k < c->records.len; k++) {
			const struct chrome_record *r = &c->records.data[k];
			strbuf_printf(told, "%d %s %u %lld %llu\n", (int)r->kind,
				      tables_text(tables, r->span.name), r->span.thread,
				      (long long)r->span.start_ns,
				      (unsigned long long)r->span.dur_ns);
		}
	}
	chrome_events_summary(events, 0, 0, summary);
	const char *missing = chrome_parser_missing(p);
	strbuf_printf(told, "%d at %llu, %s, %s, %d, %s", rc,
		      (unsigned long long)chrome_parser_at(p), chrome_parser_why(p),
		      missing ? missing : "whole", chrome_parser_is_trace(p), summary);
	for (int i = 0; i < 2; i++)
		chrome_chunk_fini(&chunks[i]);
	chrome_ahead_free(a);
	chrome_parser_free(p);
	chrome_events_free(events);
	tables_free(tables);
	random_state = keep;
}

static void compare(bool odd, unsigned times)
{
	uint64_t taken = 0, none = 0;
	for (unsigned i = 0; i < times; i++) {
		struct strbuf text, told[2];
		make(&text, odd);
		uint32_t piece = 1 + dice(4000);
		outcome(&text, piece, false, &told[0], &none);
		outcome(&text, piece, true, &told[1], &taken);
		if (strcmp(told[0].buf, told[1].buf))
			fail_msg("%s\npieces of up to %u\nin order:\n%s\nahead:\n%s", text.buf,
				 piece, told[0].buf, told[1].buf);
		strbuf_fini(&told[0]);
		strbuf_fini(&told[1]);
		strbuf_fini(&text);
	}
	assert_int_equal(none, 0);
	assert_true(taken > times);
}

static void test_good(void **state)
{
	(void)state;
	compare(false, 3000);
}

static void test_odd(void **state)
{
	(void)state;
	compare(true, 20000);
}

/* Of an ordinary trace nearly all is parsed ahead: what is left is cut by the ends of chunks. */
static void test_most(void **state)
{
	(void)state;
	struct strbuf text, told;
	uint64_t taken = 0;
	unsigned n = 20000;
	strbuf_init(&text);
	strbuf_puts(&text, "{\"traceEvents\":[");
	for (unsigned i = 0; i < n; i++) {
		put_event(&text);
		strbuf_puts(&text, i % 2 ? "," : ",\n");
	}
	strbuf_puts(&text, "{}]}");
	outcome(&text, CHROME_CHUNK, true, &told, &taken);
	assert_in_range(taken, n - n / 50, n);
	strbuf_fini(&told);
	strbuf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
