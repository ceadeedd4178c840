/*
 * naming: function ids for what look-ups found, each name demangled and folded once.
 *
 * One thread at a time (the resolver's lock).
 */
#ifndef ALTPTTOP_NAMING_H
#define ALTPTTOP_NAMING_H

#include "base/hash.h"
#include "found.h"
#include "tables.h"

struct naming {
	struct tables *tables;
	struct map64 known; /* hash of (module, start) or (module, raw name) → func_id */
	struct strbuf name, shown;
};

void naming_init(struct naming *n, struct tables *tables);
void naming_fini(struct naming *n);

/*
 * The function @raw that starts at @f->start in @f->module (raw, name and shown of @f are filled
 * here). A start of 0 means known by name only. 0 when the table is full.
 */
func_id naming_func(struct naming *n, struct func *f, const char *raw);

/* Publish @found as what @frame of @module resolves to. */
void naming_publish(struct naming *n, frame_id frame, module_id module, const struct found *found);

/* Publish a single function, without lines. */
void naming_publish_func(struct naming *n, frame_id frame, func_id func);

#endif
