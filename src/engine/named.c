/*
 * named: what the watched process is called since it executed another program.
 *
 * The setup tells where in its texts the name stands, the source thread which name came. Any
 * thread.
 */
#include "engine/named.h"

#include <stdio.h>
#include <string.h>

#define COMM_MAX 15 /* the kernel keeps so many bytes of a name */

/* The last name, as a text shows it: who runs gives it, and may give anything. */
static void newest(const struct engine *e, char name[COMM_MAX + 1])
{
	snprintf(name, COMM_MAX + 1, "%s",
		 tables_text(e->tables, atomic_load(&e->shared.executed)));
	for (char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

void named_text(const struct engine *e, const char *text, bool both, char *ret, size_t size)
{
	size_t all, len = e->setup.name_len, tail = e->setup.name_tail;
	char now[COMM_MAX + 1];

	if (!text)
		text = "";
	all = strlen(text);
	newest(e, now);
	if (!*now || len + tail > all) {
		snprintf(ret, size, "%s", text);
		return;
	}
	size_t at = all - tail - len;
	bool same = !strncmp(text + at, now, strlen(now)) &&
		    (len == strlen(now) || (len > COMM_MAX && strlen(now) == COMM_MAX));
	if (same || both)
		at += len;
	snprintf(ret, size, "%.*s%s%s%s", (int)at, text, both && !same ? ", then " : "",
		 same ? "" : now, text + all - tail);
}
