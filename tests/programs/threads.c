/*
 * threads: four threads named full, half, quarter and none, busy for 100, 50, 25 and 0 % of a CPU.
 * With a second argument the loads are scaled by so many per cent (two CPUs cannot serve 175 %
 * beside a profiler).
 */
#include "burn.h"

#include <pthread.h>
#include <unistd.h>

struct load {
	const char *name;
	void (*run)(struct load *l);
	unsigned percent;
	uint64_t end, used;
};

/* Burn to the share of the wall time gone by, rest, again. */
#define KEEP_TO_LOAD(l) \
	do { \
		uint64_t begin_ = WALL_NS(), now_ = begin_; \
		while (now_ < (l)->end) { \
			uint64_t due_ = (now_ - begin_ + 4 * MS) * (l)->percent / 100; \
			BURN(&(l)->used, due_); \
			if ((l)->percent < 100) \
				usleep(4000); \
			now_ = WALL_NS(); \
		} \
	} while (0)

static NOINLINE void work_full(struct load *l)
{
	KEEP_TO_LOAD(l);
}
static NOINLINE void work_half(struct load *l)
{
	KEEP_TO_LOAD(l);
}
static NOINLINE void work_quarter(struct load *l)
{
	KEEP_TO_LOAD(l);
}
static NOINLINE void work_none(struct load *l)
{
	while (WALL_NS() < l->end)
		usleep(50000);
}

static void *run(void *arg)
{
	struct load *l = arg;
	pthread_setname_np(pthread_self(), l->name);
	l->run(l);
	return NULL;
}

int main(int argc, char **argv)
{
	struct load loads[4] = {{.name = "full", .run = work_full, .percent = 100},
				{.name = "half", .run = work_half, .percent = 50},
				{.name = "quarter", .run = work_quarter, .percent = 25},
				{.name = "none", .run = work_none, .percent = 0}};
	uint64_t begin = WALL_NS(), end = DEADLINE(argc, argv);
	unsigned scale = (unsigned)ARGUMENT(argc, argv, 100);
	pthread_t threads[4];
	for (int i = 0; i < 4; i++) {
		loads[i].end = end;
		loads[i].percent = loads[i].percent * scale / 100;
		pthread_create(&threads[i], NULL, run, &loads[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 4; i++)
		TELL_CPU(loads[i].name, loads[i].used);
	TELL_CPU("wall", WALL_NS() - begin);
	return 0;
}
