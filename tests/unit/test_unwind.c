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

static void bed_open(struct bed *b, const struct made_elf *e, const struct unwind_config *config)
{
	struct raw_mmap m = {.pid = 1,
			     .start = BASE,
			     .size = MADE_TEXT_SIZE,
			     .pgoff = MADE_TEXT_OFFSET,
			     .prot = PROT_READ | PROT_EXEC};
	struct unwind_config plain = {.max_frames = 0};
	memset(b, 0, sizeof *b);
	strcpy(b->path, elf_file(e));
	m.path = b->path;
	b->tables = tables_new();
	b->u = unwinder_new(b->tables, config ? config : &plain);
	b->space = space_new(b->tables, 1);
	assert_int_equal(space_add(b->space, &m), 0);
	b->regs.arch = e->machine == EM_AARCH64 ? ARCH_AARCH64 : ARCH_X86_64;
	b->regs.mask = b->regs.arch == ARCH_AARCH64 ? ((uint64_t)1 << 33) - 1 : 0xff01ff;
	b->regs.r[b->regs.arch == ARCH_AARCH64 ? 31 : P_SP] = STACK;
	b->s.regs = &b->regs;
	b->s.stack = (const uint8_t *)b->stack;
	b->s.stack_bytes = b->s.stack_asked = sizeof b->stack;
}

static void bed_close(struct bed *b)
{
	unwinder_free(b->u);
	space_free(b->space);
	tables_free(b->tables);
	unlink(b->path);
}

static void unwind(struct bed *b)
{
	unwinder_stack(b->u, b->space, 1, &b->s, b->frames, 600, &b->r);
}

/* Frame @n is at this address in the file, with these flags. */
static void expect_frame(const struct bed *b, uint32_t n, uint64_t vaddr, uint32_t flags)
{
	assert_true(n < b->r.nframes);
	const struct frame *f = tables_frame_get(b->tables, b->frames[n]);
	assert_int_equal(f->addr, vaddr);
	assert_int_equal(f->flags, flags);
	assert_string_equal(tables_text(b->tables, tables_module_get(b->tables, f->module)->path),
			    b->path);
}

static void expect_end(const struct bed *b, uint32_t n, enum cut_reason cut)
{
	assert_int_equal(b->r.cut, cut);
	assert_int_equal(b->r.nframes, n + (cut != CUT_NONE));
	if (cut != CUT_NONE)
		assert_int_equal(b->frames[n], FRAME_TRUNCATED);
}

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

static const struct made_fde x86_fdes[] = {
	FDE(LEAF, 0x80, ""),
	FDE(MIDDLE, 0x80, "\x44\x0e\x20\x83\x02"),
	FDE(FRAMED, 0x80,
	    "\x41\x0e\x10\x86\x02\x43\x0d\x06" /* push; mov */
	    "\x5c\x0a\x0c\x07\x08"             /* +0x1c: remember, CFA = rsp + 8 */
	    "\x41\x0b"),                       /* restored behind the return */
	FDE(ROOT, 0x80, "\x07\x10"),
	FDE(DRAP, 0x80,
	    "\x0f\x03\x76\x78\x06" /* CFA = *(rbp - 8) */
	    "\x10\x06\x02\x76\x00" /* rbp at rbp + 0 */),
	{SIGNAL, 0x80,
	 "\x0f\x03\x77\x10\x06"
	 "\x10\x10\x02\x77\x18"
	 "\x10\x03\x02\x77\x20",
	 15, true},
	FDE(BY_RBX, 0x80, "\x0c\x03\x10"),
	FDE(PLT, 0x80, "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
	FDE(VALUE, 0x80,
	    "\x16\x06\x04\x08\x28\x1c\x96" /* rbp: CFA 40 minus nop */
	    "\x09\x10\x01"),
	FDE(LOOPS, 0x80, "\x0f\x03\x2f\xfd\xff"),
};
static const struct made_elf x86 = {.machine = EM_X86_64, .fdes = x86_fdes, .nfdes = 10};

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
	expect_frame(&b, 1, SIGNAL + 0x20, FRAME_RETURN);
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
	bed_close(&b);
}

static void entry_point_is_a_root(void **state)
{
	struct made_elf e = x86;
	struct bed b;
	(void)state;
	e.type = ET_EXEC;
	e.entry = LEAF + 8;
	bed_open(&b, &e, NULL);
	b.regs.r[P_IP] = AT(LEAF + 0x10);
	unwind(&b);
	expect_end(&b, 1, CUT_NONE);
	bed_close(&b);
	e.type = ET_DYN; /* a library's "entry" is just where its text begins */
	bed_open(&b, &e, NULL);
	b.regs.r[P_IP] = AT(LEAF + 0x10);
	b.stack[0] = AT(ROOT + 1);
	unwind(&b);
	expect_end(&b, 2, CUT_NONE);
	bed_close(&b);
	e.entry = NOTHING; /* without CFI, code at the entry is a start */
	bed_open(&b, &e, NULL);
	b.regs.r[P_IP] = AT(LEAF + 0x10);
	b.stack[0] = AT(NOTHING + 0x20);
	unwind(&b);
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

static void kernel_part_comes_first(void **state)
{
	static const uint64_t kernel[] = {0xffffffff81000010, 0xffffffff81000200};
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.s.kernel = kernel;
	b.s.nkernel = 2;
	b.s.flags = SAMPLE_KERNEL;
	b.regs.r[P_IP] = AT(LEAF + 0x10);
	b.stack[0] = AT(ROOT + 3);
	for (int twice = 0; twice < 2; twice++) {
		unwind(&b);
		const struct frame *f = tables_frame_get(b.tables, b.frames[0]);
		assert_int_equal(f->addr, kernel[0]);
		assert_int_equal(f->flags, FRAME_KERNEL);
		assert_int_equal(tables_module_get(b.tables, f->module)->kind, MODULE_KERNEL);
		f = tables_frame_get(b.tables, b.frames[1]);
		assert_int_equal(f->addr, kernel[1]);
		assert_int_equal(f->flags, FRAME_KERNEL | FRAME_RETURN);
		expect_frame(&b, 2, LEAF + 0x10, 0); /* where the thread will go on: exact */
		expect_frame(&b, 3, ROOT + 3, FRAME_RETURN);
		expect_end(&b, 4, CUT_NONE);
	}
	b.s.regs = NULL;
	b.s.stack_bytes = 0;
	unwinder_stack(b.u, NULL, 0, &b.s, b.frames, 600, &b.r); /* a kernel thread */
	assert_int_equal(b.r.nframes, 2);
	assert_int_equal(b.r.cut, CUT_NONE);
	bed_close(&b);
}

static void user_chain(void **state)
{
	uint64_t chain[] = {AT(LEAF + 4), AT(MIDDLE + 8), AT(ROOT + 1), 0x7};
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.s.regs = NULL;
	b.s.stack_bytes = 0;
	b.s.user = chain;
	b.s.nuser = 4;
	unwind(&b);
	expect_frame(&b, 0, LEAF + 4, 0);
	expect_frame(&b, 1, MIDDLE + 8, FRAME_RETURN);
	expect_frame(&b, 2, ROOT + 1, FRAME_RETURN);
	expect_end(&b, 3, CUT_NONE); /* nothing lies beyond a root */
	b.s.nuser = 2;
	unwind(&b);
	expect_end(&b, 2, CUT_FP_CHAIN);
	chain[2] = 0x7;
	b.s.nuser = 3;
	unwind(&b);
	expect_end(&b, 2, CUT_NO_MODULE);
	bed_close(&b);
}

/* glibc's thread start keeps no frame pointer: the chain ends in it, one short of clone. */
static void chain_ends_in_a_thread_start(void **state)
{
	uint64_t chain[] = {AT(LEAF + 4), AT(MIDDLE + 8)};
	struct made_elf e = x86;
	struct bed b;
	(void)state;
	e.code = "\x31\xff\xb8\x3c\0\0\0\x0f\x05"; /* xor edi,edi; mov $60,eax; syscall */
	e.code_bytes = 9;
	e.code_at = MIDDLE + 0x40;
	bed_open(&b, &e, NULL);
	b.s.regs = NULL;
	b.s.stack_bytes = 0;
	b.s.user = chain;
	b.s.nuser = 2;
	unwind(&b);
	expect_end(&b, 2, CUT_NONE);
	b.s.nuser = 1; /* LEAF does not */
	unwind(&b);
	expect_end(&b, 1, CUT_FP_CHAIN);
	bed_close(&b);
}

/* Dump too short, but the kernel walked on along frame pointers. */
static void chain_leads_beyond_the_dump(void **state)
{
	uint64_t chain[] = {AT(LEAF + 4), AT(LEAF + 8), AT(LEAF + 0xc), AT(FRAMED + 0x10),
			    AT(ROOT + 1)};
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.regs.r[P_IP] = AT(LEAF + 4);
	b.stack[0] = AT(LEAF + 8);
	b.stack[1] = AT(LEAF + 0xc);
	b.s.stack_bytes = b.s.stack_asked = 16;
	b.s.user = chain;
	b.s.nuser = 5;
	unwind(&b);
	expect_frame(&b, 2, LEAF + 0xc, FRAME_RETURN);
	expect_frame(&b, 3, FRAMED + 0x10, FRAME_RETURN | FRAME_GUESS);
	expect_frame(&b, 4, ROOT + 1, FRAME_RETURN | FRAME_GUESS);
	expect_end(&b, 5, CUT_NONE);
	chain[1]++; /* it does not agree: not believed */
	unwind(&b);
	expect_end(&b, 3, CUT_DUMP_END);
	bed_close(&b);
}

static void cut_stack_is_stitched(void **state)
{
	struct unwind_config config = {.stitch = true};
	struct bed b;
	(void)state;
	bed_open(&b, &x86, &config);
	b.regs.r[P_IP] = AT(LEAF + 4);
	b.stack[0] = AT(MIDDLE + 8);
	b.stack[4] = AT(LEAF + 0xc);
	b.stack[5] = AT(ROOT + 1);
	b.s.stack_bytes = b.s.stack_asked = 32;
	unwind(&b);
	expect_end(&b, 2, CUT_DUMP_END); /* nothing is known yet */
	b.s.stack_bytes = 64;
	unwind(&b);
	expect_end(&b, 4, CUT_NONE);
	assert_int_equal(b.r.stitched, 0);
	b.s.stack_bytes = b.s.stack_asked = 32;
	b.regs.r[P_IP] = AT(LEAF + 7); /* another leaf address, the same caller */
	unwind(&b);
	expect_frame(&b, 0, LEAF + 7, 0);
	expect_frame(&b, 1, MIDDLE + 8, FRAME_RETURN);
	expect_frame(&b, 2, LEAF + 0xc, FRAME_RETURN | FRAME_STITCHED);
	expect_frame(&b, 3, ROOT + 1, FRAME_RETURN | FRAME_STITCHED);
	expect_end(&b, 4, CUT_NONE);
	assert_int_equal(b.r.stitched, 2);
	unwinder_stack(b.u, b.space, 2, &b.s, b.frames, 600,
		       &b.r); /* another thread: not its past */
	expect_end(&b, 2, CUT_DUMP_END);
	b.regs.r[P_SP] -= 64; /* another depth: not the same frame */
	unwind(&b);
	expect_end(&b, 2, CUT_DUMP_END);
	b.regs.r[P_SP] += 64;
	unwinder_task_gone(b.u, 1);
	unwind(&b);
	expect_end(&b, 2, CUT_DUMP_END);
	bed_close(&b);
}

static void frame_pointers_of_a_module(void **state)
{
	struct made_fde fdes[6];
	struct made_elf e = {.machine = EM_X86_64, .fdes = fdes, .nfdes = 6};
	static char code[0x600];
	struct bed b;
	(void)state;
	for (int k = 0; k < 6; k++) {
		fdes[k] = (struct made_fde){MADE_TEXT + 0x100ull * (unsigned)k, 0x80, "", 0, false};
		memcpy(code + 0x100 * k, "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5", 8);
	}
	e.code = code;
	e.code_bytes = sizeof code;
	e.code_at = MADE_TEXT;
	bed_open(&b, &e, NULL);
	assert_int_equal(unwinder_has_fp(b.u, b.space, AT(MADE_TEXT)), 1);
	assert_int_equal(unwinder_has_fp(b.u, b.space, 0x10), -1);
	bed_close(&b);
	memset(code, 0x90, sizeof code);
	bed_open(&b, &e, NULL);
	assert_int_equal(unwinder_has_fp(b.u, b.space, AT(MADE_TEXT)), 0);
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
	expect_frame(&b, 1, A_SIGRET, FRAME_RETURN);
	expect_frame(&b, 2, A_LEAF, 0); /* interrupted: a leaf again, x30 from the signal frame */
	expect_frame(&b, 3, A_ROOT + 4, FRAME_RETURN);
	expect_end(&b, 4, CUT_NONE);
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

static void unreadable_module_keeps_offsets(void **state)
{
	struct bed b;
	struct raw_mmap m = {.pid = 1,
			     .start = 0x600000000000,
			     .size = 0x1000,
			     .pgoff = 0x5000,
			     .prot = PROT_EXEC,
			     .path = "/nowhere/lib.so"};
	(void)state;
	bed_open(&b, &x86, NULL);
	assert_int_equal(space_add(b.space, &m), 0);
	b.regs.r[P_IP] = 0x600000000123;
	b.regs.r[P_BP] = STACK + 16;
	b.stack[3] = AT(ROOT + 1);
	unwind(&b);
	const struct frame *f = tables_frame_get(b.tables, b.frames[0]);
	assert_int_equal(f->addr, 0x5123);
	assert_int_equal(f->flags, FRAME_OFFSET);
	expect_frame(&b, 1, ROOT + 1, FRAME_RETURN | FRAME_GUESS);
	expect_end(&b, 2, CUT_NONE);
	bed_close(&b);
}

/* An ELF file mapped from inside an archive is a module of its own. */
static void module_in_an_archive(void **state)
{
	char path[] = "/tmp/altpttop-apk-XXXXXX", name[64];
	struct raw_mmap m = {.pid = 1,
			     .start = 0x600000000000,
			     .size = MADE_TEXT_SIZE,
			     .pgoff = 4096 + MADE_TEXT_OFFSET,
			     .prot = PROT_EXEC,
			     .path = path};
	struct bed b;
	size_t size;
	uint8_t *bytes = elf_bytes(&x86, &size);
	(void)state;
	close(mkstemp(path));
	write_zip(path, "lib/libmade.so", bytes, size, 0);
	free(bytes);
	bed_open(&b, &x86, NULL);
	assert_int_equal(space_add(b.space, &m), 0);
	b.regs.r[P_IP] = 0x600000000000 + MIDDLE - MADE_TEXT + 0x20;
	b.stack[3] = AT(ROOT + 1);
	unwind(&b);
	const struct frame *f = tables_frame_get(b.tables, b.frames[0]);
	snprintf(name, sizeof name, "%s!/lib/libmade.so", path);
	assert_int_equal(f->addr, MIDDLE + 0x20);
	assert_int_equal(f->flags, 0);
	assert_string_equal(tables_text(b.tables, tables_module_get(b.tables, f->module)->path),
			    name);
	expect_end(&b, 2, CUT_NONE);
	bed_close(&b);
	unlink(path);
}

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
		cmocka_unit_test(entry_point_is_a_root),
		cmocka_unit_test(cut_reasons),
		cmocka_unit_test(limits),
		cmocka_unit_test(kernel_part_comes_first),
		cmocka_unit_test(user_chain),
		cmocka_unit_test(chain_ends_in_a_thread_start),
		cmocka_unit_test(chain_leads_beyond_the_dump),
		cmocka_unit_test(cut_stack_is_stitched),
		cmocka_unit_test(frame_pointers_of_a_module),
		cmocka_unit_test(aarch64_leaf_and_signed_address),
		cmocka_unit_test(aarch64_signal_return),
		cmocka_unit_test(damaged_cfi_is_survived),
		cmocka_unit_test(unreadable_module_keeps_offsets),
		cmocka_unit_test(module_in_an_archive),
	};
	return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
