/*
 * places: run-time addresses of a trace → frames in files, by a copy of /proc/PID/maps. One thread.
 */
#ifndef ALTPTTOP_PLACES_H
#define ALTPTTOP_PLACES_H

#include "err.h"
#include "tables.h"

struct places;

/* Read the maps file @path. -errno with a sentence; a file without one good line is -EINVAL. */
int places_new(const char *path, struct tables *tables, struct places **ret_places,
	       struct err *err);
void places_free(struct places *p); /* NULL is fine */

frame_id places_frame(struct places *p, uint64_t addr); /* 0: in no mapping, or @p is NULL */

#endif
