/*
 * cfi: finding and reading the unwind description (FDE, with its CIE) of an address in one image.
 *
 * .eh_frame through the search table of .eh_frame_hdr (found by PT_GNU_EH_FRAME, no section headers
 * needed); where that table is missing or unusable, through an index built once, at the first
 * look-up; then .debug_frame by such an index (code that has only that: Go). LSB "DWARF
 * Extensions", DWARF 5 section 6.4. Not thread-safe. Everything is to be called inside
 * image_guarded; what is returned points into the image and is good as long as the image, touched
 * when guarded.
 */
#ifndef ALTPTTOP_CFI_H
#define ALTPTTOP_CFI_H

#include "module/image.h"

struct cfi;

struct cfi_fde {
	uint64_t start, end;                  /* virtual addresses, [start, end) */
	const uint8_t *initial, *initial_end; /* the CIE's instructions */
	const uint8_t *insns, *insns_end;     /* the FDE's */
	uint64_t code_align;
	int64_t data_align;
	uint32_t ra;      /* DWARF number of the return-address column */
	uint8_t encoding; /* of addresses in DW_CFA_set_loc */
	uint8_t addr_size;
	bool signal;          /* augmentation "S": frame of a signal handler's return */
	uint64_t insns_vaddr; /* of insns, for pc-relative DW_CFA_set_loc */
};

struct cfi *cfi_new(const struct image *image); /* borrowed; NULL: no memory */
void cfi_free(struct cfi *c);
size_t cfi_bytes(const struct cfi *c); /* memory held */

/* 0, or -ENOENT: no FDE covers @vaddr; -EBADMSG: damaged. */
int cfi_find(struct cfi *c, uint64_t vaddr, struct cfi_fde *ret_fde);

/* FDE number @n of the image, for looking at a sample of its functions; -ENOENT beyond the last.
 * cfi_count may build the index. */
size_t cfi_count(struct cfi *c);
int cfi_nth(struct cfi *c, size_t n, struct cfi_fde *ret_fde);

/* Read an encoded pointer (DW_EH_PE_*, LSB 10.5); @vaddr is the address of what @cur points at. */
struct cursor;
uint64_t cfi_pointer(struct cursor *cur, uint8_t encoding, uint8_t addr_size, uint64_t vaddr,
		     uint64_t data_base);

#endif
