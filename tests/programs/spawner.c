/*
 * spawner: creates and joins 1,000 threads a second (the second argument), each of which burns half
 * a millisecond of CPU time and ends. cpu.total is what the kernel accounts to the process.
 */
#include "burn.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

static NOINLINE void brief_work(void)
{
	uint64_t used = 0;
	BURN(&used, MS / 2);
}

static void *brief(void *arg)
{
	brief_work();
	return arg;
}

int main(int argc, char **argv)
{
	uint64_t end = DEADLINE(argc, argv), next = WALL_NS(), threads = 0;
	uint64_t every = 1000 * MS / (uint64_t)ARGUMENT(argc, argv, 1000);
	struct rusage use;
	while (WALL_NS() < end) {
		pthread_t t;
		if (pthread_create(&t, NULL, brief, NULL))
			return 1;
		pthread_join(t, NULL);
		threads++;
		next += every;
		uint64_t now = WALL_NS();
		if (next > now)
			usleep((useconds_t)((next - now) / 1000));
		else if (now - next > 50 * MS)
			next = now; /* the machine cannot keep up: do not try to catch up for ever
				     */
	}
	getrusage(RUSAGE_SELF, &use);
	TELL_COUNT("threads", threads);
	TELL_CPU("total", (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000 * MS +
				  (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000);
	return 0;
}
