/*
 * program: everything the resolver holds of one program file: its image, its debug file, symbols
 * and (opened on demand) DWARF.
 *
 * One thread at a time (the resolver's lock). Look-ups guard themselves against files that shrink.
 */
#ifndef ALTPTTOP_PROGRAM_H
#define ALTPTTOP_PROGRAM_H

#include "found.h"
#include "module/open.h"
#include "resolver.h"
#include "symtab.h"

struct program {
	module_id id;
	struct image *image;
	struct symtab symtab;
	enum module_symbols known;
	bool damaged;  /* lost bytes while it was read, or made no sense: used as far as it goes */
	char why[256]; /* why there is nothing, or less than there could be; "" */
};

/* Open the file of module @id; never NULL save without memory: what cannot be opened says why. */
struct program *program_open(const struct tables *tables, module_id id,
			     const struct module_access *access);
void program_free(struct program *p);
size_t program_bytes(const struct program *p);

/* The address in the file that frame address @addr means (FRAME_OFFSET: it is a file offset). */
uint64_t program_addr(const struct program *p, uint64_t addr, uint32_t frame_flags);

/* The function at @addr, by symbols only: one line, always. */
void program_name(struct program *p, uint64_t addr, struct found *ret_found);

#endif
