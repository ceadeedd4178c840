/*
 * The built-in sets for CPUs that are not here: every event of each, encoded for each CPU that the
 * set names, and every formula by values computed by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "event/set.h"
#include "event/sysfs.h"
#include "made_sysfs.h"

static struct event_set load(const char *name)
{
	struct event_set s;
	struct err err = {0};
	char path[80];

	snprintf(path, sizeof path, "src/event/sets/%s.set", name);
	if (event_set_read(path, &s, &err))
		fail_msg("%s", err.msg);
	return s;
}

/* A core PMU with the aliases that Linux gives Ice Lake and Sapphire Rapids. */
static int make_root(void **state)
{
	static const char *const aliases[][2] = {
		{"slots", "event=0x00,umask=0x4"},
		{"topdown-retiring", "event=0x00,umask=0x80"},
		{"topdown-bad-spec", "event=0x00,umask=0x81"},
		{"topdown-fe-bound", "event=0x00,umask=0x82"},
		{"topdown-be-bound", "event=0x00,umask=0x83"},
		{"topdown-heavy-ops", "event=0x00,umask=0x84"},
		{"topdown-br-mispredict", "event=0x00,umask=0x85"},
		{"topdown-fetch-lat", "event=0x00,umask=0x86"},
		{"topdown-mem-bound", "event=0x00,umask=0x87"},
	};
	char path[256];

	(void)state;
	/* libpfm4 encodes for tables of absent CPUs only when told to, before it starts. */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (made_sysfs())
		return -1;
	made_put("cpu/type", "4\n");
	made_put("cpu/format/event", "config:0-7\n");
	made_put("cpu/format/umask", "config:8-15\n");
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
		snprintf(path, sizeof path, "cpu/events/%s", aliases[i][0]);
		made_put(path, aliases[i][1]);
	}
	return 0;
}

/* A name of libpfm4's tables: the kernel's own have dashes, or are small. */
static bool is_table_name(const char *name)
{
	return name[0] >= 'A' && name[0] <= 'Z' && !strchr(name, '-');
}

/* The code of @name on the CPU whose table is @cpu, by libpfm4 where it is one of its names. */
static int encode(const char *cpu, const char *name, struct event_spec *ret, struct err *err)
{
	char full[160];

	if (is_table_name(name)) {
		snprintf(full, sizeof full, "%s::%s", cpu, name);
		return event_spec_parse(full, ret, err);
	}
	return event_spec_parse(name, ret, err);
}

/* What this libpfm4 knows of; others are checked by their codes below. */
static bool table_here(const char *cpu)
{
	static const struct {
		const char *prefix, *event;
	} probes[] = {{"amd64", "RETIRED_INSTRUCTIONS"}, {"", "INSTRUCTION_RETIRED"}};
	struct event_spec s;
	char full[96];

	for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
		snprintf(full, sizeof full, "%s::%s", cpu, probes[i].event);
		if (strncmp(cpu, probes[i].prefix, strlen(probes[i].prefix)) == 0)
			return event_spec_parse(full, &s, NULL) == 0;
	}
	return false;
}

static void test_every_event_encodes(void **state)
{
	static const char *const names[] = {"topdown",     "topdown-icl",  "topdown-skl",
					    "topdown-spr", "topdown-zen4", "zen-frontend",
					    "zen-memory",  "power",        "stalls",
					    "neoverse",    "e6500"};
	int encoded = 0, cpus = 0;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct event_set s = load(names[i]);
		char list[sizeof s.cpus], *rest = list, *cpu;

		snprintf(list, sizeof list, "%s", s.cpus[0] ? s.cpus : "any");
		while ((cpu = strsep(&rest, " "))) {
			bool any = strcmp(cpu, "any") == 0;

			for (uint32_t k = 0; k < s.nevents; k++) {
				struct event_spec spec;
				struct err err = {0};

				if (!any && is_table_name(s.events[k].name) && !table_here(cpu))
					continue;
				if (encode(cpu, s.events[k].name, &spec, &err))
					fail_msg("%s on %s: %s: %s", names[i], cpu,
						 s.events[k].name, err.msg);
				encoded++;
			}
			cpus++;
		}
	}
	assert_true(cpus >= 20 && encoded > 150);
}

/* Codes by the manuals: Intel's event files, AMD's programming references, the kernel's Power list.
 */
static void test_codes(void **state)
{
	static const struct {
		const char *set, *alias, *cpu;
		uint64_t code;
	} codes[] = {
		{"topdown-skl", "undelivered", "skl", 0x19c},
		{"topdown-skl", "issued", "skx", 0x10e},
		{"topdown-skl", "retired", "clx", 0x2c2},
		{"topdown-skl", "recovery", "skl", 0x10d},
		{"topdown-skl", "alone", "skl", 0x23c},
		{"topdown-skl", "reference", "skl", 0x13c},
		{"topdown-skl", "mispredicts", "skx", 0xc5},
		{"topdown-skl", "clears", "skl", 0x10401c3},
		{"topdown-skl", "stalls", "skl", 0x40004a3},
		{"topdown-skl", "memstalls", "clx", 0x140014a3},
		{"topdown-skl", "stores", "skl", 0x40a6},
		{"topdown-skl", "oneport", "skl", 0x2a6},
		{"topdown-skl", "twoports", "skl", 0x4a6},
		{"topdown-skl", "nouops", "skl", 0x400019c},
		{"topdown-skl", "fused", "skl", 0x4c2},
		{"topdown-icl", "slots", "icl", 0x400},
		{"topdown-icl", "retiring", "icl", 0x8000},
		{"topdown-icl", "backend", "icl", 0x8300},
		{"topdown-icl", "nouops", "icx", 0x500019c},
		{"topdown-icl", "dropping", "icl", 0x100d},
		{"topdown-spr", "heavy", "spr", 0x8400},
		{"topdown-spr", "membound", "spr", 0x8700},
		{"topdown-zen4", "cycles", "amd64_fam19h_zen4", 0x76},
		{"topdown-zen4", "frontend", "amd64_fam19h_zen4", 0x1000001a0},
		{"topdown-zen4", "backend", "amd64_fam19h_zen4", 0x100001ea0},
		{"topdown-zen4", "sibling", "amd64_fam19h_zen4", 0x1000060a0},
		{"topdown-zen4", "dispatched", "amd64_fam19h_zen4", 0x7aa},
		{"topdown-zen4", "retired", "amd64_fam19h_zen4", 0xc1},
		{"topdown-zen4", "loads", "amd64_fam19h_zen4", 0xa2d6},
		{"topdown-zen4", "unfinished", "amd64_fam19h_zen4", 0x2d6},
		{"topdown-zen4", "noops", "amd64_fam19h_zen4", 0x1060001a0},
		{"topdown-zen4", "microcode", "amd64_fam19h_zen4", 0x1000000c2},
		{"zen-frontend", "froml2", "amd64_fam17h_zen1", 0x82},
		{"zen-frontend", "beyond", "amd64_fam17h_zen2", 0x83},
		{"zen-frontend", "itlb", "amd64_fam19h_zen3", 0x84},
		{"power", "cycles", "power9", 0x1e},
		{"power", "instructions", "power9", 0x2},
		{"power", "noslot", "power8", 0x100f8},
		{"power", "icache", "power9", 0x200fd},
		{"power", "l1miss", "power8", 0x3e054},
		{"power", "mispredicts", "power9", 0x400f6},
		{"power", "l3miss", "power9", 0x300fe},
		{"power", "dtlb", "power8", 0x300fc},
		{"power", "itlb", "power9", 0x400fc},
		{"neoverse", "front", "arm_n1", 0x23},
		{"neoverse", "back", "arm_n2", 0x24},
		{"e6500", "cycles", "e6500", 1},
		{"e6500", "l2miss", "e6500", 457},
		{"e6500", "bank", "e6500", 253},
	};

	(void)state;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		struct event_set s = load(codes[i].set);
		struct event_spec spec;
		struct err err = {0};
		uint32_t k = 0;

		while (k < s.nevents && strcmp(s.events[k].alias, codes[i].alias))
			k++;
		assert_true(k < s.nevents);
		if (is_table_name(s.events[k].name) && !table_here(codes[i].cpu))
			continue;
		if (encode(codes[i].cpu, s.events[k].name, &spec, &err))
			fail_msg("%s", err.msg);
		if (spec.config != codes[i].code || (spec.type != 4 && spec.type != 0))
			fail_msg("%s %s: %#llx, not %#llx", codes[i].set, codes[i].alias,
				 (unsigned long long)spec.config,
				 (unsigned long long)codes[i].code);
	}
}

/* Raw codes of Zen's memory set, by the names that libpfm4 has for them on each. */
static void test_zen_codes(void **state)
{
	static const struct {
		const char *alias, *name;
	} same[] = {
		{"l2", "amd64_fam17h_zen2::DATA_CACHE_REFILLS_FROM_SYSTEM:MABRESP_LCL_L2"},
		{"l3", "amd64_fam17h_zen2::DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_CACHE"},
		{"dram", "amd64_fam17h_zen2::DATA_CACHE_REFILLS_FROM_SYSTEM:"
			 "LS_MABRESP_LCL_DRAM:LS_MABRESP_RMT_DRAM"},
		{"l2", "amd64_fam19h_zen3::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2"},
		{"l3", "amd64_fam19h_zen3::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:INT_CACHE"},
		{"dram", "amd64_fam19h_zen3::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:"
			 "MEM_IO_LCL:MEM_IO_RMT"},
		{"l2", "amd64_fam19h_zen4::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2"},
		{"dram", "amd64_fam19h_zen4::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:"
			 "DRAM_IO_NEAR:DRAM_IO_FAR"},
	};
	struct event_set s = load("zen-memory");

	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		struct event_spec a, b;
		struct err err = {0};
		char cpu[40];
		uint32_t k = 0;

		snprintf(cpu, sizeof cpu, "%.*s", (int)strcspn(same[i].name, ":"), same[i].name);
		if (!table_here(cpu))
			continue;
		while (strcmp(s.events[k].alias, same[i].alias))
			k++;
		assert_int_equal(event_spec_parse(s.events[k].name, &a, &err), 0);
		if (strlen(same[i].name) >=
		    sizeof a.name) /* longer than a name may be: its masks */
			continue;
		if (event_spec_parse(same[i].name, &b, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(a.config, b.config);
	}
}

struct given {
	const char *alias;
	double value;
};
struct expected {
	const char *metric;
	double value;
};

static void check_formulas(const char *name, const struct given *given, int ngiven,
			   const struct expected *expected, int nexpected)
{
	struct event_set s = load(name);
	double values[SET_EVENTS];

	for (uint32_t i = 0; i < s.nevents; i++) {
		int k = 0;

		while (k < ngiven && strcmp(given[k].alias, s.events[i].alias))
			k++;
		values[i] = k < ngiven ? given[k].value : (double)NAN;
	}
	assert_int_equal(s.nmetrics, nexpected);
	for (int i = 0; i < nexpected; i++) {
		double v = formula_value(&s.metrics[i].formula, values);

		assert_string_equal(s.metrics[i].name, expected[i].metric);
		if (!(fabs(v - expected[i].value) < 1e-9))
			fail_msg("%s %s: %.12g, not %g", name, expected[i].metric, v,
				 expected[i].value);
	}
}
#define CHECK(name, given, expected) \
	check_formulas(name, given, sizeof(given) / sizeof *(given), expected, \
		       sizeof(expected) / sizeof *(expected))

/* 1,000 cycles alone on the core: 4,000 slots. */
static void test_skylake(void **state)
{
	static const struct given given[] = {
		{"cycles", 1000},    {"undelivered", 800}, {"issued", 1200},      {"retired", 1000},
		{"recovery", 50},    {"alone", 100},       {"reference", 100},    {"stalls", 400},
		{"memstalls", 250},  {"stores", 50},       {"nouops", 100},       {"oneport", 100},
		{"twoports", 200},   {"fused", 40},        {"instructions", 900}, {"clears", 10},
		{"mispredicts", 30},
	};
	static const struct expected expected[] = {
		{"RETIRE%", 25},   {"HEAVY%", 3.5},  {"LIGHT%", 21.5}, {"BADSPEC%", 10},
		{"MISPRED%", 7.5}, {"CLEARS%", 2.5}, {"FRONT%", 20},   {"FETCHLAT%", 10},
		{"FETCHBW%", 10},  {"BACK%", 45},    {"MEM%", 22.5},   {"CORE%", 22.5},
		{"IPC", 0.9},
	};
	struct event_set s = load("topdown-skl");
	double values[SET_EVENTS] = {0};

	(void)state;
	CHECK("topdown-skl", given, expected);
	/* The sibling ran all the time: half of the core's slots are this thread's. */
	for (uint32_t i = 0; i < s.nevents; i++)
		values[i] = strcmp(s.events[i].alias, "cycles") == 0      ? 1000
			    : strcmp(s.events[i].alias, "reference") == 0 ? 100
			    : strcmp(s.events[i].alias, "retired") == 0   ? 1000
									  : 0;
	assert_true(fabs(formula_value(&s.slots, values) - 2000) < 1e-9);
	assert_true(fabs(formula_value(&s.metrics[0].formula, values) - 50) < 1e-9);
}

static void test_icelake(void **state)
{
	static const struct given given[] = {
		{"slots", 5000},    {"retiring", 2000}, {"badspec", 500}, {"frontend", 1000},
		{"backend", 1500},  {"cycles", 1000},   {"clears", 1},    {"instructions", 1500},
		{"mispredicts", 3}, {"nouops", 60},     {"dropping", 50}, {"stalls", 300},
		{"memstalls", 200}, {"stores", 100},    {"oneport", 100}, {"twoports", 250},
	};
	static const struct expected expected[] = {
		{"RETIRE%", 40}, {"BADSPEC%", 10}, {"MISPRED%", 7.5}, {"CLEARS%", 2.5},
		{"FRONT%", 19},  {"FETCHLAT%", 5}, {"FETCHBW%", 14},  {"BACK%", 30},
		{"MEM%", 15},    {"CORE%", 15},    {"IPC", 1.5},
	};

	(void)state;
	CHECK("topdown-icl", given, expected);
}

static void test_sapphire_rapids(void **state)
{
	static const struct given given[] = {
		{"slots", 6000},     {"retiring", 1200}, {"badspec", 600},
		{"frontend", 1200},  {"backend", 3000},  {"heavy", 300},
		{"mispredict", 450}, {"fetchlat", 900},  {"membound", 2400},
	};
	static const struct expected expected[] = {
		{"RETIRE%", 20},   {"HEAVY%", 5},    {"LIGHT%", 15}, {"BADSPEC%", 10},
		{"MISPRED%", 7.5}, {"CLEARS%", 2.5}, {"FRONT%", 20}, {"FETCHLAT%", 15},
		{"FETCHBW%", 5},   {"BACK%", 50},    {"MEM%", 40},   {"CORE%", 10},
	};

	(void)state;
	CHECK("topdown-spr", given, expected);
}

static void test_zen(void **state)
{
	static const struct given given[] = {
		{"cycles", 1000},     {"frontend", 1200}, {"backend", 1800},   {"sibling", 600},
		{"dispatched", 2400}, {"retired", 2100},  {"unfinished", 400}, {"loads", 300},
		{"noops", 100},       {"mispredicts", 8}, {"resyncs", 2},      {"microcode", 300},
	};
	static const struct expected expected[] = {
		{"RETIRE%", 35},  {"HEAVY%", 5},  {"LIGHT%", 30}, {"BADSPEC%", 5},
		{"MISPRED%", 4},  {"CLEARS%", 1}, {"FRONT%", 20}, {"FETCHLAT%", 10},
		{"FETCHBW%", 10}, {"BACK%", 30},  {"MEM%", 22.5}, {"CORE%", 7.5},
		{"SMT%", 10},
	};
	static const struct given memory[] = {
		{"cycles", 5000}, {"instructions", 10000}, {"l2", 200}, {"l3", 40},
		{"dram", 10},     {"walks", 30},
	};
	static const struct expected misses[] = {
		{"L2/ki", 20}, {"L3/ki", 4}, {"DRAM/ki", 1}, {"TLB/ki", 3}, {"IPC", 2},
	};
	static const struct given fetch[] = {
		{"cycles", 5000}, {"instructions", 10000}, {"stalled", 1500},
		{"froml2", 50},   {"beyond", 20},          {"itlb", 10},
	};
	static const struct expected fetched[] = {
		{"FE%", 30}, {"IPC", 2}, {"ICL2/ki", 5}, {"ICMEM/ki", 2}, {"ITLB/ki", 1},
	};

	(void)state;
	CHECK("topdown-zen4", given, expected);
	CHECK("zen-memory", memory, misses);
	CHECK("zen-frontend", fetch, fetched);
}

static void test_power_and_stalls(void **state)
{
	static const struct given power[] = {
		{"cycles", 2000}, {"instructions", 1000}, {"noslot", 300},
		{"icache", 4},    {"l1miss", 20},         {"mispredicts", 5},
		{"l3miss", 2},    {"stalled", 1200},      {"dtlb", 3},
		{"itlb", 1},
	};
	static const struct expected powered[] = {
		{"FE%", 15},  {"BE%", 60},  {"IPC", 0.5},  {"IC/ki", 4},   {"L1/ki", 20},
		{"L3/ki", 2}, {"BR/ki", 5}, {"TLB/ki", 3}, {"ITLB/ki", 1},
	};
	static const struct given stalls[] = {
		{"cycles", 1000}, {"instructions", 800}, {"front", 100}, {"back", 400}};
	static const struct expected stalled[] = {{"FE%", 10}, {"BE%", 40}, {"IPC", 0.8}};
	static const struct given four[] = {{"slots", 500},      {"retiring", 100}, {"badspec", 50},
					    {"frontend", 100},   {"backend", 250},  {"cycles", 100},
					    {"instructions", 90}};
	static const struct expected parts[] = {
		{"RETIRE%", 20}, {"BADSPEC%", 10}, {"FRONT%", 20}, {"BACK%", 50}, {"IPC", 0.9}};

	(void)state;
	CHECK("power", power, powered);
	CHECK("stalls", stalls, stalled);
	CHECK("topdown", four, parts);
}

/* Intel's slots lead their group, and cycles are sampled in it. */
static void test_sampled(void **state)
{
	static const char *const names[] = {"topdown", "topdown-icl", "topdown-spr"};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct event_set s = load(names[i]);

		for (uint32_t k = 0; k < s.nevents && s.events[k].group == 0; k++)
			assert_int_equal(s.events[k].sampled,
					 strcmp(s.events[k].alias, "cycles") == 0);
		assert_false(s.events[0].sampled);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_event_encodes),
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_zen_codes),
		cmocka_unit_test(test_skylake),
		cmocka_unit_test(test_icelake),
		cmocka_unit_test(test_sapphire_rapids),
		cmocka_unit_test(test_zen),
		cmocka_unit_test(test_power_and_stalls),
		cmocka_unit_test(test_sampled),
	};

	return cmocka_run_group_tests_name("set_codes", tests, make_root, made_drop);
}
