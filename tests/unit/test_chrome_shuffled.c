/*
 * chrome_shuffled: B and E events of nested spans in any order of the file, made here: what is read
 * is what was nested, and the same as of the file in order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counting_sink.h"

enum { THREADS = 3, NAMES = 12, EVENTS = 6000, DEPTH = 8 };

struct event {
	char phase;
	unsigned name, thread;
	uint64_t ns;
};

static struct made {
	struct event events[EVENTS + 2 * DEPTH * THREADS];
	unsigned n;
	uint64_t calls[NAMES], total_ns[NAMES], self_ns[NAMES];
} made;

static uint64_t random_state = 88172645463325252ull;

static uint32_t dice(uint32_t sides) /* xorshift64 (Marsaglia 2003) */
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % sides;
}

struct open {
	unsigned name;
	uint64_t begin, inner;
};

/* A name that is not open: without recursion total times are sums. */
static unsigned new_name(const struct open *open, unsigned depth)
{
	unsigned name = dice(NAMES), d = 0;
	while (d < depth)
		if (open[d++].name == name) {
			name = (name + 1) % NAMES;
			d = 0;
		}
	return name;
}

/* Spans of a thread open and close one at a time; no two events are of one moment. */
static void make_spans(unsigned thread)
{
	struct open open[DEPTH];
	unsigned depth = 0, most = EVENTS / THREADS;
	uint64_t now = 1000 + thread;
	for (unsigned i = 0; i < most || depth; i++) {
		bool opens = i < most && depth < DEPTH && (!depth || dice(2));
		now += THREADS * (1 + dice(5000));
		struct event *e = &made.events[made.n++];
		if (opens) {
			unsigned name = new_name(open, depth);
			open[depth++] = (struct open){name, now, 0};
			*e = (struct event){'B', name, thread, now};
			continue;
		}
		depth--;
		uint64_t ns = now - open[depth].begin;
		*e = (struct event){'E', open[depth].name, thread, now};
		made.calls[open[depth].name]++;
		made.total_ns[open[depth].name] += ns;
		made.self_ns[open[depth].name] += ns - open[depth].inner;
		if (depth)
			open[depth - 1].inner += ns;
	}
}

static void shuffle(void)
{
	for (unsigned i = made.n; i-- > 1;) {
		unsigned k = dice(i + 1);
		struct event e = made.events[i];
		made.events[i] = made.events[k];
		made.events[k] = e;
	}
}

static void write_events(struct strbuf *b)
{
	strbuf_init(b);
	strbuf_puts(b, "[");
	for (unsigned i = 0; i < made.n; i++) {
		const struct event *e = &made.events[i];
		strbuf_printf(b, "%s\n{\"ph\":\"%c\",\"pid\":7,\"tid\":%u,\"ts\":%llu.%03u",
			      i ? "," : "", e->phase, 7 + e->thread,
			      (unsigned long long)(e->ns / 1000), (unsigned)(e->ns % 1000));
		if (e->phase == 'B')
			strbuf_printf(b, ",\"name\":\"function_%u\"", e->name);
		strbuf_puts(b, "}");
	}
	strbuf_puts(b, "\n]\n");
}

/* Self times are the samples: sums over "outer;inner WEIGHT" by the innermost. */
static void sum_self(const struct strbuf *folded, uint64_t sums[NAMES])
{
	char *copy = strdup(folded->buf), *at = copy, *line;
	while ((line = strsep(&at, "\n"))) {
		unsigned name;
		unsigned long long weight;
		const char *leaf = strrchr(line, ';');
		if (sscanf(leaf ? leaf + 1 : line, "function_%u %llu", &name, &weight) == 2)
			sums[name] += weight;
	}
	free(copy);
}

static void check(void)
{
	static const struct analyser_options options = {.pattern = PATTERN_DURATION};
	struct strbuf text;
	struct counting c;
	struct err err = {0};
	write_events(&text);
	counting_init(&c);
	if (counting_text(&c, text.buf, text.len, &options, &err))
		fail_msg("%s", err.msg);
	uint64_t self[NAMES] = {0};
	assert_int_equal(c.nanalyses, 1);
	sum_self(&c.folded, self);
	for (unsigned i = 0; i < NAMES; i++) {
		char name[32];
		snprintf(name, sizeof name, "function_%u", i);
		int row = counting_row(c.analyses[0], c.tables, name);
		assert_true(row >= 0);
		double calls = counting_cell(c.analyses[0], row, "count");
		double total = counting_cell(c.analyses[0], row, "total");
		assert_int_equal((uint64_t)calls, made.calls[i]);
		assert_int_equal((uint64_t)(total + 0.5), made.total_ns[i]);
		assert_int_equal(self[i], made.self_ns[i]);
	}
	counting_fini(&c);
	strbuf_fini(&text);
}

static void test_any_order(void **state)
{
	(void)state;
	made.n = 0;
	for (unsigned t = 0; t < THREADS; t++)
		make_spans(t);
	check();
	for (int times = 0; times < 3; times++) {
		shuffle();
		check();
	}
}

/* Events of two threads on a clock so coarse that many are of one moment: begins, ends of any name
 * or none, whole spans that overlap; some ends lack, some begins do. */
static void write_coarse(struct strbuf *b, unsigned kinds, bool disorder)
{
	unsigned now = 10;
	strbuf_init(b);
	strbuf_puts(b, "[");
	for (unsigned n = 5 + dice(40); n-- > 0;) {
		unsigned kind = dice(kinds), thread = 1 + dice(2);
		now += dice(3) ? 0 : dice(4);
		strbuf_printf(b, "{\"tid\":%u,\"ts\":%u,\"ph\":\"%c\"", thread, now, "BBEEX"[kind]);
		if (kind == 4)
			strbuf_printf(b, ",\"dur\":%u", dice(6));
		if (kind != 3)
			strbuf_printf(b, ",\"name\":\"n%u\"", dice(3));
		strbuf_puts(b, "},");
	}
	strbuf_printf(b,
		      "{\"tid\":9,\"ts\":%u,\"dur\":1,\"ph\":\"X\",\"name\":\"z\"},"
		      "{\"tid\":9,\"ts\":%u,\"dur\":1,\"ph\":\"X\",\"name\":\"z\"}]",
		      disorder ? 8 : 2, disorder ? 2 : 8);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All that was told, in an order of its own. */
static char *outcome(struct counting *c)
{
	static char *lines[1000];
	struct strbuf out;
	size_t n = 0;
	strbuf_init(&out);
	const struct analysis *a = c->analyses[0];
	for (uint32_t i = 0; i < a->nrows; i++) {
		strbuf_printf(&c->folded, "%s:", tables_text(c->tables, a->rows[i].name));
		for (uint32_t k = 0; k < a->ncolumns; k++)
			strbuf_printf(&c->folded, " %.9g", a->cells[i * a->ncolumns + k]);
		strbuf_putc(&c->folded, '\n');
	}
	for (char *line = strtok(c->folded.buf, "\n"); line; line = strtok(NULL, "\n"))
		lines[n++] = line;
	qsort(lines, n, sizeof *lines, by_text);
	for (size_t i = 0; i < n; i++)
		strbuf_printf(&out, "%s\n", lines[i]);
	strbuf_printf(&out, "%llu %s %s", (unsigned long long)c->extent_ns, a->note,
		      c->said.buf ? c->said.buf : "");
	return out.buf;
}

/* In order all is nested as it comes; one span in disorder, and all is sorted first. */
static void test_coarse_clock(void **state)
{
	(void)state;
	static const struct analyser_options options = {.pattern = PATTERN_DURATION};
	for (unsigned seed = 1; seed <= 1500; seed++) {
		char *told[2], *texts[2];
		uint64_t keep = random_state;
		for (int disorder = 0; disorder < 2; disorder++) {
			struct strbuf text;
			struct counting c;
			struct err err = {0};
			random_state = keep;
			write_coarse(&text, seed % 3 ? 4 : 5, disorder);
			counting_init(&c);
			assert_int_equal(counting_text(&c, text.buf, text.len, &options, &err), 0);
			told[disorder] = outcome(&c);
			texts[disorder] = text.buf;
			counting_fini(&c);
		}
		if (strcmp(told[0], told[1]))
			fail_msg("%s\nnested as it comes:\n%s\nsorted first:\n%s", texts[0],
				 told[0], told[1]);
		for (int i = 0; i < 2; i++) {
			free(told[i]);
			free(texts[i]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_coarse_clock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
