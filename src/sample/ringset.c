/*
 * ringset: opens the rings' owners and finds a size that the budget of locked memory allows.
 *
 * The budget is perf_event_mlock_kb for each CPU and user, then RLIMIT_MEMLOCK, shared with every
 * other profiler of the same user; so the only true answer is the kernel's (EPERM).
 */
#include "sample/ringset.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "event/perf_open.h"
#include "event/sysfs.h"
#include "sample/merger.h"

static int owner_open(int cpu, size_t bytes)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(bytes / 4),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	/* The process, not the calling thread: that one may end before the source does. */
	return perf_open(&attr, getpid(), cpu, -1, 0);
}

static int ring_open(struct ring *r, int cpu, size_t bytes, int *ret_fd)
{
	int rc, fd = owner_open(cpu, bytes);

	if (fd < 0)
		return fd;
	rc = ring_map(r, fd, bytes);
	if (rc) {
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

static int cpu_open(struct ring_cpu *c, const struct ringset *rs)
{
	int rc = ring_open(&c->sample, c->cpu, rs->sample_bytes, &c->sample_fd);

	if (!rc)
		rc = ring_open(&c->side, c->cpu, rs->side_bytes, &c->side_fd);
	return rc;
}

static void cpus_close(struct ringset *rs)
{
	for (uint32_t i = 0; i < rs->n; i++) {
		struct ring_cpu *c = &rs->cpus[i];

		ring_unmap(&c->sample);
		ring_unmap(&c->side);
		if (c->sample_fd >= 0)
			close(c->sample_fd);
		if (c->side_fd >= 0)
			close(c->side_fd);
	}
	rs->n = 0;
}

static int cpus_open(struct ringset *rs, const int *cpus, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ring_cpu *c = &rs->cpus[rs->n];
		int rc;

		*c = (struct ring_cpu){.cpu = cpus[i], .sample_fd = -1, .side_fd = -1};
		rs->n++;
		rc = cpu_open(c, rs);
		if (rc == -ENODEV) { /* went offline */
			rs->n--;
			continue;
		}
		if (rc)
			return rc;
	}
	return rs->n ? 0 : -ENODEV;
}

static int rings_merge(struct ringset *rs, struct merger *merger)
{
	int rc = 0;

	for (uint32_t i = 0; i < rs->n && rc >= 0; i++)
		rc = merger_add(merger, &rs->cpus[i].side);
	for (uint32_t i = 0; i < rs->n && rc >= 0; i++)
		rc = merger_add(merger, &rs->cpus[i].sample);
	return rc < 0 ? rc : 0;
}

static int kinds_find(struct ringset *rs)
{
	uint32_t *types = malloc(rs->n * sizeof *types);
	int *cpus = malloc(rs->n * sizeof *cpus);
	int rc = types && cpus ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < rs->n; i++)
		cpus[i] = rs->cpus[i].cpu;
	if (!rc)
		pmu_core_types(cpus, rs->n, types);
	for (uint32_t i = 0; !rc && i < rs->n; i++)
		rs->cpus[i].core = types[i];
	free(types);
	free(cpus);
	return rc;
}

int ringset_open(struct ringset *rs, const int *cpus, uint32_t n, size_t sample_bytes, size_t least,
		 struct merger *merger, struct err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int rc;

	*rs = (struct ringset){.cpus = calloc(n, sizeof *rs->cpus)};
	if (!rs->cpus)
		return err_set(err, ENOMEM, "no memory");
	for (rs->sample_bytes = sample_bytes;; rs->sample_bytes /= 2) {
		rs->side_bytes = rs->sample_bytes / 16 > 4 * page ? rs->sample_bytes / 16
								  : 4 * page;
		rc = cpus_open(rs, cpus, n);
		if (!rc)
			break;
		cpus_close(rs);
		if ((rc != -EPERM && rc != -ENOMEM) || rs->sample_bytes / 2 < least ||
		    rs->sample_bytes / 2 < page)
			break;
	}
	if (!rc)
		rc = kinds_find(rs);
	if (!rc)
		rc = rings_merge(rs, merger);
	if (!rc)
		return 0;
	ringset_close(rs);
	if (rc == -EPERM || rc == -ENOMEM)
		return err_set(err, -rc,
			       "no memory may be locked for the kernel's buffers (%s): others use "
			       "up kernel.perf_event_mlock_kb and ulimit -l; type: sudo sysctl "
			       "kernel.perf_event_mlock_kb=2048",
			       strerrorname_np(-rc));
	return perf_open_explain(rc, "a ring buffer", getpid(), cpus[0], err);
}

void ringset_close(struct ringset *rs)
{
	cpus_close(rs);
	free(rs->cpus);
	*rs = (struct ringset){0};
}
