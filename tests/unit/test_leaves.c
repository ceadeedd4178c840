/* leaves: innermost frames without a node: sums, room, shortened paths, threads, numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "profile/leaves.h"

#define OUTERS 8  /* outermost frames, from 10 on */
#define LEAVES 64 /* innermost frames, from 100 on */
#define TASKS  200
#define DEPTH  12

struct truth {
	uint64_t self[LEAVES], outer[OUTERS], by_task[TASKS][LEAVES], all;
};

static struct profile p;
static uint32_t seed;

static uint32_t randomly(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static void up(size_t bytes)
{
	assert_int_equal(profile_init(&p, bytes), 0);
	assert_int_equal(profile_of_recording(&p, NULL), 0);
	seed = 5;
}

static struct sample sample_of(task_id task, uint16_t nframes)
{
	return (struct sample){
		.weight = 3, .hits = 1, .task = task, .flags = SAMPLE_TIMELESS, .nframes = nframes};
}

/* A new path, most probably. Returns its depth. */
static uint16_t make_path(frame_id frames[DEPTH])
{
	uint16_t n = (uint16_t)(3 + randomly(DEPTH - 2));
	for (uint16_t d = 1; d + 1 < n; d++)
		frames[d] = 1000 + randomly(2000);
	frames[0] = 100 + randomly(LEAVES);
	frames[n - 1] = 10 + randomly(OUTERS);
	return n;
}

static void count(struct truth *t, task_id task, frame_id leaf, frame_id outer)
{
	t->self[leaf - 100]++;
	t->outer[outer - 10]++;
	t->by_task[task][leaf - 100]++;
	t->all++;
}

/* What the profile says of the same. */
static void check(const struct truth *t, bool outer_too)
{
	static struct truth now;
	struct window w = profile_window(&p, 0, 0, p.newest_ns);
	struct profile_walk walk = profile_walk(&p, &w);
	memset(&now, 0, sizeof now);
	while (profile_next(&walk)) {
		const struct cell *c = walk.cell;
		assert_int_equal(c->leaf, 0);
		if (c->node == NODE_NONE || c->flags)
			continue;
		frame_id leaf = trie_at(&p.trie, c->node)->frame - 100;
		node_id n = c->node;
		while (trie_at(&p.trie, n)->parent != NODE_ROOT)
			n = trie_at(&p.trie, n)->parent;
		assert_in_range(leaf, 0, LEAVES - 1);
		assert_int_equal(c->weight, 3 * c->samples);
		now.self[leaf] += c->samples;
		now.by_task[c->task][leaf] += c->samples;
		now.all += c->samples;
		frame_id outer = trie_at(&p.trie, n)->frame - 10;
		if (outer < OUTERS)
			now.outer[outer] += c->samples;
	}
	assert_int_equal(now.all, t->all);
	assert_memory_equal(now.self, t->self, sizeof now.self);
	assert_memory_equal(now.by_task, t->by_task, sizeof now.by_task);
	if (outer_too)
		assert_memory_equal(now.outer, t->outer, sizeof now.outer);
	assert_int_equal(p.overflowed + p.overflowed_paths + p.lost, 0);
}

/* Stacks that differ in their innermost frame alone need no node each, until somebody asks. */
static void test_no_nodes(void **state)
{
	(void)state;
	struct truth t = {0};
	up(0);
	for (int again = 0; again < 3; again++) {
		for (uint32_t i = 0; i < OUTERS * LEAVES; i++) {
			frame_id frames[] = {100 + i / OUTERS, 500, 10 + i % OUTERS};
			struct sample s = sample_of(1, 3);
			profile_add(&p, &s, NULL, frames);
			count(&t, 1, frames[0], frames[2]);
		}
		assert_int_equal(p.leaves.len, OUTERS * LEAVES);
		assert_int_equal(p.trie.count, 2 + 2 * OUTERS + (again ? OUTERS * LEAVES : 0));
		check(&t, true);
		assert_int_equal(p.leaves.len, 0);
		assert_int_equal(p.since.len, OUTERS * LEAVES);
		assert_int_equal(p.trie.count, 2 + 2 * OUTERS + OUTERS * LEAVES);
	}
	/* They belong to the side of a mark on which they came. */
	struct sample s = sample_of(1, 2);
	profile_add(&p, &s, NULL, (frame_id[]){100, 10});
	profile_mark(&p, 5);
	struct window w = profile_window(&p, 0, 0, p.newest_ns);
	struct profile_walk walk = profile_walk(&p, &w);
	assert_false(profile_next(&walk));
	profile_fini(&p);
}

/* What comes along with samples, threads and events are told apart as ever. */
static void test_values(void **state)
{
	(void)state;
	up(0);
	for (uint32_t i = 0; i < 1000; i++) {
		struct sample s = sample_of(1 + i % 2, 2);
		struct sample_value v = {3, VALUE_OK, i, 1};
		s.event = i % 5 == 0;
		s.nvalues = 1;
		profile_add(&p, &s, &v, (frame_id[]){100 + i % 3, 10});
	}
	assert_int_equal(p.leaves.len, 3 * 2 * 3);
	struct window w = profile_window(&p, 0, 0, p.newest_ns);
	struct profile_walk walk = profile_walk(&p, &w);
	uint64_t samples[2] = {0}, value = 0, running = 0;
	while (profile_next(&walk)) {
		const struct cell *c = walk.cell;
		if (c->flags & CELL_RUNNING)
			running += c->samples;
		else if (c->flags & CELL_VALUE)
			value += c->weight;
		else
			samples[c->event] += c->samples;
	}
	assert_int_equal(samples[0], 800);
	assert_int_equal(samples[1], 200);
	assert_int_equal(value, 999 * 1000 / 2);
	assert_int_equal(running, 1000);
	profile_fini(&p);
}

static void add_new(struct truth *t, uint32_t n, uint32_t tasks, bool foreseen)
{
	for (uint32_t i = 0; i < n;) {
		struct sample s[TRIE_AHEAD];
		frame_id frames[TRIE_AHEAD][DEPTH];
		struct coming coming[TRIE_AHEAD];
		for (uint32_t k = 0; k < TRIE_AHEAD; k++, i++) {
			s[k] = sample_of(1 + randomly(tasks), make_path(frames[k]));
			coming[k] = (struct coming){&s[k], frames[k]};
		}
		if (foreseen)
			profile_foresee(&p, coming, TRIE_AHEAD);
		for (uint32_t k = 0; k < TRIE_AHEAD; k++) {
			profile_add(&p, &s[k], NULL, frames[k]);
			count(t, s[k].task, frames[k][0], frames[k][s[k].nframes - 1]);
		}
	}
}

/*
 * Every path is new: they are shortened, and yet who was on top and who outermost stays what it
 * was, whether anybody asks meanwhile or not. There is always room for the nodes.
 */
static void shortened(bool foreseen, bool asked)
{
	static struct truth t;
	memset(&t, 0, sizeof t);
	up(8 << 20);
	for (int round = 0; round < 10; round++) {
		add_new(&t, 40000, 1, foreseen);
		assert_true(p.trie.leafless);
		assert_true(p.trie.count + p.leaves.len <= p.leaves_most + TRIE_AHEAD * DEPTH);
		if (asked)
			check(&t, true);
	}
	assert_in_range(p.pruned, 2, 400000 / 10000);
	check(&t, true);
	assert_true(profile_bytes(&p) <= 8 << 20);
	profile_fini(&p);
}

static void test_shortened(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		shortened(i & 1, i & 2);
}

/*
 * So many threads that each leaf of each is more than there may be: they get nodes, which threads
 * share, and numbered stacks stay what they are through that and what follows.
 */
static void test_threads(void **state)
{
	(void)state;
	enum { NUMBERS = 500 };
	static struct truth t;
	static frame_id known[NUMBERS][DEPTH];
	memset(&t, 0, sizeof t);
	up(8 << 20);
	for (uint32_t k = 1; k < NUMBERS; k++) {
		struct sample s = sample_of(1, make_path(known[k]));
		if (k % 50 == 0)
			s.nframes = 1;
		s.stack = k;
		profile_add(&p, &s, NULL, known[k]);
		count(&t, 1, known[k][0], 10);
	}
	for (int round = 0; round < 40; round++) {
		add_new(&t, 8000, TASKS - 1, round % 2);
		for (uint32_t k = 1; k < NUMBERS; k++) {
			struct sample s = sample_of(1 + k % 3, 0);
			s.stack = k;
			profile_add(&p, &s, NULL, NULL);
			count(&t, s.task, known[k][0], 10);
		}
	}
	assert_false(p.trie.leafless);
	assert_true(p.pruned >= 2);
	check(&t, false);
	profile_fini(&p);
}

/* As many nodes as were promised, no more and no less. */
static void test_most(void **state)
{
	(void)state;
	static const size_t caps[] = {300 << 10, 1 << 20, 5 << 20, 16 << 20, 20 << 20};
	for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
		static struct trie t;
		assert_int_equal(trie_init(&t, caps[i]), 0);
		uint32_t most = trie_most(&t), half = 0;
		for (frame_id f = 100; trie_child(&t, NODE_ROOT, f) != NODE_OVERFLOW; f++)
			if (t.count == most / 2)
				half = trie_most(&t);
		assert_int_equal(t.count, most);
		assert_int_equal(half, most);
		assert_true(t.bytes <= caps[i]);
		trie_fini(&t);
	}
}

/* Outer parts of paths: the whole of it while there is room, else its [overflow]. */
static void test_outer(void **state)
{
	(void)state;
	static struct trie t;
	frame_id path[6] = {1006, 1005, 1004, 1003, 1002, 1001};
	assert_int_equal(trie_init(&t, 1 << 20), 0);
	t.leafless = true;
	assert_int_equal(trie_add(&t, path, 0), NODE_ROOT);
	node_id node = trie_add(&t, path + 1, 5);
	assert_int_equal(trie_at(&t, node)->frame, 1005);
	assert_int_equal(t.count, 2 + 5);
	assert_int_equal(trie_spare(&t, 4), 0);
	/* Known as far as 1003, then missed often enough. */
	frame_id other[6] = {1106, 1105, 1104, 1103, 1002, 1001};
	for (int i = 0; i < 3; i++) {
		node = trie_add_sparing(&t, other + 1, 5, 1);
		assert_int_equal(trie_at(&t, node)->frame, FRAME_OVERFLOW);
		assert_int_equal(trie_at(&t, trie_at(&t, node)->parent)->frame, 1002);
		assert_int_equal(t.path_len, 2);
	}
	node = trie_add_sparing(&t, other + 1, 5, 1);
	assert_int_equal(trie_at(&t, trie_at(&t, node)->parent)->frame, 1103);
	/* An [overflow] in place of one frame would save nothing. */
	node = trie_add_sparing(&t, (frame_id[]){1200, 1002, 1001}, 3, 1);
	assert_int_equal(trie_at(&t, node)->frame, 1200);
	assert_false(t.refused);
	node = trie_add_sparing(&t, (frame_id[]){1301, 1300}, 2, 1);
	assert_int_equal(node, NODE_OVERFLOW); /* of all whose outermost frame is not known */
	assert_false(t.refused);
	/* No room. */
	for (frame_id f = 2000; trie_child(&t, NODE_ROOT, f) != NODE_OVERFLOW; f++)
		;
	assert_int_equal(trie_add(&t, (frame_id[]){1401, 1400}, 2), NODE_OVERFLOW);
	assert_true(t.refused);
	assert_int_equal(t.path_len, 0);
	trie_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_nodes),  cmocka_unit_test(test_values),
		cmocka_unit_test(test_shortened), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_most),      cmocka_unit_test(test_outer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
