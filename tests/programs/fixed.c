/*
 * fixed: a fixed amount of work (the argument, in millions of steps) in code without frame
 * pointers, for measuring what being watched costs. Prints how long it took by the wall clock.
 */
/* flags: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
#include "burn.h"

static NOINLINE uint64_t mix(uint64_t x)
{
	for (int i = 0; i < 1000; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
	return x;
}
static NOINLINE uint64_t inner(uint64_t x, int n)
{
	uint64_t sum = 0;
	for (int i = 0; i < n; i++)
		sum += mix(x + (uint64_t)i);
	return sum ^ x;
}
static NOINLINE uint64_t middle(uint64_t x, int depth)
{
	uint64_t below = depth ? middle(x * 3, depth - 1) : inner(x, 100);
	return below + x;
}
static NOINLINE uint64_t outer(uint64_t x)
{
	return middle(x, 8) + middle(x + 1, 4);
}

int main(int argc, char **argv)
{
	long rounds = (argc > 1 ? atol(argv[1]) : 1000) * 5;
	volatile uint64_t sink = 1;
	uint64_t start = WALL_NS();
	while (rounds-- > 0)
		sink = sink + outer(sink);
	TELL_CPU("wall", WALL_NS() - start);
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
