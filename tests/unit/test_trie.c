/* trie: sharing, the order of ids, the cap, depth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "profile/trie.h"

static void test_sharing(void **state)
{
	(void)state;
	static struct trie t;
	assert_int_equal(trie_init(&t, 1 << 24), 0);
	frame_id a[] = {30, 20, 10}, b[] = {40, 20, 10}, c[] = {20, 10}, d[] = {30, 20, 11};
	node_id na = trie_add(&t, a, 3), nb = trie_add(&t, b, 3), nc = trie_add(&t, c, 2);
	assert_int_equal(t.count, 2 + 4);
	assert_int_equal(trie_at(&t, na)->parent, nc);
	assert_int_equal(trie_at(&t, nb)->parent, nc);
	assert_int_equal(trie_at(&t, na)->frame, 30);
	assert_true(nc < na && nc < nb);
	assert_int_equal(trie_add(&t, a, 3), na);
	assert_int_equal(trie_add(&t, b, 3), nb);
	node_id nd = trie_add(&t, d, 3);
	assert_int_not_equal(nd, na);
	assert_int_equal(t.count, 2 + 7);
	assert_int_equal(trie_add(&t, c, 2), nc);
	trie_fini(&t);
}

static void test_empty_path_is_unknown(void **state)
{
	(void)state;
	static struct trie t;
	assert_int_equal(trie_init(&t, 1 << 24), 0);
	node_id n = trie_add(&t, NULL, 0);
	assert_int_equal(trie_at(&t, n)->frame, FRAME_UNKNOWN);
	assert_int_equal(trie_at(&t, n)->parent, NODE_ROOT);
	trie_fini(&t);
}

/* A new path grows where it was missed often enough; its innermost frame is there from the first.
 */
static void test_sparing(void **state)
{
	(void)state;
	static struct trie t;
	frame_id f[20], other[20];
	uint32_t last = 0, grew = 0;
	assert_int_equal(trie_init(&t, 1 << 20), 0);
	assert_int_equal(trie_spare(&t, 8), 0);
	for (frame_id d = 0; d < 20; d++) {
		f[d] = 100 + d;
		other[d] = 200 + d;
	}
	for (uint32_t time = 1; last < 20; time++) {
		uint32_t before = t.count, depth = 0;
		node_id node = trie_add_sparing(&t, f, 20, 1);
		assert_true(time <= 8 * 18);
		assert_true(t.count - before <= 4);
		assert_true(t.path_len == last || t.path_len == last + 1 || t.path_len == 20);
		assert_true(time >= 8 || !t.path_len);
		grew += t.path_len != last;
		last = t.path_len;
		assert_int_equal(trie_at(&t, node)->frame, 100);
		for (node_id n = node; n != NODE_ROOT; n = trie_at(&t, n)->parent)
			depth++;
		assert_int_equal(depth, last == 20 ? 20 : last + 2);
	}
	assert_int_equal(grew, 18);
	assert_int_equal(trie_add_sparing(&t, f, 20, 1), trie_add(&t, f, 20));
	/* Many hits at once are as good. */
	node_id node = trie_add_sparing(&t, other, 20, 8);
	assert_int_equal(t.path_len, 20);
	assert_int_equal(trie_add(&t, other, 20), node);
	/* Nothing is saved by shortening what is short. */
	node_id two = trie_add_sparing(&t, (frame_id[]){300, 301}, 2, 1);
	assert_int_equal(trie_at(&t, two)->frame, 300);
	assert_int_equal(trie_at(&t, trie_at(&t, two)->parent)->frame, 301);
	trie_fini(&t);
}

/* Beyond the cap new paths go to [overflow], known ones still find their place. */
static void test_cap(void **state)
{
	(void)state;
	static struct trie t;
	assert_int_equal(trie_init(&t, 1 << 20), 0);
	node_id first = trie_add(&t, (frame_id[]){5, 6, 7}, 3);
	for (frame_id f = 100; f < 400000; f++)
		trie_add(&t, (frame_id[]){f, 7}, 2);
	assert_true(t.bytes <= 1 << 20);
	assert_true(t.count > 20000);
	assert_int_equal(trie_add(&t, (frame_id[]){399999, 7}, 2), NODE_OVERFLOW);
	assert_int_equal(trie_add(&t, (frame_id[]){5, 6, 7}, 3), first);
	assert_int_equal(trie_at(&t, NODE_OVERFLOW)->frame, FRAME_OVERFLOW);
	for (node_id n = 2; n < t.count; n++)
		assert_true(trie_at(&t, n)->parent < n);
	trie_fini(&t);
}

static void test_deep(void **state)
{
	(void)state;
	static struct trie t;
	enum { DEEP = TRIE_DEPTH_MAX + 10 };
	frame_id *f = calloc(DEEP, sizeof *f);
	assert_int_equal(trie_init(&t, 1 << 24), 0);
	for (uint32_t i = 0; i < DEEP; i++)
		f[i] = 10 + i;
	node_id n = trie_add(&t, f, DEEP);
	assert_int_equal(t.count, 2 + TRIE_DEPTH_MAX);
	/* The outermost are kept, the innermost ten are not. */
	assert_int_equal(trie_at(&t, n)->frame, 10 + 10);
	assert_int_equal(trie_add(&t, f, DEEP), n);
	trie_fini(&t);
	free(f);
}

/* Paths that come again are found whole; the node is that of the path, whatever came between. */
static void test_again(void **state)
{
	(void)state;
	static struct trie with, without;
	static node_id first[3000];
	uint32_t seed = 1;
	assert_int_equal(trie_init(&with, 64 << 20), 0);
	assert_int_equal(trie_init(&without, 8 << 20), 0);
	assert_non_null(with.memo);
	assert_null(without.memo);
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 3000; i++) {
			uint32_t k = (i * 7919) % 3000, n = 5 + k % 40;
			frame_id frames[48];
			seed = k * 2654435761u + 1;
			for (uint32_t d = n; d-- > 0; seed = seed * 1664525 + 1013904223)
				frames[d] = 10 + (seed >> 28) % 4;
			node_id node = trie_add(&with, frames, n);
			assert_int_equal(node, trie_add(&without, frames, n));
			if (round)
				assert_int_equal(node, first[k]);
			first[k] = node;
			for (uint32_t d = 0; d < n; d++, node = trie_at(&with, node)->parent)
				assert_int_equal(trie_at(&with, node)->frame, frames[d]);
			assert_int_equal(node, NODE_ROOT);
		}
	}
	assert_int_equal(with.count, without.count);
	trie_fini(&with);
	trie_fini(&without);
}

/* Looking ahead changes nothing: not the nodes, and not which are made. */
static void test_foresee(void **state)
{
	(void)state;
	enum { ROUNDS = 6000, DEEP = TRIE_AHEAD_DEPTH + 20 };
	static struct trie with, without;
	static frame_id frames[TRIE_AHEAD][DEEP];
	uint32_t seed = 1, guessed = 0, right = 0;
	for (int sparing = 0; sparing < 2; sparing++) {
		assert_int_equal(trie_init(&with, 4 << 20), 0);
		assert_int_equal(trie_init(&without, 4 << 20), 0);
		assert_int_equal(trie_spare(&with, 8), 0);
		assert_int_equal(trie_spare(&without, 8), 0);
		for (uint32_t round = 0; round < ROUNDS; round++) {
			struct trie_path paths[TRIE_AHEAD];
			const struct trie_ahead *ahead;
			node_id end[TRIE_AHEAD] = {0};
			uint32_t n = 1 + round % TRIE_AHEAD;
			for (uint32_t i = 0; i < n; i++) {
				paths[i] = (struct trie_path){frames[i],
							      1 + (round * 7 + i) % DEEP};
				for (uint32_t d = 0; d < paths[i].n; d++) {
					seed = seed * 1664525 + 1013904223;
					uint32_t many = d + 12 < paths[i].n ? 1000 : 2;
					frames[i][d] = 10 + (seed >> 16) % many;
				}
			}
			ahead = trie_foresee(&with, paths, n);
			for (uint32_t i = 0; ahead && i < n; i++) {
				end[i] = ahead[i].end;
				assert_true(ahead[i].depth <= paths[i].n);
			}
			for (uint32_t i = 0; i < n; i++) {
				node_id a, b;
				if (round % 50 == 49 && i == 3)
					continue; /* one that does not come after all */
				if (sparing) {
					a = trie_add_sparing(&with, frames[i], paths[i].n, 1);
					b = trie_add_sparing(&without, frames[i], paths[i].n, 1);
				} else {
					a = trie_add(&with, frames[i], paths[i].n);
					b = trie_add(&without, frames[i], paths[i].n);
				}
				assert_int_equal(a, b);
				assert_int_equal(with.path_len, without.path_len);
				guessed += ahead != NULL;
				right += end[i] == a;
			}
			assert_int_equal(with.count, without.count);
		}
		trie_fini(&with);
		trie_fini(&without);
	}
	assert_true(guessed > ROUNDS);
	assert_true(right > guessed / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sparing),
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_empty_path_is_unknown),
		cmocka_unit_test(test_cap),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_foresee),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
