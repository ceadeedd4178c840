/*
 * stacks: real samples of a running process, with registers and whole stacks, for comparing
 * unwinders on the very same input.
 */
#ifndef ALTPTTOP_BENCH_STACKS_H
#define ALTPTTOP_BENCH_STACKS_H

#include "proc/space.h"

#define RED_ZONE 128
#define FP_MAX   256

/* Places in sample_regs.r */
#ifdef __x86_64__
#define STACKS_FP 6
#define STACKS_SP 7
#define STACKS_PC 8
#else
#define STACKS_FP 29
#define STACKS_SP 31
#define STACKS_PC 32
#endif

struct stack_sample {
	pid_t tid;
	struct sample_regs regs;
	uint8_t *bytes; /* from sp to the stack's end, or to the cap */
	size_t size;
	uint8_t *below; /* the RED_ZONE bytes below sp: a dump lacks them, oracles want them */
	/* Return addresses along the frame pointers, read from the process itself: onto other
	 * stacks too. */
	uint64_t *fp_chain;
	uint32_t fp_n;
	size_t space; /* index of the maps it belongs to */
};

struct stacks {
	pid_t pid;
	struct stack_sample *samples;
	size_t n;
	struct space **spaces;
	size_t nspaces;
};

/* Told of each sample while its thread is still stopped there; may step it on. */
struct stacks_hook {
	void (*on_sample)(void *ctx, const struct stack_sample *s);
	void *ctx;
};

/*
 * Stop running threads of @pid about @hz times a second until there are @n samples or it exits.
 * Stacks above @cap bytes are cut. The process is left stopped and traced (so that its files can be
 * read), to be ended by stacks_end. @hook may be NULL. Returns 0 or -errno.
 */
int stacks_take(struct stacks *s, struct tables *tables, pid_t pid, size_t n, unsigned hz,
		size_t cap, const struct stacks_hook *hook);
void stacks_end(struct stacks *s); /* detaches and frees */

#endif
