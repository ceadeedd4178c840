/* renamer: one thread that takes the names name-0 … name-9 in turn, every 100 ms, and works. */
#include "burn.h"

#include <pthread.h>

static uint64_t end, renames;

static NOINLINE void *work(void *arg)
{
	uint64_t used = 0, quota = 0;
	for (; WALL_NS() < end; renames++) {
		char name[16];
		snprintf(name, sizeof name, "name-%u", (unsigned)(renames % 10));
		pthread_setname_np(pthread_self(), name);
		quota += 100 * MS;
		BURN(&used, quota);
	}
	TELL_CPU("work", used);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;
	end = DEADLINE(argc, argv);
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	TELL_COUNT("renames", renames);
	return 0;
}
