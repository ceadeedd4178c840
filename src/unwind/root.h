/*
 * root: where stacks begin, when no call frame information says so.
 */
#ifndef ALTPTTOP_ROOT_H
#define ALTPTTOP_ROOT_H

#include "unwind/inner.h"

/*
 * Is a stack whose outermost known frame is this one whole? True in the functions that C libraries
 * and runtimes start programs and threads with, by name. A @chain of frame pointers ends one or two
 * frames early where the C library keeps none: for it also in any function that ends its thread by
 * the exit system call itself (glibc's __libc_start_call_main and start_thread, which have no name
 * in a stripped library).
 */
bool root_is(struct unwinder *u, frame_id frame, bool chain);

#endif
