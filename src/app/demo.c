/*
 * demo: the threads of the bundled workload.
 *
 * Runs in a child of altpttop, never in the profiler itself. Each thread repeats its job for a few
 * milliseconds and rests so that its share of a CPU comes out as the table says; the sleeping and
 * waiting is as interesting to look at as the work.
 */
#include "demo.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define SLICE_NS 4000000 /* work between two rests */

struct role {
	const char *name;
	void (*job)(struct demo_thread *t);
	unsigned percent; /* of a CPU */
};

static const struct role roles[] = {
	{"http-worker-0", demo_serve_request, 22},
	{"http-worker-1", demo_serve_request, 18},
	{"http-worker-2", demo_serve_request, 14},
	{"http-worker-3", demo_serve_request, 10},
	{"indexer", demo_reindex, 24},
	{"sorter", demo_sort_records, 20},
	{"renderer", demo_transform_scene, 26},
	{"compressor", demo_compress_block, 14},
	{"log-writer", demo_write_log, 2},
};
#define ROLES (sizeof roles / sizeof *roles)

static void rest(uint64_t worked_ns, unsigned percent)
{
	uint64_t ns = worked_ns * (100 - percent) / percent;
	struct timespec pause = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	nanosleep(&pause, NULL);
}

static void *run_role(void *arg)
{
	const struct role *role = arg;
	struct demo_thread *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	pthread_setname_np(pthread_self(), role->name);
	t->random = 88172645463325252ull + (uint64_t)(role - roles);
	t->fd = memfd_create("demo", MFD_CLOEXEC);
	for (;;) {
		uint64_t start = clock_thread_cpu_ns(), now;
		do {
			role->job(t);
			now = clock_thread_cpu_ns();
		} while (now - start < SLICE_NS * (uint64_t)role->percent / 100);
		rest(now - start, role->percent);
	}
	return NULL;
}

uint32_t demo_random(struct demo_thread *t, uint32_t below)
{
	t->random ^= t->random << 13; /* xorshift64 (Marsaglia 2003) */
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return (uint32_t)((t->random >> 32) * below >> 32);
}

int demo_workload(void)
{
	pid_t parent = getppid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return 1; /* it ended before we asked to be told */
	prctl(PR_SET_NAME, "demo");
	for (size_t i = 0; i < ROLES; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, run_role, (void *)(uintptr_t)&roles[i]))
			return 1;
	}
	for (;;)
		pause();
}
