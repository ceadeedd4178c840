/*
 * Call stacks that the processor keeps (--call-graph lbr), from what the kernel is asked for to
 * frames. Few machines have them: records are made as Linux writes them, put into a ring, merged
 * and delivered by the sampler's own code, and unwound.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec/perf_raw.h"
#include "sample/perf_impl.h"
#include "sample/perf_setup.h"
#include "unwind_bed.h"

#define RING_BYTES 8192
#define ID         7
#define PID        1234567
#define KERNEL_PC  0xffffffff81000010ull

static const struct event_spec cycles = {.name = "cycles",
					 .type = PERF_TYPE_HARDWARE,
					 .config = PERF_COUNT_HW_CPU_CYCLES,
					 .unit = EVENT_COUNT};
static const struct event_spec task_clock = {.name = "cpu-clock",
					     .type = PERF_TYPE_SOFTWARE,
					     .config = PERF_COUNT_SW_CPU_CLOCK,
					     .clock = true,
					     .unit = EVENT_NS};

static const struct plan_setup setup = {
	.rate_hz = 997, .call_graph = CALL_GRAPH_LBR, .stack_bytes = 16384, .kernel_allowed = true};

static void test_what_is_asked_for(void **state)
{
	struct plan_setup hidden = setup;
	struct plan *p = calloc(1, sizeof *p);
	const struct perf_event_attr *a = &p->e[0].attr;

	(void)state;
	assert_int_equal(plan_add(p, &cycles, 0, &setup), 0);
	assert_true(a->sample_type & PERF_SAMPLE_BRANCH_STACK);
	assert_true(a->sample_type & PERF_SAMPLE_CALLCHAIN); /* the kernel's part */
	assert_false(a->sample_type & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER));
	assert_int_equal(a->branch_sample_type &
				 (PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
				  PERF_SAMPLE_BRANCH_KERNEL),
			 PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK);
	assert_int_equal(p->e[0].layout.branch_type, a->branch_sample_type);
	/* The kernel refuses it with its own clocks (EOPNOTSUPP): these are dumped. */
	assert_int_equal(plan_add(p, &task_clock, 1, &setup), 0);
	assert_false(p->e[1].attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	assert_int_equal(p->e[1].attr.sample_stack_user, 16384);
	/* Of a group the one that is sampled, not those that are read. */
	const struct event_spec group[2] = {cycles, cycles};
	assert_int_equal(plan_add_group(p, group, 2, 0, 2, &setup), 0);
	assert_true(p->e[2].attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	assert_false(p->e[3].attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	hidden.no_user = true;
	assert_int_equal(plan_add(p, &cycles, 4, &hidden), 0);
	assert_false(p->e[4].attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	free(p);
}

/* --- a sampler without a kernel: one ring, one event, one sink --- */

struct lab {
	struct perf_source ps;
	struct fleet fleet;
	struct perf_event_mmap_page *meta;
	uint64_t data[RING_BYTES / 8];
	struct ring ring;
	struct sink_ops ops;
	struct sink sink;
	struct bed *bed;
	unsigned samples, bad;
	struct raw_sample raw;
};

static void take_sample(void *ctx, const struct raw_sample *s)
{
	struct lab *lab = ctx;

	lab->samples++;
	lab->raw = *s;
	unwinder_stack(lab->bed->u, lab->bed->space, 1, s, lab->bed->frames, 600, &lab->bed->r);
	*s->ret_cut = (uint8_t)lab->bed->r.cut;
}

static void take_loss(void *ctx, enum loss_kind kind, uint64_t count)
{
	struct lab *lab = ctx;

	assert_int_equal(kind, LOSS_BAD_RECORD);
	lab->bad += (unsigned)count;
}

static struct lab *lab_new(struct bed *bed)
{
	struct lab *lab = calloc(1, sizeof *lab);
	struct perf_source *ps = &lab->ps;
	struct opened opened = {.fleet = &lab->fleet};

	lab->bed = bed;
	lab->ops = (struct sink_ops){.sample = take_sample, .loss = take_loss};
	lab->sink = (struct sink){.ops = &lab->ops, .ctx = lab};
	ps->sink = &lab->sink;
	ps->setup = setup;
	ps->merger = merger_new(&plan_common);
	adapt_init(&ps->adapt, 0, 0);
	assert_int_equal(plan_add(&lab->fleet.plan, &cycles, 0, &setup), 0);
	lab->fleet.ids = &ps->ids;
	lab->fleet.until_ns = UINT64_MAX;
	fleet_ids_init(&ps->ids, 100);
	assert_int_equal(vec_push(&ps->ids.opened, opened), 0);
	assert_int_equal(map64_put(&ps->ids.by_id, ID, 0), 0);
	lab->meta = calloc(1, sizeof *lab->meta);
	/* so that a record wraps round the end now and then */
	lab->meta->data_head = lab->meta->data_tail = RING_BYTES - 64;
	ring_over(&lab->ring, lab->meta, lab->data, RING_BYTES);
	merger_add(ps->merger, &lab->ring);
	return lab;
}

static void lab_free(struct lab *lab)
{
	fleet_ids_fini(&lab->ps.ids);
	merger_free(lab->ps.merger);
	ring_unmap(&lab->ring);
	free(lab->meta);
	free(lab);
}

static void put(struct lab *lab, uint64_t word)
{
	lab->data[lab->meta->data_head % RING_BYTES / 8] = word;
	lab->meta->data_head += 8;
}

struct made_sample {
	uint8_t cpumode;
	uint64_t ip;
	const uint64_t *chain; /* with its markers */
	uint64_t nchain;
	struct record_branch branches[40]; /* newest first */
	uint64_t nbranches;
	uint64_t claims; /* branches that it says it holds, 0: as many as it does */
};

/* In the order of perf_event_open(2): identifier, ip, tid, time, cpu, period, chain, branches. */
static void put_record(struct lab *lab, const struct made_sample *m)
{
	uint64_t words = 1 + 6 + 1 + m->nchain + 1 + m->nbranches * 3;
	static uint64_t time = 1000;

	put(lab, RECORD_SAMPLE | (uint64_t)m->cpumode << 32 | words * 8 << 48);
	put(lab, ID);
	put(lab, m->ip);
	put(lab, PID | (uint64_t)PID << 32);
	put(lab, time += 10);
	put(lab, 0);
	put(lab, 5000);
	put(lab, m->nchain);
	for (uint64_t i = 0; i < m->nchain; i++)
		put(lab, m->chain[i]);
	put(lab, m->claims ? m->claims : m->nbranches);
	for (uint64_t i = 0; i < m->nbranches; i++) {
		put(lab, m->branches[i].from);
		put(lab, m->branches[i].to);
		put(lab, 0);
	}
}

static void deliver(struct lab *lab, const struct made_sample *m)
{
	struct ordered o;
	uint64_t bad = 0;

	/* The attr decides the layout: counted events are read with their times. */
	assert_int_equal(lab->fleet.plan.e[0].layout.sample_type & (FIELD_READ | FIELD_BRANCH),
			 FIELD_BRANCH);
	put_record(lab, m);
	merger_collect(lab->ps.merger, &bad);
	assert_int_equal(bad, 0);
	assert_true(merger_next(lab->ps.merger, UINT64_MAX, &o));
	perf_deliver(&lab->ps, &o);
	merger_flush(lab->ps.merger);
}

static void test_user_code(void **state)
{
	/* LEAF, called by MIDDLE + 8, called by FRAMED + 0xb, called by ROOT + 1. */
	const uint64_t chain[] = {PERF_CONTEXT_USER, AT(LEAF + 0x10)};
	struct made_sample m = {.cpumode = CPUMODE_USER,
				.ip = AT(LEAF + 0x10),
				.chain = chain,
				.nchain = 2,
				.branches = {{AT(MIDDLE + 8), AT(LEAF), 0},
					     {AT(FRAMED + 0xb), AT(MIDDLE), 0},
					     {AT(ROOT + 1), AT(FRAMED), 0}},
				.nbranches = 3};
	struct bed b;
	struct lab *lab;

	(void)state;
	bed_open(&b, &x86, NULL);
	lab = lab_new(&b);
	for (unsigned round = 1; round < 100; round++) {
		deliver(lab, &m);
		assert_int_equal(lab->samples, round);
		assert_int_equal(lab->raw.weight, 5000);
		assert_int_equal(lab->raw.tid, PID);
		assert_null(lab->raw.regs);
		expect_frame(&b, 0, LEAF + 0x10, 0); /* once, though LBR tells it was entered */
		expect_frame(&b, 1, MIDDLE + 8, 0);  /* the calls themselves, not what is behind */
		expect_frame(&b, 2, FRAMED + 0xb, 0);
		expect_frame(&b, 3, ROOT + 1, 0);
		expect_end(&b, 4, CUT_NONE);
	}
	/* The callee left for another function by a jump: both are shown. */
	m.branches[0].to = AT(PLT);
	deliver(lab, &m);
	expect_frame(&b, 0, LEAF + 0x10, 0);
	expect_frame(&b, 1, PLT, 0);
	expect_frame(&b, 2, MIDDLE + 8, 0);
	expect_end(&b, 5, CUT_NONE);
	/* Called before it was on: the outermost call that it knows ends the chain, and says why.
	 */
	m.nbranches = 2;
	m.branches[0].to = AT(LEAF);
	deliver(lab, &m);
	expect_end(&b, 3, CUT_LBR);
	assert_non_null(strstr(cut_reason_name(b.r.cut), "32 calls"));
	assert_int_equal(lab->ps.seen.stacks, 0); /* nothing was dumped: no size to adapt */
	lab_free(lab);
	bed_close(&b);
}

static void test_deeper_than_it_keeps(void **state)
{
	struct made_sample m = {.cpumode = CPUMODE_USER, .ip = AT(LEAF + 0x10), .nbranches = 32};
	struct bed b;
	struct lab *lab;

	(void)state;
	bed_open(&b, &x86, NULL);
	lab = lab_new(&b);
	m.branches[0] = (struct record_branch){AT(MIDDLE + 8), AT(LEAF), 0};
	for (unsigned i = 1; i < 32; i++) /* recursion */
		m.branches[i] = (struct record_branch){AT(MIDDLE + 0xc), AT(MIDDLE), 0};
	deliver(lab, &m);
	expect_frame(&b, 32, MIDDLE + 0xc, 0);
	expect_end(&b, 33, CUT_LBR);
	lab_free(lab);
	bed_close(&b);
}

static void test_in_the_kernel(void **state)
{
	const uint64_t chain[] = {PERF_CONTEXT_KERNEL, KERNEL_PC, KERNEL_PC + 0x200,
				  PERF_CONTEXT_USER, AT(LEAF + 0x18)};
	struct made_sample m = {.cpumode = CPUMODE_KERNEL,
				.ip = KERNEL_PC,
				.chain = chain,
				.nchain = 5,
				/* older processors keep the way into the kernel too */
				.branches = {{AT(LEAF + 0x16), KERNEL_PC & ~0xfffull, 0},
					     {AT(MIDDLE + 8), AT(LEAF), 0},
					     {AT(ROOT + 1), AT(MIDDLE), 0}},
				.nbranches = 3};
	struct bed b;
	struct lab *lab;

	(void)state;
	bed_open(&b, &x86, NULL);
	lab = lab_new(&b);
	deliver(lab, &m);
	assert_int_equal(lab->raw.nkernel, 2);
	assert_int_equal(tables_frame_get(b.tables, b.frames[0])->addr, KERNEL_PC);
	expect_frame(&b, 2, LEAF + 0x16, 0); /* from where it went into the kernel */
	expect_frame(&b, 3, MIDDLE + 8, 0);
	expect_frame(&b, 4, ROOT + 1, 0);
	expect_end(&b, 5, CUT_NONE);
	memmove(m.branches, m.branches + 1, 2 * sizeof *m.branches);
	m.nbranches = 2;
	deliver(lab, &m);
	expect_frame(&b, 2, LEAF, 0); /* somewhere in what was called last */
	expect_frame(&b, 3, MIDDLE + 8, 0);
	expect_frame(&b, 4, ROOT + 1, 0);
	expect_end(&b, 5, CUT_NONE);
	lab_free(lab);
	bed_close(&b);
}

static void test_empty_and_hostile(void **state)
{
	const uint64_t chain[] = {PERF_CONTEXT_USER, AT(LEAF + 4), AT(ROOT + 1)};
	struct made_sample m = {
		.cpumode = CPUMODE_USER, .ip = AT(LEAF + 4), .chain = chain, .nchain = 3};
	struct bed b;
	struct lab *lab;

	(void)state;
	bed_open(&b, &x86, NULL);
	lab = lab_new(&b);
	deliver(lab, &m); /* nothing kept: frame pointers are what there is */
	assert_false(lab->raw.user_is_lbr);
	expect_end(&b, 2, CUT_NONE);
	m.claims = 1000; /* more than the record holds */
	deliver(lab, &m);
	assert_int_equal(lab->samples, 1);
	assert_int_equal(lab->bad, 1);
	m.claims = UINT64_MAX / 24 + 2;
	deliver(lab, &m);
	assert_int_equal(lab->bad, 2);
	lab_free(lab);
	bed_close(&b);
}

/* More entries than any processor has, in a file: what is beyond them is left out. */
static void test_more_than_room(void **state)
{
	enum { MANY = RAW_LBR_MAX + 50 };
	struct record_branch *branches = calloc(MANY, sizeof *branches);
	const struct record_layout l = {.branch_type = BRANCH_CALL_STACK};
	struct record_sample s = {.cpumode = CPUMODE_USER, .ip = 1};
	struct raw_room *room = malloc(sizeof *room);
	struct raw_sample raw;

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		branches[i] = (struct record_branch){100 + i, 50, 0};
	s.branches = branches;
	s.nbranches = MANY;
	raw_from_sample(&l, &s, ARCH_X86_64, room, &raw);
	assert_int_equal(raw.nuser, RAW_LBR_MAX + 2);
	assert_int_equal(raw.user[RAW_LBR_MAX + 1], 100 + RAW_LBR_MAX - 1);
	assert_int_equal(raw.cpu, UINT32_MAX); /* the record tells none */
	free(room);
	free(branches);
}

static void test_why_not(void **state)
{
	static const struct {
		int answer;
		const char *says;
	} cases[] = {
		{-ENOENT, "no hardware counters (ENOENT)"},
		{-EOPNOTSUPP, "keeps no call stacks (EOPNOTSUPP)"},
		{-EACCES, "Permission denied"},
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		perf_setup_lbr(cases[i].answer, text, sizeof text);
		assert_non_null(strstr(text, cases[i].says));
		assert_non_null(strstr(text, "dumped and unwound instead"));
	}
}

/* Whoever held the processor's stacks lets go of them between two questions. */
static unsigned asked;

static int busy_once(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		     unsigned long flags)
{
	(void)pid, (void)cpu, (void)group, (void)flags;
	if (attr->branch_sample_type && !asked++)
		return -EBUSY;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void take_sentence(void *ctx, const char *sentence)
{
	snprintf(ctx, 256, "%s", sentence);
}

static void test_said_as_it_was(void **state)
{
	const struct source_config config = {.rate_hz = 100, .call_graph = CALL_GRAPH_LBR};
	const struct sink_ops ops = {.say = take_sentence};
	char said[256] = "";
	const struct sink sink = {.ops = &ops, .ctx = said};
	pid_t self = getpid();
	const struct target target = {.pids = &self, .npids = 1};
	struct perf_source *ps = calloc(1, sizeof *ps);
	struct err err = {0};

	(void)state;
	ps->config = &config;
	ps->target = &target;
	ps->sink = &sink;
	perf_open_set(busy_once);
	assert_int_equal(perf_setup_limits(ps, &err), 0);
	ps->adapt.most = ADAPT_MOST;
	perf_setup_say(ps);
	perf_open_set(NULL);
	assert_int_equal(ps->setup.call_graph, CALL_GRAPH_AUTO);
	assert_non_null(strstr(said, strerror(EBUSY)));
	assert_int_equal(asked, 1);
	fleet_ids_fini(&ps->ids);
	free(ps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_asked_for),
		cmocka_unit_test(test_user_code),
		cmocka_unit_test(test_deeper_than_it_keeps),
		cmocka_unit_test(test_in_the_kernel),
		cmocka_unit_test(test_empty_and_hostile),
		cmocka_unit_test(test_more_than_room),
		cmocka_unit_test(test_why_not),
		cmocka_unit_test(test_said_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
