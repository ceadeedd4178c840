/*
 * signals: requests to leave, and leaving a usable terminal behind after a crash.
 */
#ifndef ALTPTTOP_SIGNALS_H
#define ALTPTTOP_SIGNALS_H

/*
 * Install the handlers. SIGINT, SIGTERM, SIGHUP and SIGQUIT become a pending request; SIGPIPE is
 * ignored; after a crash the terminal gets its old settings back, then the signal takes its
 * ordinary course. Before any thread starts, and before the first guard_call.
 */
void signals_init(void);

/* Between these two, threads are made that never run the handlers. */
void signals_block(void);
void signals_unblock(void);

int signals_pending(void); /* the first request since the last clear, 0 none */
void signals_clear(void);
int signals_fd(void); /* readable while a request is pending */

/* In a child before exec: everything as a shell would start it. */
void signals_child(void);

#endif
