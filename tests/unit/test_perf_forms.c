/*
 * perf_forms: one small recording, written in every form a perf.data may have: both byte orders,
 * file and pipe mode, attributes and features older and newer than ours, records that nobody knows,
 * compressed chunks of either kind. What is read must be the same, word for word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "counting_sink.h"

enum { ATTR = 64, FEATURE = 80, PACKED = 81, PACKED2 = 83, ROUND = 68, AUXTRACE_INFO = 70 };
enum { OURS = 136, FIRST = 64, NEWER = 520 }; /* sizes of an attribute */
enum { SAMPLES = 40, ID = 77, KERNEL = 1, USER = 2 };
#define CONTEXT(number) (~(uint64_t)0 - (number) + 1)

struct out {
	uint8_t *data;
	size_t n, cap;
	bool big;
};

static void put(struct out *o, uint64_t v, unsigned bytes)
{
	if (o->n + 8 > o->cap) {
		o->cap = o->cap * 2 + 4096;
		o->data = realloc(o->data, o->cap);
		assert_non_null(o->data);
	}
	for (unsigned i = 0; i < bytes; i++)
		o->data[o->n++] = (uint8_t)(v >> 8 * (o->big ? bytes - 1 - i : i));
}

static void put_bytes(struct out *o, const void *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(o, ((const uint8_t *)data)[i], 1);
}

/* A text and its NULs up to @room bytes. */
static void put_text(struct out *o, const char *text, size_t room)
{
	for (size_t i = 0; i < room; i++)
		put(o, i < strlen(text) ? (uint8_t)text[i] : 0, 1);
}

/* Header of a record; the size is set by end(). */
static size_t begin(struct out *o, uint32_t type, uint16_t misc)
{
	size_t at = o->n;
	put(o, type, 4);
	put(o, misc, 2);
	put(o, 0, 2);
	return at;
}

static void end(struct out *o, size_t at)
{
	struct out size = {.data = o->data, .n = at + 6, .cap = o->cap, .big = o->big};
	put(&size, o->n - at, 2);
}

/* Bit fields of a big-endian machine begin at the other end. */
static uint64_t bits(bool big, uint64_t v)
{
	uint64_t turned = 0;
	for (unsigned i = 0; i < 64; i++)
		turned |= (v >> i & 1) << (63 - i);
	return big ? turned : v;
}

/* IDENTIFIER, IP, TID, TIME, CALLCHAIN, CPU, PERIOD; LOST; freq, sample_id_all. */
static void put_attr(struct out *o, size_t size, bool flat)
{
	size_t at = o->n;
	put(o, 1, 4);
	put(o, size, 4);
	put(o, 0, 8);   /* cpu-clock */
	put(o, 997, 8); /* Hz */
	put(o, 1 << 16 | 1 << 0 | 1 << 1 | 1 << 2 | (flat ? 0 : 1 << 5) | 1 << 7 | 1 << 8, 8);
	put(o, 1 << 4, 8);
	put(o, bits(o->big, 1 << 10 | 1 << 18), 8);
	while (o->n < at + size)
		put(o, o->n < at + OURS ? 0 : 0xa5, 1); /* a newer kernel's */
}

static void put_id(struct out *o, uint32_t tid, uint64_t time)
{
	put(o, 10, 4);
	put(o, tid, 4);
	put(o, time, 8);
	put(o, 1, 4);
	put(o, 0, 4);
	put(o, ID, 8);
}

static void put_sample(struct out *o, uint32_t i, bool flat)
{
	bool kernel = i % 3 == 0;
	uint32_t depth = 1 + i % 5;
	size_t at = begin(o, 9, kernel ? KERNEL : USER);
	put(o, ID, 8);
	put(o, kernel ? 0xffffffff81000000 + i : 0x400000 + i, 8);
	put(o, 10, 4);
	put(o, 10 + i % 2, 4);
	put(o, 1000000 + 1000 * i, 8);
	put(o, i % 4, 4);
	put(o, 0, 4);
	put(o, 1000000 + i, 8);
	if (flat) {
		end(o, at);
		return;
	}
	put(o, depth + 1 + (kernel ? 2 : 0), 8);
	if (kernel) {
		put(o, CONTEXT(128), 8);
		put(o, 0xffffffff81000000 + i, 8);
	}
	put(o, CONTEXT(512), 8);
	for (uint32_t d = 0; d < depth; d++)
		put(o, 0x400000 + 0x100 * d + i, 8);
	end(o, at);
}

static void put_records(struct out *o, bool strange, bool flat)
{
	size_t at = begin(o, 3, 1 << 13); /* COMM, by exec */
	put(o, 10, 4);
	put(o, 10, 4);
	put_text(o, "made", 8);
	put_id(o, 10, 900000);
	end(o, at);
	at = begin(o, 10, USER); /* MMAP2 */
	put(o, 10, 4);
	put(o, 10, 4);
	put(o, 0x400000, 8);
	put(o, 0x10000, 8);
	put(o, 0x1000, 8);
	put(o, 8, 4);
	put(o, 1, 4);
	put(o, 4711, 8);
	put(o, 0, 8);
	put(o, 5, 4);
	put(o, 2, 4);
	put_text(o, "/made/up", 16);
	put_id(o, 10, 910000);
	end(o, at);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		put_sample(o, i, flat);
		if (strange && i % 7 == 0) { /* of a kernel, and of a perf, to come */
			at = begin(o, i % 2 ? 60 : 120, 0x1234);
			put(o, 0x0123456789abcdef, 8);
			put_id(o, 10, 1000000 + 1000 * i);
			end(o, at);
		}
		if (i % 10 == 9) {
			at = begin(o, ROUND, 0);
			end(o, at);
		}
	}
	at = begin(o, 2, 0); /* LOST */
	put(o, ID, 8);
	put(o, 3, 8);
	put_id(o, 10, 2000000);
	end(o, at);
}

/* The records as one stream, cut anywhere into chunks. */
static void put_packed(struct out *o, uint32_t type, size_t chunk)
{
	struct out plain = {.big = o->big};
	put_records(&plain, false, false);
	ZSTD_CCtx *z = ZSTD_createCCtx();
	for (size_t done = 0; done < plain.n;) {
		static uint8_t packed[8192];
		size_t n = plain.n - done < chunk ? plain.n - done : chunk;
		ZSTD_inBuffer in = {plain.data + done, n, 0};
		ZSTD_outBuffer out = {packed, sizeof packed, 0};
		assert_int_equal(ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush), 0);
		done += n;
		size_t at = begin(o, type, 0);
		if (type == PACKED2)
			put(o, out.pos, 8);
		put_bytes(o, packed, out.pos);
		while (type == PACKED2 && (o->n - at) % 8)
			put(o, 0xff, 1); /* padding is not part of it */
		end(o, at);
	}
	ZSTD_freeCCtx(z);
	free(plain.data);
}

static void put_string(struct out *o, const char *text)
{
	put(o, 64, 4);
	put_text(o, text, 64);
}

struct form {
	const char *name;
	bool big, pipe, strange, unclosed;
	bool flat;       /* no chains, but a trace of CoreSight */
	bool parted;     /* threads wrote files of their own */
	uint32_t packed; /* 0, PACKED, PACKED2 */
	size_t attr, chunk;
};

static const char *const strings[] = {"host.example", "6.99.0-made", "x86_64"};
static const uint8_t string_bits[] = {3, 4, 6};

static void put_trace_info(struct out *o)
{
	size_t at = begin(o, AUXTRACE_INFO, 0);
	put(o, 3, 4);
	put(o, 0, 4);
	end(o, at);
}

static void put_data(struct out *o, const struct form *f)
{
	if (f->packed)
		put_packed(o, f->packed, f->chunk);
	else
		put_records(o, f->strange, f->flat);
	if (f->flat)
		put_trace_info(o);
}

static void put_magic(struct out *o)
{
	put(o, 0x32454c4946524550, 8); /* "PERFILE2" */
}

/* Write @v where @at left room for it. */
static void patch(struct out *o, size_t at, uint64_t v)
{
	struct out there = {.data = o->data, .n = at, .cap = o->cap, .big = o->big};
	put(&there, v, 8);
}

static void make_file(struct out *o, const struct form *f)
{
	enum { HEADER = 104, NFEATURES = 5 };
	uint64_t features[4] = {1 << 3 | 1 << 4 | 1 << 6};
	if (f->strange) /* features that nobody knows yet */
		features[0] |= 1ull << 60, features[3] |= 1ull << 7;
	if (f->parted)
		features[0] |= 1 << 24;
	put_magic(o);
	put(o, HEADER, 8);
	put(o, f->attr + 16, 8);
	put(o, HEADER, 8);
	put(o, f->attr + 16, 8);
	size_t data = o->n;
	for (int i = 0; i < 4; i++)
		put(o, 0, 8);
	for (int i = 0; i < 4; i++)
		put(o, features[i], 8);
	put_attr(o, f->attr, f->flat);
	put(o, o->n + 16, 8);
	put(o, 8, 8);
	put(o, ID, 8);
	patch(o, data, o->n);
	size_t start = o->n;
	put_data(o, f);
	if (f->unclosed)
		return;
	patch(o, data + 8, o->n - start);
	size_t table = o->n;
	unsigned n = f->strange ? NFEATURES : f->parted ? 4 : 3;
	for (unsigned i = 0; i < 2 * n; i++)
		put(o, 0, 8);
	for (unsigned i = 0; i < n; i++) {
		patch(o, table + 16 * i, o->n);
		start = o->n;
		put_string(o, i < 3 ? strings[i] : "what is this");
		patch(o, table + 16 * i + 8, o->n - start);
	}
}

static void make_pipe(struct out *o, const struct form *f)
{
	put_magic(o);
	put(o, 16, 8);
	size_t at = begin(o, ATTR, 0);
	put_attr(o, f->attr, f->flat);
	put(o, ID, 8);
	end(o, at);
	for (int i = 0; i < 3; i++) {
		at = begin(o, FEATURE, 0);
		put(o, string_bits[i], 8);
		put_string(o, strings[i]);
		end(o, at);
	}
	put_data(o, f);
}

/* --- what is read --- */

static void write_sample(struct counting *c, const struct raw_sample *s)
{
	struct strbuf *b = c->each_ctx;
	strbuf_printf(b, "%llu %d/%d cpu %u event %u weight %llu:", (unsigned long long)s->time_ns,
		      s->pid, s->tid, s->cpu, s->event, (unsigned long long)s->weight);
	for (uint32_t i = 0; i < s->nkernel; i++)
		strbuf_printf(b, " k%llx", (unsigned long long)s->kernel[i]);
	for (uint32_t i = 0; i < s->nuser; i++)
		strbuf_printf(b, " %llx", (unsigned long long)s->user[i]);
	strbuf_putc(b, '\n');
}

static void write_mmap(struct counting *c, const struct raw_mmap *m)
{
	strbuf_printf(c->each_ctx, "map %d %llx+%llx @%llx dev %u:%u inode %llu prot %u %s\n",
		      m->pid, (unsigned long long)m->start, (unsigned long long)m->size,
		      (unsigned long long)m->pgoff, m->dev_major, m->dev_minor,
		      (unsigned long long)m->inode, m->prot, m->path);
}

/* All of it as text, to be freed. */
static char *read_form(const struct form *f)
{
	struct out o = {.big = f->big};
	struct strbuf b;
	struct counting c;
	struct err err = {0};
	(f->pipe ? make_pipe : make_file)(&o, f);
	strbuf_init(&b);
	counting_init(&c);
	c.each_ctx = &b;
	c.each_sample = write_sample;
	c.each_mmap = write_mmap;
	int rc = counting_text(&c, (const char *)o.data, o.n, NULL, &err);
	if (rc)
		fail_msg("%s: %s", f->name, err.msg);
	strbuf_printf(&b, "%s%s on %s %s %s, %u Hz; lost %llu, bad %llu, unknown %llu, late %llu\n",
		      c.comms.len ? c.comms.buf : "", c.said.len ? c.said.buf : "", c.host,
		      c.release, c.events[0].name, c.events[0].freq_hz,
		      (unsigned long long)c.loss[LOSS_RING],
		      (unsigned long long)c.loss[LOSS_BAD_RECORD],
		      (unsigned long long)c.loss[LOSS_UNKNOWN_ID],
		      (unsigned long long)c.loss[LOSS_ORDER]);
	char *text = strdup(b.buf);
	counting_fini(&c);
	strbuf_fini(&b);
	free(o.data);
	return text;
}

/* What was written, told without reading it. */
static char *truth(void)
{
	struct strbuf b;
	strbuf_init(&b);
	strbuf_puts(&b, "map 10 400000+10000 @1000 dev 8:1 inode 4711 prot 5 /made/up\n");
	for (unsigned i = 0; i < SAMPLES; i++) {
		strbuf_printf(&b, "%u 10/%u cpu %u event 0 weight %u:", 1000000 + 1000 * i,
			      10 + i % 2, i % 4, 1000000 + i);
		if (i % 3 == 0)
			strbuf_printf(&b, " kffffffff%x", 0x81000000 + i);
		for (unsigned d = 0; d <= i % 5; d++)
			strbuf_printf(&b, " %x", 0x400000 + 0x100 * d + i);
		strbuf_putc(&b, '\n');
	}
	strbuf_puts(
		&b,
		"10/10 made\nrecorded on host.example 6.99.0-made x86_64: \n on host.example 6.99.0-made cpu-clock, 997 Hz; lost 3, bad 0, "
		"unknown 0, late 0\n");
	char *text = strdup(b.buf);
	strbuf_fini(&b);
	return text;
}

static void check(const struct form *forms, size_t n)
{
	char *want = truth();
	for (size_t i = 0; i < n; i++) {
		char *got = read_form(&forms[i]);
		size_t same = 0;
		while (want[same] && got[same] == want[same])
			same++;
		if (strcmp(got, want) != 0)
			fail_msg("%s: after %zu bytes \"%.80s\", not \"%.80s\"", forms[i].name,
				 same, got + same, want + same);
		free(got);
	}
	free(want);
}
#define CHECK(forms) check(forms, sizeof(forms) / sizeof *(forms))

static void test_byte_orders(void **state)
{
	(void)state;
	static const struct form forms[] = {
		{.name = "little", .attr = OURS},
		{.name = "big", .attr = OURS, .big = true},
		{.name = "little, pipe", .attr = OURS, .pipe = true},
		{.name = "big, pipe", .attr = OURS, .big = true, .pipe = true},
	};
	CHECK(forms);
}

static void test_sizes(void **state)
{
	(void)state;
	static const struct form forms[] = {
		{.name = "first attr", .attr = FIRST},
		{.name = "newer attr", .attr = NEWER},
		{.name = "newer attr, pipe", .attr = NEWER, .pipe = true},
		{.name = "newer attr, big", .attr = NEWER, .big = true},
		{.name = "first attr, big, pipe", .attr = FIRST, .big = true, .pipe = true},
		{.name = "strangers", .attr = OURS, .strange = true},
		{.name = "strangers, big", .attr = NEWER, .strange = true, .big = true},
		{.name = "strangers, pipe", .attr = OURS, .strange = true, .pipe = true},
	};
	CHECK(forms);
}

static void test_compressed(void **state)
{
	(void)state;
	static const struct form forms[] = {
		{.name = "compressed", .attr = OURS, .packed = PACKED, .chunk = 4096},
		{.name = "compressed, cut", .attr = OURS, .packed = PACKED, .chunk = 61},
		{.name = "compressed 2", .attr = OURS, .packed = PACKED2, .chunk = 4096},
		{.name = "compressed 2, cut", .attr = OURS, .packed = PACKED2, .chunk = 61},
		{.name = "compressed 2, pipe",
		 .attr = OURS,
		 .packed = PACKED2,
		 .chunk = 500,
		 .pipe = true},
		{.name = "compressed 2, big",
		 .attr = OURS,
		 .packed = PACKED2,
		 .chunk = 61,
		 .big = true},
	};
	CHECK(forms);
}

/* Cut off anywhere, or with any word damaged: it ends, and says so or not, but nothing breaks. */
static void test_damaged(void **state)
{
	(void)state;
	static const struct form forms[] = {
		{.name = "big", .attr = OURS, .big = true},
		{.name = "compressed 2", .attr = OURS, .packed = PACKED2, .chunk = 61},
	};
	uint64_t whole = 0, cut = 0;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct out o = {.big = forms[i].big};
		make_file(&o, &forms[i]);
		for (size_t n = 8; n < o.n; n += 24) {
			struct counting c;
			struct err err;
			counting_init(&c);
			if (n % 2) {
				o.data[n] ^= 0xff;
				counting_text(&c, (const char *)o.data, o.n, NULL, &err);
				o.data[n] ^= 0xff;
			} else {
				counting_text(&c, (const char *)o.data, n, NULL, &err);
			}
			assert_true(c.samples <= SAMPLES);
			whole += c.samples == SAMPLES;
			cut += c.samples < SAMPLES;
			counting_fini(&c);
			n += n % 5 == 0;
		}
		free(o.data);
	}
	assert_true(whole > 0);
	assert_true(cut > 0);
}

/* Without chains nobody knows of callers: no stack is cut. What wrote a trace is told by its kind.
 */
static void test_flat(void **state)
{
	(void)state;
	static const struct form forms[] = {
		{.name = "flat", .attr = OURS, .flat = true},
		{.name = "flat, big, pipe", .attr = OURS, .flat = true, .big = true, .pipe = true},
	};
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		char *got = read_form(&forms[i]);
		assert_non_null(strstr(got, "1000000 10/10 cpu 0 event 0 weight 1000000:\n"));
		assert_non_null(strstr(got, "1001000 10/11 cpu 1 event 0 weight 1000001:\n"));
		assert_non_null(strstr(got, "a trace of Arm CoreSight (AUXTRACE)"));
		assert_null(strstr(got, "i0ns"));
		free(got);
	}
}

/* A perf record that was killed wrote neither the size of its data nor what comes behind them. */
static void test_unclosed(void **state)
{
	(void)state;
	static const struct form closed = {.name = "closed", .attr = OURS},
				 unclosed = {.name = "unclosed", .attr = OURS, .unclosed = true};
	char *all = read_form(&closed), *got = read_form(&unclosed);
	size_t records = (size_t)(strstr(all, "10/10 made\n") - all);
	assert_int_equal(strncmp(all, got, records), 0);
	assert_null(strstr(all, "come to its end"));
	assert_non_null(strstr(got, "perf record did not come to its end"));
	free(all);
	free(got);
}

/* perf record --threads: a directory, whose "data" knows of the files of each thread beside it. */
static void test_parts(void **state)
{
	(void)state;
	static const struct form form = {.name = "parts", .attr = OURS, .parted = true};
	static const char *const names[] = {"data", "data.0", "data.1"};
	char dir[] = "/tmp/altpttop-test-XXXXXX", paths[3][64];
	struct counting c;
	struct err err = {0};
	assert_non_null(mkdtemp(dir));
	for (unsigned i = 0; i < 3; i++) {
		struct out o = {0};
		if (i)
			put_sample(&o, 9 - 4 * i, false);
		else
			make_file(&o, &form);
		snprintf(paths[i], sizeof paths[i], "%s/%s", dir, names[i]);
		FILE *f = fopen(paths[i], "w");
		assert_non_null(f);
		assert_int_equal(fwrite(o.data, 1, o.n, f), o.n);
		fclose(f);
		free(o.data);
	}
	for (unsigned whole = 0; whole < 2; whole++) {
		counting_init(&c);
		int rc = counting_read(&c, whole ? dir : paths[0], NULL, &err);
		if (rc)
			fail_msg("%u: %s", whole, err.msg);
		assert_int_equal(c.samples, SAMPLES + (whole ? 2 : 0));
		assert_int_equal(c.loss[LOSS_ORDER] + c.backwards, 0);
		assert_int_equal(!strstr(c.said.buf, "open the directory"), whole);
		counting_fini(&c);
	}
	for (unsigned i = 0; i < 3; i++)
		unlink(paths[i]);
	rmdir(dir);
}

/* --- sums that perf record writes when it ends --- */

static void put_lost_samples(struct out *o, uint16_t misc, uint64_t n, uint64_t time)
{
	size_t at = begin(o, 13, misc);
	put(o, n, 8);
	put_id(o, 10, time);
	end(o, at);
}

static void read_stream(const struct out *o, struct counting *c)
{
	struct err err = {0};
	if (counting_text(c, (const char *)o->data, o->n, NULL, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(c->loss[LOSS_BAD_RECORD] + c->loss[LOSS_UNKNOWN_ID], 0);
}

/*
 * LOST tells of 3; the events' own sum at the end has these and what no record followed. What a
 * filter left out is no loss, and what a processor lost nobody else tells.
 */
static void test_losses(void **state)
{
	(void)state;
	static const struct {
		uint64_t sum, want;
	} cases[] = {{3, 3 + 7}, {5, 5 + 7}, {2, 3 + 7}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct out o = {0};
		struct counting c;
		const struct form form = {.name = "sums", .attr = OURS, .pipe = true};
		make_pipe(&o, &form);
		size_t at = begin(&o, ROUND, 0);
		end(&o, at);
		put_lost_samples(&o, 0, 7, 2000001);
		put_lost_samples(&o, 0, cases[i].sum, 0);
		put_lost_samples(&o, 1 << 15, 9, 0);
		counting_init(&c);
		read_stream(&o, &c);
		assert_int_equal(c.loss[LOSS_RING], cases[i].want);
		assert_int_equal(c.loss[LOSS_ORDER], 0);
		assert_non_null(strstr(c.said.buf, "9 samples are not in this file"));
		counting_fini(&c);
		free(o.data);
	}
}

/*
 * perf record --off-cpu: nanoseconds, summed up by stack. They have no time, and since perf 6.15
 * thread, duration and stack are in the raw data.
 */
static void put_offcpu(struct out *o, bool raw)
{
	enum { OFFCPU_ID = 88, CHAIN = 1 << 5, RAW = 1 << 10 };
	size_t at = begin(o, ATTR, 0);
	size_t attr = o->n;
	put(o, 1, 4);
	put(o, OURS, 4);
	put(o, 10, 8); /* bpf-output */
	put(o, 1, 8);
	put(o, 1 << 16 | 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 8 | (raw ? RAW : CHAIN), 8);
	put(o, 0, 8);
	put(o, bits(o->big, 1 << 18), 8);
	while (o->n < attr + OURS)
		put(o, 0, 1);
	put(o, OFFCPU_ID, 8);
	end(o, at);
	at = begin(o, 78, 0); /* EVENT_UPDATE: a name */
	put(o, 2, 8);
	put(o, OFFCPU_ID, 8);
	put_text(o, "offcpu-time", 16);
	end(o, at);
	at = begin(o, 9, USER);
	put(o, OFFCPU_ID, 8);
	put(o, raw ? 0 : 0x401000, 8);
	put(o, raw ? 0 : 10, 4);
	put(o, raw ? 0 : 11, 4);
	put(o, 0xffffffff00000000, 8);
	put(o, 0, 8);
	put(o, raw ? 0 : 123456789, 8);
	if (raw) {
		put(o, 6 * 8 + 4, 4);
		put(o, 10, 4);
		put(o, 11, 4);
		put(o, 123456789, 8);
	}
	put(o, raw ? 2 : 3, 8);
	put(o, CONTEXT(512), 8);
	put(o, 0x401000, 8);
	put(o, raw ? 4711 : 0x402000, 8); /* a cgroup; a caller */
	put(o, 0, raw ? 4 : 0);
	end(o, at);
}

static void test_offcpu(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		bool raw = i % 2;
		struct out o = {.big = i / 2};
		struct counting c;
		struct strbuf b;
		const struct form form = {.name = "off", .attr = OURS, .pipe = true};
		make_pipe(&o, &form);
		put_offcpu(&o, raw);
		strbuf_init(&b);
		counting_init(&c);
		c.each_ctx = &b;
		c.each_sample = write_sample;
		read_stream(&o, &c);
		assert_int_equal(c.nevents, 2);
		assert_string_equal(c.events[1].name, "offcpu-time");
		assert_int_equal(c.events[1].unit, EVENT_NS);
		assert_false(c.events[1].cpu_time);
		assert_non_null(strstr(b.buf, raw ? "1039000 10/11 cpu 0 event 1 weight 123456789: "
						    "401000\n"
						  : "1039000 10/11 cpu 0 event 1 weight 123456789: "
						    "401000 402000\n"));
		assert_non_null(strstr(c.said.buf, "1 samples are sums"));
		strbuf_fini(&b);
		counting_fini(&c);
		free(o.data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_byte_orders), cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_compressed),  cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_flat),        cmocka_unit_test(test_unclosed),
		cmocka_unit_test(test_parts),       cmocka_unit_test(test_losses),
		cmocka_unit_test(test_offcpu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
