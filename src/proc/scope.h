/*
 * scope: the processes that -a, -G CGROUP or -u USER mean, at this moment.
 *
 * Owned by the source thread. This program itself is never among them.
 */
#ifndef ALTPTTOP_SCOPE_H
#define ALTPTTOP_SCOPE_H

#include "err.h"
#include "source.h"

struct scope;

/* Does the target name such a set, to which processes may come any time? */
bool scope_wanted(const struct target *target);

/* -ENOENT with a sentence when there is no such cgroup; NULL then. */
struct scope *scope_new(const struct target *target, struct err *err);
void scope_free(struct scope *s);

/* Their pids, sorted, malloc'ed; 0 or -errno. */
int scope_list(struct scope *s, pid_t **ret_pids, size_t *ret_n);

/* Directory of a cgroup by its name (or path below a mount point), in the hierarchy that perf
 * events use if there, else in any. 0 or -ENOENT. */
int scope_cgroup_dir(const char *name, char *buf, size_t size, struct err *err);

#endif
