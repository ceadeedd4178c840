/*
 * ringset: two kernel rings for each CPU: one for samples, a small one for side-band records.
 *
 * Their owners are dummy events on this program itself, so that no ring dies with a thread of the
 * target. Locked memory is scarce without privilege: sizes are halved until the kernel agrees.
 * Opened on any thread, read by the source thread.
 */
#ifndef ALTPTTOP_RINGSET_H
#define ALTPTTOP_RINGSET_H

#include "err.h"
#include "sample/ring.h"

struct merger;

struct ring_cpu {
	int cpu;
	uint32_t core;          /* type of its kind of core's PMU where there are several, else 0 */
	int sample_fd, side_fd; /* owners, for PERF_EVENT_IOC_SET_OUTPUT and poll */
	struct ring sample, side;
};

struct ringset {
	struct ring_cpu *cpus;
	uint32_t n;
	size_t sample_bytes, side_bytes;
};

/*
 * Open rings on the @n CPUs @cpus (those offline are left out) and add them to @merger, side-band
 * first. @sample_bytes is what is wished for, @least the smallest that makes sense; both powers of
 * two. -errno with a sentence.
 */
int ringset_open(struct ringset *rs, const int *cpus, uint32_t n, size_t sample_bytes, size_t least,
		 struct merger *merger, struct err *err);
void ringset_close(struct ringset *rs); /* zeroed is fine */

/* The CPUs that are online and, unless @list is NULL, in a list such as "0-3,8". Malloc'ed. */
int cpus_read(const char *list, int **ret_cpus, uint32_t *ret_n, struct err *err);
/* Parse such a list; at most 8192 CPUs, sorted, each once. -EINVAL: not a list. */
int cpus_parse(const char *list, int **ret_cpus, uint32_t *ret_n);

#endif
