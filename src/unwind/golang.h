/*
 * golang: which Go function an address lies in, by the table that every Go program carries
 * (.gopclntab), stripped or not.
 *
 * Go code switches stacks and ends goroutines in runtime functions that only their names tell. To
 * be called inside image_guarded; nothing is kept but a few offsets.
 */
#ifndef ALTPTTOP_GOLANG_H
#define ALTPTTOP_GOLANG_H

#include "module/image.h"

struct golang {
	bool looked, found;
	const uint8_t *table;
	size_t size;
	uint8_t word;       /* bytes of an address */
	uint8_t entry_size; /* of the function index: an address (or offset) and an offset */
	uint64_t text;      /* what the index's offsets count from; 0: they are addresses */
	uint64_t nfuncs;
	size_t names, index; /* places in the table */
};

enum golang_role {
	GOLANG_PLAIN,
	GOLANG_ROOT,   /* a goroutine's or a thread's first function */
	GOLANG_SWITCH, /* once it changed stacks only the frame pointer leads to its caller */
};

/* What the function at @vaddr is to a stack. PLAIN when the image is no Go program. */
enum golang_role golang_role(struct golang *g, const struct image *image, uint64_t vaddr);

/* Its name, as far as it fits. False: none known. */
bool golang_name(struct golang *g, const struct image *image, uint64_t vaddr, char *ret_name,
		 size_t size);

#endif
