/*
 * changer: calm and worker take turns: calm uses CPU time for the first seconds, then worker for as
 *long, and so on. At each change of calm to worker `changes` is written once. Prints its address
 *first.
 *
 *	changer SECONDS [MILLISECONDS of each]
 */
#include "burn.h"

static volatile uint32_t changes;

static NOINLINE void calm(uint64_t *used, uint64_t quota)
{
	BURN(used, quota);
}

static NOINLINE void worker(uint64_t *used, uint64_t quota)
{
	BURN(used, quota);
}

/* 10 ms of CPU time and as much rest, until @until. */
static void turn(void (*part)(uint64_t *, uint64_t), uint64_t until)
{
	const struct timespec rest = {.tv_nsec = 10 * MS};
	uint64_t used = 0, quota = 0;

	while (WALL_NS() < until) {
		part(&used, quota += 10 * MS);
		if (part == calm)
			nanosleep(&rest, NULL);
	}
}

int main(int argc, char **argv)
{
	uint64_t end = DEADLINE(argc, argv), at = WALL_NS();
	uint64_t each = (uint64_t)ARGUMENT(argc, argv, 3000) * MS;

	printf("address 0x%llx\n", (unsigned long long)(uintptr_t)&changes);
	fflush(stdout);
	while (WALL_NS() < end) {
		turn(calm, at += each);
		changes++;
		turn(worker, at += each);
	}
	TELL_COUNT("changes", changes);
	return 0;
}
