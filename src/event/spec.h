/*
 * spec: one event as a person names it, and as perf_event_open(2) takes it.
 *
 * Plain data; parsing is pure and may run on any thread.
 */
#ifndef ALTPTTOP_SPEC_H
#define ALTPTTOP_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "event.h"

struct event_spec {
	char name[96]; /* as perf spells it, modifiers included */
	enum event_unit unit;
	bool clock;    /* cpu-clock, task-clock: its period is nanoseconds of CPU time */
	uint32_t type; /* perf_event_attr.type … bp_type */
	uint64_t config, config1, config2;
	uint32_t bp_type;
	uint8_t precise; /* number of p modifiers */
	bool exclude_user, exclude_kernel, exclude_hv, exclude_host, exclude_guest;
};

/*
 * Software events by name ("cpu-clock", "page-faults" or "faults", …), with modifiers after a
 * colon: u k h (count only there), G H (guest, host only), p (precise). -ENOENT: no such event;
 * -EINVAL: modifiers that make no sense; each with a sentence.
 */
int event_spec_parse(const char *text, struct event_spec *ret_spec, struct err *err);

/* Apply modifiers ("uk", "ppp") to a spec. -EINVAL: a letter that is none. */
int event_spec_modify(struct event_spec *spec, const char *modifiers);

#endif
