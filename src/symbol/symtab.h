/*
 * symtab: the functions of one module as its symbol tables know them, sorted by address.
 *
 * Built once from up to SYMTAB_SOURCES images of the same program (the file, its debug file, its
 * .gnu_debugdata), which must outlive it. Building and reading touch the mappings, so both happen
 * inside image_guarded of every image involved; what is half built when a guard ends it may be
 * freed, not used. One thread.
 */
#ifndef ALTPTTOP_SYMTAB_H
#define ALTPTTOP_SYMTAB_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "module/image.h"

#define SYMTAB_SOURCES 4

struct symtab_entry {
	uint64_t start;
	uint32_t size; /* 0: reaches to the next symbol or the section's end */
	uint32_t name; /* offset in its source's string table */
	uint8_t source;
	uint8_t rank;  /* higher is better among symbols of one address */
	bool inside;   /* starts inside an earlier symbol */
	bool function; /* STT_FUNC or STT_GNU_IFUNC */
};

struct symtab_name {
	uint32_t hash, entry;
};

struct symtab_span {
	uint64_t start, end;
};

struct symtab {
	struct {
		VEC(struct symtab_entry)
	} entries;
	void *spare; /* working memory: kept here so that a guard cannot lose it */
	struct {
		VEC(struct symtab_span)
	} code; /* sections (else segments) that hold code, sorted */
	struct image_data strings[SYMTAB_SOURCES + 1];
	uint32_t nsources;
	struct symtab_name *by_name; /* entries by the hash of their names, made on demand */
	bool by_name_tried;
	struct strbuf plt; /* names made for PLT stubs */
	bool full;         /* a .symtab was there, not only .dynsym */
};

struct symbol {
	uint64_t start, end;
	const char *name; /* NUL-terminated; in the mapping or in the symtab */
};

void symtab_init(struct symtab *t);
void symtab_fini(struct symtab *t);

/* Take the symbols of @image, each moved by @slide. 0, -ENODATA: it has none; -ENOMEM. */
int symtab_add(struct symtab *t, const struct image *image, uint64_t slide);
/* Name the stubs of the PLT of @image. */
int symtab_add_plt(struct symtab *t, const struct image *image);
/* Once all is added: sort, and keep the best symbol of each address. */
int symtab_sort(struct symtab *t);

/* The symbol that covers @addr. */
bool symtab_find(const struct symtab *t, uint64_t addr, struct symbol *ret_symbol);
/* Where the one symbol called @name starts; 0: there is none, or several local ones. */
uint64_t symtab_start_of(struct symtab *t, const char *name);
/* The next start of a symbol above @addr, UINT64_MAX none. */
uint64_t symtab_next(const struct symtab *t, uint64_t addr);
size_t symtab_bytes(const struct symtab *t);

#endif
