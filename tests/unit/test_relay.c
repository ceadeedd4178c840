/* relay: every slot goes through every stage once and in order, whoever is slow; ends and stops. */
#include "base/relay.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define SLOTS 4
#define ITEMS 20000

#define MAKERS 3

enum { MAKE, DOUBLE, SUM, STAGES };

struct chain {
	struct relay *relay;
	pthread_mutex_t turn; /* of those that make */
	unsigned makers;
	uint64_t slots[SLOTS];
	uint64_t made, most;
};

static int make_next(struct chain *c)
{
	pthread_mutex_lock(&c->turn);
	int slot = c->made < c->most ? relay_take(c->relay, MAKE) : -1;
	if (slot >= 0)
		c->slots[slot] = c->made++;
	pthread_mutex_unlock(&c->turn);
	return slot;
}

/* One of several, which pass in any order what they took in turn. */
static void *make(void *ctx)
{
	struct chain *c = ctx;
	int slot;
	while ((slot = make_next(c)) >= 0) {
		if (c->slots[slot] % 3 == 0)
			sched_yield();
		relay_pass(c->relay, MAKE, slot);
	}
	pthread_mutex_lock(&c->turn);
	if (!--c->makers)
		relay_end(c->relay, MAKE);
	pthread_mutex_unlock(&c->turn);
	return NULL;
}

/* Holds the last one until it has the next, as a parser does. */
static void *twice(void *ctx)
{
	struct chain *c = ctx;
	int slot, held = -1;
	while ((slot = relay_take(c->relay, DOUBLE)) >= 0) {
		c->slots[slot] *= 2;
		if (held >= 0)
			relay_pass(c->relay, DOUBLE, held);
		held = slot;
	}
	if (held >= 0)
		relay_pass(c->relay, DOUBLE, held);
	relay_end(c->relay, DOUBLE);
	return NULL;
}

static void start(struct chain *c, uint64_t most, pthread_t *threads)
{
	*c = (struct chain){.relay = relay_new(SLOTS, STAGES), .makers = MAKERS, .most = most};
	assert_non_null(c->relay);
	pthread_mutex_init(&c->turn, NULL);
	for (unsigned i = 0; i <= MAKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, i ? make : twice, c), 0);
}

static void finish(struct chain *c, pthread_t *threads)
{
	for (unsigned i = 0; i <= MAKERS; i++)
		pthread_join(threads[i], NULL);
	relay_free(c->relay);
	pthread_mutex_destroy(&c->turn);
}

static void test_all_come_in_order(void **state)
{
	static const uint64_t counts[] = {0, 1, SLOTS, SLOTS + 1, ITEMS};
	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct chain c;
		pthread_t threads[1 + MAKERS];
		uint64_t n = 0;
		int slot;
		start(&c, counts[i], threads);
		while ((slot = relay_take(c.relay, SUM)) >= 0) {
			assert_int_equal(c.slots[slot], 2 * n++);
			relay_pass(c.relay, SUM, slot);
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
		pthread_t threads[1 + MAKERS];
		start(&c, UINT64_MAX, threads);
		for (int i = 0; i < after; i++) {
			int slot = relay_take(c.relay, SUM);
			assert_true(slot >= 0);
			relay_pass(c.relay, SUM, slot);
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
	assert_null(relay_new(RELAY_SLOTS_MAX + 1, 2));
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
