/*
 * faults: touches fresh pages and works, by turns, and says how many page faults it had by the
 * kernel's account.
 *
 *	faults left|right SECONDS: below which of two functions; right works more between
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

#define PAGES 64
#define PAGE  4096

static NOINLINE void touch(void)
{
	char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		exit(1);
	madvise(p, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++)
		((volatile char *)p)[i * PAGE] = 1;
	munmap(p, PAGES * PAGE);
}

static NOINLINE void spin(uint64_t n)
{
	volatile uint64_t x = 1;

	while (n--)
		x = x * 6364136223846793005ull + 1;
}

static double now_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static NOINLINE void run_left(double until)
{
	while (now_s(CLOCK_MONOTONIC) < until) {
		touch();
		spin(30000);
	}
}

static NOINLINE void run_right(double until)
{
	while (now_s(CLOCK_MONOTONIC) < until) {
		touch();
		spin(90000);
	}
}

int main(int argc, char **argv)
{
	double until = now_s(CLOCK_MONOTONIC) + (argc > 2 ? atof(argv[2]) : 1);
	struct rusage ru;

	if (argc > 1 && !strcmp(argv[1], "right"))
		run_right(until);
	else
		run_left(until);
	getrusage(RUSAGE_SELF, &ru);
	printf("faults %ld\nswitches %ld\n", ru.ru_minflt + ru.ru_majflt,
	       ru.ru_nvcsw + ru.ru_nivcsw);
	return 0;
}
