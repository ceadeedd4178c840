/*
 * keys: what a key is, what a person can do, and which key does it. One table of actions serves the
 * dispatcher, the footer, the help screen and remapping from the config file.
 */
#ifndef ALTPTTOP_KEYS_H
#define ALTPTTOP_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* A key: a Unicode character (control characters included), or one of these. The curses headers own
 * KEY_. */
enum key_code {
	K_NONE = 0,
	K_CTRL_C = 3,
	K_BACK_TAB = 0x200000,
	K_ENTER,
	K_ESC,
	K_UP,
	K_DOWN,
	K_LEFT,
	K_RIGHT,
	K_HOME,
	K_END,
	K_PAGE_UP,
	K_PAGE_DOWN,
	K_INSERT,
	K_DELETE,
	K_BACKSPACE,
	K_F1,
	K_F12 = K_F1 + 11,
};

enum action {
	ACTION_NONE,
	ACTION_QUIT,
	ACTION_HELP,
	ACTION_UP,
	ACTION_DOWN,
	ACTION_LEFT,
	ACTION_RIGHT,
	ACTION_TOP,
	ACTION_BOTTOM,
	ACTION_PAGE_UP,
	ACTION_PAGE_DOWN,
	ACTION_ENTER,
	ACTION_BACK,
	ACTION_NEXT_TAB,
	ACTION_PREVIOUS_TAB,
	ACTION_TAB_1, /* … ACTION_TAB_9 */
	ACTION_TAB_9 = ACTION_TAB_1 + 8,
	ACTION_SEARCH,
	ACTION_SEARCH_NEXT,
	ACTION_SEARCH_PREVIOUS,
	ACTION_FILTER,
	ACTION_SORT_LEFT,
	ACTION_SORT_RIGHT,
	ACTION_SORT_MENU,
	ACTION_REVERSE,
	ACTION_EXPAND,
	ACTION_COLLAPSE,
	ACTION_EXPAND_ALL,
	ACTION_FREEZE,
	ACTION_WINDOW,
	ACTION_MARK,
	ACTION_EVENTS,
	ACTION_SAVE,
	ACTION_SOURCE,
	ACTION_CALLERS,
	ACTION_CALLS,
	ACTION_BOTTOM_UP,
	ACTION_ASSEMBLY,
	ACTION_HOT_NEXT,
	ACTION_HOT_PREVIOUS,
	ACTION_THREAD,
	ACTION_KERNEL,
	ACTION_USER,
	ACTION_GUEST,
	ACTION_INLINES,
	ACTION_TAIL_CALLS,
	ACTION_ADDRESSES,
	ACTION_WHOLE_NAME,
	ACTION_RATE,
	ACTION_INTERVAL,
	ACTION_REDRAW,
	ACTION_SUSPEND,
	ACTIONS
};

enum action_group { GROUP_MOVE, GROUP_SCREENS, GROUP_TABLE, GROUP_PROFILE, GROUP_PROGRAM, GROUPS };

struct action_info {
	const char *name;  /* as the config file says it: "quit" */
	const char *label; /* one or two words for the footer */
	const char *help;  /* a phrase for the help screen */
	enum action_group group;
	const char *keys; /* defaults, separated by blanks: "q F10 ^C" */
};

extern const struct action_info action_table[ACTIONS];
const char *action_group_title(enum action_group group);

#define KEYS_EACH 4
struct keymap {
	uint32_t keys[ACTIONS][KEYS_EACH]; /* K_NONE ends a list */
};

void keymap_init(struct keymap *map); /* the defaults */

/*
 * Apply "action=key key …" (commas or blanks between keys). The action gets these keys instead of
 * its own, other actions lose them. -EINVAL with a sentence; the map is unchanged then.
 */
int keymap_remap(struct keymap *map, const char *line, struct err *err);

enum action keymap_find(const struct keymap *map, uint32_t key);
enum action action_by_name(const char *name); /* ACTION_NONE: no such action */

#define KEY_TEXT 16
const char *key_text(char ret[KEY_TEXT], uint32_t key); /* "Space", "^L", "F2", "/" */
uint32_t key_parse(const char *text);                   /* K_NONE: no such key */
/* The first key of an action, "" when it has none. */
const char *keymap_text(const struct keymap *map, enum action action, char ret[KEY_TEXT]);

#endif
