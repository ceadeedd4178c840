/*
 * forkexec: forks and execs without pause; each child burns 3 ms in child_work and ends. cpu.total
 * is the parent's and all children's time as the kernel accounts it.
 */
#include "burn.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static NOINLINE int child_work(void)
{
	uint64_t used = 0;
	BURN(&used, 3 * MS);
	return 0;
}

static double seconds_of(int who)
{
	struct rusage use;
	getrusage(who, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "child"))
		return child_work();
	uint64_t end = DEADLINE(argc, argv), children = 0;
	for (; WALL_NS() < end; children++) {
		pid_t pid = fork();
		if (!pid) {
			execl("/proc/self/exe", "forked-child", "child", (char *)NULL);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			return 1;
	}
	TELL_COUNT("children", children);
	TELL_CPU("total", (seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN)) * 1e9);
	return 0;
}
