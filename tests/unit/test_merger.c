/*
 * merger and ring: rings made of plain memory, filled the way the kernel fills them, merged by
 * time.
 */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sample/merger.h"
#include "sample/ring.h"

#define RING_BYTES 4096

static const struct record_layout layout = {
	.sample_type = FIELD_IDENTIFIER | FIELD_TIME,
	.sample_id_all = true,
};

struct fake {
	struct perf_event_mmap_page *meta;
	uint64_t data[RING_BYTES / 8];
	struct ring ring;
};

static struct fake *fake_new(uint64_t start)
{
	struct fake *f = calloc(1, sizeof *f);

	f->meta = calloc(1, sizeof *f->meta);
	f->meta->data_head = f->meta->data_tail = start;
	ring_over(&f->ring, f->meta, f->data, RING_BYTES);
	return f;
}

static void fake_free(struct fake *f)
{
	ring_unmap(&f->ring);
	free(f->meta);
	free(f);
}

static void put(struct fake *f, uint64_t word)
{
	f->data[f->meta->data_head % RING_BYTES / 8] = word;
	f->meta->data_head += 8;
}

/* A sample of @words words: id, time, then a pattern that tells it whole. */
static void put_sample(struct fake *f, uint64_t id, uint64_t time, unsigned words)
{
	assert_true(f->meta->data_head + words * 8 - f->meta->data_tail <= RING_BYTES);
	put(f, RECORD_SAMPLE | (uint64_t)words * 8 << 48);
	put(f, id);
	put(f, time);
	for (unsigned i = 3; i < words; i++)
		put(f, id * 1000 + i);
}

static void expect(struct merger *o, uint64_t horizon, uint64_t id, uint64_t time, unsigned words)
{
	struct ordered got;
	const uint64_t *w;

	assert_true(merger_next(o, horizon, &got));
	w = got.record;
	assert_int_equal(w[1], id);
	assert_int_equal(got.time, time);
	for (unsigned i = 3; i < words; i++)
		assert_int_equal(w[i], id * 1000 + i);
}

static void test_two_rings(void **state)
{
	struct fake *a = fake_new(0), *b = fake_new(0);
	struct merger *o = merger_new(&layout);
	struct ordered got;
	uint64_t bad = 0;

	(void)state;
	assert_int_equal(merger_add(o, &a->ring), 0);
	assert_int_equal(merger_add(o, &b->ring), 1);
	put_sample(a, 1, 10, 4);
	put_sample(a, 2, 30, 5);
	put_sample(b, 3, 20, 3);
	put_sample(b, 4, 30, 3);
	put_sample(b, 5, 99, 3);
	assert_int_equal(merger_collect(o, &bad), 5);
	expect(o, 50, 1, 10, 4);
	expect(o, 50, 3, 20, 3);
	expect(o, 50, 2, 30, 5); /* equal times: the first ring first */
	expect(o, 50, 4, 30, 3);
	assert_false(merger_next(o, 50, &got));
	assert_int_equal(a->meta->data_tail, a->meta->data_head);
	assert_int_equal(b->meta->data_tail, b->meta->data_head - 24); /* 99 still in use */
	put_sample(a, 6, 60, 3);
	merger_collect(o, &bad);
	expect(o, 100, 6, 60, 3);
	expect(o, 100, 5, 99, 3);
	assert_false(merger_next(o, 100, &got));
	assert_int_equal(bad, 0);
	merger_free(o);
	fake_free(a);
	fake_free(b);
}

static void test_inside_one_ring(void **state)
{
	struct fake *a = fake_new(0);
	struct merger *o = merger_new(&layout);
	struct ordered got;
	uint64_t bad = 0;

	(void)state;
	merger_add(o, &a->ring);
	put_sample(a, 1, 20, 3);
	put_sample(a, 2, 10, 4);
	put_sample(a, 3, 30, 3);
	merger_collect(o, &bad);
	expect(o, 15, 2, 10, 4);
	assert_false(merger_next(o, 15, &got));
	assert_int_equal(a->meta->data_tail, 0); /* the first record still holds its place */
	expect(o, 50, 1, 20, 3);
	merger_flush(o);
	assert_int_equal(a->meta->data_tail, 56);
	expect(o, 50, 3, 30, 3);
	put_sample(a, 4, 25, 3); /* too late to be in order */
	merger_collect(o, &bad);
	assert_true(merger_next(o, 50, &got));
	assert_true(got.late);
	assert_int_equal(merger_now(o), 30);
	merger_free(o);
	fake_free(a);
}

static void test_wrap(void **state)
{
	struct fake *a = fake_new(RING_BYTES * 7 - 40);
	struct merger *o = merger_new(&layout);
	uint64_t bad = 0;

	(void)state;
	merger_add(o, &a->ring);
	put_sample(a, 1, 10, 3);
	put_sample(a, 2, 20, 9); /* 16 bytes before the end, 56 after */
	put_sample(a, 3, 30, 4);
	merger_collect(o, &bad);
	expect(o, 50, 1, 10, 3);
	expect(o, 50, 2, 20, 9);
	expect(o, 50, 3, 30, 4);
	merger_flush(o);
	assert_int_equal(a->meta->data_tail, a->meta->data_head);
	assert_int_equal(bad, 0);
	merger_free(o);
	fake_free(a);
}

static void test_nonsense(void **state)
{
	struct fake *a = fake_new(0);
	struct merger *o = merger_new(&layout);
	struct ordered got;
	uint64_t bad = 0;

	(void)state;
	merger_add(o, &a->ring);
	put_sample(a, 1, 10, 3);
	put(a, RECORD_SAMPLE | (uint64_t)800 << 48); /* longer than what was written */
	merger_collect(o, &bad);
	assert_int_equal(bad, 1);
	expect(o, 50, 1, 10, 3);
	merger_flush(o);
	assert_int_equal(a->meta->data_tail, a->meta->data_head);
	put(a, RECORD_SAMPLE | (uint64_t)16 << 48); /* too short for its time */
	put(a, 1);
	put_sample(a, 2, 20, 3);
	merger_collect(o, &bad);
	assert_int_equal(bad, 2);
	expect(o, 50, 2, 20, 3);
	assert_false(merger_next(o, 50, &got));
	merger_free(o);
	fake_free(a);
}

/* Random traffic on four rings: everything comes out once, in order, whole. */
static void test_random(void **state)
{
	struct fake *rings[4];
	struct merger *o = merger_new(&layout);
	uint64_t bad = 0, clock = 1000, put_n = 0, got_n = 0, last = 0;

	(void)state;
	srandom(7);
	for (int i = 0; i < 4; i++) {
		rings[i] = fake_new((uint64_t)random() % 512 * 8);
		merger_add(o, &rings[i]->ring);
	}
	for (int round = 0; round < 2000; round++) {
		struct ordered got;

		for (int n = (int)(random() % 40); n > 0; n--) {
			struct fake *f = rings[random() % 4];
			unsigned words = 3 + (unsigned)(random() % 30);

			if (f->meta->data_head + words * 8 - f->meta->data_tail > RING_BYTES)
				continue;
			clock += (uint64_t)random() % 10;
			put_sample(f, put_n++, clock - (uint64_t)random() % 20, words);
		}
		merger_collect(o, &bad);
		while (merger_next(o, clock - 20, &got)) {
			const uint64_t *w = got.record;

			assert_false(got.late);
			assert_true(got.time >= last);
			last = got.time;
			for (unsigned i = 3; i < w[0] >> 48 >> 3; i++)
				assert_int_equal(w[i], w[1] * 1000 + i);
			got_n++;
		}
	}
	{
		struct ordered got;

		merger_collect(o, &bad);
		while (merger_next(o, UINT64_MAX, &got))
			got_n++;
	}
	assert_int_equal(put_n, got_n);
	assert_int_equal(bad, 0);
	merger_free(o);
	for (int i = 0; i < 4; i++)
		fake_free(rings[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_rings), cmocka_unit_test(test_inside_one_ring),
		cmocka_unit_test(test_wrap),      cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("merger", tests, NULL, NULL);
}
