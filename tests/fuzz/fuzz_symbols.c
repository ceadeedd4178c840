/*
 * fuzz_symbols: hostile symbol tables, linkage tables, frame headers and mini-debuginfo in an ELF
 * file: every symbol found covers the address it was asked for, and tables are sorted.
 */
/* seeds: elf elffuzz */
/* made: program */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "module/image.h"
#include "symbol/debugfile.h"
#include "symbol/fde.h"
#include "symbol/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct symtab *t, const struct image *i, uint64_t addr)
{
	struct symbol s;
	uint64_t start, end;
	bool signal;

	if (symtab_find(t, addr, &s) && (addr < s.start || addr >= s.end || !s.name))
		__builtin_trap();
	if (symtab_next(t, addr) <= addr && addr != UINT64_MAX)
		__builtin_trap();
	if (fde_find(i, addr, &start, &end, &signal) &&
	    (addr < start || addr - start >= end - start))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image *i, *mini;
	struct symtab t;
	void *bytes = malloc(size ? size : 1);

	memcpy(bytes, data, size);
	if (image_take_bytes(bytes, size, &i, NULL))
		return 0;
	mini = debug_unpack_mini(i);
	symtab_init(&t);
	(void)symtab_add(&t, i, 0);
	if (mini)
		(void)symtab_add(&t, mini, 0x1000);
	(void)symtab_add_plt(&t, i);
	if (!symtab_sort(&t)) {
		for (size_t n = 0; n < t.entries.len && n < 200; n++) {
			const struct symtab_entry *e = &t.entries.data[n];

			if (n && e[-1].start >= e->start)
				__builtin_trap();
			look(&t, i, e->start);
			look(&t, i, e->start + e->size);
		}
		look(&t, i, i->entry);
		look(&t, i, 0);
	}
	symtab_fini(&t);
	image_close(mini);
	image_close(i);
	return 0;
}
