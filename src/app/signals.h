/*
 * signals: requests to leave.
 */
#ifndef ALTPTTOP_SIGNALS_H
#define ALTPTTOP_SIGNALS_H

#include <stdbool.h>

/*
 * Install the handlers. SIGINT, SIGTERM, SIGHUP and SIGQUIT become a pending request; SIGPIPE and
 * SIGXFSZ are ignored; SIGTSTP waits until the sampler holds nothing of the target. Before any
 * thread starts.
 */
void signals_init(void);

/* Between these two, threads are made that never run the handlers. */
void signals_block(void);
void signals_unblock(void);

/* While nothing is there yet that would have to be unmade: requests end the program at once. */
void signals_end_at_once(bool yes);

int signals_pending(void); /* the first request since the last clear, 0 none */
void signals_clear(void);
int signals_fd(void); /* readable while a request is pending */

#endif
