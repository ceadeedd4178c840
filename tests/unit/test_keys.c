/* test_keys: the key table: every key leads to one action, remapping, names. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ui/keys.h"

static struct keymap map;

static int setup(void **state)
{
	(void)state;
	keymap_init(&map);
	return 0;
}

/* The keys that people are told of: SPEC's table. */
static void defaults(void **state)
{
	static const struct {
		const char *key;
		enum action action;
	} keys[] = {
		{"q", ACTION_QUIT},
		{"F10", ACTION_QUIT},
		{"^C", ACTION_QUIT},
		{"h", ACTION_HELP},
		{"?", ACTION_HELP},
		{"F1", ACTION_HELP},
		{"Up", ACTION_UP},
		{"j", ACTION_DOWN},
		{"g", ACTION_TOP},
		{"G", ACTION_BOTTOM},
		{"PgUp", ACTION_PAGE_UP},
		{"Enter", ACTION_ENTER},
		{"Esc", ACTION_BACK},
		{"Tab", ACTION_NEXT_TAB},
		{"BackTab", ACTION_PREVIOUS_TAB},
		{"9", ACTION_TAB_9},
		{"/", ACTION_SEARCH},
		{"F3", ACTION_SEARCH},
		{"n", ACTION_SEARCH_NEXT},
		{"N", ACTION_SEARCH_PREVIOUS},
		{"\\", ACTION_FILTER},
		{"F4", ACTION_FILTER},
		{"<", ACTION_SORT_LEFT},
		{">", ACTION_SORT_RIGHT},
		{"F6", ACTION_SORT_MENU},
		{"I", ACTION_REVERSE},
		{"+", ACTION_EXPAND},
		{"-", ACTION_COLLAPSE},
		{"*", ACTION_EXPAND_ALL},
		{"Space", ACTION_FREEZE},
		{"Z", ACTION_FREEZE},
		{"w", ACTION_WINDOW},
		{"z", ACTION_MARK},
		{"e", ACTION_EVENTS},
		{"s", ACTION_SAVE},
		{"F2", ACTION_SAVE},
		{"a", ACTION_SOURCE},
		{"c", ACTION_CALLERS},
		{"b", ACTION_BOTTOM_UP},
		{"o", ACTION_ASSEMBLY},
		{"]", ACTION_HOT_NEXT},
		{"[", ACTION_HOT_PREVIOUS},
		{"t", ACTION_THREAD},
		{"K", ACTION_KERNEL},
		{"U", ACTION_USER},
		{"H", ACTION_INLINES},
		{"v", ACTION_ADDRESSES},
		{"y", ACTION_WHOLE_NAME},
		{"F", ACTION_RATE},
		{"d", ACTION_INTERVAL},
		{"^L", ACTION_REDRAW},
		{"^Z", ACTION_SUSPEND},
	};

	(void)state;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		assert_int_equal(keymap_find(&map, key_parse(keys[i].key)), keys[i].action);
	assert_int_equal(keymap_find(&map, K_NONE), ACTION_NONE);
	assert_int_equal(keymap_find(&map, 'Q'), ACTION_NONE);
}

static void table_is_sound(void **state)
{
	(void)state;
	for (int a = 1; a < ACTIONS; a++) {
		assert_non_null(action_table[a].name);
		assert_int_equal(action_by_name(action_table[a].name), a); /* names are unique */
		assert_int_not_equal(map.keys[a][0], K_NONE);              /* each has a key */
		for (int i = 0; i < KEYS_EACH && map.keys[a][i]; i++) {
			char text[KEY_TEXT];

			assert_int_equal(keymap_find(&map, map.keys[a][i]),
					 a); /* keys are unique */
			assert_int_equal(key_parse(key_text(text, map.keys[a][i])), map.keys[a][i]);
		}
	}
}

static void remaps(void **state)
{
	struct err err;
	char text[KEY_TEXT];

	(void)state;
	assert_int_equal(keymap_remap(&map, "quit=x ^Q", &err), 0);
	assert_int_equal(keymap_find(&map, 'x'), ACTION_QUIT);
	assert_int_equal(keymap_find(&map, 'Q' & 31), ACTION_QUIT);
	assert_int_equal(keymap_find(&map, 'q'), ACTION_NONE);
	assert_string_equal(keymap_text(&map, ACTION_QUIT, text), "x");
	assert_int_equal(keymap_remap(&map, "save = w", &err), 0); /* taken from window */
	assert_int_equal(keymap_find(&map, 'w'), ACTION_SAVE);
	assert_int_equal(map.keys[ACTION_WINDOW][0], K_NONE);
	assert_int_equal(keymap_remap(&map, "search=,", &err), 0); /* the comma itself */
	assert_int_equal(keymap_find(&map, ','), ACTION_SEARCH);
	assert_int_equal(keymap_remap(&map, "filter==", &err), 0);
	assert_int_equal(keymap_find(&map, '='), ACTION_FILTER);
	assert_int_equal(keymap_remap(&map, "mark=\xc3\xa9", &err), 0);
	assert_int_equal(keymap_find(&map, 0xe9), ACTION_MARK);
	assert_int_equal(keymap_remap(&map, "help=F1,F5", &err), 0);
	assert_int_equal(keymap_find(&map, K_F1 + 4), ACTION_HELP);
}

static void refuses(void **state)
{
	static const char *const bad[] = {
		"",         "quit",    "=x",      "nothing=x",      "quit=",
		"quit=F13", "quit=xy", "quit=^1", "quit=a b c d e", "quit=averyverylongkeyname",
		"quit=\xff"};
	struct keymap before = map;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		err.msg[0] = '\0';
		assert_true(keymap_remap(&map, bad[i], &err) < 0);
		assert_true(strlen(err.msg) > 10);
		assert_memory_equal(&map, &before, sizeof map);
	}
}

/* Who writes a config file has to know what actions are called. */
static void man_names_actions(void **state)
{
	static char man[1 << 17];
	FILE *f = fopen("altpttop.1", "r");
	const char *list;

	(void)state;
	assert_non_null(f);
	man[fread(man, 1, sizeof man - 1, f)] = '\0';
	fclose(f);
	list = strstr(man, "\nActions are\n");
	assert_non_null(list);
	*strstr(list, "\n.It ") = '\0';
	for (int a = ACTION_NONE + 1; a < ACTIONS; a++) {
		char word[40];

		snprintf(word, sizeof word, " %s ", action_table[a].name);
		if (a > ACTION_TAB_1 && a < ACTION_TAB_9)
			continue; /* screen-1 to screen-9 */
		if (a == ACTION_TAB_1)
			word[strlen(word) - 1] = '\0';
		if (!strstr(list, word))
			fail_msg("the man page does not name the action%s", word);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(defaults, setup),
		cmocka_unit_test_setup(table_is_sound, setup),
		cmocka_unit_test_setup(remaps, setup),
		cmocka_unit_test_setup(refuses, setup),
		cmocka_unit_test_setup(man_names_actions, setup),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
