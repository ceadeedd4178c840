/*
 * fuzz_jit: hostile perf maps and jitdump files, offered whole and in pieces: both ways say the
 * same.
 */
/* seeds: jitmaps */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/jittable.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t offer(struct jittable *t, const uint8_t *data, size_t size, int dump)
{
	return dump ? jitdump_read(t, data, size) : perfmap_read(t, (const char *)data, size);
}

static void look(struct jittable *t)
{
	struct jit_symbol s;

	for (size_t i = 0; i < t->entries.len && i < 100; i++) {
		uint64_t addr = t->entries.data[i].start;

		if (!jittable_find(t, addr, &s) || addr < s.start || addr >= s.end)
			__builtin_trap();
	}
}

static void both_ways(const uint8_t *data, size_t size, int dump)
{
	struct jittable whole, pieces;
	size_t used = 0, all;

	jittable_init(&whole);
	jittable_init(&pieces);
	all = offer(&whole, data, size, dump);
	for (size_t to = size / 3; all != SIZE_MAX && to <= size; to += size / 3 + 1) {
		size_t n = offer(&pieces, data + used, to - used, dump);

		if (n == SIZE_MAX || n > to - used)
			__builtin_trap();
		used += n;
	}
	if (all != SIZE_MAX && used < size)
		used += offer(&pieces, data + used, size - used, dump);
	if (all != SIZE_MAX && !whole.refused && size < 60000 &&
	    whole.entries.len != pieces.entries.len)
		__builtin_trap();
	look(&whole);
	look(&pieces);
	jittable_fini(&whole);
	jittable_fini(&pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	both_ways(data, size, 0);
	both_ways(data, size, 1);
	return 0;
}
