/*
 * object: what one module's file tells about unwinding: its image, CFI, and where its roots are.
 *
 * Opened at the first frame in it, kept as long as the unwinder: a file is mapped, so what it costs
 * is the pages looked at. Owned by the source thread.
 */
#ifndef ALTPTTOP_OBJECT_H
#define ALTPTTOP_OBJECT_H

#include "module/open.h"
#include "proc/space.h"
#include "unwind/golang.h"
#include "unwind/row.h"

#define ROOTS_MAX 24
struct root_range {
	uint64_t start, end;
};

/* An ELF file inside an archive: a module of its own. */
struct member {
	uint64_t start, size; /* in the archive */
	module_id module;
};

struct object {
	module_id module;
	enum module_kind kind;
	struct image *image; /* NULL: no file, or it cannot be read */
	struct cfi *cfi;     /* NULL when image is */
	struct golang go;
	struct member *members; /* of an archive: the ELF files in it that were met */
	uint32_t nmembers;
	bool no_archive;
	bool roots_ready;
	uint8_t nroots;
	struct root_range roots[ROOTS_MAX]; /* named roots (root.c) */
};

struct objects;
struct objects *objects_new(struct tables *tables, const struct module_access *access);
void objects_free(struct objects *o);
size_t objects_bytes(const struct objects *o);
/* Never NULL save without memory. Good as long as the objects. */
struct object *objects_get(struct objects *o, module_id module);
/* The object that @addr of a mapping lies in, and where in its file. */
struct object *objects_at(struct objects *o, const struct mapping *m, uint64_t addr,
			  uint64_t *ret_offset);

#endif
