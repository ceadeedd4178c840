/*
 * recursion: descend() calls itself ten deep and even()/odd() call each other; half of the time is
 * burnt at each place. Total counts a function once: descend 50, even 50, odd 50 (of which 25
 * self).
 */
#include "burn.h"

static uint64_t used_descend, quota_descend, used_even, quota_even, used_odd, quota_odd;

static NOINLINE int descend(int depth)
{
	if (depth) {
		int below = descend(depth - 1);
		return below + depth;
	}
	BURN(&used_descend, quota_descend);
	return 1;
}

static NOINLINE int odd(int depth);

static NOINLINE int even(int depth)
{
	int below = 0;
	if (depth)
		below = odd(depth - 1);
	else
		BURN(&used_even, quota_even);
	return below + 1;
}

static NOINLINE int odd(int depth)
{
	int below = depth ? even(depth - 1) : 0;
	if (depth == 7)
		BURN(&used_odd, quota_odd);
	return below + 1;
}

int main(int argc, char **argv)
{
	uint64_t end = DEADLINE(argc, argv);
	volatile int sink = 0;
	while (WALL_NS() < end) {
		quota_descend += 5 * MS;
		quota_even += 5 * MS / 2;
		quota_odd += 5 * MS / 2;
		sink = sink + descend(10);
		sink = sink + even(8);
	}
	TELL_CPU("descend", used_descend);
	TELL_CPU("even", used_even);
	TELL_CPU("odd", used_odd);
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
