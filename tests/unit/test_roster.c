/* roster: members and processes come, go, and come back under the same numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sample/roster.h"

static void test_members(void **state)
{
	struct roster r;

	(void)state;
	roster_init(&r);
	assert_non_null(roster_add(&r, 10, 10, 100));
	assert_non_null(roster_add(&r, 10, 11, 110));
	assert_non_null(roster_add(&r, 20, 20, 120));
	assert_int_equal(roster_process(&r, 10)->threads, 2);
	assert_true(roster_watches(&r, 20));
	assert_false(roster_watches(&r, 30));
	roster_remove(&r, 10, 130);
	assert_null(roster_find(&r, 10));
	assert_int_equal(roster_find(&r, 11)->since_ns, 110);
	assert_int_equal(roster_find(&r, 20)->pid, 20);
	assert_true(roster_watches(&r, 10)); /* its first thread ended, another lives */
	roster_remove(&r, 10, 130);
	assert_int_equal(roster_process(&r, 10)->threads, 1);
	roster_remove(&r, 11, 140);
	assert_false(roster_watches(&r, 10));
	assert_int_equal(roster_process(&r, 10)->ended_ns, 140);
	roster_fini(&r);
}

static void test_number_used_again(void **state)
{
	struct roster r;

	(void)state;
	roster_init(&r);
	roster_add(&r, 10, 10, 100);
	roster_process(&r, 10)->exits_ns = 5;
	roster_process(&r, 10)->from_birth = true;
	roster_remove(&r, 10, 200);
	roster_add(&r, 10, 10, 300); /* another process */
	assert_int_equal(roster_process(&r, 10)->exits_ns, 0);
	assert_false(roster_process(&r, 10)->from_birth);
	assert_int_equal(roster_process(&r, 10)->ended_ns, 0);
	/* The tid moves to another process and no record told of its end. */
	roster_add(&r, 40, 10, 400);
	assert_int_equal(roster_find(&r, 10)->pid, 40);
	assert_int_equal(roster_process(&r, 10)->threads, 0);
	roster_fini(&r);
}

static void count(void *ctx, const struct roster_process *p)
{
	*(uint64_t *)ctx += (uint64_t)p->pid;
}

static void test_sweep(void **state)
{
	struct roster r;
	uint64_t sum = 0;

	(void)state;
	roster_init(&r);
	for (pid_t pid = 1; pid <= 100; pid++)
		roster_add(&r, pid, pid, 10);
	for (pid_t pid = 1; pid <= 100; pid += 2)
		roster_remove(&r, pid, (uint64_t)pid * 10);
	roster_sweep(&r, 500, count, &sum);
	assert_int_equal(sum, 25 * 25); /* 1, 3, … 49 */
	assert_null(roster_process(&r, 49));
	assert_non_null(roster_process(&r, 51));
	for (pid_t pid = 2; pid <= 100; pid += 2)
		assert_true(roster_watches(&r, pid));
	roster_sweep(&r, UINT64_MAX, count, &sum);
	assert_int_equal(sum, 50 * 50);
	assert_int_equal(r.processes.len, 50);
	roster_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_number_used_again),
		cmocka_unit_test(test_sweep),
	};

	return cmocka_run_group_tests_name("roster", tests, NULL, NULL);
}
