/*
 * srcfile: the lines of a source file, found where DWARF says or where the person says it was
 * moved.
 *
 * Any thread; no state.
 */
#ifndef ALTPTTOP_SRCFILE_H
#define ALTPTTOP_SRCFILE_H

#include <stdint.h>
#include <time.h>

#include "base/arena.h"
#include "debugfile.h"

struct srcfile {
	const char **lines; /* in the arena; lines[0] is line 1 */
	uint32_t nlines;
	time_t modified;
};

/*
 * Read @path (as DWARF gives it) into @arena: with @from replaced by @to at its start when it
 * begins so, then as the target sees it, then as we do. Control characters become spaces, save
 * tabs. 0, -ENOENT, -EFBIG (larger than 32 MiB), or another -errno.
 */
int srcfile_read(const struct debug_places *places, const char *path, const char *from,
		 const char *to, struct arena *arena, struct srcfile *ret_file);

#endif
