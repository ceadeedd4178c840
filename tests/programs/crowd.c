/* crowd: 2,000 threads (the second argument); all wait but two, which work. Ready when it says so.
 */
#include "burn.h"

#include <pthread.h>
#include <unistd.h>

static uint64_t end;

static NOINLINE void busy_work(void)
{
	uint64_t used = 0, quota = 0;
	while (WALL_NS() < end) {
		quota += 5 * MS;
		BURN(&used, quota);
		usleep(5000);
	}
}

static NOINLINE void idle_wait(void)
{
	while (WALL_NS() < end)
		usleep((useconds_t)((end - WALL_NS()) / 1000 + 1000));
}

static void *member(void *arg)
{
	if (arg)
		busy_work();
	else
		idle_wait();
	return NULL;
}

int main(int argc, char **argv)
{
	long n = ARGUMENT(argc, argv, 2000), made = 0;
	pthread_t *threads = calloc((size_t)n, sizeof *threads);
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	end = DEADLINE(argc, argv);
	while (made < n && !pthread_create(&threads[made], &small, member, made < 2 ? argv : NULL))
		made++;
	TELL_COUNT("ready", made);
	fflush(stdout);
	for (long i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	return made < n;
}
