/*
 * spawn: starts the COMMAND of `-- COMMAND` stopped before its exec, and ends or outlives it
 * sensibly.
 *
 * A small shepherd process stands between: it is the command's parent, so that a tracing thread of
 * the profiler never competes with it for the exit status, and it ends the command when the
 * profiler dies, killed or not. Start it before any thread exists. All calls: one thread at a time.
 */
#ifndef ALTPTTOP_SPAWN_H
#define ALTPTTOP_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "err.h"

struct spawn;

enum spawn_output {
	SPAWN_PIPE,   /* ui: stdout and stderr into a pipe; no controlling terminal (setsid) */
	SPAWN_STDERR, /* batch: both to our standard error; the terminal's Ctrl-C reaches it too */
};

/*
 * Fork it: spawn_pid exists and waits, its life not begun. -ENOENT, -EACCES with a sentence when
 * there is no such program.
 */
int spawn_start(char **argv, enum spawn_output output, struct spawn **ret_spawn, struct err *err);

pid_t spawn_pid(const struct spawn *s);
int spawn_output_fd(const struct spawn *s); /* read end of its output; -1 for SPAWN_STDERR */

/* Let it exec. Returns once it did, or -errno with a sentence when exec failed (or was not reached
 * within 2 s). */
int spawn_release(struct spawn *s, struct err *err);

/* Has it ended? Never waits. *ret_status as from waitpid(2). */
bool spawn_ended(struct spawn *s, int *ret_status);

/*
 * Leave: what was not released never runs; what still runs gets SIGTERM (its whole session under
 * SPAWN_PIPE) and is not waited for. NULL is fine.
 */
void spawn_free(struct spawn *s);

/* "exit status 3", "killed by SIGSEGV" of a waitpid status. Static text or @buf. */
const char *spawn_status_text(int status, char *buf, size_t size);

#endif
