/*
 * catalogue: every event this machine can count, by name, for --list-events and the search dialog.
 *
 * Any thread; listing reads sysfs and tracefs each time. Some hundred to some ten thousand entries.
 */
#ifndef ALTPTTOP_CATALOGUE_H
#define ALTPTTOP_CATALOGUE_H

#include <stdbool.h>

#include "event/spec.h"

enum catalogue_kind {
	CATALOGUE_SOFTWARE,
	CATALOGUE_HARDWARE,
	CATALOGUE_CACHE,
	CATALOGUE_PMU,   /* aliases of PMUs in sysfs */
	CATALOGUE_TABLE, /* libpfm4 */
	CATALOGUE_TRACEPOINT,
	CATALOGUE_PATTERN, /* how raw codes and addresses are written */
	CATALOGUE_KINDS
};
const char *catalogue_kind_name(enum catalogue_kind kind);

struct catalogue_event {
	enum catalogue_kind kind;
	const char *name;        /* as -e takes it */
	const char *description; /* one line, may be "" */
};

/*
 * Call @each for all events whose name or kind matches the glob @pattern (NULL: all; one without *,
 * ? or [ matches anywhere in name or description, whatever the case), until it returns false.
 */
void catalogue_each(const char *pattern, bool (*each)(void *ctx, const struct catalogue_event *e),
		    void *ctx);

/*
 * Can it be opened here, on this program itself? VALUE_OK, or why not with a sentence in @err.
 * Costs a system call or two.
 */
enum value_state catalogue_try(const char *name, struct err *err);

/*
 * Open @s for the calling thread, behind the leader @group (-1: none; then it is disabled). An fd
 * that reads value, time enabled, time running; or -errno.
 */
int catalogue_open(const struct event_spec *s, int group);

/*
 * The same for the @n @names of a group, which must fit the hardware together, the first of them
 * leading: some events can only be opened behind their leader.
 */
enum value_state catalogue_try_group(const char *const *names, uint32_t n, struct err *err);

#endif
