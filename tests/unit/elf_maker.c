/* elf_maker: lays out headers, text, call frame information and section headers by hand. */
#include "elf_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EH_OFFSET 0x3000
#define EH_VADDR  0x23000
#define NOTE_AT   0x800
#define SECTIONS  0x8000
#define STRINGS   0x7f00
#define SIZE      0x9000

struct out {
	uint8_t *bytes;
	size_t at;
};

static void put(struct out *o, uint64_t v, unsigned bytes)
{
	memcpy(o->bytes + o->at, &v, bytes);
	o->at += bytes;
}

static void put_bytes(struct out *o, const void *p, size_t n)
{
	memcpy(o->bytes + o->at, p, n);
	o->at += n;
}

/* The address of where we are. */
static uint64_t here(const struct out *o)
{
	return o->at - EH_OFFSET + EH_VADDR;
}

static size_t put_cie(struct out *o, const struct made_elf *e, bool signal)
{
	size_t start = o->at;
	put(o, 0, 4);
	put(o, e->debug_frame ? 0xffffffff : 0, 4);
	put(o, 1, 1);
	put_bytes(o,
		  e->debug_frame ? ""
		  : signal       ? "zRS"
				 : "zR",
		  e->debug_frame ? 1
		  : signal       ? 4
				 : 3);
	put(o, 1, 1);    /* code alignment */
	put(o, 0x78, 1); /* data alignment -8 */
	put(o, e->machine == EM_AARCH64 ? 30 : 16, 1);
	if (!e->debug_frame) {
		put(o, 1, 1);
		put(o, 0x1b, 1); /* pcrel, sdata4 */
	}
	if (e->machine == EM_AARCH64)
		put_bytes(o, "\x0c\x1f\0", 3); /* CFA = sp */
	else
		put_bytes(o, "\x0c\x07\x08\x90\x01", 5); /* CFA = rsp + 8, rip at CFA - 8 */
	while ((o->at - start) % 8 != 4)
		put(o, 0, 1);
	uint32_t length = (uint32_t)(o->at - start - 4);
	memcpy(o->bytes + start, &length, 4);
	return start;
}

static uint64_t put_fde(struct out *o, const struct made_elf *e, const struct made_fde *f,
			size_t cie, size_t section)
{
	size_t start = o->at;
	uint64_t vaddr = here(o);
	put(o, 0, 4);
	put(o, e->debug_frame ? cie - section : o->at - cie, 4);
	if (e->debug_frame) {
		put(o, f->start, 8);
		put(o, f->size, 8);
	} else {
		put(o, f->start - here(o), 4);
		put(o, f->size, 4);
		put(o, 0, 1);
	}
	put_bytes(o, f->cfi, f->bytes);
	while ((o->at - start) % 8 != 4)
		put(o, 0, 1);
	uint32_t length = (uint32_t)(o->at - start - 4);
	memcpy(o->bytes + start, &length, 4);
	return vaddr;
}

static void put_frames(struct out *o, const struct made_elf *e, size_t *ret_eh, size_t *ret_end)
{
	size_t table = o->at = EH_OFFSET;
	o->at += 12 + e->nfdes * 8;
	o->at = (o->at + 7) & ~(size_t)7;
	size_t eh = o->at;
	for (size_t k = 0; k < e->nfdes; k++) {
		size_t cie = put_cie(o, e, e->fdes[k].signal);
		uint64_t fde = put_fde(o, e, &e->fdes[k], cie, eh);
		struct out t = {o->bytes, table + 12 + k * 8};
		put(&t, e->fdes[k].start - EH_VADDR, 4);
		put(&t, fde - EH_VADDR, 4);
	}
	if (!e->debug_frame)
		put(o, 0, 4);
	*ret_eh = eh;
	*ret_end = o->at;
	struct out h = {o->bytes, table};
	put(&h, 1, 1);
	put(&h, 0x1b, 1);
	put(&h, e->no_table ? 0xff : 0x03, 1);
	put(&h, e->no_table ? 0xff : 0x3b, 1);
	put(&h, eh - EH_OFFSET - 4, 4);
	put(&h, e->nfdes, 4);
}

static void put_phdrs(uint8_t *file, const struct made_elf *e, bool header)
{
	Elf64_Phdr p[4] = {
		{PT_LOAD, PF_R | PF_X, MADE_TEXT_OFFSET, MADE_TEXT, MADE_TEXT, MADE_TEXT_SIZE,
		 MADE_TEXT_SIZE, 0x1000},
		{PT_LOAD, PF_R, EH_OFFSET, EH_VADDR, EH_VADDR, 0x4000, 0x4000, 0x1000},
		{header ? PT_GNU_EH_FRAME : PT_NULL, PF_R, EH_OFFSET, EH_VADDR, EH_VADDR, 0x1000,
		 0x1000, 4},
		{e->build_id ? PT_NOTE : PT_NULL, PF_R, NOTE_AT, 0, 0, 36, 36, 4},
	};
	memcpy(file + sizeof(Elf64_Ehdr), p, sizeof p);
	if (e->build_id) {
		struct out o = {file, NOTE_AT};
		put(&o, 4, 4);
		put(&o, 20, 4);
		put(&o, NT_GNU_BUILD_ID, 4);
		put_bytes(&o, "GNU", 4);
		put_bytes(&o, e->build_id, 20);
	}
}

static void put_shdrs(uint8_t *file, const struct made_elf *e, size_t eh, size_t end)
{
	static const char names[] = "\0.text\0.eh_frame\0.debug_frame\0.shstrtab";
	Elf64_Shdr s[4] = {
		{0},
		{.sh_name = 1,
		 .sh_type = SHT_PROGBITS,
		 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		 .sh_addr = MADE_TEXT,
		 .sh_offset = MADE_TEXT_OFFSET,
		 .sh_size = MADE_TEXT_SIZE},
		{.sh_name = e->debug_frame ? 17 : 7,
		 .sh_type = SHT_PROGBITS,
		 .sh_addr = e->debug_frame ? 0 : eh - EH_OFFSET + EH_VADDR,
		 .sh_offset = eh,
		 .sh_size = end - eh},
		{.sh_name = 30,
		 .sh_type = SHT_STRTAB,
		 .sh_offset = STRINGS,
		 .sh_size = sizeof names},
	};
	memcpy(file + STRINGS, names, sizeof names);
	memcpy(file + SECTIONS, s, sizeof s);
}

uint8_t *elf_bytes(const struct made_elf *e, size_t *ret_size)
{
	uint8_t *file = calloc(1, SIZE);
	struct out o = {file, 0};
	size_t eh, end;
	Elf64_Ehdr h = {.e_type = e->type ? e->type : ET_DYN,
			.e_machine = e->machine,
			.e_version = 1,
			.e_entry = e->entry,
			.e_phoff = sizeof h,
			.e_ehsize = sizeof h,
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 4,
			.e_shentsize = sizeof(Elf64_Shdr)};
	memcpy(h.e_ident, ELFMAG "\2\1\1", 7);
	if (!e->no_sections) {
		h.e_shoff = SECTIONS;
		h.e_shnum = 4;
		h.e_shstrndx = 3;
	}
	put_frames(&o, e, &eh, &end);
	memcpy(file, &h, sizeof h);
	put_phdrs(file, e, !e->no_header && !e->debug_frame);
	put_shdrs(file, e, eh, end);
	memset(file + MADE_TEXT_OFFSET, 0x90, MADE_TEXT_SIZE);
	if (e->code)
		memcpy(file + e->code_at - MADE_TEXT + MADE_TEXT_OFFSET, e->code, e->code_bytes);
	*ret_size = SIZE;
	return file;
}

const char *elf_file(const struct made_elf *e)
{
	static char path[64];
	size_t size;
	uint8_t *bytes = elf_bytes(e, &size);
	strcpy(path, "/tmp/altpttop-elf-XXXXXX");
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
	free(bytes);
	return path;
}

static void put_le(FILE *f, uint64_t v, int bytes)
{
	while (bytes--) {
		fputc((int)(v & 0xff), f);
		v >>= 8;
	}
}

void write_zip(const char *path, const char *name, const uint8_t *data, size_t n, int method)
{
	FILE *f = fopen(path, "w");
	size_t len = strlen(name), extra = 4096 - (30 + len) % 4096;
	put_le(f, 0x04034b50, 4);
	put_le(f, 20, 2), put_le(f, 0, 2), put_le(f, (uint64_t)method, 2), put_le(f, 0, 8);
	put_le(f, n, 4), put_le(f, n, 4), put_le(f, len, 2), put_le(f, extra, 2);
	fwrite(name, 1, len, f);
	for (size_t k = 0; k < extra; k++)
		fputc(0, f);
	fwrite(data, 1, n, f);
	long directory = ftell(f);
	put_le(f, 0x02014b50, 4);
	put_le(f, 20, 2), put_le(f, 20, 2), put_le(f, 0, 2), put_le(f, (uint64_t)method, 2);
	put_le(f, 0, 8), put_le(f, n, 4), put_le(f, n, 4), put_le(f, len, 2), put_le(f, 0, 16);
	fwrite(name, 1, len, f);
	long end_at = ftell(f);
	put_le(f, 0x06054b50, 4), put_le(f, 0, 4), put_le(f, 1, 2), put_le(f, 1, 2);
	put_le(f, (uint64_t)(end_at - directory), 4), put_le(f, (uint64_t)directory, 4);
	put_le(f, 0, 2);
	fclose(f);
}
