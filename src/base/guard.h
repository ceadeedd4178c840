/*
 * guard: reading a mapped file that somebody may cut short meanwhile.
 *
 * Touching a page beyond the new end raises SIGBUS. guard_call runs @body; when the thread gets a
 * SIGBUS at an address in [start, start + bytes) the body is left at once and the call returns
 * -EFAULT. Guards nest. The body must not hold a lock, nor own memory that only it could free.
 * Any thread. A SIGBUS from anywhere else goes to the handler that was there before.
 */
#ifndef ALTPTTOP_GUARD_H
#define ALTPTTOP_GUARD_H

#include <signal.h>
#include <stddef.h>

int guard_call(const void *start, size_t bytes, void (*body)(void *ctx), void *ctx);

/* Put the handler in front of the one that is there now. The first guard_call does it by itself. */
void guard_install(void);

/*
 * sigaction(2) of SIGBUS behind the guards: what any other SIGBUS does from now on, and what it did
 * so far. The guards of other threads hold throughout.
 */
void guard_sigaction(const struct sigaction *sa, struct sigaction *ret_old);

/* memcpy out of such a mapping: 0 or -EFAULT (then @dst holds any mixture). */
int guard_copy(void *dst, const void *src, size_t bytes);

#endif
