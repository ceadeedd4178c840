/*
 * namelist: the functions and source positions behind a snapshot's nodes, numbered densely.
 *
 * A node's frame stands for one or several lines: the innermost inlined function first, the
 * function that holds the code last. A frame that is not resolved gets a function of its own, named
 * module+0x…. Texts live as long as the namelist or the snapshot's tables.
 */
#ifndef ALTPTTOP_NAMELIST_H
#define ALTPTTOP_NAMELIST_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "snapshot.h"

struct namelist_func {
	const char *name; /* demangled, whole */
	const char *raw;  /* as the symbol table has it */
	const char *file; /* declared in, "" unknown */
	uint32_t line;    /* declaration, 0 unknown */
	module_id module;
	uint64_t addr; /* start, 0 unknown */
	bool kernel, special, unresolved;
	bool no_symbol; /* its name is module+0x… */
};

struct namelist_line {
	uint32_t func;    /* index in funcs */
	const char *file; /* "" unknown */
	uint32_t line;    /* 0 unknown; outer lines: the call site's */
	uint32_t column;
};

struct namelist_frame {
	frame_id frame;
	uint32_t first, n; /* lines[first … first + n), n at least 1 */
};

struct namelist {
	const struct tables *tables;
	struct {
		VEC(struct namelist_func)
	} funcs;
	struct {
		VEC(struct namelist_line)
	} lines;
	struct {
		VEC(struct namelist_frame)
	} frames;            /* [0] is FRAME_UNKNOWN, which also stands for "no stack" */
	const char **labels; /* of modules 0 … nlabels, as tables_module_label calls them */
	uint32_t nlabels;
	uint32_t *node_frame;    /* nnodes indexes in frames */
	uint32_t *through_frame; /* nthrough of them, those of modules 0 */
	struct map64 by_func, by_frame;
	struct arena texts;
};

/* -ENOMEM: then nothing is to be released. */
int namelist_init(struct namelist *n, const struct snapshot *s);
void namelist_fini(struct namelist *n);

/* Index in frames of a snapshot's node; SNAPSHOT_ROOT: [unknown]. */
static inline uint32_t namelist_frame_of(const struct namelist *n, uint32_t node)
{
	return node == SNAPSHOT_ROOT ? 0 : n->node_frame[node];
}

/* Short name (tables_module_label), never NULL. */
const char *namelist_module(const struct namelist *n, module_id module);

#endif
