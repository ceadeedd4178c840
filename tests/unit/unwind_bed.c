/* unwind_bed: the bed, and the functions that most tests of unwinding run in. */
#include "unwind_bed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void bed_open(struct bed *b, const struct made_elf *e, const struct unwind_config *config)
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

void bed_close(struct bed *b)
{
	unwinder_free(b->u);
	space_free(b->space);
	tables_free(b->tables);
	unlink(b->path);
}

void unwind(struct bed *b)
{
	unwinder_stack(b->u, b->space, 1, &b->s, b->frames, 600, &b->r);
}

void expect_frame(const struct bed *b, uint32_t n, uint64_t vaddr, uint32_t flags)
{
	assert_true(n < b->r.nframes);
	const struct frame *f = tables_frame_get(b->tables, b->frames[n]);
	assert_int_equal(f->addr, vaddr);
	assert_int_equal(f->flags, flags);
	assert_string_equal(tables_text(b->tables, tables_module_get(b->tables, f->module)->path),
			    b->path);
}

void expect_end(const struct bed *b, uint32_t n, enum cut_reason cut)
{
	assert_int_equal(b->r.cut, cut);
	assert_int_equal(b->r.nframes, n + (cut != CUT_NONE));
	if (cut != CUT_NONE)
		assert_int_equal(b->frames[n], FRAME_TRUNCATED);
}

const struct made_fde x86_fdes[] = {
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
const struct made_elf x86 = {.machine = EM_X86_64, .fdes = x86_fdes, .nfdes = 10};
