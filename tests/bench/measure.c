/*
 * measure: runs a command and prints what it used, `key value` a line, into
 * FILE: measure FILE COMMAND [ARG...]
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct timespec a, b;
	struct rusage use;
	int status;
	if (argc < 3)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &a);
	pid_t pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) < 0)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &b);
	FILE *f = fopen(argv[1], "w");
	if (!f)
		return 1;
	fprintf(f, "cpu %.6f\nwall %.6f\nrss_kib %ld\n",
		seconds(use.ru_utime) + seconds(use.ru_stime),
		(double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9,
		use.ru_maxrss);
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
