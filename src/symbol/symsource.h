/*
 * symsource: the raw symbol table of an ELF image, and the stubs of its procedure linkage table.
 *
 * By the section list, or by PT_DYNAMIC where there is none. Touches the mapping: inside
 * image_guarded only. One thread.
 */
#ifndef ALTPTTOP_SYMSOURCE_H
#define ALTPTTOP_SYMSOURCE_H

#include "module/image.h"

struct symsource {
	const struct image *image;
	const uint8_t *symbols;
	size_t count; /* entries, the null one included */
	bool full;    /* .symtab */
};

struct symsource_sym {
	uint64_t value, size;
	uint32_t name;
	uint8_t bind;  /* STB_* */
	bool function; /* STT_FUNC or STT_GNU_IFUNC; else STT_NOTYPE */
};

/* The best table of @image; its strings go to @ret_strings (not NUL-terminated at the end unless
 * checked). -ENODATA: none. */
int symsource_open(const struct image *image, struct symsource *ret_source,
		   struct image_data *ret_strings);
/* Entry @i; false: undefined, or not of a kind that names code. */
bool symsource_get(const struct symsource *s, size_t i, struct symsource_sym *ret_sym);
/* Entry @i of whatever kind, with its STT_*; false: it is defined elsewhere. */
bool symsource_entry(const struct symsource *s, size_t i, struct symsource_sym *ret_sym,
		     unsigned *ret_type);

/*
 * Call @stub for each PLT stub with the name of the function it leads to. Stops at its error.
 * Working memory hangs at *held meanwhile (NULL on return), for the caller to free when a guard
 * ends the call.
 */
int symsource_plt(const struct image *image, void **held,
		  int (*stub)(void *ctx, uint64_t addr, uint32_t size, const char *name),
		  void *ctx);

#endif
