/* listing: --list-events and --list-sets: what can be counted here, a line each. Main thread. */
#ifndef ALTPTTOP_LISTING_H
#define ALTPTTOP_LISTING_H

#include <stdio.h>

/* "kind TAB name TAB description", those that match @glob (NULL: all). Exit status: 1 when
 * there is none. */
int list_events(FILE *out, const char *glob);
/* "name TAB ok or why not TAB description". Exit status. */
int list_sets(FILE *out);

#endif
