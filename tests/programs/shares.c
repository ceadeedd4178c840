/* shares: one thread, three functions at 50, 30 and 20 % in every 10 ms of its CPU time. */
#include "burn.h"

struct part {
	const char *name;
	void (*run)(struct part *p);
	uint64_t share, used, quota;
};

static NOINLINE void alpha(struct part *p)
{
	BURN(&p->used, p->quota);
}
static NOINLINE void beta(struct part *p)
{
	BURN(&p->used, p->quota);
}
static NOINLINE void gamma_(struct part *p)
{
	BURN(&p->used, p->quota);
}

static NOINLINE void round_of(struct part *parts, unsigned first)
{
	/* In changing order, so that no sampling rate can keep step. */
	for (unsigned i = 0; i < 3; i++) {
		struct part *p = &parts[(first + i) % 3];
		p->quota += p->share * MS / 10;
		p->run(p);
	}
}

int main(int argc, char **argv)
{
	struct part parts[3] = {{.name = "alpha", .run = alpha, .share = 50},
				{.name = "beta", .run = beta, .share = 30},
				{.name = "gamma_", .run = gamma_, .share = 20}};
	uint64_t end = DEADLINE(argc, argv);
	unsigned random = 1;
	while (WALL_NS() < end) {
		random = random * 1103515245 + 12345;
		round_of(parts, random >> 16);
	}
	for (int i = 0; i < 3; i++)
		TELL_CPU(parts[i].name, parts[i].used);
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
