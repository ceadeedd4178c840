/*
 * fuzz_elf: a hostile program file: header, segments, sections, notes, compressed sections, symbol
 * tables, call frame information.
 */
/* seeds: elf elffuzz */
/* made: program */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "module/image.h"
#include "symbol/symtab.h"
#include "unwind/cfi.h"
#include "unwind/row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sum;

static void read_all(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i += 1 + n / 4096)
		sum += p[i];
}

static void look_at_sections(const struct image *i)
{
	for (uint32_t s = 0; s < i->nsections; s++) {
		struct image_data d;
		if (!memchr(i->sections[s].name, 0, IMAGE_NAME))
			__builtin_trap();
		if (image_section_data(i, &i->sections[s], &d))
			continue;
		read_all(d.bytes, d.size);
		image_data_fini(&d);
	}
}

static void look_at_addresses(const struct image *i, uint64_t addr)
{
	uint64_t other;
	size_t avail;
	if (image_vaddr(i, addr, &other))
		sum += image_offset(i, other, &other);
	const uint8_t *at = image_at(i, addr, 1, &avail);
	if (at)
		read_all(at, avail);
}

static void look_at_symbols(const struct image *i)
{
	struct symtab t;
	struct symbol s;
	symtab_init(&t);
	if (!symtab_add(&t, i, 0) && !symtab_add_plt(&t, i) && !symtab_sort(&t)) {
		for (size_t n = 0; n < t.entries.len && n < 1000; n++)
			if (symtab_find(&t, t.entries.data[n].start, &s))
				sum += strlen(s.name);
		symtab_next(&t, i->entry);
	}
	symtab_fini(&t);
}

static void look_at_frames(const struct image *i)
{
	static struct row_work *work;
	static struct draft draft;
	const struct regs_arch *arch = regs_arch_get(i->arch);
	struct cfi *c = cfi_new(i);
	struct cfi_fde fde;
	if (!work)
		work = row_work_new();
	size_t n = c ? cfi_count(c) : 0;
	for (size_t k = 0; k < n && k < 200; k++) {
		if (cfi_nth(c, k, &fde))
			continue;
		if (arch)
			row_draft(work, arch, &fde, fde.start + (fde.end - fde.start) / 2, &draft);
		cfi_find(c, fde.start, &fde);
	}
	if (c)
		cfi_find(c, i->entry, &fde);
	cfi_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image *i;
	char name[256];
	uint32_t crc;
	uint8_t id[32], id_size;
	void *bytes = malloc(size ? size : 1);

	memcpy(bytes, data, size);
	if (image_take_bytes(bytes, size, &i, NULL))
		return 0;
	look_at_sections(i);
	for (uint32_t s = 0; s < i->nsegments; s++)
		look_at_addresses(i, i->segments[s].vaddr);
	look_at_addresses(i, i->entry);
	look_at_symbols(i);
	look_at_frames(i);
	image_debuglink(i, name, &crc);
	image_altlink(i, name, id, &id_size);
	image_close(i);
	return 0;
}
