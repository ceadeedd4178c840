/*
 * Events on a machine with two kinds of cores, an uncore PMU and tracepoints: a made-up sysfs and
 * tracefs as Linux shows them on Alder Lake.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "event/catalogue.h"
#include "event/set.h"
#include "event/sysfs.h"

#define CORE 4
#define ATOM 10
#define IMC  24

static char root[64], traces[80];

static void put(const char *file, const char *text)
{
	char path[256], *slash;
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", root, file);
	for (slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof root, "/tmp/altpttop-hybrid.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	put("cpu_core/type", "4\n");
	put("cpu_core/cpus", "0-15\n");
	put("cpu_core/caps/max_precise", "3\n");
	put("cpu_core/format/event", "config:0-7\n");
	put("cpu_core/format/umask", "config:8-15\n");
	put("cpu_core/format/edge", "config:18\n");
	put("cpu_core/format/inv", "config:23\n");
	put("cpu_core/format/cmask", "config:24-31\n");
	put("cpu_core/format/ldlat", "config1:0-15\n");
	put("cpu_core/events/cpu-cycles", "event=0x3c\n");
	put("cpu_core/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	put("cpu_core/events/slots", "event=0x00,umask=0x4\n");
	put("cpu_core/events/topdown-retiring", "event=0x00,umask=0x80\n");
	put("cpu_core/events/topdown-bad-spec", "event=0x00,umask=0x81\n");
	put("cpu_core/events/topdown-fe-bound", "event=0x00,umask=0x82\n");
	put("cpu_core/events/topdown-be-bound", "event=0x00,umask=0x83\n");
	put("cpu_atom/type", "10\n");
	put("cpu_atom/cpus", "16-23\n");
	put("cpu_atom/caps/max_precise", "2\n");
	put("cpu_atom/format/event", "config:0-7\n");
	put("cpu_atom/format/umask", "config:8-15\n");
	put("cpu_atom/events/mem-loads", "event=0xd0,umask=0x5\n");
	put("cpu_atom/events/topdown-bad-spec", "event=0x73,umask=0x0\n");
	put("uncore_imc_0/type", "24\n");
	put("uncore_imc_0/cpumask", "0\n");
	put("uncore_imc_0/format/event", "config:0-7\n");
	put("uncore_imc_0/events/data_reads", "event=0x01\n");
	put("tracing/sched/sched_switch/id", "316\n");
	put("tracing/sched/sched_wakeup/id", "317\n");
	put("tracing/syscalls/sys_enter_read/id", "700\n");
	put("tracing/enable", "0\n");
	snprintf(traces, sizeof traces, "%s/tracing", root);
	pmu_root_set(root);
	tracepoint_root_set(traces);
	return 0;
}

static int drop_root(void **state)
{
	char command[100];

	(void)state;
	pmu_root_set(NULL);
	tracepoint_root_set(NULL);
	snprintf(command, sizeof command, "rm -rf %s", root);
	return system(command);
}

static struct event_spec parse(const char *name)
{
	struct event_spec s;
	struct err err = {0};

	if (event_spec_parse(name, &s, &err))
		fail_msg("%s: %s", name, err.msg);
	return s;
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
		const char *pmu;
	} wants[] = {
		{"mem-loads", CORE, 0x1cd, "cpu_core"}, /* cores that are fast come first */
		{"cpu_atom/mem-loads/", ATOM, 0x5d0, "cpu_atom"},
		{"slots", CORE, 0x400, "cpu_core"},
		{"topdown-bad-spec", CORE, 0x8100, "cpu_core"},
		{"cpu_core/cpu-cycles/", CORE, 0x3c, "cpu_core"}, /* its own alias */
		{"cpu_core/cycles/", PERF_TYPE_HARDWARE, (uint64_t)CORE << 32, "cpu_core"},
		{"cpu_atom/cycles/u", PERF_TYPE_HARDWARE, (uint64_t)ATOM << 32, "cpu_atom"},
		{"cpu_atom/instructions/", PERF_TYPE_HARDWARE, (uint64_t)ATOM << 32 | 1,
		 "cpu_atom"},
		{"cpu_atom/LLC-load-misses/", PERF_TYPE_HW_CACHE, (uint64_t)ATOM << 32 | 0x10002,
		 "cpu_atom"},
		{"cpu_core/event=0x9c,umask=0x1,cmask=4,inv,edge/", CORE,
		 0x9c | 1 << 8 | 4u << 24 | 1 << 23 | 1 << 18, "cpu_core"},
		{"cpu_core/mem-loads,ldlat=30,name=slow/pp", CORE, 0x1cd, "cpu_core"},
		{"uncore_imc_0/data_reads/", IMC, 1, "uncore_imc_0"},
		{"uncore_imc_0/event=2/", IMC, 2, "uncore_imc_0"},
		{"data_reads", IMC, 1, "uncore_imc_0"},
		{"sched:sched_switch", PERF_TYPE_TRACEPOINT, 316, ""},
		{"syscalls:sys_enter_read:k", PERF_TYPE_TRACEPOINT, 700, ""},
		{"r01cd", PERF_TYPE_RAW, 0x1cd, ""},
		{"rFFFFFFFFFFFFFFFF", PERF_TYPE_RAW, UINT64_MAX, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
		struct event_spec s = parse(wants[i].name);

		if (s.type != wants[i].type || s.config != wants[i].config)
			fail_msg("%s: type %u config %#llx", wants[i].name, s.type,
				 (unsigned long long)s.config);
		assert_string_equal(s.pmu, wants[i].pmu);
	}
}

static void test_refused(void **state)
{
	static const char *const bad[] = {
		"uncore_imc_0/cycles/", /* no core: it has no generic events */
		"cpu_atom/slots/",      "cpu/cycles/",        "cpu_core/cycles,umask=1/",
		"sched:nosuch",         "sched:enable",       "../sched:sched_switch",
		"r10000000000000000",   "cpu_core/event=1/x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct event_spec s;
		struct err err = {0};

		if (event_spec_parse(bad[i], &s, &err) >= 0)
			fail_msg("%s is taken", bad[i]);
		assert_true(err.msg[0]);
	}
}

static void test_modifiers(void **state)
{
	struct event_spec s;

	(void)state;
	s = parse("cycles:u");
	assert_true(!s.exclude_user && s.exclude_kernel && s.exclude_hv);
	s = parse("cpu_atom/cycles/k");
	assert_true(s.exclude_user && !s.exclude_kernel && s.exclude_hv);
	s = parse("instructions:h");
	assert_true(s.exclude_user && s.exclude_kernel && !s.exclude_hv);
	s = parse("cycles:G");
	assert_true(s.exclude_host && !s.exclude_guest);
	s = parse("cycles:H");
	assert_true(s.exclude_guest && !s.exclude_host);
	s = parse("cycles:GH");
	assert_true(!s.exclude_guest && !s.exclude_host);
	assert_int_equal(parse("cycles:ppp").precise, 3);
	/* As precise as this kind of core can be. */
	assert_int_equal(parse("cycles:P").precise, 3);
	assert_int_equal(parse("cpu_core/event=0xd0/P").precise, 3);
	assert_int_equal(parse("cpu_atom/event=0xd0/uP").precise, 2);
	assert_true(parse("cpu_atom/event=0xd0/uP").exclude_kernel);
}

static void test_where(void **state)
{
	(void)state;
	assert_false(parse("cpu_atom/event=1/").system_wide);
	struct event_spec s = parse("uncore_imc_0/data_reads/");
	assert_true(s.system_wide);
	assert_string_equal(s.cpus, "0");
}

struct seen {
	char names[64][96];
	int n;
};

static bool note(void *ctx, const struct catalogue_event *e)
{
	struct seen *s = ctx;

	if (s->n < 64)
		snprintf(s->names[s->n++], sizeof s->names[0], "%.95s", e->name);
	return true;
}

static int place(const struct seen *s, const char *name)
{
	for (int i = 0; i < s->n; i++)
		if (strcmp(s->names[i], name) == 0)
			return i;
	return -1;
}

static void test_listing(void **state)
{
	static struct seen s;

	(void)state;
	catalogue_each("pmu", note, &s);
	assert_true(place(&s, "cpu_core/slots/") >= 0);
	assert_true(place(&s, "cpu_atom/mem-loads/") >= 0);
	assert_true(place(&s, "uncore_imc_0/data_reads/") > place(&s, "cpu_atom/mem-loads/"));
	s.n = 0;
	catalogue_each("sched:*", note, &s);
	assert_int_equal(s.n, 2);
	assert_int_equal(place(&s, "sched:sched_switch"), 0);
	s.n = 0;
	catalogue_each("enter_read", note, &s);
	assert_true(place(&s, "syscalls:sys_enter_read") >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),     cmocka_unit_test(test_refused),
		cmocka_unit_test(test_modifiers), cmocka_unit_test(test_where),
		cmocka_unit_test(test_listing),
	};

	return cmocka_run_group_tests_name("hybrid", tests, make_root, drop_root);
}
