/*
 * test_processes: the Threads screen by process: where it starts with them, and what a row leads
 * to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "desk.h"

static void keys_lead_there(void **state)
{
	(void)state;
	script_init(&s);
	script_start(&s, 80, 24);
	script_keys(&s, "3 t t");
	assert_true(s.fake.query.flags & QUERY_GROUP_PROCESSES);
	assert_false(s.fake.query.flags & QUERY_GROUP_THREADS);
	script_keys(&s, "g Enter");
	assert_int_equal(page_now(&s.ui)->view->kind, VIEW_FUNCTIONS);
	assert_int_equal(s.fake.query.focus.kind, ROW_PROCESS);
	assert_true(screen_has("in mysqld"));
	script_keys(&s, "Esc t");
	assert_false(s.fake.query.flags & (QUERY_GROUP_PROCESSES | QUERY_GROUP_THREADS));
	script_end(&s);
}

static void many_processes_come_first(void **state)
{
	(void)state;
	script_init(&s);
	s.config.processes = true;
	script_start(&s, 100, 24);
	script_keys(&s, "3");
	assert_true(s.fake.query.flags & QUERY_GROUP_PROCESSES);
	assert_true(screen_has("mysqld_safe"));
	script_keys(&s, "t");
	assert_false(s.fake.query.flags & (QUERY_GROUP_PROCESSES | QUERY_GROUP_THREADS));
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_lead_there),
		cmocka_unit_test(many_processes_come_first),
	};

	return cmocka_run_group_tests_name("processes", tests, NULL, NULL);
}
