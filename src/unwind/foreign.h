/*
 * foreign: libunwind, for the rows that cannot be expressed here, and as an oracle in tests.
 *
 * Reads registers, the sampled stack and the modules' files through accessors of ours, with a bound
 * on how often, so that no expression can keep it busy. Only for the architecture that this program
 * is built for. Owned by the source thread.
 */
#ifndef ALTPTTOP_FOREIGN_H
#define ALTPTTOP_FOREIGN_H

#include "unwind/inner.h"

struct foreign;

struct foreign *foreign_new(struct unwinder *u, bool cache); /* @cache: libunwind's global cache */
void foreign_free(struct foreign *f);

/* One frame, from w->pc, sp, fp. CUT_NONE: done, as walk.c's steps. @ret_end: it was the root. */
enum cut_reason foreign_step(struct foreign *f, struct walk *w, bool *ret_end);

/* The run-time addresses of a whole stack by libunwind alone. Returns how many. @ret_end: libunwind
 * reached an end (it may be wrong about that). */
uint32_t foreign_chain(struct foreign *f, struct walk *w, uint64_t *ret_pcs, uint32_t max,
		       bool *ret_end);

#endif
