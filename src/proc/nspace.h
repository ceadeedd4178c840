/*
 * nspace: where a process lives: its number inside its own pid namespace, its container or cgroup.
 *
 * Any thread. Reads /proc/PID/status and /proc/PID/cgroup.
 */
#ifndef ALTPTTOP_NSPACE_H
#define ALTPTTOP_NSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The number @pid has for itself (innermost namespace): /tmp/perf-N.map is named by it. @pid itself
 * when unknown. */
pid_t nspace_pid(pid_t pid);

/* Does it see other files than we do? (another mount namespace or root directory) */
bool nspace_other_files(pid_t pid);

/*
 * The header's "where": "docker 3f2a9c…", "pod 1c2d…", "lxc web", "mysql.service", or a cgroup's
 * last component. "" for the root cgroup or a plain login session.
 */
void nspace_where(pid_t pid, char *buf, size_t size);
/* The same for the text of a /proc/PID/cgroup file. */
void nspace_where_text(const char *text, char *buf, size_t size);

#endif
