/*
 * launch: one session from options to exit status.
 */
#ifndef ALTPTTOP_LAUNCH_H
#define ALTPTTOP_LAUNCH_H

#include "options.h"

/*
 * Watch what @o says, with a screen or in batch, and leave no thread, no child and no changed
 * terminal behind. Exit status. May end the process itself when a thread does not end in time.
 */
int session_run(struct options *o, bool batch);

/* --doctor. Exit status. */
int session_doctor(struct options *o);

#endif
