/*
 * debugfile: where the debug information of a program lies, when it is not in the program itself.
 *
 * The ways of SPEC 4, in this order: build id directories, .gnu_debuglink (CRC checked), and for
 * what is named inside DWARF the dwz supplement and .dwp packages. A file whose build id is known
 * and differs is never used. One thread; nothing is cached.
 */
#ifndef ALTPTTOP_DEBUGFILE_H
#define ALTPTTOP_DEBUGFILE_H

#include "module/open.h"

struct debug_places {
	const struct module_access *access;
	const char *dirs; /* colon-separated, as /usr/lib/debug */
	bool downloads;   /* what debuginfod left in its cache may be used */
	const char *path; /* of the program, as the target sees it */
	pid_t pid;        /* a process that maps it, 0 none */
};

/* The separate debug file of @image; @fetched: one that was downloaded, or NULL. NULL: none. */
struct image *debug_find(const struct debug_places *p, const struct image *image,
			 const char *fetched);
/* The dwz supplement that @image (of file @path) names. */
struct image *debug_find_alt(const struct debug_places *p, const struct image *image);
/* PROGRAM.dwp beside the program or its debug file. */
struct image *debug_find_package(const struct debug_places *p, const struct image *image);
/* The symbols in .gnu_debugdata (xz). */
struct image *debug_unpack_mini(const struct image *image);
/* A .dwo file, read into memory, as a skeleton names it. */
struct image *debug_open_dwo(const struct debug_places *p, const char *comp_dir, const char *name);

/* Open @path as the target sees it: --symfs, the target's root, ours. A descriptor, or -errno. */
int debug_open_path(const struct debug_places *p, const char *path);

#endif
