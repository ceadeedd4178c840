/*
 * groups: which threads belong together by their names.
 *
 * Engine thread. A run of digits in a name becomes `*`, so that worker-1 … worker-64 are one group;
 * a name without digits is a group of its own.
 */
#include <ctype.h>
#include <string.h>

#include "engine/build.h"

#define COMM_MAX 128

str_id group_of_task(struct tables *t, task_id task)
{
	const char *comm = tables_text(t, tables_task_get(t, task)->comm);
	char pattern[COMM_MAX];
	size_t n = 0;
	for (const char *c = comm; *c && n + 1 < sizeof pattern; c++) {
		if (!isdigit((unsigned char)*c))
			pattern[n++] = *c;
		else if (!n || pattern[n - 1] != '*')
			pattern[n++] = '*';
	}
	return tables_strn(t, pattern, n);
}
