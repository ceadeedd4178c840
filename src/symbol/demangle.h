/*
 * demangle: names for people from names for linkers, in bounded memory, time and stack.
 *
 * C++ (Itanium), Rust (legacy and v0) and D. A name that is too long, too deep or that expands
 * beyond DEMANGLE_MAX comes back as it was. No state: any thread, with about 6 MiB of stack free
 * for the longest names.
 */
#ifndef ALTPTTOP_DEMANGLE_H
#define ALTPTTOP_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

#define DEMANGLE_MAX    65536 /* longest demangled name */
#define DEMANGLE_IN_MAX 16384 /* longest mangled name that is tried */

enum mangling { MANGLING_NONE, MANGLING_CXX, MANGLING_RUST, MANGLING_D };

/* Append the demangled form of @mangled to @out. MANGLING_NONE: not mangled or refused, nothing is
 * appended. */
enum mangling demangle(const char *mangled, struct strbuf *out);

/*
 * Append @name with template arguments folded to `<…>`, but for short ones without brackets of
 * their own (`mix<5>`), and the inline namespaces of std dropped. What does not balance is appended
 * unchanged.
 */
void demangle_fold(const char *name, struct strbuf *out);

#endif
