/*
 * dlang: which names libiberty's D demangler may see.
 *
 * It has no callback form, so its text cannot be cut off as it comes. What makes a D name expand
 * are back references (Q): a type made of two of them doubles the one before. Their number bounds
 * the expansion: 2^(n/2) times the name at most. Names with more stay as they are. Runs on the
 * caller's thread.
 */
#include "dlang.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#define D_MAX      2048 /* longest mangled D name that is tried */
#define REFERENCES 20   /* a thousandfold: two megabytes for a moment, at worst */

static unsigned references(const char *s)
{
	unsigned n = 0;

	while ((s = strchr(s, 'Q'))) {
		n++;
		s++;
	}
	return n;
}

bool dlang_append(const char *mangled, size_t max, struct strbuf *out)
{
	size_t before = out->len;
	char *name;

	if (strnlen(mangled, D_MAX + 1) > D_MAX || references(mangled) > REFERENCES)
		return false;
	name = dlang_demangle(mangled, 0);
	if (name && strlen(name) <= max)
		strbuf_puts(out, name);
	free(name);
	return out->len > before;
}
