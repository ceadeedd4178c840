/* unwind: literal registers, stack bytes and call frame information, and the frames they must give.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwind_bed.h"

static void sp_based_chain(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.regs.r[P_IP] = AT(LEAF + 0x10);
	b.stack[0] = AT(MIDDLE + 0x20);
	b.stack[4] = AT(ROOT + 0x30); /* MIDDLE's frame is 32 bytes with the return address */
	unwind(&b);
	expect_frame(&b, 0, LEAF + 0x10, 0);
	expect_frame(&b, 1, MIDDLE + 0x20, FRAME_RETURN);
	expect_frame(&b, 2, ROOT + 0x30, FRAME_RETURN);
	expect_end(&b, 3, CUT_NONE);
	bed_close(&b);
}

/* A return address at a function's first byte belongs to the call before it. */
static void return_address_is_looked_up_one_before(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.regs.r[P_IP] = AT(LEAF);
	b.stack[0] = AT(MIDDLE + 4);  /* the row of 3: CFA = rsp + 8 still */
	b.stack[1] = AT(ROOT + 0x80); /* behind ROOT's last byte */
	unwind(&b);
	expect_frame(&b, 1, MIDDLE + 4, FRAME_RETURN);
	expect_frame(&b, 2, ROOT + 0x80, FRAME_RETURN);
	expect_end(&b, 3, CUT_NONE);
	b.regs.r[P_IP] = AT(MIDDLE + 4); /* sampled there, the row of 4 holds */
	b.stack[3] = AT(ROOT + 1);
	unwind(&b);
	expect_frame(&b, 0, MIDDLE + 4, 0);
	expect_frame(&b, 1, ROOT + 1, FRAME_RETURN);
	expect_end(&b, 2, CUT_NONE);
	bed_close(&b);
}

static void fp_based_chain(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.regs.r[P_IP] = AT(FRAMED + 0x10);
	b.regs.r[P_BP] = STACK + 64;
	b.stack[8] = STACK + 256;       /* caller's rbp */
	b.stack[9] = AT(FRAMED + 0x12); /* … which is FRAMED again */
	b.stack[33] = AT(ROOT + 5);
	unwind(&b);
	expect_frame(&b, 1, FRAMED + 0x12, FRAME_RETURN);
	expect_frame(&b, 2, ROOT + 5, FRAME_RETURN);
	expect_end(&b, 3, CUT_NONE);
	bed_close(&b);
}

/* After the pop, "rbp at CFA - 16" still stands, but that slot lies below sp: rbp is rbp. */
static void stale_fp_rule(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.regs.r[P_IP] = AT(FRAMED + 0x20);
	b.regs.r[P_BP] = STACK + 128;
	b.stack[0] = AT(FRAMED + 0x10); /* the caller finds its frame by rbp */
	b.stack[16] = 0;
	b.stack[17] = AT(ROOT + 5);
	unwind(&b);
	expect_frame(&b, 0, FRAMED + 0x20, 0);
	expect_frame(&b, 1, FRAMED + 0x10, FRAME_RETURN);
	expect_frame(&b, 2, ROOT + 5, FRAME_RETURN);
	expect_end(&b, 3, CUT_NONE);
	bed_close(&b);
}

static void realigned_stack(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.regs.r[P_IP] = AT(DRAP + 0x20);
	b.regs.r[P_BP] = STACK + 64;
	b.stack[7] = STACK + 96;  /* at rbp - 8: the CFA */
	b.stack[8] = STACK + 160; /* at rbp: the caller's rbp */
	b.stack[11] = AT(FRAMED + 0x10);
	b.stack[21] = AT(ROOT + 5);
	unwind(&b);
	expect_frame(&b, 1, FRAMED + 0x10, FRAME_RETURN);
	expect_frame(&b, 2, ROOT + 5, FRAME_RETURN);
	expect_end(&b, 3, CUT_NONE);
	bed_close(&b);
}

/* The frame below a handler's return was interrupted: its pc is exact, and it may sit anywhere. */
static void signal_frame(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.regs.r[P_IP] = AT(LEAF + 1);
	b.stack[0] = AT(SIGNAL + 0x20);
	/* rsp in the signal frame is STACK + 8 */
	b.stack[3] = STACK + 400;       /* *(rsp + 16): interrupted rsp */
	b.stack[4] = AT(MIDDLE + 4);    /* rsp + 24: interrupted pc, MIDDLE's frame just made */
	b.stack[50 + 3] = AT(ROOT + 1); /* CFA = rsp + 32 */
	unwind(&b);
	expect_frame(&b, 1, SIGNAL + 0x20, 0); /* nobody called it: named by itself */
	expect_frame(&b, 2, MIDDLE + 4, 0);
	expect_frame(&b, 3, ROOT + 1, FRAME_RETURN);
	expect_end(&b, 4, CUT_NONE);
	bed_close(&b);
}

/* A register that only an older frame saved is found there. */
static void saved_register_of_an_older_frame(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.regs.r[P_IP] = AT(MIDDLE + 0x20);
	b.regs.r[P_BX] = 1;
	b.stack[2] = STACK + 200; /* MIDDLE saved rbx at CFA - 16 */
	b.stack[3] = AT(LEAF + 0x20);
	b.stack[4] = AT(BY_RBX + 0x20);
	b.stack[26] = AT(ROOT + 1); /* CFA = rbx + 16 = STACK + 216 */
	unwind(&b);
	expect_frame(&b, 1, LEAF + 0x20, FRAME_RETURN);
	expect_frame(&b, 2, BY_RBX + 0x20, FRAME_RETURN);
	expect_frame(&b, 3, ROOT + 1, FRAME_RETURN);
	expect_end(&b, 4, CUT_NONE);
	bed_close(&b);
}

static void plt_entry(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.stack[0] = AT(ROOT + 1); /* before the push */
	b.stack[1] = AT(LEAF + 1); /* behind it */
	b.stack[2] = AT(ROOT + 2);
	b.regs.r[P_IP] = AT(PLT + 0x26);
	unwind(&b);
	expect_frame(&b, 1, ROOT + 1, FRAME_RETURN);
	b.regs.r[P_IP] = AT(PLT + 0x2b);
	unwind(&b);
	expect_frame(&b, 1, LEAF + 1, FRAME_RETURN);
	expect_frame(&b, 2, ROOT + 2, FRAME_RETURN);
	bed_close(&b);
}

static void value_expression_and_register_rule(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.regs.r[P_IP] = AT(VALUE + 0x20);
	b.regs.r[P_DX] = AT(FRAMED + 0x10); /* the return address is in rdx */
	/* CFA = STACK + 8, so rbp is STACK - 32, and FRAMED's return address would be below sp … */
	unwind(&b);
	expect_frame(&b, 1, FRAMED + 0x10, FRAME_RETURN);
	expect_end(&b, 2, CUT_BAD_CFA);
	bed_close(&b);
}

static void endless_expression(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.regs.r[P_IP] = AT(LOOPS + 0x20);
	unwind(&b);
	expect_frame(&b, 0, LOOPS + 0x20, 0);
	expect_end(&b, 1, CUT_BAD_CFA);
	bed_close(&b);
}

static void every_way_to_the_cfi(void **state)
{
	struct made_elf ways[4] = {x86, x86, x86, x86};
	(void)state;
	ways[0].no_sections = true;
	ways[1].no_header = true;
	ways[2].no_table = true;
	ways[3].debug_frame = true;
	for (int k = 0; k < 4; k++) {
		struct bed b;
		bed_open(&b, &ways[k], NULL);
		b.regs.r[P_IP] = AT(LEAF + 0x10);
		b.stack[0] = AT(MIDDLE + 0x20);
		b.stack[4] = AT(ROOT + 0x30);
		unwind(&b);
		expect_frame(&b, 1, MIDDLE + 0x20, FRAME_RETURN);
		expect_end(&b, 3, CUT_NONE);
		bed_close(&b);
	}
}

static void guess_without_cfi(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.regs.r[P_IP] = AT(NOTHING);
	b.regs.r[P_BP] = STACK + 32;
	b.stack[4] = STACK + 128;
	b.stack[5] = AT(FRAMED + 0x10);
	b.stack[17] = AT(ROOT + 1);
	unwind(&b);
	expect_frame(&b, 0, NOTHING, 0);
	expect_frame(&b, 1, FRAMED + 0x10, FRAME_RETURN | FRAME_GUESS);
	expect_frame(&b, 2, ROOT + 1, FRAME_RETURN);
	expect_end(&b, 3, CUT_NONE);
	b.stack[5] = 0x1234; /* no code there */
	unwind(&b);
	expect_end(&b, 1, CUT_NO_CFI);
	b.regs.r[P_BP] = STACK + sizeof b.stack + 64; /* the record lies beyond the dump */
	unwind(&b);
	expect_end(&b, 1, CUT_DUMP_END);
	bed_close(&b);
}

/* In code without CFI, instructions tell whether the frame was made. */
static void guess_by_instruction(void **state)
{
	struct made_elf e = x86;
	struct bed b;
	(void)state;
	e.code = "\x55\x48\x89\xe5\x90\x90\xc3";
	e.code_bytes = 7;
	e.code_at = NOTHING;
	bed_open(&b, &e, NULL);
	b.regs.r[P_BP] = STACK + 80; /* the caller's */
	b.stack[0] = AT(FRAMED + 0x10);
	b.stack[10] = 0;
	b.stack[11] = AT(ROOT + 1);
	b.regs.r[P_IP] = AT(NOTHING); /* push %rbp not done */
	unwind(&b);
	expect_frame(&b, 1, FRAMED + 0x10, FRAME_RETURN | FRAME_GUESS);
	expect_frame(&b, 2, ROOT + 1, FRAME_RETURN);
	expect_end(&b, 3, CUT_NONE);
	b.regs.r[P_IP] = AT(NOTHING + 6); /* ret */
	unwind(&b);
	expect_frame(&b, 1, FRAMED + 0x10, FRAME_RETURN | FRAME_GUESS);
	expect_end(&b, 3, CUT_NONE);
	b.regs.r[P_IP] = AT(NOTHING + 1); /* pushed, not yet moved */
	b.stack[0] = STACK + 80;
	b.stack[1] = AT(FRAMED + 0x10);
	unwind(&b);
	expect_frame(&b, 1, FRAMED + 0x10, FRAME_RETURN | FRAME_GUESS);
	expect_end(&b, 3, CUT_NONE);
	b.regs.r[P_IP] = AT(NOTHING + 6); /* what looks like a return, and no code is on top */
	b.stack[0] = 0x1234;
	unwind(&b);
	expect_frame(&b, 1, ROOT + 1, FRAME_RETURN | FRAME_GUESS);
	expect_end(&b, 2, CUT_NONE);
	bed_close(&b);
}

static void cut_reasons(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.regs.r[P_IP] = AT(MIDDLE + 0x20);
	b.s.stack_bytes = 24; /* the return address at 24 is not in it */
	b.s.stack_asked = 24;
	unwind(&b);
	expect_end(&b, 1, CUT_DUMP_END);
	b.s.stack_asked = 8192; /* the dump reached the stack's end: the CFA is wrong */
	unwind(&b);
	expect_end(&b, 1, CUT_BAD_CFA);
	b.s.stack_bytes = sizeof b.stack;
	b.stack[3] = 0x10; /* no module there */
	unwind(&b);
	expect_end(&b, 1, CUT_NO_MODULE);
	b.regs.r[P_IP] = 0x10;
	unwind(&b);
	expect_end(&b, 1, CUT_NO_MODULE);
	assert_int_equal(b.frames[0], FRAME_UNKNOWN);
	b.regs.mask &= ~(uint64_t)(1 << P_SP);
	unwind(&b);
	expect_end(&b, 0, CUT_NO_REGS);
	b.regs.mask |= 1 << P_SP;
	b.s.stack_bytes = 0;
	b.s.ip = AT(LEAF);
	unwind(&b);
	expect_frame(&b, 0, LEAF, 0);
	expect_end(&b, 1, CUT_NO_REGS);
	bed_close(&b);
}

static void limits(void **state)
{
	struct unwind_config three = {.max_frames = 3};
	struct bed b;
	(void)state;
	bed_open(&b, &x86, &three);
	for (int k = 0; k < 256; k++)
		b.stack[k] = AT(LEAF + 2);
	b.regs.r[P_IP] = AT(LEAF + 1);
	unwind(&b);
	expect_end(&b, 3, CUT_LIMIT);
	bed_close(&b);
	bed_open(&b, &x86, NULL);
	for (int k = 0; k < 256; k++)
		b.stack[k] = AT(LEAF + 2);
	b.regs.r[P_IP] = AT(LEAF + 1);
	unwinder_stack(b.u, b.space, 1, &b.s, b.frames, 600, &b.r);
	expect_end(&b, 257, CUT_DUMP_END);
	bed_close(&b);
}

#define A_LEAF   (MADE_TEXT + 0x100) /* CFA = sp, return address in x30 */
#define A_FRAMED (MADE_TEXT + 0x200) /* CFA = sp + 32, x29 at CFA - 32, x30 at CFA - 24 */
#define A_ROOT   (MADE_TEXT + 0x300)
#define A_SIGNED (MADE_TEXT + 0x400) /* paciasp, then as A_FRAMED */
#define A_SIGRET (MADE_TEXT + 0x500)

static const struct made_fde arm_fdes[] = {
	FDE(A_LEAF, 0x80, ""),
	FDE(A_FRAMED, 0x80, "\x44\x0e\x20\x9d\x04\x9e\x03"),
	FDE(A_ROOT, 0x80, "\x07\x1e"),
	FDE(A_SIGNED, 0x80, "\x44\x2d\x44\x0e\x20\x9d\x04\x9e\x03"),
};
static const struct made_elf arm = {.machine = EM_AARCH64,
				    .fdes = arm_fdes,
				    .nfdes = 4,
				    .code = "\x68\x11\x80\xd2\x01\0\0\xd4",
				    .code_bytes = 8,
				    .code_at = A_SIGRET};

static void aarch64_leaf_and_signed_address(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &arm, NULL);
	b.regs.r[32] = AT(A_LEAF + 8);
	b.regs.r[30] = AT(A_FRAMED + 0x10);
	b.stack[1] = AT(A_SIGNED + 0x10) | 0x9a2b000000000000; /* x30 of A_FRAMED, signed */
	b.stack[5] = AT(A_ROOT + 4) | 0x0037000000000000;
	unwind(&b);
	expect_frame(&b, 0, A_LEAF + 8, 0);
	expect_frame(&b, 1, A_FRAMED + 0x10, FRAME_RETURN);
	expect_frame(&b, 2, A_SIGNED + 0x10, FRAME_RETURN);
	expect_frame(&b, 3, A_ROOT + 4, FRAME_RETURN);
	expect_end(&b, 4, CUT_NONE);
	/* Only the running frame may have its return address in x30: else it would loop. */
	b.stack[1] = AT(A_LEAF + 8);
	unwind(&b);
	expect_end(&b, 3, CUT_BAD_CFA);
	bed_close(&b);
}

static void aarch64_signal_return(void **state)
{
	struct bed b;
	(void)state;
	bed_open(&b, &arm, NULL);
	b.regs.r[32] = AT(A_LEAF + 8);
	b.regs.r[30] = AT(A_SIGRET);
	/* rt_sigframe at sp: x0 at 312, so x29 at 312 + 232, x30, sp, pc behind it */
	b.stack[39 + 30] = AT(A_ROOT + 4);
	b.stack[39 + 31] = STACK + 1024;
	b.stack[39 + 32] = AT(A_LEAF);
	unwind(&b);
	expect_frame(&b, 1, A_SIGRET, 0);
	expect_frame(&b, 2, A_LEAF, 0); /* interrupted: a leaf again, x30 from the signal frame */
	expect_frame(&b, 3, A_ROOT + 4, FRAME_RETURN);
	expect_end(&b, 4, CUT_NONE);
	bed_close(&b);
}

/* In a recording of another machine: its vDSO's code is not at hand. */
static void aarch64_signal_return_unseen(void **state)
{
	const struct raw_mmap vdso = {.pid = 1,
				      .start = 0x7fff00000000,
				      .size = 0x1000,
				      .prot = PROT_READ | PROT_EXEC,
				      .path = "[vdso]"};
	struct bed b;
	(void)state;
	bed_open(&b, &arm, NULL);
	assert_int_equal(space_add(b.space, &vdso), 0);
	b.regs.r[32] = AT(A_LEAF + 8);
	b.regs.r[30] = vdso.start + 0x7bc;
	b.regs.r[29] = STACK + 800;
	b.stack[39 + 29] = b.stack[100] = STACK + 1200; /* saved, and in the record */
	b.stack[39 + 30] = b.stack[101] = AT(A_ROOT + 4);
	b.stack[39 + 31] = STACK + 1024;
	b.stack[39 + 32] = AT(A_LEAF);
	unwind(&b);
	const struct frame *f = tables_frame_get(b.tables, b.frames[1]);
	assert_int_equal(f->addr, 0x7bc);
	assert_int_equal(f->flags, FRAME_OFFSET);
	expect_frame(&b, 2, A_LEAF, 0); /* not lost: it is no frame by frame pointers */
	expect_frame(&b, 3, A_ROOT + 4, FRAME_RETURN);
	expect_end(&b, 4, CUT_NONE);
	b.stack[101] = AT(A_FRAMED + 4); /* no signal's record: an ordinary one */
	b.stack[150] = 0;
	b.stack[151] = AT(A_ROOT + 4);
	unwind(&b);
	expect_frame(&b, 2, A_FRAMED + 4, FRAME_RETURN | FRAME_GUESS);
	bed_close(&b);
}

static void damaged_cfi_is_survived(void **state)
{
	static const struct made_fde fdes[] = {
		FDE(LEAF, 0x80, "\x3f\x3f\x3f"),               /* no such instruction */
		FDE(MIDDLE, 0x80, "\x0b"),                     /* restore without remember */
		FDE(FRAMED, 0x80, "\x0f\xff\xff\xff\xff\x0f"), /* an expression beyond the end */
		FDE(ROOT, 0x80, "\x0c\xff\xff\x01\x10"),       /* CFA from register 32767 */
	};
	struct made_elf e = {.machine = EM_X86_64, .fdes = fdes, .nfdes = 4};
	struct bed b;
	(void)state;
	bed_open(&b, &e, NULL);
	for (size_t k = 0; k < 4; k++) {
		b.regs.r[P_IP] = AT(fdes[k].start + 0x20);
		unwind(&b);
		expect_frame(&b, 0, fdes[k].start + 0x20, 0);
		assert_int_not_equal(b.r.cut, CUT_NONE);
	}
	bed_close(&b);
}

#ifdef __x86_64__
/* An expression too long for a row: libunwind does it, and cannot be kept busy by it. */
static void rows_for_libunwind(void **state)
{
	char program[303] = "\x0f\xac\x02"; /* a CFA expression of 300 bytes, mostly nops */
	struct made_fde fdes[2] = {{LEAF, 0x80, program, sizeof program, false},
				   FDE(ROOT, 0x80, "\x07\x10")};
	struct made_elf e = {.machine = EM_X86_64, .fdes = fdes, .nfdes = 2};
	struct bed b;
	(void)state;
	memset(program + 3, 0x96, 300);
	memcpy(program + 3, "\x77\x20", 2); /* rsp + 32 */
	bed_open(&b, &e, NULL);
	b.regs.r[P_IP] = AT(LEAF + 0x10);
	b.stack[3] = AT(LEAF + 0x20);
	b.stack[7] = AT(ROOT + 1);
	unwind(&b);
	expect_frame(&b, 1, LEAF + 0x20, FRAME_RETURN);
	expect_frame(&b, 2, ROOT + 1, FRAME_RETURN);
	expect_end(&b, 3, CUT_NONE);
	bed_close(&b);
	memcpy(program + 3 + 297, "\x2f\xf0\xff", 3); /* … and back, for ever */
	bed_open(&b, &e, NULL);
	b.regs.r[P_IP] = AT(LEAF + 0x10);
	unwind(&b);
	expect_end(&b, 1, CUT_NO_CFI);
	bed_close(&b);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sp_based_chain),
		cmocka_unit_test(return_address_is_looked_up_one_before),
		cmocka_unit_test(fp_based_chain),
		cmocka_unit_test(stale_fp_rule),
		cmocka_unit_test(realigned_stack),
		cmocka_unit_test(signal_frame),
		cmocka_unit_test(saved_register_of_an_older_frame),
		cmocka_unit_test(plt_entry),
		cmocka_unit_test(value_expression_and_register_rule),
		cmocka_unit_test(endless_expression),
		cmocka_unit_test(every_way_to_the_cfi),
		cmocka_unit_test(guess_without_cfi),
		cmocka_unit_test(guess_by_instruction),
		cmocka_unit_test(cut_reasons),
		cmocka_unit_test(limits),
		cmocka_unit_test(aarch64_leaf_and_signed_address),
		cmocka_unit_test(aarch64_signal_return),
		cmocka_unit_test(aarch64_signal_return_unseen),
		cmocka_unit_test(damaged_cfi_is_survived),
#ifdef __x86_64__
		cmocka_unit_test(rows_for_libunwind),
#endif
	};
	return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
