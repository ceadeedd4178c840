/*
 * program: everything the resolver holds of one program file: its image, its debug files, symbols
 * and (opened on demand) DWARF.
 *
 * One thread at a time (the resolver's lock). Look-ups guard themselves against files that shrink;
 * one that did serves no more DWARF.
 */
#ifndef ALTPTTOP_PROGRAM_H
#define ALTPTTOP_PROGRAM_H

#include "debugfile.h"
#include "dw.h"
#include "found.h"
#include "resolver.h"
#include "symtab.h"

struct program_env {
	const struct tables *tables;
	struct module_access access;
	const char *debug_dirs;
	bool downloads;
	bool no_inline;
	struct dw_cache cache; /* DWARF indexes of all programs */
	uint64_t damage;       /* what did not make sense in any file */
};

enum program_image {
	IMAGE_MAIN,
	IMAGE_DEBUG,   /* separate debug file */
	IMAGE_MINI,    /* .gnu_debugdata */
	IMAGE_ALT,     /* dwz supplement */
	IMAGE_PACKAGE, /* .dwp */
	IMAGES
};

struct program {
	module_id id;
	struct program_env *env;
	struct debug_places places;
	char *fetched; /* debug file that was downloaded, NULL none */
	struct image *image[IMAGES];
	struct {
		VEC(struct image *)
	} dwos;         /* in memory: need no guard */
	uint64_t slide; /* debug file's addresses + slide = the program's (prelink) */
	struct symtab symtab;
	struct dw_file *dw;
	bool dw_tried, dw_bad;
	enum module_symbols known;
	uint64_t used; /* for the least recent use */
	char why[256]; /* why there is nothing, or less than there could be; "" */
};

/*
 * Open the file of module @id; NULL only without memory: what cannot be opened says why. @fetched:
 * a debug file that was downloaded for it, or NULL.
 */
struct program *program_open(struct program_env *env, module_id id, const char *fetched);
void program_free(struct program *p);
size_t program_bytes(const struct program *p);

/* The address in the file that frame address @addr means (FRAME_OFFSET: it is a file offset). */
uint64_t program_addr(const struct program *p, uint64_t addr, uint32_t frame_flags);

/* The function at @addr, by symbols only: one line, always. */
void program_name(struct program *p, uint64_t addr, struct found *ret_found);
/* May there be lines? */
bool program_may_have_lines(const struct program *p);
/* The same with lines and inlined functions. False: DWARF says nothing more than program_name. */
bool program_lines(struct program *p, uint64_t addr, struct found *ret_found);

/* Functions missing behind the call that returns to @ret; see dw_tail_calls. All addresses are this
 * program's. */
unsigned program_tail_calls(struct program *p, const struct dw_tail_query *q,
			    struct dw_tail_step ret_steps[DW_TAIL_MAX]);

/* Where the line table's next row begins behind @addr: code begins there. UINT64_MAX: not known. */
uint64_t program_next_row(struct program *p, uint64_t addr);

/* Run @body with every mapping of the program guarded: 0 or -EFAULT. */
int program_guarded(struct program *p, void (*body)(void *ctx), void *ctx);

#endif
