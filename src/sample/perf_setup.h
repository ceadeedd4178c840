/*
 * perf_setup: from what was asked and what is allowed to what the sampler does. Private to this
 * room's perf*.c.
 */
#ifndef ALTPTTOP_PERF_SETUP_H
#define ALTPTTOP_PERF_SETUP_H

#include "sample/perf_impl.h"

int perf_setup_probe(const struct target *target, const struct source_config *config,
		     struct err *err);

/* Steps of opening, in this order. */
int perf_setup_limits(struct perf_source *ps, struct err *err);
int perf_setup_events(struct perf_source *ps, struct err *err); /* perf_sets.c; announces them */
int perf_setup_target(struct perf_source *ps, struct err *err);
int perf_setup_rings(struct perf_source *ps, struct err *err);
void perf_setup_say(struct perf_source *ps); /* what is missing */

/* While it runs. */
void perf_setup_rate(struct perf_source *ps, uint32_t rate_hz);
/* Where the kernel's limit fell below the rate, the limit is the rate from now on, and is said. */
void perf_setup_limit(struct perf_source *ps);
bool perf_setup_rate_allowed(const struct perf_source *ps, uint32_t rate_hz); /* any thread */
/* To another set (perf_sets.c). False: it is in use, or cannot be had, which is said. */
bool perf_setup_switch(struct perf_source *ps, const char *events);
/* Can the events be opened together, before anything depends on it? */
int perf_setup_try(struct perf_source *ps, struct err *err);
void perf_setup_sets_free(struct perf_source *ps);
/* Estimated slow-down of a thread that works, in parts per million. */
uint64_t perf_setup_cost(const struct perf_source *ps);
void perf_setup_pace(struct perf_source *ps, uint64_t now); /* -F auto, size of dumps */

/* The size of dumps as it was adapted, or none where no event in use needs them. */
void perf_setup_dump(struct perf_source *ps);

/* Why --call-graph lbr is not followed, after what the kernel answered (-errno). */
void perf_setup_lbr(int answer, char *ret_text, size_t size);

#endif
