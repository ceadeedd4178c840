/* dlang: libiberty's D demangler, for names that cannot expand without bound. Any thread. */
#ifndef ALTPTTOP_DLANG_H
#define ALTPTTOP_DLANG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* Append the D name @mangled stands for. False, and nothing appended: not D, or longer than @max.
 */
bool dlang_append(const char *mangled, size_t max, struct strbuf *out);

#endif
