/*
 * leaderless: the first thread ends at once, another works on for the seconds given. Such a process
 * lives, but what /proc tells of its first thread is a zombie's.
 */
#include "burn.h"

#include <pthread.h>

static uint64_t used, end;

static NOINLINE void work_left(void)
{
	while (WALL_NS() < end)
		BURN(&used, used + 4 * MS);
}

static void *run(void *arg)
{
	(void)arg;
	work_left();
	TELL_CPU("left", used);
	TELL_CPU("total", used);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	end = DEADLINE(argc, argv);
	if (pthread_create(&thread, NULL, run, NULL))
		return 1;
	pthread_exit(NULL);
}
