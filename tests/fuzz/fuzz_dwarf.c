/*
 * fuzz_dwarf: hostile DWARF in an ELF file: units, ranges, functions, inlined calls, line tables.
 */
/* seeds: elf elffuzz */
/* made: program */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "module/image.h"
#include "symbol/dw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(struct dw_file *f, uint64_t addr)
{
	static struct found found;
	struct dw_query q = {.addr = addr};
	found_init(&found);
	if (dw_find(f, &q, &found) && (!found.n || found.n > FOUND_MAX))
		__builtin_trap();
	found_fini(&found);
}

/* Every address of a short function as if the call that returns there had led to its start. */
static void look_for_tail_calls(struct dw_file *f, uint64_t low, uint64_t high)
{
	struct dw_tail_step steps[DW_TAIL_MAX];

	for (uint64_t at = low + 1; at <= high && at < low + 300; at++) {
		struct dw_tail_query q = {.ret = at, .callee_addr = low, .callee_name = "x"};

		if (dw_tail_calls(f, &q, steps) > DW_TAIL_MAX)
			__builtin_trap();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_cache cache = {.cap = 1 << 22};
	struct image *i;
	uint64_t damage = 0;
	void *bytes = malloc(size ? size : 1);

	memcpy(bytes, data, size);
	if (image_take_bytes(bytes, size, &i, NULL))
		return 0;
	struct dw_file *f = dw_open(i, false, &cache, &damage);
	if (f && !dw_scan(f)) {
		for (size_t s = 0; s < f->spans.len && s < 50; s++) {
			look(f, f->spans.data[s].low);
			look(f, f->spans.data[s].high - 1);
			if (s < 3)
				look_for_tail_calls(f, f->spans.data[s].low, f->spans.data[s].high);
		}
		look(f, i->entry);
	}
	dw_close(f);
	image_close(i);
	return 0;
}
