/*
 * spec: one event as a person names it, and as perf_event_open(2) takes it.
 *
 * Plain data. Names are spelled as perf spells them:
 *
 *	cpu-clock, page-faults        software (spec.c)
 *	cycles, LLC-load-misses       generic hardware and caches (generic.c)
 *	r1a8                          a raw code of the CPU's PMU
 *	mem:0x1234[/8][:rwx]          accesses to an address (breakpoint.c)
 *	mem:SYMBOL[+OFF][/8][:rwx]    … to a function or object of the target
 *	cpu/event=0x3c,umask=1/       terms of a PMU in sysfs, or an alias of its (pmu.c)
 *	cpu_atom/cycles/              a generic event on one of several PMUs
 *	mem-loads                     the alias alone
 *	sched:sched_switch            a tracepoint (tracepoint.c)
 *	skl::UOPS_ISSUED:ANY          libpfm4's tables (pfm.c)
 *
 * each with modifiers after a colon: u k h (count only there), G H (guest, host), p … ppp
 *(precise), P (as precise as the PMU offers).
 */
#ifndef ALTPTTOP_SPEC_H
#define ALTPTTOP_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "event.h"

struct event_spec {
	char name[96]; /* as typed */
	enum event_unit unit;
	bool clock;       /* cpu-clock, task-clock: its period is nanoseconds of CPU time */
	bool system_wide; /* counts for all of @cpus together, never for one thread */
	uint32_t type;    /* perf_event_attr.type … bp_type */
	uint64_t config, config1, config2;
	uint32_t bp_type;
	char symbol[96]; /* mem:SYMBOL: whose address is to be found in the target, "" none */
	uint64_t offset; /* added to it */
	uint64_t asked_length;
	uint32_t asked_access; /* HW_BREAKPOINT_*; 0: as the symbol's kind wants */
	bool placed;           /* it was: config1, config2 and bp_type are what is opened */
	uint8_t precise;       /* number of p modifiers */
	bool exclude_user, exclude_kernel, exclude_hv, exclude_host, exclude_guest;
	uint64_t period;  /* asked for by its terms, 0 none */
	uint32_t freq_hz; /* likewise */
	double scale;     /* of one count in @unit_text; 0 and "": a plain count */
	char unit_text[16];
	char pmu[32];  /* name of its PMU in sysfs, "" generic */
	char cpus[64]; /* system_wide: list of CPUs to open it on */
};

/* -ENOENT: no such event; -EINVAL: a name that makes no sense; each with a sentence. Any thread. */
int event_spec_parse(const char *text, struct event_spec *ret_spec, struct err *err);

/* Apply modifiers ("uk", "ppp") to a spec. -EINVAL: a letter that is none. */
int event_spec_modify(struct event_spec *spec, const char *modifiers);

/*
 * mem:SYMBOL: the symbol lies at @addr, of @size bytes (0 unknown), in code or in data. Without
 * /LENGTH and :rwx the symbol decides: each execution of a function; reads and writes of an object
 * of its size, as far as a debug register reaches. -EINVAL with a sentence: that makes no sense.
 */
int event_spec_place(struct event_spec *spec, uint64_t addr, uint64_t size, bool code,
		     struct err *err);
/* Of no address any more: as it was parsed. */
void event_spec_displace(struct event_spec *spec);

/* Hexadecimal after 0x, octal after 0, else decimal; all of @text[0…len). False: no number. */
bool event_number(const char *text, size_t len, uint64_t *ret);

/*
 * What the kinds of names have in common. A resolver fills type, config, … of @spec for the name
 * @text[0…len). 1: it is mine; 0: it is not; -errno with a sentence: mine, but wrong.
 */
typedef int event_resolver(const char *text, size_t len, struct event_spec *spec, struct err *err);
event_resolver event_software, event_hardware, event_cache, event_raw, event_alias, event_pmu,
	event_breakpoint, event_tracepoint, event_pfm;

#endif
