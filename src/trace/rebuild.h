/*
 * rebuild: call stacks from a stream of instructions or branches, by the class of the previous
 * instruction.
 *
 * The rules are those of doc/trace.md: call and syscall push; return pops to the caller and pushes
 * it when it is not on the stack (trampoline); a conditional jump to a function on the stack pops
 * to it, else pushes; a jump to a function on the stack pops to it, else it is a tail call and
 * replaces the top; running into a function at its first byte enters it; what makes no sense clears
 * the stack and counts a repair.
 */
#ifndef ALTPTTOP_REBUILD_H
#define ALTPTTOP_REBUILD_H

#include "trace.h"

struct rebuild;

struct rebuild_ops {
	/* @func was put on top of @thread's stack, which now has @depth frames. */
	int (*enter)(void *ctx, uint32_t thread, uint32_t func, uint32_t depth);
	/* The top, @func, leaves; @depth frames stay. */
	int (*leave)(void *ctx, uint32_t thread, uint32_t func, uint32_t depth);
};

struct rebuild *rebuild_new(const struct rebuild_ops *ops, void *ctx);
void rebuild_free(struct rebuild *r);

/* Bring @thread's stack to what it is at instruction @i of function @func (a dense index). 0 or
 * -errno. */
int rebuild_step(struct rebuild *r, const struct trace_insn *i, uint32_t func);
/* All stacks become empty, leave is told for each frame. */
int rebuild_finish(struct rebuild *r);

/* Functions on @thread's stack, outermost first. */
uint32_t rebuild_stack(const struct rebuild *r, uint32_t thread, const uint32_t **ret_funcs);
uint64_t rebuild_repairs(const struct rebuild *r);

#endif
