/*
 * output: what a started command wrote, the newest part of it, by lines.
 *
 * Bounded in bytes: the oldest lines go first and are counted. Control characters are replaced,
 * escape sequences left out, so that a screen may draw the text as it is. Engine thread.
 */
#ifndef ALTPTTOP_OUTPUT_H
#define ALTPTTOP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTPUT_BYTES (256u << 10)
#define OUTPUT_LINE  4096 /* longer lines are broken */

struct output {
	char *text; /* lines, each ended by NUL */
	size_t used;
	uint64_t dropped; /* lines that are gone */
	size_t partial;   /* bytes of the last line, which has no end yet */
	int escape;       /* inside an escape sequence: they are left out */
	bool over;        /* what comes is written over the last line */
	bool closed;
};

int output_init(struct output *o); /* -ENOMEM */
void output_fini(struct output *o);
/* Read what @fd (non-blocking) has; false: it was closed at the other end. */
bool output_read(struct output *o, int fd);
void output_add(struct output *o, const char *data, size_t n);

#endif
