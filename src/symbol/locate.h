/*
 * locate: from a symbol's name, or a function seen before, to its address in a running process.
 *
 * By name: a function or an object of any mapped file, as its symbol table has it (.symtab, that of
 * its debug file, else .dynsym), by its raw name, or by its demangled one with or without
 * parameters. "libm.so:sin" looks into one file only, named by its path, its last component or that
 * without what follows ".so". Any thread; nothing is kept.
 */
#ifndef ALTPTTOP_LOCATE_H
#define ALTPTTOP_LOCATE_H

#include "source.h"
#include "tables.h"

place_finder symbol_locate;

/*
 * Where a function that the tables know lies in process @pid: its module's first executable mapping
 * there, by device and inode. -ENOENT: the process maps no such file; -ENOTSUP: a function without
 * a place of its own (inlined, kernel, special), with a sentence.
 */
int function_locate(pid_t pid, const struct tables *t, const struct func *f, const char *symfs,
		    uint64_t *ret_addr, struct err *err);

#endif
