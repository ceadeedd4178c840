/*
 * unwind_bed: a made ELF file mapped into a made space, a stack to write on, and checks of what
 * came out.
 */
#ifndef ALTPTTOP_UNWIND_BED_H
#define ALTPTTOP_UNWIND_BED_H

#include <sys/types.h>

#include "elf_maker.h"
#include "proc/space.h"
#include "unwind/unwind.h"

#define BASE  0x555500000000ull /* run-time address of the text's first page */
#define STACK 0x7ffd00001000ull /* sp of the sample */

/* Run-time address of an address in the file. */
#define AT(vaddr) (BASE + (vaddr)-MADE_TEXT)

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8 }; /* DWARF */
enum { P_AX, P_BX, P_CX, P_DX, P_SI, P_DI, P_BP, P_SP, P_IP, P_R8 = 16, P_R10 = 18, P_R12 = 20 };

struct bed {
	struct tables *tables;
	struct unwinder *u;
	struct space *space;
	struct raw_sample s;
	struct sample_regs regs;
	uint64_t stack[256];
	frame_id frames[600];
	struct unwind_result r;
	char path[64];
};

void bed_open(struct bed *b, const struct made_elf *e, const struct unwind_config *config);
void bed_close(struct bed *b);
void unwind(struct bed *b); /* b->s, as task 1, into b->frames and b->r */

/* Frame @n is at this address in the file, with these flags. */
void expect_frame(const struct bed *b, uint32_t n, uint64_t vaddr, uint32_t flags);
/* There are @n frames, and [truncated] behind them when the stack was cut. */
void expect_end(const struct bed *b, uint32_t n, enum cut_reason cut);

/* The functions of most tests: at MADE_TEXT + 0x100 each. */
#define LEAF   (MADE_TEXT + 0x100) /* CFA = rsp + 8 throughout */
#define MIDDLE (MADE_TEXT + 0x200) /* after 4: CFA = rsp + 32, rbx at CFA - 16 */
#define FRAMED \
	(MADE_TEXT + 0x300) /* push rbp; mov rsp,rbp; …; at 0x20 an epilogue, rbp's rule stale */
#define ROOT    (MADE_TEXT + 0x400) /* rip undefined */
#define DRAP    (MADE_TEXT + 0x500) /* realigned stack */
#define SIGNAL  (MADE_TEXT + 0x600) /* rsp at *(rsp + 16), rip at rsp + 24, rbx at rsp + 32 */
#define BY_RBX  (MADE_TEXT + 0x700) /* CFA = rbx + 16 */
#define PLT     (MADE_TEXT + 0x800)
#define VALUE   (MADE_TEXT + 0x900) /* rbp is CFA - 40, by val_expression; rip by register rdx */
#define LOOPS   (MADE_TEXT + 0xa00) /* an expression that never ends */
#define NOTHING (MADE_TEXT + 0xf00)

extern const struct made_fde x86_fdes[];
extern const struct made_elf x86;

#endif
