/*
 * crash: when this program itself fails: a usable terminal and a report are left behind.
 */
#ifndef ALTPTTOP_CRASH_H
#define ALTPTTOP_CRASH_H

/*
 * Install the handlers and remember the terminal's settings. Before any thread starts, and before
 * the first guard_call (whose SIGBUS comes before ours).
 */
void crash_init(void);

#endif
