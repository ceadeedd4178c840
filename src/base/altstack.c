/*
 * altstack: see altstack.h. The memory is the thread's own and goes with it.
 */
#include "base/altstack.h"

#include <signal.h>

#define BYTES 32768 /* a frame with every register of the CPU takes up to 12 KiB */

void altstack_use(void)
{
	static _Thread_local char memory[BYTES];
	stack_t now, mine = {.ss_sp = memory, .ss_size = sizeof memory};

	/* A sanitizer sets its own, and takes that away at the thread's end. */
	if (!sigaltstack(NULL, &now) && now.ss_flags & SS_DISABLE)
		sigaltstack(&mine, NULL);
}
