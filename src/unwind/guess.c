/*
 * guess: steps where there is no call frame information: by the frame-pointer chain, or out of a
 * signal frame whose shape the kernel fixes.
 *
 * A guess is believed only if the frame record lies on the sampled stack at or above sp and its
 * return address lies in executable memory; the frame it finds is marked. Owned by the source
 * thread.
 */
#include "unwind/inner.h"

/* x86-64: sp is at the ucontext; gregs (uapi asm/sigcontext.h) begin 40 bytes into it. */
static const uint8_t x86_64_gregs[] = {
	/* PERF_REG_* of each, in that order */
	16, 17, 18, 19, 20, 21, 22, 23,    /* r8 … r15 */
	5,  4,  6,  1,  3,  0,  2,  7,  8, /* rdi rsi rbp rbx rdx rax rcx rsp rip */
};

static bool read_x86_64(struct walk *w)
{
	for (size_t k = 0; k < sizeof x86_64_gregs; k++)
		if (!walk_read(w, w->sp + 40 + k * 8, &w->own.r[x86_64_gregs[k]]))
			return false;
	w->own.mask = 0xff01ff;
	w->pc = w->own.r[8];
	return true;
}

/* aarch64: siginfo (128), then the ucontext, whose registers (x0 … x30, sp, pc) begin at 184. */
#define AARCH64_REGS (128 + 184)

static bool read_aarch64(struct walk *w)
{
	for (unsigned k = 0; k < 33; k++)
		if (!walk_read(w, w->sp + AARCH64_REGS + k * 8, &w->own.r[k]))
			return false;
	w->own.mask = ((uint64_t)1 << 33) - 1;
	w->pc = w->own.r[32];
	return true;
}

enum cut_reason sigreturn_step(struct walk *w)
{
	bool (*const read)(struct walk * w) = w->arch->arch == ARCH_X86_64    ? read_x86_64
					      : w->arch->arch == ARCH_AARCH64 ? read_aarch64
									      : NULL;
	if (!read || !read(w))
		return read ? walk_why_unread(w, w->sp + 640) : CUT_NO_CFI;
	w->own.arch = w->arch->arch;
	w->regs = &w->own;
	w->from = w->n + 1;
	regs_get(w->arch, &w->own, w->arch->sp, &w->sp);
	regs_get(w->arch, &w->own, w->arch->fp, &w->fp);
	w->how = HOW_EXACT;
	return CUT_NONE;
}

/*
 * A recording's vDSO is not at hand, and on aarch64 signal handlers return there. Nothing else
 * does: it calls nobody. The record that the kernel leaves for frame pointers repeats x29 and x30.
 */
static bool is_unseen_sigreturn(const struct walk *w)
{
	const struct mapping *m = find_code(w->space, w->pc);
	uint64_t saved = w->sp + AARCH64_REGS + 29 * 8, a[2], b[2];
	if (w->arch->arch != ARCH_AARCH64 || w->how == HOW_EXACT || !m || w->fp == saved ||
	    tables_module_get(w->u->tables, m->module)->kind != MODULE_VDSO)
		return false;
	for (unsigned k = 0; k < 2; k++)
		if (!walk_read(w, saved + k * 8, &a[k]) || !walk_read(w, w->fp + k * 8, &b[k]) ||
		    a[k] != b[k])
			return false;
	return true;
}

/*
 * A frame record: the caller's frame pointer, then the return address. On x86 the caller's sp is
 * what lies behind it; on aarch64 the record lies anywhere in the frame, so sp is a lower bound.
 */
enum cut_reason guess_step(struct walk *w)
{
	unsigned word = w->arch->word;
	uint64_t record = w->fp, fp, ra;
	w->u->visits[w->n].cfa = record + 2 * word;
	if (is_unseen_sigreturn(w))
		return sigreturn_step(w);
	if (record < w->sp || record & (word - 1u))
		return CUT_NO_CFI;
	if (!walk_read(w, record, &fp) || !walk_read(w, record + word, &ra)) {
		enum cut_reason why = walk_why_unread(w, record + word);
		return why == CUT_DUMP_END ? why : CUT_NO_CFI;
	}
	ra &= w->arch->pc_bits;
	if (!find_code(w->space, ra - 1))
		return CUT_NO_CFI;
	w->pc = ra;
	w->sp = record + 2 * word;
	w->fp = fp;
	w->how = HOW_RETURN | HOW_GUESS;
	return CUT_NONE;
}

enum cut_reason switch_step(struct walk *w)
{
	enum cut_reason why = guess_step(w);
	return why ? CUT_DUMP_END : CUT_NONE;
}
