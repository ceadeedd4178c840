/*
 * rootname: the functions in which stacks begin, by name. Pure; any thread.
 */
#ifndef ALTPTTOP_ROOTNAME_H
#define ALTPTTOP_ROOTNAME_H

#include <stdbool.h>
#include <stddef.h>

/* Is @name, @n bytes without a NUL, the first function of a process or a thread? A version behind
 * an @ does not matter. */
bool rootname_is(const char *name, size_t n);

#endif
