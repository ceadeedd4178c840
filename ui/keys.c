/*
 * keys: the table of actions with their default keys, and the map from keys to actions. Adding an
 * action means a line here; help, footer and remapping follow. No terminal here.
 */
#include "keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "view/utf8.h"

const struct action_info action_table[ACTIONS] = {
	[ACTION_NONE] = {"none", "", "", GROUP_PROGRAM, ""},
	[ACTION_QUIT] = {"quit", "quit", "quit", GROUP_PROGRAM, "q F10 ^C"},
	[ACTION_HELP] = {"help", "help", "help on this screen", GROUP_PROGRAM, "h ? F1"},
	[ACTION_UP] = {"up", "up", "up", GROUP_MOVE, "Up k"},
	[ACTION_DOWN] = {"down", "down", "down", GROUP_MOVE, "Down j"},
	[ACTION_LEFT] = {"left", "left", "scroll left; collapse in trees", GROUP_MOVE, "Left"},
	[ACTION_RIGHT] = {"right", "right", "scroll right; expand in trees", GROUP_MOVE, "Right"},
	[ACTION_TOP] = {"top", "top", "first row", GROUP_MOVE, "g Home"},
	[ACTION_BOTTOM] = {"bottom", "bottom", "last row", GROUP_MOVE, "G End"},
	[ACTION_PAGE_UP] = {"page-up", "page up", "a page up", GROUP_MOVE, "PgUp ^B"},
	[ACTION_PAGE_DOWN] = {"page-down", "page down", "a page down", GROUP_MOVE, "PgDn ^F"},
	[ACTION_ENTER] = {"enter", "go in", "go in: function, call path, source line",
			  GROUP_SCREENS, "Enter"},
	[ACTION_BACK] = {"back", "back", "go back", GROUP_SCREENS, "Esc Backspace"},
	[ACTION_NEXT_TAB] = {"next-screen", "next", "next screen", GROUP_SCREENS, "Tab"},
	[ACTION_PREVIOUS_TAB] = {"previous-screen", "previous", "previous screen", GROUP_SCREENS,
				 "BackTab"},
	[ACTION_TAB_1] = {"screen-1", "", "the screens, by their number", GROUP_SCREENS, "1"},
	[ACTION_TAB_1 + 1] = {"screen-2", "", "", GROUP_SCREENS, "2"},
	[ACTION_TAB_1 + 2] = {"screen-3", "", "", GROUP_SCREENS, "3"},
	[ACTION_TAB_1 + 3] = {"screen-4", "", "", GROUP_SCREENS, "4"},
	[ACTION_TAB_1 + 4] = {"screen-5", "", "", GROUP_SCREENS, "5"},
	[ACTION_TAB_1 + 5] = {"screen-6", "", "", GROUP_SCREENS, "6"},
	[ACTION_TAB_1 + 6] = {"screen-7", "", "", GROUP_SCREENS, "7"},
	[ACTION_TAB_1 + 7] = {"screen-8", "", "", GROUP_SCREENS, "8"},
	[ACTION_TAB_9] = {"screen-9", "", "", GROUP_SCREENS, "9"},
	[ACTION_SEARCH] = {"search", "search", "search in the rows", GROUP_TABLE, "/ F3"},
	[ACTION_SEARCH_NEXT] = {"search-next", "next", "next match", GROUP_TABLE, "n"},
	[ACTION_SEARCH_PREVIOUS] = {"search-previous", "previous", "previous match", GROUP_TABLE,
				    "N"},
	[ACTION_FILTER] = {"filter", "filter", "only functions or modules with this text",
			   GROUP_TABLE, "\\ F4"},
	[ACTION_SORT_LEFT] = {"sort-left", "sort", "sort by the column to the left", GROUP_TABLE,
			      "<"},
	[ACTION_SORT_RIGHT] = {"sort-right", "sort", "sort by the column to the right", GROUP_TABLE,
			       ">"},
	[ACTION_SORT_MENU] = {"sort", "sort", "choose the column to sort by", GROUP_TABLE, "F6"},
	[ACTION_REVERSE] = {"reverse", "reverse", "reverse the order", GROUP_TABLE, "I"},
	[ACTION_EXPAND] = {"expand", "expand", "expand", GROUP_TABLE, "+ ="},
	[ACTION_COLLAPSE] = {"collapse", "collapse", "collapse", GROUP_TABLE, "-"},
	[ACTION_EXPAND_ALL] = {"expand-all", "all", "expand or collapse all", GROUP_TABLE, "*"},
	[ACTION_FREEZE] = {"freeze", "freeze", "freeze the screen; sampling goes on", GROUP_PROFILE,
			   "Z Space"},
	[ACTION_WINDOW] = {"window", "window", "time shown: the last 1, 10, 60 s, or all",
			   GROUP_PROFILE, "w"},
	[ACTION_MARK] = {"mark", "start anew", "count from here on; again: undo", GROUP_PROFILE,
			 "z"},
	[ACTION_EVENTS] = {"events", "events", "choose what is counted or shown", GROUP_PROFILE,
			   "e"},
	[ACTION_SAVE] = {"save", "save", "save a snapshot", GROUP_PROFILE, "s F2"},
	[ACTION_SOURCE] = {"source", "source", "source of this function", GROUP_SCREENS, "a"},
	[ACTION_CALLERS] = {"callers", "callers", "callers and callees", GROUP_SCREENS, "c"},
	[ACTION_CALLS] = {"count-calls", "count calls", "count this function's calls for a moment",
			  GROUP_PROFILE, "C"},
	[ACTION_BOTTOM_UP] = {"bottom-up", "bottom-up", "bottom-up tree of this function",
			      GROUP_SCREENS, "b"},
	[ACTION_ASSEMBLY] = {"assembly", "assembly", "assembly on or off", GROUP_TABLE, "o"},
	[ACTION_HOT_NEXT] = {"hot-next", "next hot line", "next hot line", GROUP_MOVE, "]"},
	[ACTION_HOT_PREVIOUS] = {"hot-previous", "hotter line", "previous hot line", GROUP_MOVE,
				 "["},
	[ACTION_THREAD] = {"thread", "thread", "this thread only; in Threads: by name, process",
			   GROUP_PROFILE, "t"},
	[ACTION_KERNEL] = {"kernel", "kernel", "hide or show the kernel", GROUP_PROFILE, "K"},
	[ACTION_USER] = {"user", "user", "hide or show user code", GROUP_PROFILE, "U"},
	[ACTION_GUEST] = {"guest", "guests", "hide guests of virtual machines; only them; all",
			  GROUP_PROFILE, "V"},
	[ACTION_INLINES] = {"inlines", "inlines", "inlines as frames or folded", GROUP_PROFILE,
			    "H"},
	[ACTION_TAIL_CALLS] = {"tail-calls", "tail calls",
			       "callers that tail calls left no frame of", GROUP_PROFILE, "T"},
	[ACTION_ADDRESSES] = {"addresses", "addresses", "symbol+offset and addresses", GROUP_TABLE,
			      "v"},
	[ACTION_WHOLE_NAME] = {"name", "whole name", "whole name of the row, to copy", GROUP_TABLE,
			       "y"},
	[ACTION_RATE] = {"rate", "rate", "sampling rate", GROUP_PROFILE, "F"},
	[ACTION_INTERVAL] = {"interval", "interval", "refresh interval", GROUP_PROGRAM, "d"},
	[ACTION_REDRAW] = {"redraw", "redraw", "draw the screen anew", GROUP_PROGRAM, "^L"},
	[ACTION_SUSPEND] = {"suspend", "suspend", "suspend", GROUP_PROGRAM, "^Z"},
};

const char *action_group_title(enum action_group group)
{
	static const char *const titles[GROUPS] = {"Move", "Screens", "Table", "Profile",
						   "Program"};

	return group < GROUPS ? titles[group] : "";
}

static const struct {
	uint32_t key;
	const char *name;
} key_names[] = {
	{' ', "Space"},          {'\t', "Tab"},
	{K_BACK_TAB, "BackTab"}, {K_ENTER, "Enter"},
	{K_ESC, "Esc"},          {K_UP, "Up"},
	{K_DOWN, "Down"},        {K_LEFT, "Left"},
	{K_RIGHT, "Right"},      {K_HOME, "Home"},
	{K_END, "End"},          {K_PAGE_UP, "PgUp"},
	{K_PAGE_DOWN, "PgDn"},   {K_INSERT, "Ins"},
	{K_DELETE, "Del"},       {K_BACKSPACE, "Backspace"},
};
#define NAMED (sizeof key_names / sizeof *key_names)

const char *key_text(char ret[KEY_TEXT], uint32_t key)
{
	ret[0] = '\0';
	for (size_t i = 0; i < NAMED; i++)
		if (key_names[i].key == key) {
			snprintf(ret, KEY_TEXT, "%s", key_names[i].name);
			return ret;
		}
	if (key >= K_F1 && key <= K_F12)
		snprintf(ret, KEY_TEXT, "F%u", key - K_F1 + 1);
	else if (key && key < 0x20)
		snprintf(ret, KEY_TEXT, "^%c", (char)(key + '@'));
	else if (key && key < K_BACK_TAB)
		ret[utf8_put(ret, key)] = '\0';
	return ret;
}

uint32_t key_parse(const char *text)
{
	const char *end = text;
	unsigned n;
	char rest;
	uint32_t c;

	for (size_t i = 0; i < NAMED; i++)
		if (!strcasecmp(key_names[i].name, text))
			return key_names[i].key;
	if ((text[0] == 'F' || text[0] == 'f') && sscanf(text + 1, "%2u%c", &n, &rest) == 1 &&
	    n >= 1 && n <= 12)
		return K_F1 + n - 1;
	if (text[0] == '^' && text[1] && !text[2]) {
		char up = (char)(text[1] >= 'a' && text[1] <= 'z' ? text[1] - 'a' + 'A' : text[1]);

		return up >= 'A' && up <= '_' ? (uint32_t)(up - '@') : K_NONE;
	}
	c = utf8_next(&end);
	return c && !*end && c != UTF8_REPLACEMENT ? c : K_NONE;
}

/* Parse "k1 k2, k3" into @keys; false: one of them is none. */
static bool parse_keys(const char *text, uint32_t keys[KEYS_EACH])
{
	int n = 0;

	memset(keys, 0, sizeof *keys * KEYS_EACH);
	while (*text) {
		size_t len = strcspn(text, " ,");
		char one[KEY_TEXT];

		if (len == 0 && *text == ',' && (text[1] == '\0' || text[1] == ' '))
			len = n == 0; /* a lone comma is a key when it comes first */
		if (len) {
			if (len >= sizeof one || n == KEYS_EACH)
				return false;
			memcpy(one, text, len);
			one[len] = '\0';
			keys[n] = key_parse(one);
			if (!keys[n++])
				return false;
			text += len;
		}
		text += strspn(text, " ,");
	}
	return true;
}

void keymap_init(struct keymap *map)
{
	for (int a = 0; a < ACTIONS; a++)
		parse_keys(action_table[a].keys, map->keys[a]);
}

enum action action_by_name(const char *name)
{
	for (int a = ACTION_NONE + 1; a < ACTIONS; a++)
		if (!strcmp(action_table[a].name, name))
			return (enum action)a;
	return ACTION_NONE;
}

static void take_away(struct keymap *map, uint32_t key)
{
	for (int a = 0; a < ACTIONS; a++) {
		uint32_t *keys = map->keys[a];

		for (int i = 0; i < KEYS_EACH; i++)
			while (keys[i] && keys[i] == key) {
				memmove(keys + i, keys + i + 1,
					sizeof *keys * (size_t)(KEYS_EACH - i - 1));
				keys[KEYS_EACH - 1] = K_NONE;
			}
	}
}

int keymap_remap(struct keymap *map, const char *line, struct err *err)
{
	const char *equals = strchr(line, '=');
	char name[32];
	uint32_t keys[KEYS_EACH];
	enum action action;
	size_t len = equals ? (size_t)(equals - line) : 0;

	while (len && line[len - 1] == ' ')
		len--;
	if (!equals || !len || len >= sizeof name)
		return err_set(err, EINVAL, "key binding \"%.60s\" is not ACTION=KEY", line);
	memcpy(name, line, len);
	name[len] = '\0';
	action = action_by_name(name);
	if (!action)
		return err_set(err, EINVAL, "key binding \"%.60s\": there is no action \"%s\"",
			       line, name);
	equals += 1 + strspn(equals + 1, " ");
	if (!parse_keys(equals, keys) || !keys[0])
		return err_set(
			err, EINVAL,
			"key binding \"%.60s\": \"%.30s\" is no key (as in q, ^L, F2, Space, PgUp)",
			line, equals);
	for (int i = 0; i < KEYS_EACH; i++)
		if (keys[i])
			take_away(map, keys[i]);
	memcpy(map->keys[action], keys, sizeof keys);
	return 0;
}

enum action keymap_find(const struct keymap *map, uint32_t key)
{
	for (int a = 1; a < ACTIONS; a++)
		for (int i = 0; i < KEYS_EACH && map->keys[a][i]; i++)
			if (map->keys[a][i] == key)
				return (enum action)a;
	return ACTION_NONE;
}

const char *keymap_text(const struct keymap *map, enum action action, char ret[KEY_TEXT])
{
	return key_text(ret, map->keys[action][0]);
}
