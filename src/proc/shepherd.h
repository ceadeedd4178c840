/*
 * shepherd: the process between the profiler and a started command. Private to spawn.c.
 */
#ifndef ALTPTTOP_SHEPHERD_H
#define ALTPTTOP_SHEPHERD_H

#include <stdnoreturn.h>

/* Read ends are [0], write ends [1]; output is -1 when the command writes to our standard error. */
struct shepherd_pipes {
	int go[2], exec[2], control[2], status[2], output[2];
};

/*
 * Body of the shepherd, in a process of its own: forks the command, writes its pid (or -errno) to
 * status, ends it when control has ended, writes its waitpid status when it ended, exits.
 */
noreturn void shepherd_main(struct shepherd_pipes *p, char **argv, const char *name);

#endif
