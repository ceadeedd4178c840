/*
 * Events on a machine with two kinds of cores, an uncore PMU and tracepoints: a made-up sysfs and
 * tracefs as Linux shows them on Alder Lake.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "event/catalogue.h"
#include "event/perf_open.h"
#include "event/set.h"
#include "event/sysfs.h"
#include "made_sysfs.h"
#include "sample/fleet.h"
#include "sample/merger.h"

#define CORE 4
#define ATOM 10
#define IMC  24

static char traces[80];

static int make_root(void **state)
{
	(void)state;
	if (made_sysfs())
		return -1;
	made_put("cpu_core/type", "4\n");
	made_put("cpu_core/cpus", "0-15\n");
	made_put("cpu_core/caps/max_precise", "3\n");
	made_put("cpu_core/format/event", "config:0-7\n");
	made_put("cpu_core/format/umask", "config:8-15\n");
	made_put("cpu_core/format/edge", "config:18\n");
	made_put("cpu_core/format/inv", "config:23\n");
	made_put("cpu_core/format/cmask", "config:24-31\n");
	made_put("cpu_core/format/ldlat", "config1:0-15\n");
	made_put("cpu_core/events/cpu-cycles", "event=0x3c\n");
	made_put("cpu_core/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	made_put("cpu_core/events/slots", "event=0x00,umask=0x4\n");
	made_put("cpu_core/events/topdown-retiring", "event=0x00,umask=0x80\n");
	made_put("cpu_core/events/topdown-bad-spec", "event=0x00,umask=0x81\n");
	made_put("cpu_core/events/topdown-fe-bound", "event=0x00,umask=0x82\n");
	made_put("cpu_core/events/topdown-be-bound", "event=0x00,umask=0x83\n");
	made_put("cpu_atom/type", "10\n");
	made_put("cpu_atom/cpus", "16-23\n");
	made_put("cpu_atom/caps/max_precise", "2\n");
	made_put("cpu_atom/format/event", "config:0-7\n");
	made_put("cpu_atom/format/umask", "config:8-15\n");
	made_put("cpu_atom/events/mem-loads", "event=0xd0,umask=0x5\n");
	made_put("cpu_atom/events/topdown-bad-spec", "event=0x73,umask=0x0\n");
	made_put("uncore_imc_0/type", "24\n");
	made_put("uncore_imc_0/cpumask", "0\n");
	made_put("uncore_imc_0/format/event", "config:0-7\n");
	made_put("uncore_imc_0/events/data_reads", "event=0x01\n");
	made_put("tracing/sched/sched_switch/id", "316\n");
	made_put("tracing/sched/sched_wakeup/id", "317\n");
	made_put("tracing/syscalls/sys_enter_read/id", "700\n");
	made_put("tracing/enable", "0\n");
	snprintf(traces, sizeof traces, "%s/tracing", made_root);
	tracepoint_root_set(traces);
	return 0;
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

static void test_core_types(void **state)
{
	static const int cpus[] = {0, 15, 16, 23, 24};
	static const uint32_t want[] = {CORE, CORE, ATOM, ATOM, 0};
	uint32_t types[5];

	(void)state;
	pmu_core_types(cpus, 5, types);
	assert_memory_equal(types, want, sizeof want);
	made_put("cpu_atom/cpus", "1,16-17,20-24\n");
	pmu_core_types((const int[]){1, 18, 24}, 3, types);
	assert_int_equal(types[0], ATOM); /* the later kind has it */
	assert_int_equal(types[1], 0);
	assert_int_equal(types[2], ATOM);
	made_put("cpu_atom/cpus", "16-23\n");
	pmu_root_set("/nowhere");
	pmu_core_types(cpus, 5, types);
	assert_int_equal(types[0], 0);
	pmu_root_set(made_root);
}

/* What was asked of the kernel; it gets a clock instead, which counts. */
static struct {
	struct {
		uint32_t type;
		uint64_t config;
		int cpu;
	} asked[64];
	int n;
	bool old; /* a kernel that knows no types in config */
} kernel;

static int open_clock(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		      unsigned long flags)
{
	struct perf_event_attr a = *attr;

	if (attr->config != PERF_COUNT_SW_DUMMY && kernel.n < 64) {
		kernel.asked[kernel.n].type = attr->type;
		kernel.asked[kernel.n].config = attr->config;
		kernel.asked[kernel.n++].cpu = cpu;
		if (attr->type == CORE && cpu != 0)
			return -ENOENT;
		if (kernel.old && attr->config >> 32)
			return -EINVAL;
	}
	if (attr->type != PERF_TYPE_SOFTWARE) {
		a.type = PERF_TYPE_SOFTWARE;
		a.config = PERF_COUNT_SW_TASK_CLOCK;
		a.freq = 0;
		a.sample_period = 1000000000;
	}
	return (int)syscall(SYS_perf_event_open, &a, pid, cpu, group, flags);
}

static void burn(int cpu)
{
	volatile uint64_t x = 1;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
	for (int i = 0; i < 20000000; i++)
		x = x * 3 + 1;
}

/* {cycles,slots,instructions} of this thread on a core of each kind. */
static void open_both(struct fleet_count sums[PLAN_MAX])
{
	const struct plan_setup setup = {.rate_hz = 997, .kernel_allowed = true};
	const struct event_spec specs[] = {parse("cycles"), parse("slots"), parse("instructions")};
	struct merger *merger = merger_new(&plan_common);
	struct ringset rings;
	struct fleet_ids ids;
	struct plan plan = {0};
	struct fleet *f;
	struct err err;
	cpu_set_t before;

	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	assert_int_equal(
		ringset_open(&rings, (const int[]){0, 1}, 2, 1 << 16, 1 << 14, merger, &err), 0);
	fleet_ids_init(&ids, 64);
	assert_int_equal(plan_add_group(&plan, specs, 3, 0, 0, &setup), 0);
	f = fleet_new(&plan, &rings, &ids, false, false);
	assert_int_equal(fleet_open_thread(f, gettid()), 0);
	burn(0);
	burn(1);
	fleet_counts(f, sums);
	sched_setaffinity(0, sizeof before, &before);
	fleet_free(f);
	fleet_ids_fini(&ids);
	merger_free(merger);
	ringset_close(&rings);
}

static void test_one_column(void **state)
{
	struct fleet_count sums[PLAN_MAX] = {0};
	uint64_t most;

	(void)state;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || geteuid() != 0)
		skip(); /* two CPUs are made two kinds, with events that the kernel may refuse */
	made_put("cpu_core/cpus", "0\n");
	made_put("cpu_atom/cpus", "1\n");
	perf_open_set(open_clock);
	kernel.n = 0;
	open_both(sums);
	assert_int_equal(kernel.n, 6);
	assert_int_equal(kernel.asked[0].config, (uint64_t)CORE << 32);
	assert_int_equal(kernel.asked[1].config, 0x400);
	assert_int_equal(kernel.asked[2].config, (uint64_t)CORE << 32 | 1);
	assert_int_equal(kernel.asked[3].cpu, 1);
	assert_int_equal(kernel.asked[3].config, (uint64_t)ATOM << 32);
	assert_int_equal(kernel.asked[5].config, (uint64_t)ATOM << 32 | 1);
	/* Both kinds are in both columns; what only one kind has is of that one. */
	most = sums[0].value;
	assert_true(most > 1000000);
	assert_in_range(sums[2].value, most / 10 * 9, most / 10 * 11);
	assert_in_range(sums[1].value, most / 4, most / 4 * 3);
	/* An older kernel is asked again without. */
	memset(sums, 0, sizeof sums);
	kernel.n = 0;
	kernel.old = true;
	open_both(sums);
	kernel.old = false;
	assert_int_equal(kernel.n, 10);
	assert_int_equal(kernel.asked[1].config, 0);
	assert_true(sums[0].value > 1000000);
	perf_open_set(NULL);
	made_put("cpu_core/cpus", "0-15\n");
	made_put("cpu_atom/cpus", "16-23\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_modifiers),  cmocka_unit_test(test_where),
		cmocka_unit_test(test_listing),    cmocka_unit_test(test_core_types),
		cmocka_unit_test(test_one_column),
	};

	return cmocka_run_group_tests_name("hybrid", tests, make_root, made_drop);
}
