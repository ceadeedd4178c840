/*
 * frame: ids of what a stack is made of, and why an unwind stopped.
 *
 * Ids index the append-only tables of tables.h, so plain integers cross threads. Id 0 means "none".
 */
#ifndef ALTPTTOP_FRAME_H
#define ALTPTTOP_FRAME_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t str_id;    /* interned text */
typedef uint32_t module_id; /* a program file, the kernel, a JIT region, … */
typedef uint32_t
	frame_id; /* (module, address, flags), or (module, name) for recordings with names only */
typedef uint32_t func_id; /* (module, start address of the function) */
typedef uint32_t loc_id;  /* a resolved list of source positions, innermost inlined first */
typedef uint32_t task_id; /* one life of one thread: a reused tid is another task */

/* Neighbours in a stack, between which tail calls may have left no frame. */
struct frame_pair {
	frame_id caller, callee;
};

enum module_kind {
	MODULE_FILE,    /* an ELF file mapped from disk or memfd */
	MODULE_VDSO,    /* [vdso] */
	MODULE_KERNEL,  /* the kernel image; addresses are run-time addresses as in kallsyms */
	MODULE_KMODULE, /* a kernel module; likewise run-time addresses */
	MODULE_BPF,     /* a BPF program (PERF_RECORD_KSYMBOL) */
	MODULE_JIT,     /* executable memory without a file: /tmp/perf-PID.map or jitdump */
	MODULE_NAMED,   /* from a recording that names modules but maps none */
	MODULE_SPECIAL, /* holds [truncated], [unsampled], [unknown], [overflow] */
};

enum frame_flag {
	FRAME_RETURN = 1 << 0,   /* addr is a return address: look up addr - 1 */
	FRAME_KERNEL = 1 << 1,   /* kernel or hypervisor mode */
	FRAME_NAMED = 1 << 2,    /* name/file/line come from the recording, addr may be 0 */
	FRAME_OFFSET = 1 << 3,   /* addr is a file offset: the ELF segments could not be read */
	FRAME_GUESS = 1 << 4,    /* found by a frame-pointer guess in code without CFI */
	FRAME_STITCHED = 1 << 5, /* completed from the thread's past or from memory, not in this
				    sample's dump */
	FRAME_TAILCALL = 1 << 6, /* told by DWARF call sites only: uncertain */
	FRAME_INLINED =
		1 << 7, /* recordings only: the recording itself says this frame is inlined */
};

/* Frames that every table holds from the start (module MODULE_SPECIAL). */
enum special_frame {
	FRAME_NONE = 0,
	FRAME_TRUNCATED = 1, /* outermost frame of every stack that did not reach a root */
	FRAME_UNSAMPLED = 2, /* CPU time the kernel accounts that no sample covered */
	FRAME_UNKNOWN = 3,   /* an address in no mapping */
	FRAME_OVERFLOW = 4,  /* stacks that came after the profile's memory cap was reached */
	FRAME_SPECIAL_COUNT
};

/* Why a user stack ended. Counted per reason; everything after CUT_NONE hangs under [truncated],
 * save what a recording names itself. */
enum cut_reason {
	CUT_NONE, /* a root was reached: undefined return address, entry point, clone, runtime root
		   */
	CUT_DUMP_END,  /* the CFA lies beyond the stack bytes that were taken */
	CUT_NO_CFI,    /* no unwind row and the frame-pointer guess failed */
	CUT_NO_MODULE, /* the address lies in no mapping or in one that cannot be read */
	CUT_BAD_CFA,   /* the CFA did not grow, or a return address makes no sense */
	CUT_LOOP,      /* more than the maximum number of frames */
	CUT_NO_REGS,   /* the kernel gave no user registers or no stack */
	CUT_FP_CHAIN,  /* a frame-pointer chain ended before a root */
	CUT_LIMIT,     /* --max-stack, or the kernel's perf_event_max_stack */
	CUT_LBR,       /* the outer calls are not in the hardware's call stack (any more) */
	CUT_NO_ROOT, /* a recording of names: its outermost frame is none that stacks begin with */
	CUT_REASONS
};

const char *cut_reason_name(enum cut_reason reason); /* short text, static; src/base/tables.c */

#endif
