/*
 * catalogue: goes through all tables and directories that hold names of events. Any thread.
 */
#include "event/catalogue.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/generic.h"
#include "event/perf_open.h"
#include "event/pfm.h"
#include "event/sysfs.h"

struct listing {
	const char *pattern;
	bool glob;
	bool (*each)(void *ctx, const struct catalogue_event *e);
	void *ctx;
	bool more;
	const struct pmu *pmu;
};

static const char *const kind_names[CATALOGUE_KINDS] = {
	"software", "hardware", "cache", "pmu", "table", "tracepoint", "pattern",
};

const char *catalogue_kind_name(enum catalogue_kind kind)
{
	return kind_names[kind];
}

static bool matches(const struct listing *l, const struct catalogue_event *e)
{
	if (!l->pattern || !*l->pattern)
		return true;
	if (l->glob)
		return fnmatch(l->pattern, e->name, FNM_CASEFOLD) == 0;
	return strcasecmp(l->pattern, kind_names[e->kind]) == 0 ||
	       strcasestr(e->name, l->pattern) || strcasestr(e->description, l->pattern);
}

static bool tell(struct listing *l, enum catalogue_kind kind, const char *name,
		 const char *description)
{
	const struct catalogue_event e = {
		.kind = kind, .name = name, .description = description ? description : ""};

	if (l->more && matches(l, &e))
		l->more = l->each(l->ctx, &e);
	return l->more;
}

static void list_software(struct listing *l)
{
	static const char *const all[][2] = {
		{"cpu-clock", "time on a CPU, by its clock"},
		{"task-clock", "time on a CPU, by the thread's clock"},
		{"page-faults", "faults of memory pages"},
		{"minor-faults", "page faults served without reading"},
		{"major-faults", "page faults that waited for the disk"},
		{"context-switches", "times a CPU changed its thread"},
		{"cpu-migrations", "times a thread moved to another CPU"},
		{"alignment-faults", "unaligned accesses that the kernel mended"},
		{"emulation-faults", "instructions that the kernel emulated"},
		{"cgroup-switches", "context switches to another cgroup"},
		{"dummy", "counts nothing"},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!tell(l, CATALOGUE_SOFTWARE, all[i][0], all[i][1]))
			return;
}

static void list_generic(struct listing *l)
{
	char name[64];

	for (const struct generic_event *e = generic_events; e->name; e++)
		if (!tell(l, CATALOGUE_HARDWARE, e->name, e->description))
			return;
	for (unsigned i = 0; generic_cache_name(i, name, sizeof name); i++)
		if (*name && !tell(l, CATALOGUE_CACHE, name, ""))
			return;
}

static bool list_alias(void *ctx, const char *name, const char *terms)
{
	struct listing *l = ctx;
	char full[256];

	snprintf(full, sizeof full, "%s/%s/", l->pmu->name, name);
	return tell(l, CATALOGUE_PMU, full, terms);
}

static bool list_pmu(void *ctx, const struct pmu *p)
{
	struct listing *l = ctx;

	l->pmu = p;
	pmu_aliases(p, list_alias, l);
	return l->more;
}

static bool list_table(void *ctx, const char *pmu, const char *name, const char *description)
{
	(void)pmu;
	return tell(ctx, CATALOGUE_TABLE, name, description);
}

static void list_subsystem(struct listing *l, const char *subsystem)
{
	char dir[512], name[300];
	struct dirent **events;
	int n;

	snprintf(dir, sizeof dir, "%s/%s", tracepoint_root(), subsystem);
	n = scandir(dir, &events, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *event = events[i]->d_name;
		char id[800];

		snprintf(id, sizeof id, "%s/%s/id", dir, event);
		if (l->more && event[0] != '.' && events[i]->d_type == DT_DIR &&
		    access(id, F_OK) == 0) { /* the tracer's own have none */
			snprintf(name, sizeof name, "%.100s:%.150s", subsystem, event);
			tell(l, CATALOGUE_TRACEPOINT, name, "tracepoint");
		}
		free(events[i]);
	}
	if (n >= 0)
		free(events);
}

static void list_tracepoints(struct listing *l)
{
	struct dirent **dirs;
	int n = scandir(tracepoint_root(), &dirs, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (l->more && dirs[i]->d_name[0] != '.' && dirs[i]->d_type == DT_DIR)
			list_subsystem(l, dirs[i]->d_name);
		free(dirs[i]);
	}
	if (n >= 0)
		free(dirs);
}

static void list_patterns(struct listing *l)
{
	static const char *const all[][2] = {
		{"rNNN", "a raw code of the CPU's PMU, hexadecimal"},
		{"PMU/TERM=VALUE,.../",
		 "terms as /sys/bus/event_source/devices/PMU/format names them"},
		{"mem:ADDRESS[/LENGTH][:rwx]", "accesses to an address, by the debug registers"},
		{"mem:[MODULE:]SYMBOL[+OFFSET][/LENGTH][:rwx]",
		 "calls of a function, accesses to an object of the target, by its name"},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!tell(l, CATALOGUE_PATTERN, all[i][0], all[i][1]))
			return;
}

void catalogue_each(const char *pattern, bool (*each)(void *ctx, const struct catalogue_event *e),
		    void *ctx)
{
	struct listing l = {
		.pattern = pattern,
		.glob = pattern && strpbrk(pattern, "*?["),
		.each = each,
		.ctx = ctx,
		.more = true,
	};

	list_software(&l);
	list_generic(&l);
	pmu_each(list_pmu, &l);
	pfm_each(list_table, &l);
	list_tracepoints(&l);
	list_patterns(&l);
}

int catalogue_open(const struct event_spec *s, int group)
{
	struct perf_event_attr attr = {
		.type = s->type,
		.size = sizeof attr,
		.config = s->config,
		.config1 = s->config1,
		.config2 = s->config2,
		.bp_type = s->bp_type,
		.disabled = group < 0,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.precise_ip = s->precise & 3,
		.exclude_user = s->exclude_user,
		.exclude_kernel = s->exclude_kernel,
		.exclude_hv = s->exclude_hv,
		.exclude_host = s->exclude_host,
		.exclude_guest = s->exclude_guest,
	};
	static uint64_t here; /* stands for what a symbol will mean in the target */

	if (s->symbol[0] && !s->placed) {
		attr.config1 = (uintptr_t)&here;
		attr.config2 = s->asked_length ? s->asked_length : sizeof here;
		attr.bp_type = HW_BREAKPOINT_RW;
	}
	int fd = perf_open(&attr, s->system_wide ? -1 : 0, s->system_wide ? atoi(s->cpus) : -1,
			   group, 0);

	if ((fd == -EACCES || fd == -EPERM) && !s->exclude_kernel) {
		attr.exclude_kernel = attr.exclude_hv = 1;
		fd = perf_open(&attr, 0, -1, group, 0);
	}
	return fd;
}

static enum value_state state_of(int rc)
{
	return rc == -EACCES || rc == -EPERM ? VALUE_REFUSED : VALUE_UNSUPPORTED;
}

/* Open one of a group; its fd goes to @ret_fd. */
static enum value_state try_one(const char *name, int group, int *ret_fd, struct err *err)
{
	struct event_spec spec;
	int rc = event_spec_parse(name, &spec, err);

	if (rc)
		return state_of(rc);
	rc = catalogue_open(&spec, group);
	if (rc >= 0) {
		*ret_fd = rc;
		return VALUE_OK;
	}
	if (rc == -EINVAL && group >= 0)
		err_set(err, EINVAL,
			"%.80s cannot be counted together with the events before it in its group "
			"(EINVAL)",
			name);
	else
		perf_open_explain(rc, name, spec.system_wide ? -1 : getpid(), -1, err);
	return state_of(rc);
}

enum value_state catalogue_try_group(const char *const *names, uint32_t n, struct err *err)
{
	enum value_state state = VALUE_OK;
	uint32_t opened = 0;
	int fds[64];

	for (; state == VALUE_OK && opened < n && opened < 64; opened += state == VALUE_OK)
		state = try_one(names[opened], opened ? fds[0] : -1, &fds[opened], err);
	while (opened > 0)
		close(fds[--opened]);
	return state;
}

enum value_state catalogue_try(const char *name, struct err *err)
{
	return catalogue_try_group(&name, 1, err);
}
