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
/* Is the process of jitmap_new still there? Not another one that has its number now. */
bool jitmap_alive(const struct jitmap *j);
/*
 * It is not: its files are closed and not looked for any more. What they told stays, code as long
 * as the jitdump file is where it was.
 */
void jitmap_end(struct jitmap *j);
void jitmap_forget(struct jitmap *j); /* what they told, too */
bool jitmap_find(struct jitmap *j, uint64_t addr, struct jit_symbol *ret_symbol);
/*
 * The map that lies there was last written before the process began: it is another's, whose number
 * this one has now. It is not read. True: its path is in @ret_path.
 */
bool jitmap_stale(const struct jitmap *j, char *ret_path, size_t size);
/* Does one of its files tell more than is read or kept? True: a sentence on that. */
bool jitmap_cut(const struct jitmap *j, char *ret_text, size_t size);
/* The same without following it: is there one for @pid, a running process? */
enum jitmap_state { JITMAP_NONE, JITMAP_STALE, JITMAP_LONG, JITMAP_GOOD };
enum jitmap_state jitmap_look(pid_t pid, char *ret_path, size_t size);
/* As jittable_find_named and jittable_line. */
bool jitmap_find_named(struct jitmap *j, uint64_t start, const char *name,
		       struct jit_symbol *ret_symbol);
bool jitmap_line(struct jitmap *j, const struct jit_symbol *s, uint64_t addr, const char **ret_file,
		 uint32_t *ret_line);
/* Copy @size bytes of code of a symbol. False: the file does not hold them. */
bool jitmap_code(struct jitmap *j, const struct jit_symbol *s, void *dst, size_t size);

#endif
