/*
 * code: what a few instruction bytes tell where call frame information says nothing.
 *
 * x86-64 and aarch64. Bytes are those of the file, to be passed while guarded.
 */
#ifndef ALTPTTOP_CODE_H
#define ALTPTTOP_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "unwind/row.h"

/* Do these bytes return from a signal handler (rt_sigreturn)? */
bool code_is_sigreturn(enum arch arch, const uint8_t *at, size_t size);

/* Do these bytes end the thread by the exit system call itself? The function that does so has no
 * caller: C libraries' thread starts, __clone of musl. */
bool code_exits_thread(enum arch arch, const uint8_t *at, size_t size);

/* Do these bytes, a function's up to some instruction, leave sp on another stack? True when they
 * load it an odd number of times: the second load leads back. */
bool code_left_stack(enum arch arch, const uint8_t *at, size_t size);

/*
 * A row for the sampled instruction @code[@at] in code without CFI, when the code shows that no
 * frame was made yet, or any more, or ever. @code: all of the module's that is at hand, of which
 * little is looked at. False: there is a frame, or it cannot be told.
 */
bool code_guess_row(enum arch arch, const uint8_t *code, size_t size, size_t at,
		    struct row *ret_row);

/* The same for where a call in such code returns to; x86-64 only (flow.h). */
bool code_guess_caller(enum arch arch, const uint8_t *code, size_t size, size_t at,
		       struct row *ret_row);

#endif
