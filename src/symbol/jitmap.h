/*
 * jitmap: the files in which one process tells what its generated code is.
 *
 * /tmp/perf-PID.map in the process's mount namespace, named by its pid in there, and the jitdump
 * file that it maps. Both grow: jitmap_refresh reads what was added. One thread.
 */
#ifndef ALTPTTOP_JITMAP_H
#define ALTPTTOP_JITMAP_H

#include <sys/types.h>

#include "jittable.h"
#include "module/open.h"

struct jitmap;

struct jitmap *jitmap_new(pid_t pid, const struct module_access *access);
void jitmap_free(struct jitmap *j);
size_t jitmap_bytes(const struct jitmap *j);

/* Look whether there is more; true when something was added. Costs two fstat when there is not. */
bool jitmap_refresh(struct jitmap *j);
bool jitmap_find(struct jitmap *j, uint64_t addr, struct jit_symbol *ret_symbol);
/* Copy @size bytes of code of a symbol. False: the file does not hold them. */
bool jitmap_code(struct jitmap *j, const struct jit_symbol *s, void *dst, size_t size);

#endif
