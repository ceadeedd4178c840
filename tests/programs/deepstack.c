/*
 * deepstack: a hundred frames of a kilobyte each: no stack dump that perf can take (64 KiB) reaches
 * the root from the bottom. Half of the time is spent near the root, so that the way there is
 * known.
 */
/* flags: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
#include "burn.h"

#include <string.h>

static uint64_t used_bottom, quota_bottom, used_top, quota_top;

static NOINLINE unsigned bottom(const char *room)
{
	BURN(&used_bottom, quota_bottom);
	return (unsigned char)room[0];
}

static NOINLINE unsigned deeper(unsigned depth)
{
	volatile char room[1024];
	room[0] = (char)depth;
	room[1023] = 1;
	unsigned below = depth ? deeper(depth - 1) : bottom((const char *)room);
	return below + (unsigned)room[0] + (unsigned)room[1023];
}

static NOINLINE unsigned top(void)
{
	BURN(&used_top, quota_top);
	unsigned below = deeper(100);
	return below + 1;
}

int main(int argc, char **argv)
{
	uint64_t end = DEADLINE(argc, argv);
	volatile unsigned sink = 0;
	while (WALL_NS() < end) {
		quota_bottom += 5 * MS;
		quota_top += 5 * MS;
		sink = sink + top();
	}
	TELL_CPU("bottom", used_bottom);
	TELL_CPU("top", used_top);
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
