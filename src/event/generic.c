/*
 * generic: the kernel's names for what most CPUs count: cycles, instructions, caches. Tables only,
 * any thread.
 */
#include "event/generic.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

const struct generic_event generic_events[] = {
	{"cycles", "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES, "CPU cycles"},
	{"instructions", NULL, PERF_COUNT_HW_INSTRUCTIONS, "instructions retired"},
	{"cache-references", NULL, PERF_COUNT_HW_CACHE_REFERENCES,
	 "accesses to the last level cache, as a rule"},
	{"cache-misses", NULL, PERF_COUNT_HW_CACHE_MISSES,
	 "misses of the last level cache, as a rule"},
	{"branches", "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	 "branch instructions retired"},
	{"branch-misses", NULL, PERF_COUNT_HW_BRANCH_MISSES, "branches predicted wrongly"},
	{"bus-cycles", NULL, PERF_COUNT_HW_BUS_CYCLES, "cycles of the bus clock"},
	{"stalled-cycles-frontend", "idle-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	 "cycles in which nothing was issued for want of instructions"},
	{"stalled-cycles-backend", "idle-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
	 "cycles in which nothing was issued for want of resources or data"},
	{"ref-cycles", NULL, PERF_COUNT_HW_REF_CPU_CYCLES,
	 "cycles of a clock that does not change with frequency"},
	{0},
};

/* Names of hardware caches, operations and results, in the kernel's order; first the shown one. */
static const char *const caches[][4] = {
	{"L1-dcache", "l1-d", "l1d", "L1-data"},
	{"L1-icache", "l1-i", "l1i", "L1-instruction"},
	{"LLC", "L2"},
	{"dTLB", "d-tlb", "Data-TLB"},
	{"iTLB", "i-tlb", "Instruction-TLB"},
	{"branch", "branches", "bpu", "btb"},
	{"node"},
};
static const char *const accesses[][4] = {
	{"loads", "load", "read"},
	{"stores", "store", "write"},
	{"prefetches", "prefetch", "speculative-read", "speculative-load"},
};
static const char *const missed[][4] = {
	{"load-misses", "loads-misses", "load-miss", "read-misses"},
	{"store-misses", "stores-misses", "store-miss", "write-misses"},
	{"prefetch-misses", "prefetches-misses", "prefetch-miss"},
};

/* Which operations a cache has: the instruction side is never written. */
static const unsigned char operations[] = {7, 5, 7, 7, 1, 1, 7};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool is_one_of(const char *const *names, const char *text, size_t len)
{
	for (int i = 0; i < 4 && names[i]; i++)
		if (strncasecmp(names[i], text, len) == 0 && !names[i][len])
			return true;
	return false;
}

int event_hardware(const char *text, size_t len, struct event_spec *spec, struct err *err)
{
	(void)err;
	for (const struct generic_event *e = generic_events; e->name; e++) {
		const char *const names[4] = {e->name, e->alias};

		if (!is_one_of(names, text, len))
			continue;
		spec->type = PERF_TYPE_HARDWARE;
		spec->config = e->config;
		return 1;
	}
	return 0;
}

/* The cache's name is a prefix followed by a dash: find the split that names both parts. */
static bool cache_split(const char *text, size_t len, uint64_t *ret_config)
{
	for (size_t c = 0; c < COUNT(caches); c++)
		for (int n = 0; n < 4 && caches[c][n]; n++) {
			size_t head = strlen(caches[c][n]);

			if (len <= head + 1 || strncasecmp(text, caches[c][n], head) != 0 ||
			    text[head] != '-')
				continue;
			for (size_t op = 0; op < COUNT(accesses); op++) {
				uint64_t config = c | op << 8;

				if (!(operations[c] >> op & 1))
					continue;
				if (is_one_of(accesses[op], text + head + 1, len - head - 1)) {
					*ret_config = config;
					return true;
				}
				if (is_one_of(missed[op], text + head + 1, len - head - 1)) {
					*ret_config = config | 1 << 16;
					return true;
				}
			}
		}
	return false;
}

int event_cache(const char *text, size_t len, struct event_spec *spec, struct err *err)
{
	(void)err;
	if (!cache_split(text, len, &spec->config))
		return 0;
	spec->type = PERF_TYPE_HW_CACHE;
	return 1;
}

bool generic_cache_name(unsigned i, char *buf, size_t size)
{
	unsigned cache = i / 6, op = i / 2 % 3;

	buf[0] = '\0';
	if (cache >= COUNT(caches))
		return false;
	if (operations[cache] >> op & 1)
		snprintf(buf, size, "%s-%s", caches[cache][0],
			 i & 1 ? missed[op][0] : accesses[op][0]);
	return true;
}
