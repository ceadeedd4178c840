/*
 * doctor: what works here, what does not, why, and what to type: a table of checks, each one tried.
 *
 * A check fills one row. Rooms that know their own (perf events, debug files) hand in their lists;
 * this room brings those that need only ptrace, /proc and limits. May take some 100 ms: not for the
 * ui's thread.
 */
#ifndef ALTPTTOP_DOCTOR_H
#define ALTPTTOP_DOCTOR_H

#include <stdbool.h>

#include "proc/permit.h"
#include "source.h"

struct doctor_facts {
	struct permit permit;
	const struct target *target; /* may name nothing */
	pid_t pid;                   /* the first process of the target, 0 none */
};

#define DOCTOR_ADVICE 4
struct doctor_row {
	bool good;                       /* false: something is missing */
	char answer[64];                 /* "yes, user space only" */
	char why[256];                   /* "perf_event_paranoid is 2: kernel frames are hidden" */
	char advice[DOCTOR_ADVICE][256]; /* what to type, "" unused */
};

struct doctor_check {
	const char *name; /* "perf events"; NULL ends a list */
	/* Leave ret_row->answer empty to show no row. */
	void (*run)(const struct doctor_facts *facts, void *ctx, struct doctor_row *ret_row);
};

extern const struct doctor_check doctor_checks[]; /* this room's own */

/* The whole table as text, malloc'ed; NULL: no memory. @lists: NULL-terminated, in order. */
char *doctor_text(const struct target *target, const struct doctor_check *const *lists, void *ctx);

#endif
