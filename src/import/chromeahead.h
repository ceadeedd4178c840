/*
 * chromeahead: parses a chunk of a Chrome trace before it is known what comes before it.
 *
 * A place is looked for that is most often the end of an event, and the bytes are parsed from there
 * as if it were. Several threads do so with different chunks; chromeparse.c tells, in order, what
 * holds. Gives up at all that is out of the ordinary. Own thread.
 */
#ifndef ALTPTTOP_CHROMEAHEAD_H
#define ALTPTTOP_CHROMEAHEAD_H

#include "import/chromeparse.h"

struct chrome_ahead;

struct chrome_ahead *chrome_ahead_new(void); /* NULL: no memory */
void chrome_ahead_free(struct chrome_ahead *a);

/* Fill in c->ahead… from its @c->n new bytes. */
void chrome_ahead_run(struct chrome_ahead *a, struct chrome_chunk *c);

#endif
