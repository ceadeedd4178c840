/*
 * row: runs a CFI program (DWARF 5 section 6.4.2) and condenses its outcome into a draft.
 *
 * Two shapes of expression are so common that they become plain offsets here: one register plus an
 * offset (signal frames, realigned stacks), and the PLT's, whose outcome depends on pc alone. The
 * rest keeps its bytes, copied, for expr.c. Owned by the source thread.
 */
#include "unwind/row.h"

#include <errno.h>
#include <stdlib.h>

#include "unwind/cursor.h"

#define SAVED_STATES 32 /* depth of DW_CFA_remember_state; compilers use 1 */

enum {
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC,
	CFA_ADVANCE1,
	CFA_ADVANCE2,
	CFA_ADVANCE4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER,
	CFA_RECALL,
	CFA_DEF,
	CFA_DEF_REGISTER,
	CFA_DEF_OFFSET,
	CFA_DEF_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_SF,
	CFA_DEF_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_ADVANCE8 = 0x1d,          /* MIPS, used by some for long jumps */
	CFA_NEGATE_RA_WITH_PC = 0x2c, /* aarch64 */
	CFA_NEGATE_RA = 0x2d,         /* aarch64; return addresses are always stripped here */
	CFA_ARGS_SIZE = 0x2e,         /* matters for landing pads only */
	CFA_NEGATIVE_OFFSET = 0x2f,
};

enum { /* DWARF operations looked at here; expr.c knows all */
       OP_DEREF = 0x06,
       OP_BREG0 = 0x70,
};

struct cell { /* a rule while the program runs */
	uint8_t kind;
	uint8_t base;
	uint32_t len;
	int64_t off;
	const uint8_t *expr;
};
struct state {
	struct cell cfa; /* RULE_REG or RULE_EXPR */
	struct cell r[REGS_MAX];
};
struct row_work {
	struct state now, initial, saved[SAVED_STATES];
	unsigned depth;
};

struct run {
	struct row_work *w;
	const struct cfi_fde *fde;
	struct cursor c;
	uint64_t loc, target;
};

struct row_work *row_work_new(void)
{
	return calloc(1, sizeof(struct row_work));
}

void row_work_free(struct row_work *w)
{
	free(w);
}

static void set(struct run *r, uint64_t reg, struct cell cell)
{
	if (reg < REGS_MAX)
		r->w->now.r[reg] = cell;
}

static int64_t factored(const struct run *r, uint64_t operand)
{
	return (int64_t)(operand * (uint64_t)r->fde->data_align);
}

static void set_offset(struct run *r, uint64_t reg, uint8_t kind, uint64_t operand)
{
	set(r, reg, (struct cell){.kind = kind, .off = factored(r, operand)});
}

static struct cell expression(struct run *r, uint8_t kind)
{
	uint64_t len = cursor_uleb(&r->c);
	const uint8_t *at = r->c.at;
	cursor_skip(&r->c, len);
	return (struct cell){.kind = kind, .len = (uint32_t)len, .expr = at};
}

static void def_cfa(struct run *r, uint64_t reg, int64_t off)
{
	r->c.bad |= reg >= REGS_MAX;
	r->w->now.cfa = (struct cell){.kind = RULE_REG, .base = (uint8_t)reg, .off = off};
}

static void restore(struct run *r, uint64_t reg)
{
	if (reg < REGS_MAX)
		r->w->now.r[reg] = r->w->initial.r[reg];
}

static void advance(struct run *r, uint64_t units)
{
	r->loc += units * r->fde->code_align;
}

static void remember(struct run *r)
{
	if (r->w->depth == SAVED_STATES)
		r->c.bad = true;
	else
		r->w->saved[r->w->depth++] = r->w->now;
}

static void recall(struct run *r)
{
	if (r->w->depth == 0)
		r->c.bad = true;
	else
		r->w->now = r->w->saved[--r->w->depth];
}

static void set_loc(struct run *r)
{
	const struct cfi_fde *f = r->fde;
	uint64_t vaddr = f->insns_vaddr + (uint64_t)(r->c.at - f->insns);
	r->loc = cfi_pointer(&r->c, f->encoding, f->addr_size, vaddr, 0);
}

static void step_def(struct run *r, uint8_t op)
{
	struct cursor *c = &r->c;
	struct cell *cfa = &r->w->now.cfa;
	uint64_t reg;
	switch (op) {
	case CFA_DEF:
		reg = cursor_uleb(c);
		def_cfa(r, reg, (int64_t)cursor_uleb(c));
		break;
	case CFA_DEF_SF:
		reg = cursor_uleb(c);
		def_cfa(r, reg, factored(r, (uint64_t)cursor_sleb(c)));
		break;
	case CFA_DEF_REGISTER: def_cfa(r, cursor_uleb(c), cfa->off); break;
	case CFA_DEF_OFFSET: cfa->off = (int64_t)cursor_uleb(c); break;
	case CFA_DEF_OFFSET_SF: cfa->off = factored(r, (uint64_t)cursor_sleb(c)); break;
	default: *cfa = expression(r, RULE_EXPR); break;
	}
}

static void step_rule(struct run *r, uint8_t op)
{
	struct cursor *c = &r->c;
	uint64_t reg = cursor_uleb(c), other;
	switch (op) {
	case CFA_OFFSET_EXTENDED: set_offset(r, reg, RULE_AT_CFA, cursor_uleb(c)); break;
	case CFA_OFFSET_EXTENDED_SF:
		set_offset(r, reg, RULE_AT_CFA, (uint64_t)cursor_sleb(c));
		break;
	case CFA_NEGATIVE_OFFSET: set_offset(r, reg, RULE_AT_CFA, -cursor_uleb(c)); break;
	case CFA_VAL_OFFSET: set_offset(r, reg, RULE_CFA_OFF, cursor_uleb(c)); break;
	case CFA_VAL_OFFSET_SF: set_offset(r, reg, RULE_CFA_OFF, (uint64_t)cursor_sleb(c)); break;
	case CFA_RESTORE_EXTENDED: restore(r, reg); break;
	case CFA_UNDEFINED: set(r, reg, (struct cell){.kind = RULE_UNDEFINED}); break;
	case CFA_SAME_VALUE: set(r, reg, (struct cell){.kind = RULE_SAME}); break;
	case CFA_REGISTER:
		other = cursor_uleb(c);
		c->bad |= other >= REGS_MAX;
		set(r, reg, (struct cell){.kind = RULE_REG, .base = (uint8_t)other});
		break;
	case CFA_EXPRESSION: set(r, reg, expression(r, RULE_AT_EXPR)); break;
	default: set(r, reg, expression(r, RULE_EXPR)); break;
	}
}

static void step(struct run *r)
{
	struct cursor *c = &r->c;
	uint8_t op = cursor_byte(c), low = op & 0x3f;
	switch (op & 0xc0) {
	case CFA_ADVANCE: advance(r, low); return;
	case CFA_OFFSET: set_offset(r, low, RULE_AT_CFA, cursor_uleb(c)); return;
	case CFA_RESTORE: restore(r, low); return;
	default: break;
	}
	switch (op) {
	case CFA_NOP:
	case CFA_NEGATE_RA:
	case CFA_NEGATE_RA_WITH_PC: break;
	case CFA_SET_LOC: set_loc(r); break;
	case CFA_ADVANCE1: advance(r, cursor_uint(c, 1)); break;
	case CFA_ADVANCE2: advance(r, cursor_uint(c, 2)); break;
	case CFA_ADVANCE4: advance(r, cursor_uint(c, 4)); break;
	case CFA_ADVANCE8: advance(r, cursor_uint(c, 8)); break;
	case CFA_REMEMBER: remember(r); break;
	case CFA_RECALL: recall(r); break;
	case CFA_ARGS_SIZE: cursor_uleb(c); break;
	case CFA_DEF:
	case CFA_DEF_SF:
	case CFA_DEF_REGISTER:
	case CFA_DEF_OFFSET:
	case CFA_DEF_OFFSET_SF:
	case CFA_DEF_EXPRESSION: step_def(r, op); break;
	case CFA_OFFSET_EXTENDED:
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_NEGATIVE_OFFSET:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
	case CFA_RESTORE_EXTENDED:
	case CFA_UNDEFINED:
	case CFA_SAME_VALUE:
	case CFA_REGISTER:
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION: step_rule(r, op); break;
	default: c->bad = true; break;
	}
}

static int run(struct row_work *w, const struct cfi_fde *fde, uint64_t vaddr)
{
	struct run r = {.w = w, .fde = fde, .loc = fde->start, .target = vaddr};
	memset(&w->now, 0, sizeof w->now);
	w->depth = 0;
	r.c = cursor_make(fde->initial, (size_t)(fde->initial_end - fde->initial));
	while (cursor_left(&r.c) && !r.c.bad)
		step(&r);
	if (r.c.bad || r.loc != fde->start)
		return -EBADMSG;
	w->initial = w->now;
	r.c = cursor_make(fde->insns, (size_t)(fde->insns_end - fde->insns));
	for (;;) {
		if (!cursor_left(&r.c) || r.c.bad)
			break;
		struct cursor before = r.c;
		uint8_t op = *before.at;
		bool moves = (op & 0xc0) == CFA_ADVANCE ||
			     (op >= CFA_SET_LOC && op <= CFA_ADVANCE4) || op == CFA_ADVANCE8;
		step(&r);
		if (moves && r.loc > vaddr)
			break;
	}
	return r.c.bad ? -EBADMSG : 0;
}

/* "breg N off" as a whole expression, or with "deref" behind it. */
static bool plain_breg(const struct cell *e, bool deref, uint8_t *ret_reg, int64_t *ret_off)
{
	struct cursor c = cursor_make(e->expr, e->len);
	uint8_t op = cursor_byte(&c);
	if (op < OP_BREG0 || op >= OP_BREG0 + 32)
		return false;
	int64_t off = cursor_sleb(&c);
	if (deref && cursor_byte(&c) != OP_DEREF)
		return false;
	if (c.bad || cursor_left(&c))
		return false;
	*ret_reg = op - OP_BREG0;
	*ret_off = off;
	return true;
}

/*
 * The PLT's: sp + a + ((pc & 15) >= n) << k, as linkers write it for x86-64 (breg7 a, breg16 0,
 * lit15, and, lit n, ge, lit k, shl, plus).
 */
static bool plt_offset(const struct cell *e, uint64_t vaddr, int64_t *ret_off)
{
	static const uint8_t shape[] = {0x77, 0, 0x80, 0x00, 0x3f, 0x1a, 0, 0x2a, 0, 0x24, 0x22};
	if (e->len != sizeof shape)
		return false;
	for (size_t k = 0; k < sizeof shape; k++)
		if (shape[k] && e->expr[k] != shape[k])
			return false;
	uint8_t n = e->expr[6] - 0x30, shift = e->expr[8] - 0x30, a = e->expr[1];
	if (e->expr[3] != 0 || n > 15 || shift > 15 || a > 63)
		return false;
	*ret_off = a + (((int64_t)((vaddr & 15) >= n)) << shift);
	return true;
}

static bool fits32(int64_t v)
{
	return v == (int32_t)v;
}

/* Note a rule for later; false: it has no room in its shape. */
static bool draft_rule(struct draft *d, uint8_t reg, const struct cell *cell)
{
	struct rule r = {reg, cell->kind, cell->base, 0, 0};
	int64_t off = cell->off;
	uint8_t base;
	if (cell->expr) {
		if (cell->kind == RULE_AT_EXPR && plain_breg(cell, false, &base, &off)) {
			r.kind = RULE_AT_REG;
			r.base = base;
		} else {
			if (cell->len > UINT8_MAX || cell->len > DRAFT_EXPR - d->expr_bytes)
				return false;
			memcpy(d->expr + d->expr_bytes, cell->expr, cell->len);
			r.len = (uint8_t)cell->len;
			off = d->expr_bytes;
			d->expr_bytes += cell->len;
		}
	}
	if (!fits32(off))
		return false;
	r.off = (int32_t)off;
	d->rules[d->n++] = r;
	return true;
}

static bool draft_cfa(struct draft *d, const struct regs_arch *a, const struct cell *cfa,
		      uint64_t vaddr)
{
	int64_t off = cfa->off;
	uint8_t base = cfa->base;
	bool at = false;
	if (cfa->expr && a->arch == ARCH_X86_64 && plt_offset(cfa, vaddr, &off))
		base = a->sp;
	else if (cfa->expr && plain_breg(cfa, true, &base, &off))
		at = true;
	else if (cfa->expr && !plain_breg(cfa, false, &base, &off))
		base = REGS_MAX;
	if ((base == a->sp || base == a->fp) && fits32(off)) {
		d->row.cfa_off = (int32_t)off;
		d->row.cfa = base == a->sp ? (at ? ROW_SP_AT : ROW_SP) : (at ? ROW_FP_AT : ROW_FP);
		return true;
	}
	d->row.cfa = ROW_RULES;
	return draft_rule(d, RULE_OF_CFA, cfa);
}

static bool draft_ra(struct draft *d, const struct regs_arch *a, const struct cell *ra, uint8_t reg)
{
	switch (ra->kind) {
	case RULE_SAME: d->row.flags |= ROW_RA_REG; return reg == a->lr;
	case RULE_UNDEFINED: d->row.cfa = ROW_END; return true;
	case RULE_AT_CFA:
		if (ra->off == (int16_t)ra->off) {
			d->row.ra_off = (int16_t)ra->off;
			return true;
		}
		break;
	default: break;
	}
	d->row.flags |= ROW_RA_RULES;
	return draft_rule(d, a->pc, ra);
}

static bool draft_fp(struct draft *d, const struct regs_arch *a, const struct cell *fp)
{
	if (fp->kind == RULE_SAME || fp->kind == RULE_UNDEFINED)
		return true;
	if (fp->kind == RULE_AT_CFA && fits32(fp->off)) {
		d->row.flags |= ROW_FP_SAVED;
		d->row.fp_off = (int32_t)fp->off;
		return true;
	}
	d->row.flags |= ROW_FP_RULES;
	return draft_rule(d, a->fp, fp);
}

/*
 * May libunwind be asked about this program? It does not check every register number that it uses
 * as an index; what it is given must be sound.
 */
static bool sound_for_others(const struct state *s, const struct regs_arch *a)
{
	if (s->cfa.kind == RULE_REG && s->cfa.base >= a->count)
		return false;
	for (unsigned reg = 0; reg < REGS_MAX; reg++)
		if (s->r[reg].kind == RULE_REG && s->r[reg].base >= a->count)
			return false;
	return true;
}

int row_draft(struct row_work *w, const struct regs_arch *arch, const struct cfi_fde *fde,
	      uint64_t vaddr, struct draft *ret_draft)
{
	struct draft *d = ret_draft;
	const struct cell *r = w->now.r;
	d->row = (struct row){0};
	d->n = d->expr_bytes = 0;
	int rc = run(w, fde, vaddr);
	if (rc)
		return rc;
	if (fde->signal)
		d->row.flags |= ROW_SIGNAL;
	if (fde->ra >= REGS_MAX)
		return -EBADMSG;
	bool ok = draft_cfa(d, arch, &w->now.cfa, vaddr) &&
		  draft_ra(d, arch, &r[fde->ra], (uint8_t)fde->ra) &&
		  draft_fp(d, arch, &r[arch->fp]);
	if (d->row.cfa == ROW_END)
		return 0;
	for (uint8_t reg = 0; ok && reg < arch->count; reg++) {
		if (r[reg].kind == RULE_SAME || reg == fde->ra || reg == arch->fp)
			continue;
		if (reg == arch->sp)
			d->row.flags |= ROW_SP_RULES;
		ok = draft_rule(d, reg, &r[reg]);
	}
	if (!ok)
		d->row.cfa = sound_for_others(&w->now, arch) ? ROW_FOREIGN : ROW_NO_CFI;
	return 0;
}
