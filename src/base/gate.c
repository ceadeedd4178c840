/*
 * gate: one flag for "closed", one for "inside".
 *
 * Whoever enters says so first and looks at the gate then; whoever closes does the reverse; so one
 * of the two sees the other (both are sequentially consistent). Waiting polls every millisecond: it
 * is rare, and poll may be called in a signal handler.
 */
#include "base/gate.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_bool closed, inside;

static void nap(void)
{
	int saved = errno;

	poll(NULL, 0, 1);
	errno = saved;
}

void gate_enter(void)
{
	for (;;) {
		while (closed)
			nap();
		inside = true;
		if (!closed)
			return;
		inside = false;
	}
}

void gate_leave(void)
{
	inside = false;
}

bool gate_closed(void)
{
	return closed;
}

bool gate_close(int timeout_ms)
{
	closed = true;
	for (; inside && timeout_ms > 0; timeout_ms--)
		nap();
	return !inside;
}

void gate_open(void)
{
	closed = false;
}
