/*
 * plan: fills perf_event_attr from names, rates and permissions.
 *
 * Clock events get a fixed period in nanoseconds (the kernel would turn a frequency into one, the
 * same everywhere); other events are given a frequency unless a period was asked for. Pure but for
 * plan_add_side, which tries what this kernel knows. Source thread.
 */
#include "sample/plan.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "event/perf_open.h"

#define NS_PER_S 1000000000ULL

/* General registers and the instruction pointer, as unwinding needs them: PERF_REG_*. */
#if defined(__x86_64__)
#define REGS_USER 0xff01ffULL /* AX…IP, R8…R15 */
#elif defined(__aarch64__)
#define REGS_USER 0x1ffffffffULL /* X0…X29, LR, SP, PC */
#else
#define REGS_USER 0ULL
#endif

#define COMMON_FIELDS \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU)

const struct record_layout plan_common = {
	.sample_type = FIELD_IDENTIFIER | FIELD_IP | FIELD_TID | FIELD_TIME | FIELD_CPU,
	.sample_id_all = true,
};

static void attr_common(struct perf_event_attr *a, const struct event_spec *spec,
			const struct plan_setup *setup)
{
	*a = (struct perf_event_attr){
		.type = spec->type,
		.size = sizeof *a,
		.config = spec->config,
		.config1 = spec->config1,
		.config2 = spec->config2,
		.bp_type = spec->bp_type,
		.precise_ip = spec->precise & 3,
		.exclude_user = spec->exclude_user || setup->no_user,
		.exclude_kernel = spec->exclude_kernel || setup->no_kernel ||
				  !setup->kernel_allowed,
		.exclude_hv = spec->exclude_hv || !setup->kernel_allowed,
		.exclude_host = spec->exclude_host,
		.exclude_guest = spec->exclude_guest,
		/* Some PMUs refuse it; what is counted in the idle task is nobody's anyway. */
		.exclude_idle = setup->cpu_wide && spec->type == PERF_TYPE_SOFTWARE,
		.inherit = setup->inherit && !setup->cpu_wide,
		.sample_type = COMMON_FIELDS,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	if (spec->symbol[0] &&
	    !spec->placed) { /* its seat is kept by an event that counts nothing */
		a->type = PERF_TYPE_SOFTWARE;
		a->config = PERF_COUNT_SW_DUMMY;
		a->config1 = a->config2 = a->bp_type = 0;
	}
}

uint64_t plan_period_ns(const struct plan_setup *setup)
{
	if (setup->period)
		return setup->period;
	return NS_PER_S / (setup->rate_hz ? setup->rate_hz : 1);
}

static void attr_period(struct plan_event *e, const struct plan_setup *setup)
{
	uint64_t own = e->spec.clock ? 0 : e->spec.period;

	e->jitter = setup->period || own ? 0 : e->strands > 1 ? 0.2 : 0.04;
	if (own && !setup->period) {
		e->attr.sample_period = own;
	} else if (setup->period || e->spec.clock) {
		e->attr.sample_period = plan_period_ns(setup) * e->strands;
	} else {
		e->attr.freq = 1;
		e->attr.sample_freq = e->spec.freq_hz  ? e->spec.freq_hz
				      : setup->rate_hz ? setup->rate_hz
						       : 1;
	}
}

/* Kernel-made chains and what unwinding by CFI needs, as --call-graph asks. */
static void attr_stacks(struct perf_event_attr *a, const struct event_spec *spec,
			const struct plan_setup *setup)
{
	if (setup->call_graph == CALL_GRAPH_NONE)
		return;
	a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	a->exclude_callchain_kernel = a->exclude_kernel;
	a->exclude_callchain_user = setup->no_user || setup->call_graph == CALL_GRAPH_DWARF;
	a->sample_max_stack = (uint16_t)setup->max_stack;
	if (plan_has_lbr(setup, spec)) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type = PLAN_LBR;
		return;
	}
	if (setup->no_user || setup->call_graph == CALL_GRAPH_FP || !setup->stack_bytes ||
	    !REGS_USER)
		return;
	a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	a->sample_regs_user = REGS_USER;
	a->sample_stack_user = setup->stack_bytes & ~7U;
	if (a->sample_stack_user > PLAN_DUMP_MAX)
		a->sample_stack_user = PLAN_DUMP_MAX;
}

static void layout_of(struct plan_event *e)
{
	e->layout = (struct record_layout){
		.sample_type = e->attr.sample_type,
		.read_format = e->attr.read_format,
		.branch_type = e->attr.branch_sample_type,
		.regs_user = e->attr.sample_regs_user,
		.sample_id_all = true,
		.build_id = e->attr.build_id,
	};
}

/*
 * A software event or tracepoint of a fixed period: asked to tell its period with each sample, the
 * kernel takes every occurrence for one (perf_swevent_event), whatever the period.
 */
static bool counts_to_period(const struct perf_event_attr *a)
{
	return !a->freq && a->sample_period > 1 &&
	       (a->type == PERF_TYPE_TRACEPOINT ||
		(a->type == PERF_TYPE_SOFTWARE && a->config != PERF_COUNT_SW_CPU_CLOCK &&
		 a->config != PERF_COUNT_SW_TASK_CLOCK));
}

static int add_one(struct plan *p, const struct event_spec *spec, uint16_t index, uint16_t strands,
		   const struct plan_setup *setup)
{
	struct plan_event *e = &p->e[p->n];

	if (p->n == PLAN_MAX)
		return -E2BIG;
	*e = (struct plan_event){
		.spec = *spec, .index = index, .leader = (uint16_t)p->n, .strands = strands};
	attr_common(&e->attr, spec, setup);
	attr_period(e, setup);
	attr_stacks(&e->attr, spec, setup);
	if (!counts_to_period(&e->attr))
		e->attr.sample_type |= PERF_SAMPLE_PERIOD;
	if (setup->count_exits && spec->clock && e->attr.inherit) {
		e->attr.inherit_stat = 1;
		e->attr.read_format = PERF_FORMAT_ID;
	} else if (!spec->clock) {
		e->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
				      PERF_FORMAT_TOTAL_TIME_RUNNING;
	}
	layout_of(e);
	p->inherit = setup->inherit;
	p->n++;
	return 0;
}

int plan_add(struct plan *p, const struct event_spec *spec, uint16_t index,
	     const struct plan_setup *setup)
{
	uint16_t strands = spec->clock && setup->cpu_wide && !setup->period ? PLAN_STRANDS : 1;
	int rc = 0;

	for (uint16_t i = 0; !rc && i < strands; i++)
		rc = add_one(p, spec, index, strands, setup);
	return rc;
}

#define GROUP_READ \
	(PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | \
	 PERF_FORMAT_TOTAL_TIME_RUNNING)

static int add_member(struct plan *p, const struct event_spec *spec, uint16_t index,
		      uint16_t leader, const struct plan_setup *setup)
{
	struct plan_event *e = &p->e[p->n];

	if (p->n == PLAN_MAX)
		return -E2BIG;
	*e = (struct plan_event){.spec = *spec, .index = index, .leader = leader, .strands = 1};
	attr_common(&e->attr, spec, setup);
	e->attr.sample_type |= PERF_SAMPLE_READ;
	e->attr.read_format = GROUP_READ;
	layout_of(e);
	p->n++;
	return 0;
}

/* The event of a group that is sampled, and reads all of it: a clock perhaps in several strands. */
static int add_sampler(struct plan *p, const struct event_spec *spec, uint16_t index,
		       uint16_t leader, const struct plan_setup *setup)
{
	uint32_t first = p->n;
	int rc = plan_add(p, spec, index, setup);

	for (uint32_t i = first; !rc && i < p->n; i++) {
		struct plan_event *e = &p->e[i];

		e->leader = leader;
		e->attr.sample_type |= PERF_SAMPLE_READ;
		e->attr.read_format = GROUP_READ;
		e->attr.inherit_stat = 0;
		layout_of(e);
	}
	return rc;
}

/* Interrupts at each context switch, while the task that leaves is still there. */
static int add_switches(struct plan *p, uint16_t leader, const struct plan_setup *setup)
{
	static const struct event_spec switches = {
		.name = "context-switches",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	};
	struct plan_event *e = &p->e[p->n];

	if (p->n == PLAN_MAX)
		return -E2BIG;
	*e = (struct plan_event){
		.spec = switches, .index = PLAN_SWITCH, .leader = leader, .strands = 1};
	attr_common(&e->attr, &switches, setup);
	/* It happens in the kernel, in the idle task too, whatever is left out of the counts. */
	e->attr.exclude_user = e->attr.exclude_kernel = e->attr.exclude_hv = 0;
	e->attr.exclude_idle = 0;
	e->attr.sample_period = 1;
	e->attr.sample_type |= PERF_SAMPLE_READ;
	e->attr.read_format = leader == p->n ? PERF_FORMAT_TOTAL_TIME_ENABLED |
						       PERF_FORMAT_TOTAL_TIME_RUNNING
					     : GROUP_READ;
	layout_of(e);
	p->n++;
	return 0;
}

int plan_add_switches(struct plan *p, const struct plan_setup *setup)
{
	int rc = add_switches(p, (uint16_t)p->n, setup);

	if (!rc)
		p->e[p->n - 1].attr.disabled = 1;
	return rc;
}

int plan_add_group(struct plan *p, const struct event_spec *specs, uint32_t n, uint32_t pick,
		   uint16_t index, const struct plan_setup *setup)
{
	uint16_t leader = (uint16_t)p->n;
	bool software = true;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < n; i++) {
		uint16_t place = (uint16_t)(index + i);

		rc = i == pick ? add_sampler(p, &specs[i], place, leader, setup)
			       : add_member(p, &specs[i], place, leader, setup);
		software &= !plan_takes_counter(&specs[i]);
	}
	if (!rc && setup->cpu_wide)
		rc = add_switches(p, leader, setup);
	if (!rc)
		p->e[leader].software = software;
	if (!rc && setup->cpu_wide)
		p->e[leader].attr.disabled = 1;
	return rc;
}

bool plan_groups_inherit(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = NS_PER_S,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ,
		.read_format = GROUP_READ,
		.disabled = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = perf_open(&attr, 0, -1, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Side-band records come with this event, as far as the kernel knows them. */
static int add_side(struct plan_event *e, const struct plan_setup *setup)
{
	struct perf_event_attr *a = &e->attr;
	int rc;

	a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = a->build_id = 1;
	a->ksymbol = setup->cpu_wide;
	rc = perf_open_fit(a);
	layout_of(e);
	return rc;
}

int plan_add_side(struct plan *p, const struct plan_setup *setup)
{
	static const struct event_spec dummy = {
		.name = "dummy",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
	};
	struct plan_event *e = &p->e[p->n];

	if (p->n == PLAN_MAX)
		return -E2BIG;
	*e = (struct plan_event){.spec = dummy, .index = PLAN_SIDE, .leader = (uint16_t)p->n};
	attr_common(&e->attr, &dummy, setup);
	e->attr.exclude_kernel = e->attr.exclude_hv = !setup->kernel_allowed;
	e->attr.exclude_user = e->attr.exclude_idle = 0;
	p->inherit = setup->inherit;
	p->n++;
	return add_side(e, setup);
}

int plan_fold_side(struct plan *p, const struct plan_setup *setup)
{
	return add_side(&p->e[0], setup);
}

void plan_attr(const struct plan_event *e, uint32_t seat, struct perf_event_attr *ret_attr)
{
	/* Multiples of the golden ratio, modulo 1, fill an interval evenly however many there are.
	 */
	uint32_t spread = (seat + 1) * 2654435769U;
	double factor = 1 + ((double)spread / UINT32_MAX - 0.5) * e->jitter;

	*ret_attr = e->attr;
	if (e->jitter == 0 || e->attr.freq)
		return;
	ret_attr->sample_period = (uint64_t)((double)e->attr.sample_period * factor);
	if (!ret_attr->sample_period)
		ret_attr->sample_period = 1;
}

void plan_attr_core(struct perf_event_attr *attr, uint32_t core)
{
	bool generic = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;

	if (generic && !(attr->config >> PERF_PMU_TYPE_SHIFT)) /* else it names one itself */
		attr->config |= (uint64_t)core << PERF_PMU_TYPE_SHIFT;
}
