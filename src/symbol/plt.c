/*
 * plt: names for the stubs of a procedure linkage table.
 *
 * A stub jumps through a slot of the global offset table, and a relocation says whose address that
 * slot will hold. So the stubs are decoded (x86-64: `jmp *slot(%rip)`; aarch64: `adrp; ldr`) and
 * joined with the relocations by the slot: that works for .plt, .plt.sec and .plt.got, whatever
 * the linker's order. Runs on the resolver thread, inside guards.
 */
#include "symsource.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RELOCS_MAX 1000000

struct slot {
	uint64_t addr;
	uint32_t symbol;
};

struct slots {
	struct slot *data;
	size_t len;
};

static int slot_order(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Relocations that fill a slot with a function: JUMP_SLOT and GLOB_DAT of the two machines. */
static bool fills_slot(const struct image *image, uint32_t type)
{
	if (image->machine == EM_X86_64)
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

static size_t count_relocs(const struct image *image)
{
	size_t n = 0;

	for (uint32_t i = 0; i < image->nsections; i++)
		if (image->sections[i].type == SHT_RELA && image->sections[i].flags & SHF_ALLOC)
			n += image->sections[i].size / sizeof(Elf64_Rela);
	return n < RELOCS_MAX ? n : RELOCS_MAX;
}

static void read_relocs(const struct image *image, struct slots *slots, size_t max)
{
	for (uint32_t i = 0; i < image->nsections; i++) {
		const struct image_section *s = &image->sections[i];
		size_t size;
		const uint8_t *p;

		if (s->type != SHT_RELA || !(s->flags & SHF_ALLOC) ||
		    !(p = image_section_bytes(image, s, &size)))
			continue;
		for (; size >= sizeof(Elf64_Rela) && slots->len < max;
		     p += sizeof(Elf64_Rela), size -= sizeof(Elf64_Rela)) {
			Elf64_Rela r;

			memcpy(&r, p, sizeof r);
			if (fills_slot(image, (uint32_t)ELF64_R_TYPE(r.r_info)))
				slots->data[slots->len++] = (struct slot){
					r.r_offset, (uint32_t)ELF64_R_SYM(r.r_info)};
		}
	}
	qsort(slots->data, slots->len, sizeof *slots->data, slot_order);
}

/* The slot that the 16 (or 8) bytes at @p jump through, 0 none. */
static uint64_t x86_slot(const uint8_t *p, size_t size, uint64_t addr)
{
	int32_t disp;
	size_t i = 0;

	if (size >= 4 && !memcmp(p, "\xf3\x0f\x1e\xfa", 4)) /* endbr64 */
		i = 4;
	if (i < size && p[i] == 0xf2) /* bnd */
		i++;
	if (i + 6 > size || p[i] != 0xff || p[i + 1] != 0x25)
		return 0;
	memcpy(&disp, p + i + 2, 4);
	return addr + i + 6 + (uint64_t)(int64_t)disp;
}

static uint64_t arm_slot(const uint8_t *p, size_t size, uint64_t addr)
{
	uint32_t insn[3];
	size_t i = 0;
	int64_t page;

	if (size < 16)
		return 0;
	memcpy(insn, p, sizeof insn);
	if (insn[0] == 0xd503245f) /* bti c */
		i = 1;
	if ((insn[i] & 0x9f00001f) != 0x90000010 ||   /* adrp x16, page */
	    (insn[i + 1] & 0xffc003ff) != 0xf9400211) /* ldr x17, [x16, #low] */
		return 0;
	page = (int64_t)(insn[i] >> 29 & 3) | (int64_t)(insn[i] >> 5 & 0x7ffff) << 2;
	page = (page << 43) >> 43; /* 21 bits, signed */
	return ((addr + 4 * i) & ~(uint64_t)0xfff) + (uint64_t)(page * 4096) +
	       (insn[i + 1] >> 10 & 0xfff) * 8;
}

static const char *slot_name(const struct image *image, const struct slots *slots, uint64_t addr)
{
	struct slot key = {.addr = addr}, *slot;
	const struct image_section *dynsym = NULL;
	const uint8_t *symbols, *strings;
	size_t size, strings_size;
	Elf64_Sym sym;

	slot = bsearch(&key, slots->data, slots->len, sizeof key, slot_order);
	for (uint32_t i = 0; slot && i < image->nsections; i++)
		if (image->sections[i].type == SHT_DYNSYM)
			dynsym = &image->sections[i];
	if (!dynsym || dynsym->link >= image->nsections)
		return NULL;
	symbols = image_section_bytes(image, dynsym, &size);
	strings = image_section_bytes(image, &image->sections[dynsym->link], &strings_size);
	if (!symbols || !strings || slot->symbol == 0 || slot->symbol >= size / sizeof sym)
		return NULL;
	memcpy(&sym, symbols + slot->symbol * sizeof sym, sizeof sym);
	if (sym.st_name >= strings_size ||
	    !memchr(strings + sym.st_name, '\0', strings_size - sym.st_name))
		return NULL;
	return (const char *)strings + sym.st_name;
}

static int name_section(const struct image *image, const struct image_section *s,
			const struct slots *slots,
			int (*stub)(void *ctx, uint64_t addr, uint32_t size, const char *name),
			void *ctx)
{
	size_t size, step = !strcmp(s->name, ".plt.got") && image->machine == EM_X86_64 ? 8 : 16;
	const uint8_t *p = image_section_bytes(image, s, &size);
	int rc = 0;

	if (p && step == 8 && size >= 4 && !memcmp(p, "\xf3\x0f\x1e\xfa", 4))
		step = 16;
	for (size_t at = 0; p && at < size && !rc;) {
		uint64_t addr = s->addr + at;
		size_t left = size - at < step ? size - at : step;
		uint64_t slot = image->machine == EM_X86_64 ? x86_slot(p + at, left, addr)
							    : arm_slot(p + at, left, addr);
		const char *name = slot ? slot_name(image, slots, slot) : NULL;

		if (name && name[0])
			rc = stub(ctx, addr, (uint32_t)step, name);
		/* aarch64: a header of 32 bytes, then stubs of 16 or 24: any word may begin one. */
		at += name || image->machine == EM_X86_64 ? step : 4;
	}
	return rc;
}

int symsource_plt(const struct image *image, void **held,
		  int (*stub)(void *ctx, uint64_t addr, uint32_t size, const char *name), void *ctx)
{
	struct slots slots = {0};
	size_t max = count_relocs(image);
	int rc = 0;

	if (image->elf32 || (image->machine != EM_X86_64 && image->machine != EM_AARCH64) || !max)
		return 0;
	slots.data = *held = malloc(max * sizeof *slots.data);
	if (!slots.data)
		return -ENOMEM;
	read_relocs(image, &slots, max);
	for (uint32_t i = 0; i < image->nsections && !rc; i++)
		if (!strncmp(image->sections[i].name, ".plt", 4) &&
		    image->sections[i].flags & SHF_EXECINSTR)
			rc = name_section(image, &image->sections[i], &slots, stub, ctx);
	free(*held);
	*held = NULL;
	return rc;
}
