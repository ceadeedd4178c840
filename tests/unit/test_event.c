/* event: names as perf spells them become what perf_event_open takes; PMUs from a made-up sysfs. */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "event/catalogue.h"
#include "event/sysfs.h"
#include "made_sysfs.h"

static int make_root(void **state)
{
	(void)state;
	if (made_sysfs())
		return -1;
	made_put("cpu/type", "4\n");
	made_put("cpu/format/event", "config:0-7,32-35\n");
	made_put("cpu/format/umask", "config:8-15\n");
	made_put("cpu/format/edge", "config:18\n");
	made_put("cpu/format/ldlat", "config1:0-15\n");
	made_put("cpu/format/odd", "config1:9-3\n");
	made_put("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	made_put("cpu/events/slots", "event=0x00,umask=0x4\n");
	made_put("cpu/events/loop", "loop\n");
	made_put("power/type", "22\n");
	made_put("power/cpumask", "0,8\n");
	made_put("power/format/event", "config:0-7\n");
	made_put("power/events/energy-pkg", "event=0x02\n");
	made_put("power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
	made_put("power/events/energy-pkg.unit", "Joules\n");
	made_put("cpu_atom/type", "10\n");
	made_put("cpu_atom/cpus", "4-7\n");
	made_put("cpu_atom/format/event", "config:0-7\n");
	made_put("cpu_atom/events/mem-loads", "event=0xd0\n");
	return 0;
}

struct want {
	const char *name;
	uint32_t type;
	uint64_t config, config1, config2;
};

static void test_names(void **state)
{
	static const struct want wants[] = {
		{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, 0},
		{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 0},
		{"cycles", PERF_TYPE_HARDWARE, 0, 0, 0},
		{"cpu-cycles", PERF_TYPE_HARDWARE, 0, 0, 0},
		{"branch-instructions", PERF_TYPE_HARDWARE, 4, 0, 0},
		{"stalled-cycles-backend", PERF_TYPE_HARDWARE, 8, 0, 0},
		{"L1-dcache-loads", PERF_TYPE_HW_CACHE, 0, 0, 0},
		{"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000, 0, 0},
		{"l1d-read", PERF_TYPE_HW_CACHE, 0, 0, 0},
		{"LLC-stores", PERF_TYPE_HW_CACHE, 0x102, 0, 0},
		{"dTLB-store-misses", PERF_TYPE_HW_CACHE, 0x10103, 0, 0},
		{"iTLB-load-misses", PERF_TYPE_HW_CACHE, 0x10004, 0, 0},
		{"branch-load-misses", PERF_TYPE_HW_CACHE, 0x10005, 0, 0},
		{"node-prefetches", PERF_TYPE_HW_CACHE, 0x206, 0, 0},
		{"r1A8", PERF_TYPE_RAW, 0x1a8, 0, 0},
		{"mem:0x1000", PERF_TYPE_BREAKPOINT, 0, 0x1000, 4},
		{"mem:0x1000/8:w", PERF_TYPE_BREAKPOINT, 0, 0x1000, 8},
		{"cpu/event=0x13c,umask=2,edge/", 4, 0x10004023cULL & 0x10004023cULL, 0, 0},
		{"cpu/config=0x1ff,config1=7/", 4, 0x1ff, 7, 0},
		{"cpu/mem-loads/", 4, 0x1cd, 3, 0},
		{"cpu/mem-loads,ldlat=30/", 4, 0x1cd, 30, 0},
		{"mem-loads", 4, 0x1cd, 3, 0},
		{"cpu_atom/mem-loads/", 10, 0xd0, 0, 0},
		{"power/energy-pkg/", 22, 2, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
		const struct want *w = &wants[i];
		struct event_spec s;
		struct err err = {0};

		if (event_spec_parse(w->name, &s, &err))
			fail_msg("%s: %s", w->name, err.msg);
		assert_string_equal(s.name, w->name);
		assert_int_equal(s.type, w->type);
		assert_int_equal(s.config, w->config);
		assert_int_equal(s.config1, w->config1);
		assert_int_equal(s.config2, w->config2);
	}
}

static void test_modifiers(void **state)
{
	struct event_spec s;

	(void)state;
	assert_int_equal(event_spec_parse("cycles:u", &s, NULL), 0);
	assert_true(!s.exclude_user && s.exclude_kernel && s.exclude_hv);
	assert_int_equal(event_spec_parse("cycles:ukpp", &s, NULL), 0);
	assert_true(!s.exclude_user && !s.exclude_kernel && s.exclude_hv);
	assert_int_equal(s.precise, 2);
	assert_int_equal(event_spec_parse("r1a8:G", &s, NULL), 0);
	assert_true(s.exclude_host && !s.exclude_guest && !s.exclude_user);
	assert_int_equal(event_spec_parse("cpu/mem-loads/pp", &s, NULL), 0);
	assert_int_equal(s.precise, 2);
	assert_int_equal(event_spec_parse("cpu/mem-loads/:u", &s, NULL), 0);
	assert_true(s.exclude_kernel);
	assert_int_equal(event_spec_parse("mem:0x10:x:u", &s, NULL), 0);
	assert_int_equal(s.bp_type, HW_BREAKPOINT_X);
	assert_int_equal(s.config2, sizeof(long));
	assert_true(s.exclude_kernel);
	assert_int_equal(event_spec_parse("cycles:pppp", &s, NULL), -EINVAL);
}

static void test_symbols(void **state)
{
	static const struct {
		const char *name, *symbol;
		uint64_t offset, length;
		uint32_t access;
	} wants[] = {
		{"mem:here", "here", 0, 0, 0},
		{"mem:here:w", "here", 0, 0, HW_BREAKPOINT_W},
		{"mem:here+0x10/8:rw", "here", 16, 8, HW_BREAKPOINT_RW},
		{"mem:lib.so.6:here/2", "lib.so.6:here", 0, 2, 0},
		{"mem:/usr/lib/a.so:f:x", "/usr/lib/a.so:f", 0, 0, HW_BREAKPOINT_X},
		{"mem:ns::f", "ns::f", 0, 0, 0},
		{"mem:a.out:ns::f:x", "a.out:ns::f", 0, 0, HW_BREAKPOINT_X},
		{"mem:u", "u", 0, 0, 0},
		{"mem:here:u", "here", 0, 0, 0}, /* a modifier */
		{"mem:operator+", "operator+", 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
		struct event_spec s;
		struct err err = {0};

		if (event_spec_parse(wants[i].name, &s, &err))
			fail_msg("%s: %s", wants[i].name, err.msg);
		assert_int_equal(s.type, PERF_TYPE_BREAKPOINT);
		assert_string_equal(s.symbol, wants[i].symbol);
		assert_int_equal(s.offset, wants[i].offset);
		assert_int_equal(s.asked_length, wants[i].length);
		assert_int_equal(s.asked_access, wants[i].access);
		assert_false(s.placed);
	}
}

static void test_places(void **state)
{
	static const struct {
		const char *name;
		uint64_t addr, size;
		bool code;
		int rc;
		uint64_t at, length;
		uint32_t access;
	} wants[] = {
		{"mem:f", 0x1001, 90, true, 0, 0x1001, sizeof(long), HW_BREAKPOINT_X},
		{"mem:f+3", 0x1001, 90, true, 0, 0x1004, sizeof(long), HW_BREAKPOINT_X},
		{"mem:f:r", 0x1000, 90, true, 0, 0x1000, 8, HW_BREAKPOINT_R},
		{"mem:v", 0x1000, 4, false, 0, 0x1000, 4, HW_BREAKPOINT_RW},
		{"mem:v", 0x1000, 3, false, 0, 0x1000, 2, HW_BREAKPOINT_RW},
		{"mem:v", 0x1000, 100, false, 0, 0x1000, 8, HW_BREAKPOINT_RW},
		{"mem:v+12", 0x1000, 100, false, 0, 0x100c, 4, HW_BREAKPOINT_RW},
		{"mem:v+99:w", 0x1000, 100, false, 0, 0x1063, 1, HW_BREAKPOINT_W},
		{"mem:v", 0x1006, 0, false, 0, 0x1006, 2, HW_BREAKPOINT_RW},
		{"mem:v+100", 0x1000, 100, false, -EINVAL, 0, 0, 0},
		{"mem:v+4/8", 0x1000, 100, false, -EINVAL, 0, 0, 0},
		{"mem:v:x", 0x1000, 100, false, -EINVAL, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
		struct event_spec s;
		struct err err = {0};

		assert_int_equal(event_spec_parse(wants[i].name, &s, NULL), 0);
		assert_int_equal(
			event_spec_place(&s, wants[i].addr, wants[i].size, wants[i].code, &err),
			wants[i].rc);
		assert_int_equal(s.placed, !wants[i].rc);
		if (wants[i].rc) {
			assert_non_null(strstr(err.msg, wants[i].name));
			continue;
		}
		assert_int_equal(s.config1, wants[i].at);
		assert_int_equal(s.config2, wants[i].length);
		assert_int_equal(s.bp_type, wants[i].access);
		event_spec_displace(&s);
		assert_true(!s.placed && !s.config1);
	}
}

static void test_pmu_facts(void **state)
{
	struct event_spec s;

	(void)state;
	assert_int_equal(event_spec_parse("power/energy-pkg/", &s, NULL), 0);
	assert_true(s.system_wide);
	assert_string_equal(s.cpus, "0,8");
	assert_string_equal(s.unit_text, "Joules");
	assert_true(s.scale > 2.3e-10 && s.scale < 2.4e-10);
	assert_int_equal(event_spec_parse("cpu_atom/event=1/", &s, NULL), 0);
	assert_false(s.system_wide);
	assert_string_equal(s.pmu, "cpu_atom");
	assert_int_equal(event_spec_parse("cpu/event=1,period=5000/", &s, NULL), 0);
	assert_int_equal(s.period, 5000);
	assert_int_equal(event_spec_parse("cpu-clock", &s, NULL), 0);
	assert_true(s.clock && s.unit == EVENT_NS);
}

static void test_refused(void **state)
{
	static const struct {
		const char *name;
		int rc;
	} bad[] = {
		{"", -EINVAL},
		{"nosuch", -ENOENT},
		{"cycles2", -ENOENT},
		{"L1-icache-stores", -ENOENT},
		{"rxyz", -ENOENT},
		{"r", -ENOENT},
		{"mem:", -ENOENT},
		{"mem:here/3", -EINVAL},
		{"mem:here/", -EINVAL},
		{"mem:1here", -EINVAL},
		{"mem:lib.so:", -EINVAL},
		{"mem:0x10/3", -EINVAL},
		{"mem:0x10:rx", -EINVAL},
		{"nopmu/event=1/", -ENOENT},
		{"../cpu/event=1/", -ENOENT},
		{"cpu/event=1", -EINVAL},
		{"cpu/nothing/", -EINVAL},
		{"cpu/event=0x1fff1/", -EINVAL}, /* more bits than its format has */
		{"cpu/umask=-1/", -EINVAL},
		{"cpu/odd=1/", -EINVAL},
		{"cpu/loop/", -EINVAL}, /* an alias of itself */
		{"cpu/../power/type/", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct event_spec s;
		struct err err = {0};
		int rc = event_spec_parse(bad[i].name, &s, &err);

		if (rc != bad[i].rc)
			fail_msg("%s: %d, not %d: %s", bad[i].name, rc, bad[i].rc, err.msg);
		assert_true(err.msg[0]);
	}
}

static void test_numbers(void **state)
{
	uint64_t n;

	(void)state;
	assert_true(event_number("0xffffffffffffffff", 18, &n));
	assert_int_equal(n, UINT64_MAX);
	assert_false(event_number("0x10000000000000000", 19, &n));
	assert_true(event_number("017", 3, &n));
	assert_int_equal(n, 15);
	assert_true(event_number("0", 1, &n));
	assert_int_equal(n, 0);
	assert_false(event_number("08", 2, &n));
	assert_false(event_number("", 0, &n));
	assert_false(event_number("12a", 3, &n));
}

struct found {
	const char *name;
	int n;
	bool seen;
};

static bool look(void *ctx, const struct catalogue_event *e)
{
	struct found *f = ctx;

	f->n += e->kind != CATALOGUE_TABLE; /* whose events are of the CPU it runs on */
	f->seen |= strcmp(e->name, f->name) == 0;
	return true;
}

static bool first_only(void *ctx, const struct catalogue_event *e)
{
	(void)e;
	++*(int *)ctx;
	return false;
}

static void test_catalogue(void **state)
{
	struct found f = {.name = "cpu/mem-loads/"};
	struct err err;
	int n = 0;

	(void)state;
	catalogue_each(NULL, look, &f);
	assert_true(f.seen && f.n > 50);
	f = (struct found){.name = "LLC-load-misses"};
	catalogue_each("llc*", look, &f);
	assert_true(f.seen && f.n == 6);
	f = (struct found){.name = "power/energy-pkg/"};
	catalogue_each("energy", look, &f);
	assert_true(f.seen && f.n == 1);
	f = (struct found){.name = "branch-misses"};
	catalogue_each("predicted wrongly", look, &f);
	assert_true(f.seen);
	catalogue_each(NULL, first_only, &n);
	assert_int_equal(n, 1);
	assert_int_equal(catalogue_try("nosuch", &err), VALUE_UNSUPPORTED);
	assert_true(err.msg[0]);
}

/* Whatever the catalogue lists, its parser takes. */
static bool parses(void *ctx, const struct catalogue_event *e)
{
	struct event_spec s;
	struct err err = {0};

	(void)ctx;
	if (e->kind != CATALOGUE_PATTERN && e->kind != CATALOGUE_TABLE &&
	    strcmp(e->name, "cpu/loop/") != 0 && event_spec_parse(e->name, &s, &err))
		fail_msg("%s: %s", e->name, err.msg);
	return true;
}

static void test_listed_parse(void **state)
{
	(void)state;
	catalogue_each(NULL, parses, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),        cmocka_unit_test(test_modifiers),
		cmocka_unit_test(test_symbols),      cmocka_unit_test(test_places),
		cmocka_unit_test(test_symbols),      cmocka_unit_test(test_places),
		cmocka_unit_test(test_pmu_facts),    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_numbers),      cmocka_unit_test(test_catalogue),
		cmocka_unit_test(test_listed_parse),
	};

	return cmocka_run_group_tests_name("event", tests, make_root, made_drop);
}
