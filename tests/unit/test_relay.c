/* relay: every slot goes through every stage once and in order, whoever is slow; ends and stops. */
#include "base/relay.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define SLOTS 4
#define ITEMS 20000

enum { MAKE, DOUBLE, SUM, STAGES };

struct chain {
	struct relay *relay;
	uint64_t slots[SLOTS];
	uint64_t made, most;
};

static void *make(void *ctx)
{
	struct chain *c = ctx;
	int slot;
	while (c->made < c->most && (slot = relay_take(c->relay, MAKE)) >= 0) {
		c->slots[slot] = c->made++;
		relay_pass(c->relay, MAKE);
	}
	relay_end(c->relay, MAKE);
	return NULL;
}

/* Holds the last one until it has the next, as a parser does. */
static void *twice(void *ctx)
{
	struct chain *c = ctx;
	int slot, held = 0;
	while ((slot = relay_take(c->relay, DOUBLE)) >= 0) {
		c->slots[slot] *= 2;
		if (held)
			relay_pass(c->relay, DOUBLE);
		held = 1;
	}
	if (held)
		relay_pass(c->relay, DOUBLE);
	relay_end(c->relay, DOUBLE);
	return NULL;
}

static void start(struct chain *c, uint64_t most, pthread_t *threads)
{
	*c = (struct chain){.relay = relay_new(SLOTS, STAGES), .most = most};
	assert_non_null(c->relay);
	assert_int_equal(pthread_create(&threads[0], NULL, make, c), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, twice, c), 0);
}

static void finish(struct chain *c, pthread_t *threads)
{
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	relay_free(c->relay);
}

static void test_all_come_in_order(void **state)
{
	static const uint64_t counts[] = {0, 1, SLOTS, SLOTS + 1, ITEMS};
	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct chain c;
		pthread_t threads[2];
		uint64_t n = 0;
		int slot;
		start(&c, counts[i], threads);
		while ((slot = relay_take(c.relay, SUM)) >= 0) {
			assert_int_equal(c.slots[slot], 2 * n++);
			relay_pass(c.relay, SUM);
		}
		assert_int_equal(n, counts[i]);
		assert_int_equal(relay_take(c.relay, SUM), -1);
		finish(&c, threads);
	}
}

/* Nobody sleeps on when the last stage has had enough. */
static void test_stop(void **state)
{
	(void)state;
	for (int after = 0; after < 20; after++) {
		struct chain c;
		pthread_t threads[2];
		start(&c, UINT64_MAX, threads);
		for (int i = 0; i < after; i++) {
			assert_true(relay_take(c.relay, SUM) >= 0);
			relay_pass(c.relay, SUM);
		}
		relay_stop(c.relay);
		assert_int_equal(relay_take(c.relay, SUM), -1);
		finish(&c, threads);
	}
}

static void test_refused(void **state)
{
	(void)state;
	assert_null(relay_new(0, 2));
	assert_null(relay_new(4, 1));
	assert_null(relay_new(4, RELAY_STAGES_MAX + 1));
	relay_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_come_in_order),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
