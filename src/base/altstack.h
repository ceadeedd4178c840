/*
 * altstack: where the calling thread's signal handlers run.
 *
 * A handler on the thread's own stack cannot run when that has overflowed: the process would be
 * gone without the terminal restored. Each thread calls this first. Any thread; no errors: without
 * it only that one crash is not told.
 */
#ifndef ALTPTTOP_ALTSTACK_H
#define ALTPTTOP_ALTSTACK_H

void altstack_use(void);

#endif
