/*
 * nofp: twelve functions deep, compiled as distributions did for years: optimised, no frame
 * pointers, and rbp used for anything. Every stack should read main, level_01 … level_12.
 */
/* flags: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
#include "burn.h"

static uint64_t used, quota;

/* Keeps many values alive across the call, so that callee-saved registers get spilled. */
#define LEVEL(name, below) \
	static NOINLINE uint64_t name(uint64_t a, uint64_t b, uint64_t c) \
	{ \
		uint64_t d = a * 3 + b, e = b * 5 + c, f = c * 7 + a, g = a ^ b ^ c; \
		uint64_t r = below(d, e, f); \
		return r + a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g; \
	}

static NOINLINE uint64_t level_12(uint64_t a, uint64_t b, uint64_t c)
{
	BURN(&used, quota);
	return a + b + c;
}
LEVEL(level_11, level_12)
LEVEL(level_10, level_11)
LEVEL(level_09, level_10)
LEVEL(level_08, level_09)
LEVEL(level_07, level_08)
LEVEL(level_06, level_07)
LEVEL(level_05, level_06)
LEVEL(level_04, level_05)
LEVEL(level_03, level_04)
LEVEL(level_02, level_03)
LEVEL(level_01, level_02)

int main(int argc, char **argv)
{
	uint64_t end = DEADLINE(argc, argv);
	volatile uint64_t sink = 0;
	while (WALL_NS() < end) {
		quota += 10 * MS;
		sink = sink + level_01(sink, 1, 2);
	}
	TELL_CPU("level_12", used);
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
