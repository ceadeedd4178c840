/* generic: the kernel's own hardware events, for the catalogue. Constant tables, any thread. */
#ifndef ALTPTTOP_GENERIC_H
#define ALTPTTOP_GENERIC_H

#include "event/spec.h"

struct generic_event {
	const char *name, *alias; /* name NULL ends the table */
	uint64_t config;
	const char *description;
};
extern const struct generic_event generic_events[];

/* The @i-th cache event's name; "" where a cache has no such operation. False: no more. */
bool generic_cache_name(unsigned i, char *buf, size_t size);

#endif
