/* staticpie: no interpreter, no shared library, and still moved about by the kernel. 70 to 30 %. */
/* flags: -O2 -g -static-pie -fPIE -fno-optimize-sibling-calls */
#include "burn.h"

static uint64_t used_heavy, quota_heavy, used_light, quota_light;

static NOINLINE int heavy(int x)
{
	BURN(&used_heavy, quota_heavy);
	return x + 1;
}
static NOINLINE int light(int x)
{
	BURN(&used_light, quota_light);
	return x + 2;
}
static NOINLINE int dispatch(int x)
{
	return heavy(x) + light(x);
}

int main(int argc, char **argv)
{
	uint64_t end = DEADLINE(argc, argv);
	volatile int sink = 0;
	while (WALL_NS() < end) {
		quota_heavy += 7 * MS;
		quota_light += 3 * MS;
		sink = dispatch(1);
	}
	TELL_CPU("heavy", used_heavy);
	TELL_CPU("light", used_light);
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	return sink == 0;
}
