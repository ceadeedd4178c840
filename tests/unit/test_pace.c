/* pace: when names that come are worth an answer before its time: where a row may be seen to lack
 * one, or much of the time is in code that does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "engine/build.h"
#include "symbol/resolver.h"

static void test_rows(void **state)
{
	(void)state;
	static struct engine e;
	static struct build b;
	b = (struct build){.e = &e, .nrows = 5000};
	build_want(&b, 1);
	assert_false(e.pace.unresolved); /* far below the screen */
	assert_true(e.pace.nameless);
	assert_int_equal(b.nwanted, 1); /* asked for nevertheless */
	b.nrows = 20;
	build_want(&b, 2);
	assert_true(e.pace.unresolved);
	b.nrows = 5000;
	build_want(&b, 3);
	assert_true(e.pace.unresolved);
}

/* @n nodes of 1000 samples, of one frame each, whose names nobody knows. */
static bool hurries(uint32_t n, uint64_t self, uint64_t total)
{
	static struct engine e;
	static struct build b;
	struct tables *t = tables_new();
	struct resolver *r = resolver_new(t, &(struct resolver_config){.live = true}, NULL);
	struct flat_node *nodes = calloc(n, sizeof *nodes);

	assert_non_null(nodes);
	for (uint32_t i = 0; i < n; i++) {
		nodes[i].frame = tables_frame(t, &(struct frame){.addr = 0x1000 + i});
		nodes[i].self.weight = self;
		nodes[i].total.weight = total;
	}
	e = (struct engine){.tables = t, .setup.resolver = r};
	e.flat = (struct flat){.nodes = nodes, .n = n, .all.weight = 1000};
	b = (struct build){.e = &e, .t = t};
	build_ask_names(&b);
	resolver_free(r);
	tables_free(t);
	free(nodes);
	assert_int_equal(e.pace.nameless, n > 0);
	return e.pace.unresolved;
}

static void test_weight(void **state)
{
	(void)state;
	assert_false(hurries(1, 1, 1));
	assert_false(hurries(9, 1, 1));
	assert_true(hurries(20, 1, 1));   /* together they may make a row that is seen */
	assert_true(hurries(1, 0, 20));   /* what called so much is one */
	assert_false(hurries(40, 0, 10)); /* each of them is seldom */
	assert_false(hurries(0, 0, 0));
	assert_true(hurries(5000, 0, 1)); /* more than are asked for at once */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_weight),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
