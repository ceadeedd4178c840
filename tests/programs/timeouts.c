/*
 * timeouts: a thread for each system call that a stopped process may see fail with EINTR. Counts
 * the calls and the EINTRs: being watched must not add any. No signal is ever sent here.
 */
#include "burn.h"

#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define WAIT_MS 20

static uint64_t end;
static int semaphore;
static const struct timespec wait_ts = {0, WAIT_MS * 1000000};
static const struct timeval wait_tv = {0, WAIT_MS * 1000};

static int limited_socket(int type)
{
	int fd = socket(AF_INET, type, 0);
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	if (bind(fd, (struct sockaddr *)&any, sizeof any) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait_tv, sizeof wait_tv))
		exit(1);
	if (type == SOCK_STREAM && listen(fd, 1))
		exit(1);
	return fd;
}

static NOINLINE int call_epoll_wait(void)
{
	static _Thread_local int fd = -1;
	struct epoll_event e;
	if (fd < 0)
		fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_wait(fd, &e, 1, WAIT_MS);
}
static NOINLINE int call_recv(void)
{
	static _Thread_local int fd = -1;
	char byte;
	if (fd < 0)
		fd = limited_socket(SOCK_DGRAM);
	return (int)recv(fd, &byte, 1, 0);
}
static NOINLINE int call_accept(void)
{
	static _Thread_local int fd = -1;
	if (fd < 0)
		fd = limited_socket(SOCK_STREAM);
	return accept(fd, NULL, NULL);
}
static NOINLINE int call_sigtimedwait(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &wait_ts);
}
static NOINLINE int call_semtimedop(void)
{
	struct sembuf take = {0, -1, 0};
	return semtimedop(semaphore, &take, 1, &wait_ts);
}
static NOINLINE int call_nanosleep(void)
{
	return nanosleep(&wait_ts, NULL);
}
static NOINLINE int call_poll(void)
{
	return poll(NULL, 0, WAIT_MS);
}
static NOINLINE int call_select(void)
{
	struct timeval tv = wait_tv;
	return select(0, NULL, NULL, NULL, &tv);
}
static NOINLINE int call_futex(void)
{
	static _Thread_local uint32_t word;
	return (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &wait_ts, NULL, 0);
}

struct caller {
	const char *name;
	int (*call)(void);
	uint64_t calls, eintr;
	pthread_t thread;
};

static void *repeat(void *arg)
{
	struct caller *c = arg;
	pthread_setname_np(pthread_self(), c->name);
	while (WALL_NS() < end) {
		c->calls++;
		if (c->call() < 0 && errno == EINTR)
			c->eintr++;
		/* Some work between, so that the thread is often caught running or just going to
		 * sleep. */
		uint64_t used = 0;
		BURN(&used, MS / 5);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct caller callers[] = {
		{.name = "epoll_wait", .call = call_epoll_wait},
		{.name = "recv", .call = call_recv},
		{.name = "accept", .call = call_accept},
		{.name = "sigtimedwait", .call = call_sigtimedwait},
		{.name = "semtimedop", .call = call_semtimedop},
		{.name = "nanosleep", .call = call_nanosleep},
		{.name = "poll", .call = call_poll},
		{.name = "select", .call = call_select},
		{.name = "futex", .call = call_futex},
	};
	size_t n = sizeof callers / sizeof *callers;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	semaphore = semget(IPC_PRIVATE, 1, 0600);
	end = DEADLINE(argc, argv);
	for (size_t i = 0; i < n; i++)
		pthread_create(&callers[i].thread, NULL, repeat, &callers[i]);
	uint64_t all = 0;
	for (size_t i = 0; i < n; i++) {
		pthread_join(callers[i].thread, NULL);
		printf("calls.%s %" PRIu64 "\neintr.%s %" PRIu64 "\n", callers[i].name,
		       callers[i].calls, callers[i].name, callers[i].eintr);
		all += callers[i].eintr;
	}
	semctl(semaphore, 0, IPC_RMID);
	TELL_COUNT("eintr", all);
	return 0;
}
