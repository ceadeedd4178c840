/*
 * split: a fixed amount of work, 84 % of its instructions in heavy, 14 % in light, 2 % in rest: by
 *the number of turns of one loop, so that cycles and instructions of each are known without a
 *clock.
 *
 *	split MILLIONS of turns in all (default 100)
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

/* The same code in each, so that no turn costs more than another. */
#define TURNS(n) \
	do { \
		volatile uint64_t x_ = 1; \
		for (uint64_t i_ = 0; i_ < (n); i_++) \
			x_ = x_ * 6364136223846793005ull + 1; \
	} while (0)

static NOINLINE void heavy(uint64_t n)
{
	TURNS(n);
}

static NOINLINE void light(uint64_t n)
{
	TURNS(n);
}

static NOINLINE void rest(uint64_t n)
{
	TURNS(n);
}

int main(int argc, char **argv)
{
	uint64_t rounds = (argc > 1 ? (uint64_t)atol(argv[1]) : 100) * 10;

	for (uint64_t i = 0; i < rounds; i++) {
		heavy(84000);
		light(14000);
		rest(2000);
	}
	printf("turns %llu\n", (unsigned long long)rounds * 100000);
	return 0;
}
