/*
 * image: a light view of one ELF file, made for hostile input.
 *
 * The file is mapped, not read; the header, the segments and the section list are checked against
 * its size and copied once, so they may be used without care. 32-bit files are widened to the
 * 64-bit shapes below. Everything that points into the mapping (image_at, image_section_bytes) may
 * be touched only inside image_guarded, or through image_read: somebody may cut the file short, and
 * then a touch is a SIGBUS. No allocation is larger than the file explains. What is damaged is left
 * out (no sections, fewer segments), what remains is used. An image is immutable: any thread.
 */
#ifndef ALTPTTOP_IMAGE_H
#define ALTPTTOP_IMAGE_H

#include <elf.h>

#include "err.h"
#include "sample.h"

#define IMAGE_NAME 40 /* longer section names are cut: no name that matters is longer */

struct image_segment { /* PT_LOAD, in file order */
	uint64_t vaddr, memsz, offset, filesz;
	uint32_t flags; /* PF_* */
};

struct image_section { /* as Elf64_Shdr; its index is the file's section index */
	char name[IMAGE_NAME];
	uint32_t type, link, info;
	uint64_t flags, addr, offset, size, align, entsize;
};

struct image {
	const uint8_t *bytes; /* the ELF file, mapped or borrowed */
	size_t size;
	bool elf32;
	bool executable;  /* meant to be run: ET_EXEC, DF_1_PIE, or it asks for an interpreter */
	uint16_t type;    /* ET_* */
	uint16_t machine; /* EM_* */
	enum arch arch;
	uint64_t entry; /* virtual address, 0 none */
	struct image_segment *segments;
	uint32_t nsegments;
	struct image_section *sections; /* NULL when there are no usable section headers */
	uint32_t nsections;
	uint8_t build_id[32];
	uint8_t build_id_size;
	uint64_t eh_frame_hdr, eh_frame_hdr_size; /* PT_GNU_EH_FRAME: address, bytes; 0 none */
	uint64_t dynamic, dynamic_size;           /* PT_DYNAMIC: address, bytes; 0 none */
	/* private */
	void *map;
	size_t map_bytes;
	void *owned;
	uint32_t notes_left; /* bytes of notes still to be looked at */
};

/*
 * Map the ELF file that begins @offset bytes into @fd (0 save inside an archive). The descriptor
 * may be closed afterwards. -ENOEXEC: not an ELF file that can be read here, with the reason.
 */
int image_open(int fd, uint64_t offset, struct image **ret_image, struct err *err);
/* The same of @size borrowed bytes that outlive the image. */
int image_open_bytes(const void *bytes, size_t size, struct image **ret_image, struct err *err);
/* The same of malloc'ed bytes, freed with the image, or here on failure. */
int image_take_bytes(void *bytes, size_t size, struct image **ret_image, struct err *err);
void image_close(struct image *i); /* NULL is fine */

/*
 * The virtual address of a file offset, by the PT_LOAD segment that covers it, an executable one
 * before others; failing that by one whose pages, as they are mapped, hold it. False: none does.
 */
bool image_vaddr(const struct image *i, uint64_t offset, uint64_t *ret_vaddr);
bool image_offset(const struct image *i, uint64_t vaddr, uint64_t *ret_offset);
const struct image_segment *image_segment_at(const struct image *i, uint64_t vaddr); /* NULL none */

/* At least @need file bytes at @vaddr, @ret_avail (may be NULL) all that follow in the segment; or
 * NULL. Touch only when guarded. */
const uint8_t *image_at(const struct image *i, uint64_t vaddr, size_t need, size_t *ret_avail);

const struct image_section *image_section(const struct image *i, const char *name); /* NULL none */
/* Its bytes as they lie in the file (not decompressed), or NULL when it has none there. Touch only
 * when guarded. */
const uint8_t *image_section_bytes(const struct image *i, const struct image_section *s,
				   size_t *ret_size);

/*
 * Its contents, decompressed when SHF_COMPRESSED (zlib, zstd) or ".zdebug_*". Uncompressed contents
 * are borrowed from the mapping (touch only when guarded), else owned memory; image_data_fini
 * frees. A section that claims more than its compressed bytes can explain, or more than
 * IMAGE_DATA_MAX, is refused with -EFBIG before anything is allocated; -ENOTSUP: a compression not
 * known; -EBADMSG: damaged; -ENODATA: no bytes in the file.
 */
#define IMAGE_DATA_MAX ((uint64_t)4 << 30)
struct image_data {
	const uint8_t *bytes;
	size_t size;
	void *owned; /* NULL: borrowed */
};
int image_section_data(const struct image *i, const struct image_section *s,
		       struct image_data *ret_data);
void image_data_fini(struct image_data *d);

/* Copy @bytes at file offset @offset; 0, or -EFAULT when the file does not hold them (any more). */
int image_read(const struct image *i, uint64_t offset, void *dst, size_t bytes);

/* Run @body with the mapping guarded: 0, or -EFAULT when the file lost what was touched (then the
 * body was left at that point; base/guard.h says what it must not hold). */
int image_guarded(const struct image *i, void (*body)(void *ctx), void *ctx);

/* .gnu_debuglink: file name and CRC. .gnu_debugaltlink, or DWARF 5's .debug_sup: file name and
 * build id or checksum (at most 32 bytes). False: none, or damaged. */
bool image_debuglink(const struct image *i, char ret_name[256], uint32_t *ret_crc);
bool image_altlink(const struct image *i, char ret_name[256], uint8_t ret_build_id[32],
		   uint8_t *ret_build_id_size);
/* Is this the file that image_altlink told of? By its build id, or by its own .debug_sup; one that
 * has neither is believed. */
bool image_is_supplement(const struct image *i, const uint8_t *id, uint8_t size);

/* Find a build id in note bytes (a PT_NOTE, /sys/kernel/notes …), read with @align 4 or 8. Its
 * size, 0 none. */
uint8_t image_note_build_id(const void *notes, size_t size, unsigned align, uint8_t ret_id[32]);

#endif
