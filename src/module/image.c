/*
 * image: maps an ELF file and copies what matters of its headers, checked, once.
 *
 * Parsed by hand: three tables of fixed-size entries need no library, and every bound is visible
 * here. Little-endian files of either class; anything else is refused with a sentence. Contents of
 * sections are in sectdata.c. Runs on any thread.
 */
#include "module/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/guard.h"

#define PAGE        4096u
#define DYNAMIC_MAX 4096         /* entries of PT_DYNAMIC looked at */
#define NOTES_MAX   (256u << 10) /* bytes of notes looked at, all together */

/* Header entries of both classes, widened. */
struct ehdr {
	uint64_t phoff, shoff, phnum, shnum, shstrndx;
	uint32_t phentsize, shentsize;
};
struct phdr {
	uint32_t type, flags;
	uint64_t offset, vaddr, filesz, memsz, align;
};

static bool within(const struct image *i, uint64_t offset, uint64_t bytes)
{
	return offset <= i->size && bytes <= i->size - offset;
}

static int parse_ehdr(struct image *i, struct ehdr *ret)
{
	if (i->elf32) {
		Elf32_Ehdr e;
		if (!within(i, 0, sizeof e))
			return -ENOEXEC;
		memcpy(&e, i->bytes, sizeof e);
		i->type = e.e_type;
		i->machine = e.e_machine;
		i->entry = e.e_entry;
		*ret = (struct ehdr){e.e_phoff,    e.e_shoff,     e.e_phnum,    e.e_shnum,
				     e.e_shstrndx, e.e_phentsize, e.e_shentsize};
		return 0;
	}
	Elf64_Ehdr e;
	if (!within(i, 0, sizeof e))
		return -ENOEXEC;
	memcpy(&e, i->bytes, sizeof e);
	i->type = e.e_type;
	i->machine = e.e_machine;
	i->entry = e.e_entry;
	*ret = (struct ehdr){e.e_phoff,    e.e_shoff,     e.e_phnum,    e.e_shnum,
			     e.e_shstrndx, e.e_phentsize, e.e_shentsize};
	return 0;
}

static struct phdr read_phdr(const struct image *i, uint64_t offset)
{
	if (i->elf32) {
		Elf32_Phdr p;
		memcpy(&p, i->bytes + offset, sizeof p);
		return (struct phdr){p.p_type,   p.p_flags, p.p_offset, p.p_vaddr,
				     p.p_filesz, p.p_memsz, p.p_align};
	}
	Elf64_Phdr p;
	memcpy(&p, i->bytes + offset, sizeof p);
	return (struct phdr){p.p_type,   p.p_flags, p.p_offset, p.p_vaddr,
			     p.p_filesz, p.p_memsz, p.p_align};
}

static struct image_section read_shdr(const struct image *i, uint64_t offset, uint32_t *ret_name)
{
	if (i->elf32) {
		Elf32_Shdr s;
		memcpy(&s, i->bytes + offset, sizeof s);
		*ret_name = s.sh_name;
		return (struct image_section){
			{0},       s.sh_type,   s.sh_link, s.sh_info,      s.sh_flags,
			s.sh_addr, s.sh_offset, s.sh_size, s.sh_addralign, s.sh_entsize};
	}
	Elf64_Shdr s;
	memcpy(&s, i->bytes + offset, sizeof s);
	*ret_name = s.sh_name;
	return (struct image_section){
		{0},       s.sh_type,   s.sh_link, s.sh_info,      s.sh_flags,
		s.sh_addr, s.sh_offset, s.sh_size, s.sh_addralign, s.sh_entsize};
}

/* DF_1_PIE tells a program from a library; both are ET_DYN. */
static void read_dynamic(struct image *i, const struct phdr *p)
{
	if (i->dynamic)
		return;
	i->dynamic = p->vaddr;
	i->dynamic_size = p->filesz;
	size_t word = i->elf32 ? 4 : 8;
	for (uint64_t n = 0; n < DYNAMIC_MAX && (n + 1) * 2 * word <= p->filesz; n++) {
		uint64_t at = p->offset + n * 2 * word, tag = 0, value = 0;
		if (at < p->offset || !within(i, at, 2 * word))
			return;
		memcpy(&tag, i->bytes + at, word);
		memcpy(&value, i->bytes + at + word, word);
		if (tag == DT_NULL)
			return;
		if (tag == DT_FLAGS_1 && value & DF_1_PIE)
			i->executable = true;
	}
}

static void read_note(struct image *i, uint64_t offset, uint64_t bytes, uint64_t align)
{
	if (i->build_id_size || offset > i->size)
		return;
	if (bytes > i->size - offset)
		bytes = i->size - offset;
	if (bytes > i->notes_left)
		bytes = i->notes_left;
	i->notes_left -= (uint32_t)bytes;
	i->build_id_size = image_note_build_id(i->bytes + offset, bytes, align == 8 ? 8 : 4,
					       i->build_id);
}

static int read_segments(struct image *i, const struct ehdr *e)
{
	size_t entry = i->elf32 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
	uint64_t n = e->phnum;
	if (n == 0 || e->phentsize < entry || e->phoff >= i->size)
		return 0;
	if (n > (i->size - e->phoff) / e->phentsize)
		n = (i->size - e->phoff) / e->phentsize;
	uint64_t nload = 0;
	for (uint64_t k = 0; k < n; k++)
		nload += read_phdr(i, e->phoff + k * e->phentsize).type == PT_LOAD;
	i->segments = calloc(nload + 1, sizeof *i->segments);
	if (!i->segments)
		return -ENOMEM;
	for (uint64_t k = 0; k < n; k++) {
		struct phdr p = read_phdr(i, e->phoff + k * e->phentsize);
		if (p.type == PT_LOAD && i->nsegments < nload) {
			i->segments[i->nsegments++] = (struct image_segment){
				p.vaddr, p.memsz, p.offset, p.filesz, p.flags};
		} else if (p.type == PT_GNU_EH_FRAME) {
			i->eh_frame_hdr = p.vaddr;
			i->eh_frame_hdr_size = p.filesz;
		} else if (p.type == PT_INTERP) {
			i->executable = true;
		} else if (p.type == PT_NOTE) {
			read_note(i, p.offset, p.filesz, p.align);
		} else if (p.type == PT_DYNAMIC) {
			read_dynamic(i, &p);
		}
	}
	return 0;
}

static void name_section(struct image *i, const struct image_section *strtab, uint32_t name,
			 char ret_name[IMAGE_NAME])
{
	if (strtab->type == SHT_NOBITS || strtab->offset > i->size || name >= strtab->size)
		return;
	uint64_t at = strtab->offset + name, end = strtab->offset + strtab->size;
	if (end < at || end > i->size)
		end = i->size;
	for (size_t k = 0; k + 1 < IMAGE_NAME && at + k < end && i->bytes[at + k]; k++)
		ret_name[k] = (char)i->bytes[at + k];
}

static int read_sections(struct image *i, struct ehdr *e)
{
	size_t entry = i->elf32 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
	uint32_t name;
	if (e->shoff == 0 || e->shentsize < entry || !within(i, e->shoff, e->shentsize))
		return 0;
	/* Counts that do not fit the header lie in section 0 (gABI, "Section Header"). */
	struct image_section zero = read_shdr(i, e->shoff, &name);
	uint64_t n = e->shnum ? e->shnum : zero.size;
	uint64_t strndx = e->shstrndx == SHN_XINDEX ? zero.link : e->shstrndx;
	if (n > (i->size - e->shoff) / e->shentsize)
		n = (i->size - e->shoff) / e->shentsize;
	if (n == 0 || n > UINT32_MAX)
		return 0;
	i->sections = calloc(n, sizeof *i->sections);
	if (!i->sections)
		return -ENOMEM;
	struct image_section strtab = {.type = SHT_NOBITS};
	if (strndx < n)
		strtab = read_shdr(i, e->shoff + strndx * e->shentsize, &name);
	for (uint64_t k = 0; k < n; k++) {
		struct image_section s = read_shdr(i, e->shoff + k * e->shentsize, &name);
		name_section(i, &strtab, name, s.name);
		i->sections[k] = s;
		if (s.type == SHT_NOTE)
			read_note(i, s.offset, s.size, s.align);
	}
	i->nsections = (uint32_t)n;
	return 0;
}

static enum arch arch_of(uint16_t machine)
{
	static const struct {
		uint16_t machine;
		enum arch arch;
	} known[] = {
		{EM_X86_64, ARCH_X86_64},
		{EM_AARCH64, ARCH_AARCH64},
		{EM_386, ARCH_X86},
		{EM_ARM, ARCH_ARM},
	};
	for (size_t k = 0; k < sizeof known / sizeof *known; k++)
		if (known[k].machine == machine)
			return known[k].arch;
	return ARCH_OTHER;
}

struct parse {
	struct image *image;
	int result;
	const char *why;
};

/* May be left at any point by a SIGBUS: what is allocated belongs to the image already. */
static void parse_body(void *ctx)
{
	struct parse *p = ctx;
	struct image *i = p->image;
	struct ehdr e;

	p->result = -ENOEXEC;
	p->why = "it is not an ELF file";
	if (i->size < EI_NIDENT || memcmp(i->bytes, ELFMAG, SELFMAG) != 0)
		return;
	p->why = "its ELF class is not known";
	if (i->bytes[EI_CLASS] != ELFCLASS32 && i->bytes[EI_CLASS] != ELFCLASS64)
		return;
	p->why = "its byte order is not that of this machine";
	if (i->bytes[EI_DATA] != ELFDATA2LSB)
		return;
	p->why = "it is too short for an ELF header";
	i->elf32 = i->bytes[EI_CLASS] == ELFCLASS32;
	if (parse_ehdr(i, &e))
		return;
	i->arch = arch_of(i->machine);
	i->executable = i->type == ET_EXEC;
	if (e.phnum == PN_XNUM && within(i, e.shoff, i->elf32 ? 40 : 64) && e.shoff) {
		uint32_t name;
		e.phnum = read_shdr(i, e.shoff, &name).info;
	}
	p->result = read_segments(i, &e);
	if (!p->result)
		p->result = read_sections(i, &e);
	p->why = "there is no memory";
}

static int parse(struct image *i, struct image **ret_image, struct err *err)
{
	struct parse p = {.image = i};
	i->notes_left = NOTES_MAX;
	if (image_guarded(i, parse_body, &p)) {
		p.result = -EFAULT;
		p.why = "it was cut short while it was read";
	}
	if (p.result) {
		image_close(i);
		return err_set(err, -p.result, "the file cannot be used: %s", p.why);
	}
	*ret_image = i;
	return 0;
}

int image_open(int fd, uint64_t offset, struct image **ret_image, struct err *err)
{
	struct stat st;
	if (fstat(fd, &st))
		return err_set(err, errno, "the file cannot be looked at: %s", strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 || offset >= (uint64_t)st.st_size)
		return err_set(err, ENOEXEC, "the file cannot be used: it is empty or no file");
	uint64_t start = offset &
			 ~((uint64_t)sysconf(_SC_PAGESIZE) - 1); /* up to 64 KiB on arm64 */
	size_t bytes = (size_t)((uint64_t)st.st_size - start);
	void *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, (off_t)start);
	if (map == MAP_FAILED)
		return err_set(err, errno, "the file cannot be mapped: %s", strerror(errno));
	struct image *i = calloc(1, sizeof *i);
	if (!i) {
		munmap(map, bytes);
		return err_set(err, ENOMEM, "there is no memory for an ELF file's headers");
	}
	i->map = map;
	i->map_bytes = bytes;
	i->bytes = (const uint8_t *)map + (offset - start);
	i->size = bytes - (size_t)(offset - start);
	return parse(i, ret_image, err);
}

int image_open_bytes(const void *bytes, size_t size, struct image **ret_image, struct err *err)
{
	struct image *i = calloc(1, sizeof *i);
	if (!i)
		return err_set(err, ENOMEM, "there is no memory for an ELF file's headers");
	i->bytes = bytes;
	i->size = size;
	return parse(i, ret_image, err);
}

int image_take_bytes(void *bytes, size_t size, struct image **ret_image, struct err *err)
{
	struct image *i = calloc(1, sizeof *i);
	if (!i) {
		free(bytes);
		return err_set(err, ENOMEM, "there is no memory for an ELF file's headers");
	}
	i->owned = bytes;
	i->bytes = bytes;
	i->size = size;
	return parse(i, ret_image, err);
}

void image_close(struct image *i)
{
	if (!i)
		return;
	if (i->map)
		munmap(i->map, i->map_bytes);
	free(i->owned);
	free(i->segments);
	free(i->sections);
	free(i);
}

bool image_vaddr(const struct image *i, uint64_t offset, uint64_t *ret_vaddr)
{
	const struct image_segment *best = NULL, *paged = NULL;
	for (uint32_t k = 0; k < i->nsegments; k++) {
		const struct image_segment *s = &i->segments[k];
		bool exec = s->flags & PF_X;
		if (offset >= s->offset && offset - s->offset < s->filesz) {
			if (!best || (exec && !(best->flags & PF_X)))
				best = s;
			continue;
		}
		uint64_t start = s->offset & ~(uint64_t)(PAGE - 1);
		uint64_t end = s->offset + s->filesz + PAGE - 1;
		if (end > s->offset && offset >= start && offset < (end & ~(uint64_t)(PAGE - 1)))
			if (!paged || (exec && !(paged->flags & PF_X)))
				paged = s;
	}
	if (!best)
		best = paged;
	if (!best)
		return false;
	*ret_vaddr = offset - best->offset + best->vaddr;
	return true;
}

const struct image_segment *image_segment_at(const struct image *i, uint64_t vaddr)
{
	for (uint32_t k = 0; k < i->nsegments; k++)
		if (vaddr >= i->segments[k].vaddr &&
		    vaddr - i->segments[k].vaddr < i->segments[k].memsz)
			return &i->segments[k];
	return NULL;
}

bool image_offset(const struct image *i, uint64_t vaddr, uint64_t *ret_offset)
{
	const struct image_segment *s = image_segment_at(i, vaddr);
	if (!s || vaddr - s->vaddr >= s->filesz || s->offset > i->size ||
	    vaddr - s->vaddr >= i->size - s->offset)
		return false;
	*ret_offset = vaddr - s->vaddr + s->offset;
	return true;
}

const uint8_t *image_at(const struct image *i, uint64_t vaddr, size_t need, size_t *ret_avail)
{
	const struct image_segment *s = image_segment_at(i, vaddr);
	uint64_t offset;
	if (!s || !image_offset(i, vaddr, &offset))
		return NULL;
	uint64_t avail = s->filesz - (vaddr - s->vaddr);
	if (avail > i->size - offset)
		avail = i->size - offset;
	if (avail < need)
		return NULL;
	if (ret_avail)
		*ret_avail = (size_t)avail;
	return i->bytes + offset;
}

int image_read(const struct image *i, uint64_t offset, void *dst, size_t bytes)
{
	if (!within(i, offset, bytes))
		return -EFAULT;
	if (i->map)
		return guard_copy(dst, i->bytes + offset, bytes);
	memcpy(dst, i->bytes + offset, bytes);
	return 0;
}

int image_guarded(const struct image *i, void (*body)(void *ctx), void *ctx)
{
	if (i->map)
		return guard_call(i->map, i->map_bytes, body, ctx);
	body(ctx);
	return 0;
}
