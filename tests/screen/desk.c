/*
 * desk: see desk.h. One thread.
 */
#include "desk.h"

#include <stdlib.h>
#include <string.h>

struct script s;

int desk_start(void **state)
{
	(void)state;
	script_init(&s);
	script_start(&s, 80, 24);
	return 0;
}

int desk_end(void **state)
{
	(void)state;
	script_end(&s);
	return 0;
}

const char *cursor_name(void)
{
	const struct row *row = page_cursor(page_now(&s.ui));

	return row ? row->name : "";
}

enum view_kind view(void)
{
	return page_now(&s.ui)->view->kind;
}

const struct command *commanded(void)
{
	static const struct command none = {.kind = COMMAND_KILL_CHILD};

	return s.fake.ncommands ? &s.fake.commands[s.fake.ncommands - 1] : &none;
}

bool screen_has(const char *text)
{
	char *all = script_text(&s);
	bool found = strstr(all, text) != NULL;

	free(all);
	return found;
}

/* Words with one blank between them. */
static void plain_words(char *text)
{
	char *out = text;

	for (const char *c = text; *c; c++)
		if (*c != ' ' && *c != '\n')
			*out++ = *c;
		else if (out > text && out[-1] != ' ')
			*out++ = ' ';
	*out = '\0';
}

bool screen_says(const char *text)
{
	char *all = script_text(&s);
	bool found;

	plain_words(all);
	found = strstr(all, text) != NULL;
	free(all);
	return found;
}
