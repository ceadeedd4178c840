/*
 * space: the executable mappings of one process over time, by its maps and the kernel's records.
 *
 * Owned by the source thread. Mappings never overlap: a new one cuts or replaces what it covers. An
 * identical mapping is idempotent. Lookup is a binary search over a sorted array with a last-hit
 * cache.
 */
#ifndef ALTPTTOP_SPACE_H
#define ALTPTTOP_SPACE_H

#include <sys/types.h>

#include "err.h"
#include "sink.h"
#include "tables.h"

struct mapping {
	uint64_t start, end; /* run-time addresses, [start, end) */
	uint64_t pgoff;      /* file offset of start */
	module_id module;
	uint32_t flags; /* MAPPING_* */
};
enum mapping_flag { MAPPING_EXEC = 1 << 0, MAPPING_STACK = 1 << 1 };

struct space;

/* The module that @m, not interned yet, is known as, though it was described in another way; 0
 * none. */
typedef module_id space_known(void *ctx, const struct module *m);

struct space *space_new(struct tables *tables, pid_t pid);
void space_ask(struct space *s, space_known *known, void *ctx); /* its clones ask too */
void space_free(struct space *s);
pid_t space_pid(const struct space *s);
int space_read_proc(struct space *s,
		    struct err *err); /* (re)read /proc/PID/maps: merges, drops what is gone */
int space_add(struct space *s, const struct raw_mmap *m);         /* a record */
void space_clear(struct space *s);                                /* exec */
struct space *space_clone(const struct space *s, pid_t pid);      /* fork */
const struct mapping *space_find(struct space *s, uint64_t addr); /* NULL: in no mapping */
uint64_t space_generation(const struct space *s); /* changes when mappings do: caches compare it */
module_id space_main_module(const struct space *s); /* the program itself */

#endif
