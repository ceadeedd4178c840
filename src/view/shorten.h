/*
 * shorten: names of C++ and Rust functions that are wider than their column: what is dropped first
 * is what tells least: parameters, return type, then namespaces from the left; the function's own
 * name stays.
 */
#ifndef ALTPTTOP_SHORTEN_H
#define ALTPTTOP_SHORTEN_H

#include <stddef.h>

/*
 * @name in at most @width cells, in @buf where it had to be built; or @name itself, when it fits or
 * is no qualified name (whoever draws it cuts its end). Looks at no more than a few KiB.
 */
const char *shorten(const char *name, int width, char *buf, size_t size);

#endif
