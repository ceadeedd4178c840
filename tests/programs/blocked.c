/*
 * blocked: threads that wait all the time, each in another way and in a function named after it;
 * with --clock wall each shows as waiting for as long as the program runs.
 */
#include "burn.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int silent[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static NOINLINE void wait_mutex(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}
static NOINLINE void wait_cond(void)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&own);
	for (;;)
		pthread_cond_wait(&never, &own);
}
static NOINLINE void wait_read(void)
{
	char byte;
	if (read(silent[0], &byte, 1) < 0)
		perror("read");
}
static NOINLINE void wait_sleep(void)
{
	for (;;)
		sleep(1000);
}
static NOINLINE void wait_poll(void)
{
	struct pollfd p = {.fd = silent[0], .events = POLLIN};
	poll(&p, 1, -1);
}

struct waiter {
	const char *name;
	void (*wait)(void);
};

static void *run(void *arg)
{
	const struct waiter *w = arg;
	pthread_setname_np(pthread_self(), w->name);
	w->wait();
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct waiter waiters[] = {{"mutex", wait_mutex},
						{"cond", wait_cond},
						{"read", wait_read},
						{"sleep", wait_sleep},
						{"poll", wait_poll}};
	size_t n = sizeof waiters / sizeof *waiters;
	double seconds = SECONDS(argc, argv);
	if (pipe(silent))
		return 1;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n; i++) {
		pthread_t t;
		pthread_create(&t, NULL, run, (void *)&waiters[i]);
	}
	TELL_COUNT("ready", n);
	fflush(stdout);
	usleep((useconds_t)(seconds * 1e6));
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	fflush(stdout);
	_exit(0);
}
