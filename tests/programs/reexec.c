/*
 * reexec: works in stage_one for half of its time, then executes itself and works in stage_two for
 * the other half: the same process, mapped anew at other addresses. The truth of both is printed at
 * the end.
 */
#include "burn.h"

#include <string.h>
#include <unistd.h>

static uint64_t used, quota;

static NOINLINE void stage_one(uint64_t end)
{
	while (WALL_NS() < end) {
		quota += 5 * MS;
		BURN(&used, quota);
	}
}
static NOINLINE void stage_two(uint64_t end)
{
	while (WALL_NS() < end) {
		quota += 5 * MS;
		BURN(&used, quota);
	}
}

int main(int argc, char **argv)
{
	uint64_t end = WALL_NS() + (uint64_t)(SECONDS(argc, argv) / 2 * 1e9);
	if (argc < 3) {
		char before[32];
		stage_one(end);
		snprintf(before, sizeof before, "%" PRIu64, used);
		execl("/proc/self/exe", "reexec", argc > 1 ? argv[1] : "5", before, (char *)NULL);
		return 127;
	}
	stage_two(end);
	TELL_CPU("stage_one", strtoull(argv[2], NULL, 10));
	TELL_CPU("stage_two", used);
	return 0;
}
