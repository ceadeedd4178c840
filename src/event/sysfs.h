/*
 * sysfs: what the kernel tells of its PMUs and tracepoints in small files.
 *
 * Any thread. The directory of PMUs can be another one, for tests.
 */
#ifndef ALTPTTOP_SYSFS_H
#define ALTPTTOP_SYSFS_H

#include <sys/types.h>

#include "event/spec.h"

#define PMU_NAME 64

struct pmu {
	char name[PMU_NAME];
	uint32_t type;
	bool core;     /* counts what a CPU does, for threads too */
	char cpus[64]; /* a PMU of a whole package: CPUs to open it on; "" for threads as well */
	char on[256];  /* core: the CPUs of this kind, "" all */
};

/* A whole small file, without its last newline. Its length, or -1 with errno. */
ssize_t sysfs_read(const char *path, char *buf, size_t size);

void pmu_root_set(const char *dir); /* tests: before any thread; NULL: the real one */
/* How precise (0…3) events of a PMU can be; "": of the first core's. 0: it does not say. */
uint8_t pmu_max_precise(const char *name);

/*
 * Where there are several kinds of cores: the type of the PMU of each of @n CPUs' kind. 0: all are
 * alike, or it is of none of them. Generic events have it in the upper half of their config.
 */
void pmu_core_types(const int *cpus, uint32_t n, uint32_t *ret_types);

const char *tracepoint_root(void);
void tracepoint_root_set(const char *dir); /* tests, likewise */
/* 0: they can be listed and named; else -errno and why not, with what to type. */
int tracepoints_refused(struct err *err);
bool tracepoint_name(const char *text); /* "subsystem:event" by its form alone, no modifiers */

/* Call @each for every PMU, those of cores first, until it returns false. */
void pmu_each(bool (*each)(void *ctx, const struct pmu *p), void *ctx);

/* Call @each for every alias a PMU offers ("mem-loads", "event=0xcd,umask=0x1,ldlat=3"). */
void pmu_aliases(const struct pmu *p, bool (*each)(void *ctx, const char *name, const char *terms),
		 void *ctx);

#endif
