/*
 * spans: over which times each event set was collected, and what it is called.
 *
 * Engine thread. A set that was chosen twice has two spans; what lies between them was collected by
 * others and is never part of it.
 */
#ifndef ALTPTTOP_SPANS_H
#define ALTPTTOP_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#define SPANS_MAX 256

struct engine;

struct span {
	uint16_t set;
	uint64_t from_ns, until_ns; /* of the first and the newest sample */
};

struct spans {
	struct span s[SPANS_MAX];
	uint32_t n;
	bool forgot; /* there were older ones */
};

/* A sample of @set. When there are too many spans, the oldest is forgotten. */
void spans_add(struct spans *s, uint16_t set, uint64_t time_ns);

/* The set in use, UINT16_MAX: the newest; else as asked. */
uint16_t set_in_view(const struct engine *e, uint16_t asked);
/* How much of [@from_ns, @until_ns) @set was collected over; its first and last moment. */
uint64_t set_covered_ns(const struct engine *e, uint16_t set, uint64_t from_ns, uint64_t until_ns);
uint64_t set_end_ns(const struct engine *e, uint16_t set); /* 0: nothing was collected */
/* "" unknown. */
const char *set_name(const struct engine *e, uint16_t set);

#endif
