/*
 * clock: the clocks of the kernel behind one door, so that a test can stop them.
 *
 * The fake times are atomics because a test may set them while worker threads read; CPU clocks are
 * never faked.
 *
 * In a time namespace (time_namespaces(7)) clock_gettime(2) adds the namespace's offset, while the
 * kernel stamps perf's records without it: it is taken off again.
 */
#include "base/clock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

static _Atomic uint64_t fake_mono, fake_real;
static uint64_t offset_ns; /* modulo 2^64: it may be below 0 */
static pthread_once_t offset_once = PTHREAD_ONCE_INIT;

/* The offsets are those of the namespace that children get: ours, but between unshare(2) and a new
 * process. */
static bool offsets_are_ours(void)
{
	struct stat ours, childrens;

	return !stat("/proc/self/ns/time", &ours) &&
	       !stat("/proc/self/ns/time_for_children", &childrens) &&
	       ours.st_ino == childrens.st_ino;
}

static void read_offset(void)
{
	FILE *f = offsets_are_ours() ? fopen("/proc/self/timens_offsets", "re") : NULL;
	int64_t s, ns;

	if (f && fscanf(f, "monotonic %" SCNd64 " %" SCNd64, &s, &ns) == 2)
		offset_ns = (uint64_t)s * 1000000000u + (uint64_t)ns;
	if (f)
		fclose(f);
}

static uint64_t read_ns(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t read_mono_ns(void)
{
	pthread_once(&offset_once, read_offset);
	return read_ns(CLOCK_MONOTONIC) - offset_ns;
}

uint64_t clock_mono_ns(void)
{
	uint64_t fake = atomic_load_explicit(&fake_mono, memory_order_relaxed);
	return fake ? fake : read_mono_ns();
}

uint64_t clock_real_ns(void)
{
	uint64_t fake = atomic_load_explicit(&fake_real, memory_order_relaxed);
	return fake ? fake : read_ns(CLOCK_REALTIME);
}

uint64_t clock_asleep_ns(void)
{
	/* In this order: the other way round the difference is below 0 where nothing ever slept. */
	uint64_t mono = read_mono_ns(), boot = read_ns(CLOCK_BOOTTIME);
	return boot > mono ? boot - mono : 0;
}

uint64_t clock_thread_cpu_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t clock_process_cpu_ns(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

struct timespec clock_deadline(clockid_t id, int timeout_ms)
{
	uint64_t ns = read_ns(id) + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000u;
	return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

void clock_fake(uint64_t mono_ns, uint64_t real_ns)
{
	atomic_store_explicit(&fake_mono, mono_ns, memory_order_relaxed);
	atomic_store_explicit(&fake_real, real_ns, memory_order_relaxed);
}
