/*
 * spec: software events and modifiers by the names that perf gives them.
 *
 * Pure functions over one table, any thread. Opening what is named here is perf_open.c's.
 */
#include "event/spec.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

static const struct software {
	const char *name, *alias;
	uint64_t config;
	enum event_unit unit;
	bool clock;
} software[] = {
	{"cpu-clock", NULL, PERF_COUNT_SW_CPU_CLOCK, EVENT_NS, true},
	{"task-clock", NULL, PERF_COUNT_SW_TASK_CLOCK, EVENT_NS, true},
	{"page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, EVENT_COUNT, false},
	{"context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, EVENT_COUNT, false},
	{"cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, EVENT_COUNT, false},
	{"minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN, EVENT_COUNT, false},
	{"major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ, EVENT_COUNT, false},
	{"alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS, EVENT_COUNT, false},
	{"emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS, EVENT_COUNT, false},
	{"dummy", NULL, PERF_COUNT_SW_DUMMY, EVENT_COUNT, false},
	{"cgroup-switches", NULL, PERF_COUNT_SW_CGROUP_SWITCHES, EVENT_COUNT, false},
};

static const struct software *software_find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof software / sizeof *software; i++) {
		const struct software *s = &software[i];

		if (strncmp(s->name, name, len) == 0 && !s->name[len])
			return s;
		if (s->alias && strncmp(s->alias, name, len) == 0 && !s->alias[len])
			return s;
	}
	return NULL;
}

int event_spec_modify(struct event_spec *spec, const char *modifiers)
{
	bool user = false, kernel = false, hv = false, guest = false, host = false;
	uint8_t precise = 0;

	for (const char *m = modifiers; *m; m++)
		switch (*m) {
		case 'u': user = true; break;
		case 'k': kernel = true; break;
		case 'h': hv = true; break;
		case 'G': guest = true; break;
		case 'H': host = true; break;
		case 'p': precise++; break;
		default: return -EINVAL;
		}
	if (precise > 3)
		return -EINVAL;
	if (user || kernel || hv) {
		spec->exclude_user = !user;
		spec->exclude_kernel = !kernel;
		spec->exclude_hv = !hv;
	}
	if (guest || host) {
		spec->exclude_guest = !guest;
		spec->exclude_host = !host;
	}
	spec->precise = precise;
	return 0;
}

int event_spec_parse(const char *text, struct event_spec *ret_spec, struct err *err)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	const struct software *s = software_find(text, len);
	struct event_spec spec = {.type = PERF_TYPE_SOFTWARE};

	if (!s)
		return err_set(err, ENOENT, "there is no event %.80s; see --list-events", text);
	spec.config = s->config;
	spec.unit = s->unit;
	spec.clock = s->clock;
	if (colon && event_spec_modify(&spec, colon + 1))
		return err_set(err, EINVAL, "%.80s: modifiers are u k h G H and up to three p",
			       text);
	snprintf(spec.name, sizeof spec.name, "%s%.60s", s->name, colon ? colon : "");
	*ret_spec = spec;
	return 0;
}
