/*
 * deepwork: a fixed amount of work at the end of a stack of a given depth: deepwork KIB TURNS.
 *
 * Two functions take turns on the way down, so that every frame has its return address and the
 * whole stack has to be dumped to see the root.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FRAME 512

static volatile uint64_t state = 1;

__attribute__((noinline)) static void work(uint64_t turns)
{
	for (uint64_t i = 0; i < turns; i++)
		state = state * 6364136223846793005ULL + 1;
}

__attribute__((noinline)) static void down(unsigned frames, uint64_t turns)
{
	volatile char fill[FRAME];

	memset((char *)(uintptr_t)fill, (int)frames, sizeof fill);
	if (frames)
		down(frames - 1, turns);
	else
		work(turns);
	state += (uint64_t)fill[frames % FRAME]; /* and no jump instead of the call */
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	down((unsigned)strtoul(argv[1], NULL, 10) * 1024 / (FRAME + 48),
	     strtoull(argv[2], NULL, 10));
	return 0;
}
