/*
 * usage: CPU time by task over a window, as the kernel accounted it. Engine thread.
 */
#ifndef ALTPTTOP_USAGE_H
#define ALTPTTOP_USAGE_H

#include "base/hash.h"
#include "base/vec.h"
#include "profile/profile.h"

struct usage {
	task_id task;
	uint64_t cpu_ns, user_ns, system_ns, ready_ns, runs;
	uint64_t span_ns; /* between the readings that cpu_ns compares */
};

struct usages {
	VEC(struct usage)
	struct map64 by_task;
};
void usages_fini(struct usages *u); /* a zeroed struct is empty */
int usages_gather(struct usages *u, const struct profile *p, const struct window *w); /* -ENOMEM */
const struct usage *usages_find(const struct usages *u, task_id task); /* NULL: no account */

/*
 * Shares of wall time (1.0 = one CPU) of @task in the window. Readings come about once a
 * second and cover the time before them: divides by what they cover, not by the window, where the
 * two differ. False: no account of it.
 */
struct usage_shares {
	double cpu, user, system;
	double ready; /* waiting for a CPU; < 0 unknown */
};
bool usage_shares(const struct usages *u, const struct profile *p, const struct window *w,
		  task_id task, struct usage_shares *ret_shares);

/* Share of the window that a thread waited, of which looks met @blocked_ns. @s NULL: no account. */
double usage_waiting(const struct window *w, uint64_t blocked_ns, const struct usage_shares *s);

#endif
