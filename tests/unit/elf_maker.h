/*
 * elf_maker: small ELF files with the call frame information a test wants.
 *
 * Text lies at file offset 0x1000 and address 0x11000, .eh_frame_hdr and .eh_frame at file offset
 * 0x3000 and address 0x23000: addresses are not offsets.
 */
#ifndef ALTPTTOP_ELF_MAKER_H
#define ALTPTTOP_ELF_MAKER_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MADE_TEXT        0x11000
#define MADE_TEXT_OFFSET 0x1000
#define MADE_TEXT_SIZE   0x2000

struct made_fde {
	uint64_t start, size;
	const char *cfi; /* instructions, after the CIE's */
	size_t bytes;
	bool signal;
};
#define FDE(at, length, text) \
	{ \
		(at), (length), (text), sizeof(text) - 1, false \
	}

struct made_elf {
	uint16_t machine; /* EM_X86_64, EM_AARCH64 */
	uint16_t type;    /* ET_DYN by default */
	uint64_t entry;
	const struct made_fde *fdes;
	size_t nfdes;
	bool no_header;   /* no .eh_frame_hdr: .eh_frame is found by its section */
	bool no_table;    /* a header whose search table is left out */
	bool debug_frame; /* .debug_frame instead */
	bool no_sections; /* no section headers at all */
	const char *code; /* at code_at */
	size_t code_bytes;
	uint64_t code_at;
	const char *build_id; /* 20 bytes, NULL none */
};

/* The file's bytes, malloc'ed. */
uint8_t *elf_bytes(const struct made_elf *e, size_t *ret_size);
/* The same written to a new file in /tmp; the path is static till the next call. */
const char *elf_file(const struct made_elf *e);

/* A zip archive of one member, stored (method 0) or said to be compressed (8). Its bytes begin at
 * offset 4096. */
void write_zip(const char *path, const char *name, const uint8_t *data, size_t n, int method);

#endif
