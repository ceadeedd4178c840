/*
 * pfm: event names by libpfm4, which knows most CPUs by their manuals.
 *
 * libpfm4 keeps state while it parses, so one lock stands before all of it. Its own copy of the
 * perf header stays inside this file. Any thread.
 */
#include "event/pfm.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/spec.h"

/* Recursive: who is told of an event may try it. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* Under the lock. */
static bool pfm_ready(void)
{
	static int state; /* 0 not tried, 1 ready, -1 no */

	if (!state)
		state = pfm_initialize() == PFM_SUCCESS ? 1 : -1;
	return state > 0;
}

int event_pfm(const char *text, size_t len, struct event_spec *spec, struct err *err)
{
	struct perf_event_attr attr = {.size = sizeof attr};
	pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof arg};
	int rc;

	(void)len;
	pthread_mutex_lock(&lock);
	rc = pfm_ready() ? pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3 | PFM_PLMH,
						     PFM_OS_PERF_EVENT_EXT, &arg)
			 : PFM_ERR_NOTFOUND;
	pthread_mutex_unlock(&lock);
	if (rc == PFM_ERR_NOTFOUND || rc == PFM_ERR_NOINIT || rc == PFM_ERR_NOTSUPP ||
	    rc == PFM_ERR_INVAL)
		return 0;
	if (rc)
		return err_set(err, EINVAL, "%.80s: %s", text, pfm_strerror(rc));
	spec->type = attr.type;
	spec->config = attr.config;
	spec->config1 = attr.config1;
	spec->config2 = attr.config2;
	spec->bp_type = attr.bp_type;
	spec->precise = (uint8_t)attr.precise_ip;
	spec->exclude_user = attr.exclude_user;
	spec->exclude_kernel = attr.exclude_kernel;
	spec->exclude_hv = attr.exclude_hv;
	spec->exclude_host = attr.exclude_host;
	spec->exclude_guest = attr.exclude_guest;
	if (attr.type == PERF_TYPE_SOFTWARE &&
	    (attr.config == PERF_COUNT_SW_CPU_CLOCK || attr.config == PERF_COUNT_SW_TASK_CLOCK)) {
		spec->clock = true;
		spec->unit = EVENT_NS;
	}
	return 1;
}

typedef bool pfm_told(void *ctx, const char *pmu, const char *name, const char *description);

/* An event's unit masks. */
static bool tell_masks(const char *pmu, const pfm_event_info_t *e, pfm_told *each, void *ctx)
{
	for (int i = 0; i < e->nattrs; i++) {
		pfm_event_attr_info_t a = {.size = sizeof a};
		char name[160];

		if (pfm_get_event_attr_info(e->idx, i, PFM_OS_PERF_EVENT_EXT, &a) ||
		    a.type != PFM_ATTR_UMASK)
			continue;
		snprintf(name, sizeof name, "%s::%s:%s", pmu, e->name, a.name);
		if (!each(ctx, pmu, name, a.desc ? a.desc : ""))
			return false;
	}
	return true;
}

static bool tell_pmu(const pfm_pmu_info_t *p, pfm_told *each, void *ctx)
{
	for (int i = p->first_event; i >= 0; i = pfm_get_event_next(i)) {
		pfm_event_info_t e = {.size = sizeof e};
		char name[160];

		if (pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &e))
			continue;
		snprintf(name, sizeof name, "%s::%s", p->name, e.name);
		if (!each(ctx, p->name, name, e.desc ? e.desc : "") ||
		    !tell_masks(p->name, &e, each, ctx))
			return false;
	}
	return true;
}

/* The kernel's generic names are in other tables. */
static bool pmu_wanted(const pfm_pmu_info_t *p)
{
	return p->is_present && p->pmu != PFM_PMU_PERF_EVENT && p->pmu != PFM_PMU_PERF_EVENT_RAW;
}

void pfm_each(pfm_told *each, void *ctx)
{
	pfm_pmu_t i;

	pthread_mutex_lock(&lock);
	if (pfm_ready())
		pfm_for_all_pmus(i)
		{
			pfm_pmu_info_t p = {.size = sizeof p};

			if (pfm_get_pmu_info(i, &p) == PFM_SUCCESS && pmu_wanted(&p) &&
			    !tell_pmu(&p, each, ctx))
				break;
		}
	pthread_mutex_unlock(&lock);
}

const char *pfm_core(void)
{
	const char *name = NULL;
	pfm_pmu_t i;

	pthread_mutex_lock(&lock);
	if (pfm_ready())
		pfm_for_all_pmus(i)
		{
			pfm_pmu_info_t p = {.size = sizeof p};

			if (!name && pfm_get_pmu_info(i, &p) == PFM_SUCCESS && pmu_wanted(&p) &&
			    p.type == PFM_PMU_TYPE_CORE)
				name = p.name;
		}
	pthread_mutex_unlock(&lock);
	return name;
}
