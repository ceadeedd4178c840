/*
 * locate: from a symbol's name to its address in a running process.
 *
 * A function or an object of any mapped file, as its symbol table has it (.symtab, that of its
 * debug file, else .dynsym), by its raw name, or by its demangled one with or without parameters.
 * "libm.so:sin" looks into one file only, named by its path, its last component or that without
 * what follows ".so". Any thread; nothing is kept.
 */
#ifndef ALTPTTOP_LOCATE_H
#define ALTPTTOP_LOCATE_H

#include "source.h"

place_finder symbol_locate;

#endif
