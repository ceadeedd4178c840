/*
 * contend: three threads take turns at one mutex and work under it, a fourth sleeps, main waits for
 * all. Each accounts for its own wall time: waiting for the lock, under it, handing it on, outside;
 * and asks the kernel how long it ran and how long it waited for a CPU. The second argument is the
 * microseconds of work under the lock, the third of those outside.
 */
#include "burn.h"

#include <pthread.h>
#include <unistd.h>

enum region { WAITING, UNDER, HANDING, OUTSIDE, SLEEPING, REGIONS };

struct part {
	const char *name;
	void (*run)(struct part *p);
	uint64_t end, hold_ns, out_ns;
	uint64_t then; /* up to which its time is accounted for */
	uint64_t spent[REGIONS];
	uint64_t held, outside; /* CPU time of the two kinds of work */
	uint64_t cpu, ready;    /* as the kernel says */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Behind each region's work, so that no call of it is a jump. */
#define SPENT(p, region) \
	do { \
		uint64_t now_ = WALL_NS(); \
		(p)->spent[region] += now_ - (p)->then; \
		(p)->then = now_; \
	} while (0)

static NOINLINE void wait_turn(struct part *p)
{
	pthread_mutex_lock(&lock);
	SPENT(p, WAITING);
}
static NOINLINE void under_lock(struct part *p, uint64_t due)
{
	BURN(&p->held, due);
	SPENT(p, UNDER);
}
static NOINLINE void hand_on(struct part *p)
{
	pthread_mutex_unlock(&lock);
	SPENT(p, HANDING);
}
static NOINLINE void outside_lock(struct part *p, uint64_t due)
{
	BURN(&p->outside, due);
	SPENT(p, OUTSIDE);
}
static NOINLINE void doze(struct part *p)
{
	usleep(20000);
	SPENT(p, SLEEPING);
}

static void take_turns(struct part *p)
{
	for (uint64_t n = 1; p->then < p->end; n++) {
		wait_turn(p);
		under_lock(p, n * p->hold_ns);
		hand_on(p);
		outside_lock(p, n * p->out_ns);
	}
}
static void sleeps(struct part *p)
{
	while (p->then < p->end)
		doze(p);
}

static void *run(void *arg)
{
	struct part *p = arg;
	FILE *f;
	pthread_setname_np(pthread_self(), p->name);
	p->then = WALL_NS();
	p->run(p);
	f = fopen("/proc/thread-self/schedstat", "r");
	if (f) {
		if (fscanf(f, "%" SCNu64 " %" SCNu64, &p->cpu, &p->ready) != 2)
			p->cpu = p->ready = 0;
		fclose(f);
	}
	return NULL;
}

#define TELL_SHARE(kind, name, ns, whole) \
	printf("%s.%s %.6f\n", (kind), (name), (double)(ns) / (double)(whole))

int main(int argc, char **argv)
{
	static const char *const names[REGIONS] = {"wait_turn", "under_lock", "hand_on",
						   "outside_lock", "doze"};
	struct part parts[4] = {{.name = "turn-1", .run = take_turns},
				{.name = "turn-2", .run = take_turns},
				{.name = "turn-3", .run = take_turns},
				{.name = "sleeper", .run = sleeps}};
	enum { PARTS = sizeof parts / sizeof *parts };
	uint64_t begin = WALL_NS(), end = DEADLINE(argc, argv), whole, spent[REGIONS] = {0};
	pthread_t threads[PARTS];

	for (int i = 0; i < PARTS; i++) {
		parts[i].end = end;
		parts[i].hold_ns = (uint64_t)ARGUMENT(argc, argv, 2000) * 1000;
		parts[i].out_ns = (argc > 3 ? (uint64_t)atol(argv[3]) : 500) * 1000;
		pthread_create(&threads[i], NULL, run, &parts[i]);
	}
	for (int i = 0; i < PARTS; i++)
		pthread_join(threads[i], NULL);
	whole = WALL_NS() - begin;
	for (int i = 0; i < PARTS; i++) {
		const struct part *p = &parts[i];
		TELL_SHARE("cpu", p->name, p->cpu, whole);
		TELL_SHARE("ready", p->name, p->ready, whole);
		TELL_SHARE("wait", p->name, whole - p->cpu - p->ready, whole);
		for (int r = 0; r < REGIONS; r++)
			spent[r] += p->spent[r];
	}
	for (int r = 0; r < REGIONS; r++)
		TELL_SHARE("share", names[r], spent[r], (PARTS + 1) * whole);
	TELL_CPU("wall", whole * (PARTS + 1));
	return 0;
}
