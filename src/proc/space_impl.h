/*
 * space_impl: what space.c (the sorted mappings, records) and space_proc.c (reading /proc) share.
 * Private to the two.
 */
#ifndef ALTPTTOP_SPACE_IMPL_H
#define ALTPTTOP_SPACE_IMPL_H

#include "base/vec.h"
#include "proc/maps.h"
#include "proc/space.h"

#define SPACE_MAPPINGS_MAX (1u << 20)

struct mappings {
	VEC(struct mapping)
};

struct space {
	struct tables *tables;
	pid_t pid;
	struct mappings maps; /* by start, never overlapping, neighbours that continue each other
				 are one */
	size_t hit;           /* index of the last mapping found */
	uint64_t generation;
	module_id main_module;
	space_known *known; /* NULL: nobody is asked */
	void *known_ctx;
};

/* Put @m in, cutting what it covers. 1: something changed, 0: nothing did, -ENOMEM, -ENOSPC. */
int mappings_put(struct mappings *v, const struct mapping *m);

/* The executable memory that a name and a place stand for, with no build id and no inode yet. */
void space_describe(struct space *s, struct module *m, enum module_kind kind, const char *path,
		    uint64_t start, uint64_t end);

/* What a name stands for that tells it: any but MAPS_MEMFD. */
enum module_kind space_kind_of(enum maps_name name);

/*
 * The module for @want at the place of @at (start, end, pgoff): the one that is already mapped
 * there when it may be the same, or the one that whoever is asked knows, so that what a record told
 * (build id) and what maps tell (inode) stay one module; else interned.
 */
module_id space_module_for(struct space *s, const struct module *want, const struct mapping *at);

void space_changed(struct space *s);

#endif
