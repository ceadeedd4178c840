/* mailbox: order, bounds and waking; slot: counted exchange between threads. */
#include "base/mailbox.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static bool readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	return poll(&p, 1, ms) == 1;
}

static void test_bounded_fifo(void **state)
{
	(void)state;
	struct mailbox *m = mailbox_new(sizeof(int), 4);
	int x;
	assert_false(mailbox_take(m, &x));
	assert_false(readable(mailbox_fd(m), 0));
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 4; i++)
			assert_true(mailbox_post(m, &i));
		for (int i = 0; i <= round; i++)
			assert_false(mailbox_post(m, &round));
		assert_int_equal(mailbox_refused(m), round + 1);
		assert_int_equal(mailbox_refused(m), 0);
		assert_true(readable(mailbox_fd(m), 0));
		mailbox_drain_fd(m);
		assert_false(readable(mailbox_fd(m), 0));
		for (int i = 0; i < 4; i++) {
			assert_true(mailbox_take(m, &x));
			assert_int_equal(x, i);
		}
	}
	assert_false(mailbox_take(m, &x));
	mailbox_free(m);
	mailbox_free(NULL);
	assert_null(mailbox_new(SIZE_MAX, 2));
	assert_null(mailbox_new(8, 0));
}

struct post {
	struct mailbox *m;
	int who;
};

static void *post_many(void *arg)
{
	struct post *p = arg;
	for (int i = 0; i < 20000;) {
		int message[2] = {p->who, i};
		i += mailbox_post(p->m, message);
	}
	return NULL;
}

static void test_producers(void **state)
{
	(void)state;
	struct mailbox *m = mailbox_new(2 * sizeof(int), 64);
	struct post posts[3] = {{m, 0}, {m, 1}, {m, 2}};
	pthread_t threads[3];
	int next[3] = {0}, message[2];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, post_many, &posts[i]);
	for (int got = 0; got < 60000;) {
		assert_true(readable(mailbox_fd(m), 10000));
		mailbox_drain_fd(m);
		while (mailbox_take(m, message)) {
			assert_in_range(message[0], 0, 2);
			assert_int_equal(message[1], next[message[0]]++);
			got++;
		}
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	mailbox_free(m);
}

static _Atomic int alive;
struct object {
	_Atomic int refs;
	int value;
};

static struct object *object_new(int value)
{
	struct object *o = malloc(sizeof *o);
	atomic_init(&o->refs, 1);
	o->value = value;
	alive++;
	return o;
}
static void object_ref(void *p)
{
	((struct object *)p)->refs++;
}
static void object_unref(void *p)
{
	struct object *o = p;
	if (--o->refs)
		return;
	alive--;
	free(o);
}

static void test_slot(void **state)
{
	(void)state;
	struct slot *s = slot_new(object_ref, object_unref);
	assert_null(slot_get(s));
	assert_null(slot_take(s));
	slot_put(s, object_new(1));
	struct object *a = slot_get(s);
	assert_int_equal(a->value, 1);
	slot_put(s, object_new(2));
	assert_int_equal(alive, 2); /* we hold the first still */
	object_unref(a);
	assert_int_equal(alive, 1);
	a = slot_take(s);
	assert_int_equal(a->value, 2);
	assert_null(slot_get(s));
	object_unref(a);
	slot_put(s, object_new(3));
	slot_free(s);
	assert_int_equal(alive, 0);
	slot_free(NULL);
}

static void *put_many(void *arg)
{
	for (int i = 1; i <= 20000; i++)
		slot_put(arg, object_new(i));
	return NULL;
}

static void test_slot_threads(void **state)
{
	(void)state;
	struct slot *s = slot_new(object_ref, object_unref);
	pthread_t t;
	pthread_create(&t, NULL, put_many, s);
	for (int last = 0; last < 20000;) {
		struct object *o = slot_get(s);
		if (!o)
			continue;
		assert_true(o->value >= last);
		last = o->value;
		object_unref(o);
	}
	pthread_join(t, NULL);
	slot_free(s);
	assert_int_equal(alive, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounded_fifo),
		cmocka_unit_test(test_producers),
		cmocka_unit_test(test_slot),
		cmocka_unit_test(test_slot_threads),
	};
	return cmocka_run_group_tests_name("mailbox", tests, NULL, NULL);
}
