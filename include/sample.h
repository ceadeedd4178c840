/*
 * sample: one observation, raw as a source hands it over, and finished as the engine receives it.
 */
#ifndef ALTPTTOP_SAMPLE_H
#define ALTPTTOP_SAMPLE_H

#include <stddef.h>
#include <sys/types.h>

#include "event.h"
#include "frame.h"

enum arch { ARCH_X86_64, ARCH_AARCH64, ARCH_X86, ARCH_ARM, ARCH_OTHER };

/*
 * User registers, numbered as the kernel's PERF_REG_* of the architecture
 * (asm/perf_regs.h: x86 AX=0 BX=1 CX=2 DX=3 SI=4 DI=5 BP=6 SP=7 IP=8 … R8=16…R15=23;
 * arm64 X0=0 … X29=29 LR=30 SP=31 PC=32). mask has a bit for each valid r[i].
 */
#define SAMPLE_REGS 34
struct sample_regs {
	enum arch arch;
	uint64_t mask;
	uint64_t r[SAMPLE_REGS];
};

struct sample_value {
	uint16_t event; /* index in the profile's event list */
	uint8_t state;  /* enum value_state */
	uint64_t count; /* since the thread's previous reading of the same event */
	float running;  /* share of the time it was on the hardware, 0…1 */
};

enum sample_flag {
	SAMPLE_KERNEL = 1 << 0,  /* the CPU was in kernel mode */
	SAMPLE_BLOCKED = 1 << 1, /* wall clock: the thread was waiting */
	SAMPLE_EXACT = 1 << 2,   /* the ip has no skid (precise event) */
	SAMPLE_REPEATED =
		1 << 3, /* the thread did not run since its last sample: that stack still holds */
	SAMPLE_GUEST = 1 << 4,
	SAMPLE_STITCHED = 1 << 5,  /* finished samples: outer frames come from the thread's past */
	SAMPLE_ACCOUNTED = 1 << 6, /* recordings: what the kernel accounted and no sample met */
	SAMPLE_BEGINS =
		1 << 7, /* raw: a stack that weighs nothing yet; SAMPLE_REPEATED will tell */
	SAMPLE_TIMELESS = 1 << 8, /* recordings: nobody knows when; it is of every window */
	SAMPLE_DISTINCT =
		1 << 9, /* recordings: named frames of one module, no function of it twice */
};

/*
 * Raw observation: borrowed memory, good until the sink returns. Kernel and user parts of a
 * callchain come apart, innermost first, without PERF_CONTEXT_* markers. Exactly one of these
 * carries the user stack: (regs + stack) → CFI; (user chain) → frame pointers or LBR; (frames) →
 * already frame ids.
 */
struct raw_sample {
	uint64_t time_ns;
	pid_t pid, tid;
	uint32_t cpu;
	uint16_t event;
	uint16_t flags;   /* enum sample_flag */
	uint64_t weight;  /* EVENT_NS: nanoseconds it stands for; EVENT_COUNT: its period */
	uint64_t hits;    /* recordings: observations it stands for; 0 means 1 */
	double effective; /* recordings: as many of equal weight say as much, (Σw)²/Σw²; 0: hits;
			     below 1 where hits had to be rounded up */
	uint64_t ip;      /* as the event gave it; 0 unknown */
	const uint64_t *kernel; /* kernel chain, innermost first; [0] is ip when in kernel mode */
	const uint64_t *user;   /* user chain, innermost first */
	uint32_t nkernel, nuser;
	bool user_is_lbr; /* where the newest call went, then from where each call came */
	bool lbr_has_pc;  /* before these: where the thread is */
	const struct sample_regs *regs;
	const uint8_t *stack;   /* bytes from the user stack pointer upward */
	size_t stack_bytes;     /* bytes that hold data (dyn_size, not the asked size) */
	size_t stack_asked;     /* the asked dump size: a shorter dump reached the stack's end */
	const frame_id *frames; /* recordings with names: innermost first */
	uint32_t nframes;
	uint8_t cut; /* recordings with names: why they reach no root (enum cut_reason) */
	/*
	 * Recordings: not 0 and below STACKS_MAX: these frames are those of the last sample of that
	 * number, unless @renumbered. A sink may rely on it, or take no notice.
	 */
	uint32_t recurring;
	bool renumbered;
	const struct sample_value *values;
	uint32_t nvalues;
	uint8_t *ret_cut; /* NULL, or where the sink writes why the user stack ended (enum
			     cut_reason): a source that adapts its dumps asks for it */
};

#define STACKS_MAX (1u << 16) /* numbers for stacks that come again */

/* Finished observation, as it travels the ring to the engine: header, then values, then frames. */
struct sample {
	uint64_t time_ns;
	uint64_t weight;
	uint64_t hits;    /* observations it stands for, at least 1 */
	double effective; /* (Σw)²/Σw² of them, at most hits; 0: hits */
	task_id task;
	uint32_t cpu;
	uint16_t event;
	uint16_t flags;
	uint8_t cut; /* enum cut_reason; not CUT_NONE, CUT_NO_ROOT: frames end in FRAME_TRUNCATED */
	uint8_t nvalues;
	uint16_t nframes; /* innermost first */
	task_id process;  /* the task with tid 0 that stands for the whole process; 0 unknown */
	uint32_t
		stack; /* not 0: the number of these frames; with nframes 0, of the last so numbered
			*/
		       /* struct sample_value values[nvalues]; frame_id frames[nframes]; */
};

#endif
