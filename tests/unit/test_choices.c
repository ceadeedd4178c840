/* choices: what key `e` finds, and whether it says what cannot be had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "app/choices.h"
#include "event/catalogue.h"

static const struct ui_choice *find(const struct ui_choice *all, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

/* What is offered as possible can be opened, and what cannot says why. */
static void test_events(void **state)
{
	struct ui_choice found[128];
	struct err err = {0};

	(void)state;
	uint32_t n = choices_events(NULL, "page-faults", found, 128);
	const struct ui_choice *c = find(found, n, "page-faults");
	assert_non_null(c);
	assert_true((c->reason == NULL) == (catalogue_try("page-faults", &err) == VALUE_OK));
	assert_true(c->text[0]);
	n = choices_events(NULL, "branch-misses", found, 128);
	c = find(found, n, "branch-misses");
	assert_non_null(c);
	if (catalogue_try("branch-misses", &err) != VALUE_OK)
		assert_string_equal(c->reason, err.msg);
	/* How names are written is no name. */
	n = choices_events(NULL, "rNNN", found, 128);
	c = find(found, n, "rNNN");
	assert_non_null(c);
	assert_non_null(strstr(c->reason, "type it"));
	assert_int_equal(choices_events(NULL, "page", found, 1), 1);
	assert_int_equal(choices_events(NULL, "page", found, 0), 0);
	assert_int_equal(choices_events(NULL, "no such event at all", found, 128), 0);
}

static void test_sets(void **state)
{
	static struct choices c;
	struct event_set *sets;
	size_t n;

	(void)state;
	assert_int_equal(event_sets_load(&sets, &n, NULL, NULL), 0);
	choices_sets(&c, sets, n);
	assert_int_equal(c.nsets, n);
	for (uint32_t i = 0; i < c.nsets; i++)
		assert_true(!c.sets[i].reason || c.sets[i].reason[0]);
	for (uint32_t i = 1; i < c.nsets; i++) /* what can be had comes first */
		assert_true(c.sets[i].reason || !c.sets[i - 1].reason);
	free(sets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_sets),
	};

	return cmocka_run_group_tests_name("choices", tests, NULL, NULL);
}
