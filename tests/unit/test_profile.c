/* profile: windows, the mark, ageing and coalescing, caps, losses. Times are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

#define S        1000000000ull
#define MS       1000000ull
#define BEGIN_NS (5000 * S + 30 * MS)

static void add(struct profile *p, uint64_t time_ns, task_id task, uint64_t weight, frame_id leaf)
{
	frame_id frames[] = {leaf, 7};
	struct sample s = {
		.time_ns = time_ns, .weight = weight, .hits = 1, .task = task, .nframes = 2};
	profile_add(p, &s, NULL, frames);
}

struct totals {
	uint64_t samples, weight;
	double square;
};

static struct totals totals_of(const struct profile *p, const struct window *w)
{
	struct totals t = {0};
	struct profile_walk walk = profile_walk(p, w);
	while (profile_next(&walk)) {
		if (walk.cell->flags)
			continue;
		t.samples += walk.cell->samples;
		t.weight += walk.cell->weight;
		t.square += walk.cell->weight_sq;
	}
	return t;
}

static struct totals seen(const struct profile *p, uint64_t length_ns, uint64_t until_ns)
{
	struct window w = profile_window(p, length_ns, until_ns, p->newest_ns);
	struct tally tally;
	profile_tally(p, &w, &tally);
	struct totals t = totals_of(p, &w);
	assert_int_equal(tally.samples, t.samples);
	return t;
}

/* 100 samples a second, evenly, for @seconds from @from. */
static void run(struct profile *p, uint64_t from_ns, unsigned seconds)
{
	for (unsigned i = 0; i < seconds * 100; i++)
		add(p, from_ns + i * 10 * MS, 1 + i % 3, 10 * MS, 10 + i % 17);
}

static void test_windows(void **state)
{
	(void)state;
	static struct profile p;
	assert_int_equal(profile_init(&p, 0), 0);
	run(&p, BEGIN_NS, 200);
	assert_int_equal(seen(&p, 0, 0).samples, 20000);
	assert_int_equal(seen(&p, 0, 0).weight, 200 * S);
	/* A window begins at a tenth of a second: at most ten samples are missing. */
	const unsigned lengths[] = {1, 10, 60};
	for (int i = 0; i < 3; i++) {
		struct totals t = seen(&p, lengths[i] * S, 0);
		assert_in_range(t.samples, lengths[i] * 100 - 10, lengths[i] * 100);
		struct window w = profile_window(&p, lengths[i] * S, 0, p.newest_ns);
		/* What is covered is what shares divide by: a busy CPU shows 100 %. */
		double use = (double)t.weight / (double)w.covered_ns;
		assert_true(use > 0.98 && use < 1.02);
	}
	/* Longer than what there is: all of it. */
	assert_int_equal(seen(&p, 1000 * S, 0).samples, 20000);
	profile_fini(&p);
}

static void test_until(void **state)
{
	(void)state;
	static struct profile p;
	assert_int_equal(profile_init(&p, 0), 0);
	run(&p, BEGIN_NS, 100);
	uint64_t until = p.newest_ns + 1;
	struct totals all = seen(&p, 0, 0), ten = seen(&p, 10 * S, 0);
	/* The screen freezes; sampling goes on; what is shown stays, to a bucket's width. */
	run(&p, until + 9 * MS, 50);
	struct totals frozen = seen(&p, 0, until), frozen_ten = seen(&p, 10 * S, until);
	assert_in_range(frozen.samples, all.samples, all.samples + 10);
	assert_in_range(frozen_ten.samples, ten.samples - 10, ten.samples + 10);
	assert_int_equal(seen(&p, 0, 0).samples, 15000);
	profile_fini(&p);
}

static void test_mark(void **state)
{
	(void)state;
	static struct profile p;
	assert_int_equal(profile_init(&p, 0), 0);
	run(&p, BEGIN_NS, 20);
	uint64_t mark = p.newest_ns + 5 * MS;
	profile_mark(&p, mark);
	assert_int_equal(seen(&p, 0, 0).samples, 0);
	run(&p, mark + 5 * MS, 5);
	assert_int_equal(seen(&p, 0, 0).samples, 500);
	assert_int_equal(seen(&p, 60 * S, 0).samples, 500);
	assert_in_range(seen(&p, 1 * S, 0).samples, 90, 100);
	/* Ageing does not mix what lies on both sides. */
	run(&p, p.newest_ns + 10 * MS, 100);
	assert_int_equal(seen(&p, 0, 0).samples, 10500);
	assert_int_equal(seen(&p, 1000 * S, 0).samples, 10500);
	profile_unmark(&p);
	assert_int_equal(seen(&p, 0, 0).samples, 12500);
	profile_mark(&p, p.newest_ns + 1);
	assert_int_equal(seen(&p, 0, 0).samples, 0);
	profile_unmark(&p);
	assert_int_equal(seen(&p, 0, 0).samples, 12500);
	profile_fini(&p);
}

static void test_ageing(void **state)
{
	(void)state;
	static struct profile p;
	assert_int_equal(profile_init(&p, 0), 0);
	run(&p, BEGIN_NS, 300);
	const struct history *h = &p.history;
	assert_in_range(h->count[0], 605, 625); /* a minute of tenths */
	assert_in_range(h->count[1], 235, 245); /* then seconds */
	assert_int_equal(h->count[2] + h->count[3], 0);
	uint32_t last = HISTORY_LEVELS;
	for (uint32_t i = 0; i < h->len; i++) {
		assert_true(h->buckets[i]->level <= last);
		last = h->buckets[i]->level;
		if (i)
			assert_true(h->buckets[i]->start_ns > h->buckets[i - 1]->start_ns);
	}
	/* 120 s end inside coarse seconds: right to half a second. */
	assert_in_range(seen(&p, 120 * S, 0).samples, 11940, 12060);

	/* An hour and more: the oldest goes, the total stays. */
	for (unsigned i = 0; i < 4000; i++)
		add(&p, BEGIN_NS + (300 + i) * S, 1, 10 * MS, 10);
	assert_int_equal(seen(&p, 0, 0).samples, 34000);
	assert_true(h->forgotten_ns > BEGIN_NS);
	assert_true(p.newest_ns - h->buckets[0]->start_ns <= HISTORY_KEEP_NS + 4 * S);
	profile_fini(&p);
}

/* Under pressure the oldest seconds become 10 s, then 60 s, and nothing of the totals is lost. */
static void test_history_cap(void **state)
{
	(void)state;
	static struct profile p;
	assert_int_equal(profile_init(&p, 4 << 20), 0);
	uint64_t n = 0;
	srand(1);
	for (unsigned i = 0; i < 1200 * 1000; i++, n++)
		add(&p, BEGIN_NS + i * MS, 1 + (task_id)rand() % 4, MS,
		    10 + (frame_id)rand() % 2000);
	const struct history *h = &p.history;
	assert_true(h->bytes <= 2 << 20);
	assert_in_range(h->count[1], 100, 130); /* two minutes stay by the second */
	assert_true(h->count[3] > 0);
	assert_int_equal(seen(&p, 0, 0).samples, n);
	assert_in_range(seen(&p, 10 * S, 0).samples, 9900, 10000);
	assert_in_range(seen(&p, 60 * S, 0).samples, 59900, 60000);
	/* Squares survive packing and merging. */
	struct totals t = seen(&p, 60 * S, 0);
	double square = (double)t.samples * MS * MS;
	assert_true(t.square > square * 0.999999 && t.square < square * 1.000001);
	assert_true(profile_bytes(&p) <= 4 << 20);
	profile_fini(&p);
}

struct by_frame {
	uint64_t self[64], outer[64];
};

/* Self by innermost frame, and by outermost. */
static struct by_frame by_frame(const struct profile *p, const struct window *w)
{
	struct by_frame sums = {0};
	struct profile_walk walk = profile_walk(p, w);
	while (profile_next(&walk)) {
		const struct cell *c = walk.cell;
		if (c->flags)
			continue;
		node_id n = c->node;
		frame_id leaf = trie_at(&p->trie, n)->frame;
		assert_true(leaf < 64);
		sums.self[leaf] += c->samples;
		while (trie_at(&p->trie, n)->parent != NODE_ROOT)
			n = trie_at(&p->trie, n)->parent;
		assert_true(trie_at(&p->trie, n)->frame < 64);
		sums.outer[trie_at(&p->trie, n)->frame] += c->samples;
	}
	return sums;
}

/*
 * Every path is new: rare ones are shortened, and yet who was on top, who was outermost and every
 * sum stay what they were, in the totals and in the history.
 */
static void test_pruning(void **state)
{
	(void)state;
	static struct profile p;
	struct by_frame truth = {0}, ten = {0};
	uint64_t n = 0;
	assert_int_equal(profile_init(&p, 8 << 20), 0);
	srand(3);
	while (p.pruned < 5 && n < 2000000) {
		frame_id f[12];
		for (int d = 1; d < 11; d++)
			f[d] = 1000 + (frame_id)(rand() % 4000);
		f[0] = 10 + (frame_id)rand() % 8;
		f[11] = 30 + (frame_id)rand() % 4;
		/* A hot path among them stays as it is. */
		if (n % 10 == 0)
			for (frame_id d = 0; d < 12; d++)
				f[d] = d ? d == 11 ? 40 : 50 + d : 20;
		struct sample s = {.time_ns = BEGIN_NS + n * MS,
				   .weight = 2,
				   .hits = 1,
				   .task = 1 + n % 3,
				   .nframes = 12};
		profile_add(&p, &s, NULL, f);
		truth.self[f[0]]++;
		truth.outer[f[11]]++;
		n++;
	}
	assert_int_equal(p.pruned, 5);
	assert_int_equal(p.overflowed_paths, 0);
	struct window all = profile_window(&p, 0, 0, p.newest_ns);
	struct by_frame now = by_frame(&p, &all);
	assert_memory_equal(now.self, truth.self, sizeof now.self);
	for (int i = 30; i < 41; i++)
		assert_int_equal(now.outer[i], truth.outer[i]);
	assert_int_equal(seen(&p, 0, 0).samples, n);
	assert_int_equal(seen(&p, 0, 0).weight, 2 * n);
	struct window w = profile_window(&p, 10 * S, 0, p.newest_ns);
	ten = by_frame(&p, &w);
	uint64_t sum = 0;
	for (int i = 0; i < 64; i++)
		sum += ten.self[i];
	assert_in_range(sum, 9900, 10000);
	/* The hot path: all twelve frames are still there. */
	node_id hot = trie_add(&p.trie,
			       (frame_id[]){20, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 40}, 12);
	struct cell key = {.node = hot, .task = 1};
	assert_non_null(cells_find(&p.since, &key));
	for (node_id i = 2; i < p.trie.count; i++)
		assert_true(trie_at(&p.trie, i)->parent < i);
	assert_true(profile_bytes(&p) <= 8 << 20);
	profile_fini(&p);
}

/* A stack goes by its number: to the same node as by its frames, and after pruning to what is left.
 */
static void test_numbered_stacks(void **state)
{
	(void)state;
	static struct profile p;
	frame_id f[12];
	assert_int_equal(profile_init(&p, 8 << 20), 0);
	struct sample s = {.time_ns = BEGIN_NS, .weight = 3, .hits = 1, .task = 1, .nframes = 12};
	for (frame_id d = 0; d < 12; d++)
		f[d] = 100 + d;
	s.stack = 5;
	profile_add(&p, &s, NULL, f);
	s.nframes = 0;
	profile_add(&p, &s, NULL, NULL);
	s.task = 2;
	profile_add(&p, &s, NULL, NULL);
	struct cell key = {.node = trie_add(&p.trie, f, 12), .task = 1};
	assert_int_equal(cells_find(&p.open, &key)->samples, 2);
	key.task = 2;
	assert_int_equal(cells_find(&p.open, &key)->weight, 3);
	/* A number nobody told of, and one that is none. */
	s.stack = 6;
	profile_add(&p, &s, NULL, NULL);
	s.stack = STACKS_MAX;
	profile_add(&p, &s, NULL, NULL);
	key.node = trie_add(&p.trie, (frame_id[]){FRAME_UNKNOWN}, 1);
	assert_int_equal(cells_find(&p.open, &key)->samples, 2);
	assert_int_equal(p.open_tally.loss[LOSS_MEMORY], 2);
	/* The number is given to another stack. */
	s.stack = 5;
	s.nframes = 2;
	profile_add(&p, &s, NULL, f);
	key.node = trie_add(&p.trie, f, 2);
	assert_int_equal(cells_find(&p.open, &key)->samples, 1);

	srand(4);
	s.stack = 0;
	s.nframes = 12;
	uint64_t n = 0;
	for (; !p.pruned && n < 2000000; n++) {
		for (int d = 1; d < 12; d++)
			f[d] = 1000 + (frame_id)(rand() % 4000);
		s.time_ns += MS;
		profile_add(&p, &s, NULL, f);
	}
	assert_int_equal(p.pruned, 1);
	s.stack = 5;
	s.nframes = 0;
	profile_add(&p, &s, NULL, NULL);
	node_id now = p.numbered.data[5].node;
	assert_in_range(now, NODE_OVERFLOW + 1, p.trie.count - 1);
	assert_int_equal(trie_at(&p.trie, now)->frame, 100);
	assert_int_equal(seen(&p, 0, 0).samples, n + 7);
	profile_fini(&p);
}

/* Nobody knows when: every window is the whole, and there is no history. */
static void test_timeless(void **state)
{
	(void)state;
	static struct profile p;
	assert_int_equal(profile_init(&p, 0), 0);
	for (unsigned i = 0; i < 200000; i++) {
		frame_id frames[] = {10 + i % 70000, 7};
		struct sample s = {.weight = 3,
				   .hits = 1,
				   .task = 1 + i % 2,
				   .flags = SAMPLE_TIMELESS,
				   .nframes = 2};
		profile_add(&p, &s, NULL, frames);
	}
	assert_int_equal(p.history.len, 0);
	assert_int_equal(p.since.len, 70000);
	for (unsigned length = 0; length < 20; length += 10) {
		struct totals t = seen(&p, length * S, 0);
		assert_int_equal(t.samples, 200000);
		assert_int_equal(t.weight, 600000);
	}
	profile_mark(&p, 5);
	assert_int_equal(seen(&p, 0, 0).samples, 0);
	profile_unmark(&p);
	assert_int_equal(seen(&p, 10 * S, 0).samples, 200000);
	profile_fini(&p);
}

/* Too many cells: they lose their thread, then their node; the sum stays right. */
static void test_totals_cap(void **state)
{
	(void)state;
	static struct profile p;
	assert_int_equal(profile_init(&p, 8 << 20), 0);
	uint64_t n = 0;
	for (unsigned i = 0; i < 400000; i++, n++)
		add(&p, BEGIN_NS + i * MS, 1 + i % 5000, MS, 10 + i % 90000);
	assert_true(p.overflowed > 0);
	assert_int_equal(seen(&p, 0, 0).samples, n);
	assert_true(cells_bytes(&p.since) <= 2 << 20);
	assert_true(profile_bytes(&p) < 9 << 20);
	profile_fini(&p);
}

/* Times of a recording may be anything. */
static void test_hostile_times(void **state)
{
	(void)state;
	static struct profile p;
	const uint64_t times[] = {0, 5, UINT64_MAX, 1, UINT64_MAX - 1, 1ull << 62, 0, 77 * S, 3};
	assert_int_equal(profile_init(&p, 0), 0);
	for (unsigned i = 0; i < sizeof times / sizeof *times; i++)
		add(&p, times[i], 1, 1, 10);
	assert_int_equal(seen(&p, 0, 0).samples, sizeof times / sizeof *times);
	for (unsigned i = 0; i < 300000; i++) /* all at once */
		add(&p, 0, i % 100, 1, i % 5000);
	assert_int_equal(seen(&p, 0, 0).samples, 300000 + sizeof times / sizeof *times);
	profile_fini(&p);
}

static void test_losses(void **state)
{
	(void)state;
	static struct profile p;
	struct tally t;
	assert_int_equal(profile_init(&p, 0), 0);
	run(&p, BEGIN_NS, 20);
	profile_loss(&p, LOSS_RING, 5);
	run(&p, p.newest_ns + 10 * MS, 20);
	profile_loss(&p, LOSS_QUEUE, 3);
	struct window all = profile_window(&p, 0, 0, p.newest_ns);
	profile_tally(&p, &all, &t);
	assert_int_equal(t.loss[LOSS_RING], 5);
	assert_int_equal(t.loss[LOSS_QUEUE], 3);
	struct window ten = profile_window(&p, 10 * S, 0, p.newest_ns);
	profile_tally(&p, &ten, &t);
	assert_int_equal(t.loss[LOSS_RING], 0);
	assert_int_equal(t.loss[LOSS_QUEUE], 3);
	profile_fini(&p);
}

/* A recording without times, marked at its end: no window reaches behind the mark. */
static void test_mark_without_times(void **state)
{
	(void)state;
	static struct profile p;
	const uint64_t lengths[] = {0, 1 * S, 10 * S, 60 * S};
	assert_int_equal(profile_init(&p, 0), 0);
	for (unsigned i = 0; i < 50; i++)
		add(&p, 0, 1, 10 * MS, 10);
	assert_int_equal(seen(&p, 10 * S, 0).samples, 50);
	profile_mark(&p, p.newest_ns);
	for (int i = 0; i < 4; i++)
		assert_int_equal(seen(&p, lengths[i], 0).samples, 0);
	profile_unmark(&p);
	for (int i = 0; i < 4; i++)
		assert_int_equal(seen(&p, lengths[i], 0).samples, 50);
	profile_fini(&p);
}

static void test_quiet_target(void **state)
{
	(void)state;
	static struct profile p;
	assert_int_equal(profile_init(&p, 0), 0);
	run(&p, BEGIN_NS, 5);
	/* Nothing came for 20 s: the last 10 s are empty, and cover 10 s. */
	struct window w = profile_window(&p, 10 * S, 0, p.newest_ns + 20 * S);
	assert_int_equal(totals_of(&p, &w).samples, 0);
	assert_in_range(w.covered_ns, 10 * S - 200 * MS, 10 * S);
	w = profile_window(&p, 0, 0, p.newest_ns + 20 * S);
	assert_int_equal(totals_of(&p, &w).samples, 500);
	assert_in_range(w.covered_ns, 24 * S, 26 * S);
	profile_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),       cmocka_unit_test(test_until),
		cmocka_unit_test(test_mark),          cmocka_unit_test(test_ageing),
		cmocka_unit_test(test_history_cap),   cmocka_unit_test(test_totals_cap),
		cmocka_unit_test(test_pruning),       cmocka_unit_test(test_numbered_stacks),
		cmocka_unit_test(test_hostile_times), cmocka_unit_test(test_losses),
		cmocka_unit_test(test_quiet_target),  cmocka_unit_test(test_mark_without_times),
		cmocka_unit_test(test_timeless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
