/*
 * twins: one file that was told of in two ways: by /proc/PID/maps with its inode, by a record with
 * its build id. Without this its functions would have two rows each.
 *
 * The build id of the one with an inode is read from its file; no twin is taken for granted by its
 * path. Owned by the source thread.
 */
#ifndef ALTPTTOP_TWINS_H
#define ALTPTTOP_TWINS_H

#include "base/vec.h"
#include "module/open.h"
#include "tables.h"

/* A build id that a file was found to have. */
struct twin_file {
	str_id path;
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	uint8_t build_id[32];
	uint8_t build_id_size; /* 0: it has none, or could not be read */
};

struct twins {
	struct tables *tables;
	struct module_access access;
	VEC(struct twin_file)
};

/* @symfs outlives it. */
void twins_init(struct twins *t, struct tables *tables, const char *symfs);
void twins_fini(struct twins *t);

/* A space_known (proc/space.h): the module that @m, not interned yet, is known as; 0 none. */
module_id twins_find(void *twins, const struct module *m);

#endif
