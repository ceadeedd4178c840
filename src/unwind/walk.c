/*
 * walk: from registers and stack bytes to frames, one row after another.
 *
 * The loop keeps only pc, sp and fp. Other registers are found when a row asks, by going back over
 * the frames walked so far to the newest that saved it. A slot below sp is stale (a GCC epilogue
 * leaves "rbp at CFA-n" behind after the pop): then the register is what it was. Owned by the
 * source thread; allocates nothing.
 */
#include "unwind/expr.h"
#include "unwind/foreign.h"
#include "unwind/root.h"

#define ABROAD_COST 64 /* of EXPR_BUDGET: so often one sample may ask libunwind */

struct expr_at {
	struct walk *w;
	uint32_t n;
};

static bool expr_reg(void *ctx, unsigned reg, uint64_t *ret_value)
{
	struct expr_at *at = ctx;
	return walk_register(at->w, reg, at->n, ret_value);
}

static bool expr_read(void *ctx, uint64_t addr, unsigned bytes, uint64_t *ret_value)
{
	const struct walk *w = ((struct expr_at *)ctx)->w;
	uint64_t at = addr - w->stack_start;
	if (at > w->stack_bytes || w->stack_bytes - at < bytes)
		return false;
	*ret_value = 0;
	memcpy(ret_value, w->stack + at, bytes);
	return true;
}

static bool evaluate(struct walk *w, const struct rules *rules, const struct rule *r, uint32_t n,
		     const uint64_t *initial, uint64_t *ret_value)
{
	struct expr_at at = {w, n};
	struct expr_env env = {expr_reg, expr_read, &at, w->arch->word, &w->budget};
	return expr_eval((const uint8_t *)rules + r->off, r->len, &env, initial, ret_value);
}

/* What the rule of frame @n says the register was in its caller. */
static bool apply_rule(struct walk *w, const struct rules *rules, const struct rule *r, uint32_t n,
		       uint64_t *ret_value)
{
	uint64_t cfa = w->u->visits[n].cfa, v, off = (uint64_t)(int64_t)r->off;
	const uint64_t *initial = r->reg == RULE_OF_CFA ? NULL : &cfa;
	switch (r->kind) {
	case RULE_AT_CFA: return walk_read(w, cfa + off, ret_value);
	case RULE_CFA_OFF: *ret_value = cfa + off; return true;
	case RULE_REG:
		if (!walk_register(w, r->base, n, &v))
			return false;
		*ret_value = v + off;
		return true;
	case RULE_AT_REG:
		return walk_register(w, r->base, n, &v) && walk_read(w, v + off, ret_value);
	case RULE_AT_EXPR:
		return evaluate(w, rules, r, n, initial, &v) && walk_read(w, v, ret_value);
	case RULE_EXPR: return evaluate(w, rules, r, n, initial, ret_value);
	default: return false;
	}
}

static const struct rule *find_rule(const struct walk *w, uint32_t place, unsigned reg,
				    const struct rules **ret_rules)
{
	if (!place)
		return NULL;
	const struct rules *rules = rules_get(w->u->rules, place);
	for (uint32_t k = 0; k < rules->n; k++) {
		if (rules->r[k].reg == reg) {
			*ret_rules = rules;
			return &rules->r[k];
		}
	}
	return NULL;
}

bool walk_register(struct walk *w, unsigned reg, uint32_t n, uint64_t *ret_value)
{
	const struct visit *visits = w->u->visits;
	const struct rules *rules;
	if (reg == w->arch->sp || reg == w->arch->fp || reg == w->arch->pc) {
		const struct visit *v = &visits[n];
		*ret_value = reg == w->arch->sp ? v->sp : reg == w->arch->fp ? v->fp : v->pc;
		return true;
	}
	while (n-- > w->from) {
		const struct rule *r = find_rule(w, visits[n].rules, reg, &rules);
		if (!r)
			continue;
		if (w->budget == 0)
			return false;
		w->budget--;
		uint64_t slot = visits[n].cfa + (uint64_t)(int64_t)r->off;
		if (r->kind == RULE_AT_CFA && slot < visits[n].sp)
			continue; /* stale */
		return apply_rule(w, rules, r, n, ret_value);
	}
	return regs_get(w->arch, w->regs, reg, ret_value);
}

enum cut_reason walk_why_unread(const struct walk *w, uint64_t addr)
{
	/* A signal handler ran on a stack of its own: the interrupted one was not taken. */
	if (w->sp - w->stack_start > w->stack_bytes)
		return CUT_DUMP_END;
	bool beyond = addr >= w->stack_start + w->stack_bytes - (w->arch->word - 1u);
	return beyond && !w->stack_whole ? CUT_DUMP_END : CUT_BAD_CFA;
}

static enum cut_reason find_cfa(struct walk *w, const struct row *row, uint64_t *ret_cfa)
{
	const struct rules *rules;
	const struct rule *r;
	uint64_t at = (uint64_t)(int64_t)row->cfa_off;
	switch (row->cfa) {
	case ROW_SP: *ret_cfa = w->sp + at; return CUT_NONE;
	case ROW_FP: *ret_cfa = w->fp + at; return CUT_NONE;
	case ROW_SP_AT:
	case ROW_FP_AT:
		at += row->cfa == ROW_SP_AT ? w->sp : w->fp;
		return walk_read(w, at, ret_cfa) ? CUT_NONE : walk_why_unread(w, at);
	default:
		r = find_rule(w, row->rules, RULE_OF_CFA, &rules);
		return r && apply_rule(w, rules, r, w->n, ret_cfa) ? CUT_NONE : CUT_BAD_CFA;
	}
}

/* A value that only the row's rules give; keeps @value when they do not. */
static bool by_rule(struct walk *w, const struct row *row, unsigned reg, uint64_t *value)
{
	const struct rules *rules;
	const struct rule *r = find_rule(w, row->rules, reg, &rules);
	return r && apply_rule(w, rules, r, w->n, value);
}

static enum cut_reason find_ra(struct walk *w, const struct row *row, uint64_t cfa,
			       uint64_t *ret_ra)
{
	if (row->flags & ROW_RA_REG) /* a leaf function: only the frame that runs can be one */
		return w->how == HOW_EXACT && walk_register(w, w->arch->lr, w->n, ret_ra)
			       ? CUT_NONE
			       : CUT_BAD_CFA;
	if (row->flags & ROW_RA_RULES)
		return by_rule(w, row, w->arch->pc, ret_ra) ? CUT_NONE : CUT_BAD_CFA;
	uint64_t at = cfa + (uint64_t)(int64_t)row->ra_off;
	return walk_read(w, at, ret_ra) ? CUT_NONE : walk_why_unread(w, at);
}

/* Undo one frame. CUT_NONE: w->pc, sp, fp, how are the caller's. */
static enum cut_reason apply_row(struct walk *w, const struct row *row)
{
	struct visit *visit = &w->u->visits[w->n];
	uint64_t cfa, ra, fp = w->fp, sp;
	enum cut_reason why = find_cfa(w, row, &cfa);
	if (why)
		return why;
	visit->cfa = cfa;
	visit->rules = row->rules;
	why = find_ra(w, row, cfa, &ra);
	if (why)
		return why;
	/* Stacks grow down, and every call takes room; a leaf with a link register takes none. */
	if (!(row->flags & ROW_SIGNAL) && (cfa < w->sp || (cfa == w->sp && w->how != HOW_EXACT)))
		return CUT_BAD_CFA;
	if (row->flags & ROW_FP_SAVED) {
		uint64_t slot = cfa + (uint64_t)(int64_t)row->fp_off;
		if (slot >= w->sp && !walk_read(w, slot, &fp))
			return walk_why_unread(w, slot);
	} else if (row->flags & ROW_FP_RULES) {
		by_rule(w, row, w->arch->fp, &fp);
	}
	sp = cfa;
	if (row->flags & ROW_SP_RULES)
		by_rule(w, row, w->arch->sp, &sp);
	w->pc = ra & w->arch->pc_bits;
	w->sp = sp;
	w->fp = fp;
	w->how = row->flags & ROW_SIGNAL    ? HOW_EXACT
		 : row->flags & ROW_GUESSED ? HOW_RETURN | HOW_GUESS
					    : HOW_RETURN;
	return CUT_NONE;
}

/* What cannot be expressed: libunwind, and if it cannot either, the frame pointer. */
static enum cut_reason step_abroad(struct walk *w, bool *ret_end)
{
	struct unwinder *u = w->u;
	enum cut_reason why = CUT_NO_CFI;
	if (w->budget < ABROAD_COST)
		return guess_step(w);
	w->budget -= ABROAD_COST;
	if (!u->foreign)
		u->foreign = foreign_new(u, false);
	if (u->foreign)
		why = foreign_step(u->foreign, w, ret_end);
	return why ? guess_step(w) : why;
}

/* Instructions told that there is no frame; where that leads out of all code, there is one. */
static enum cut_reason apply_told(struct walk *w, const struct row *row)
{
	uint64_t pc = w->pc, sp = w->sp, fp = w->fp;
	unsigned how = w->how;
	enum cut_reason why = apply_row(w, row);
	if (why == CUT_DUMP_END || (!why && find_code(w->space, w->pc - 1)))
		return why;
	w->pc = pc;
	w->sp = sp;
	w->fp = fp;
	w->how = how;
	w->u->visits[w->n].rules = 0;
	return guess_step(w);
}

static enum cut_reason step(struct walk *w, const struct row *row, bool *ret_end)
{
	switch (row->cfa) {
	case ROW_NO_CFI: return guess_step(w);
	case ROW_SWITCH: return switch_step(w);
	case ROW_SIGRETURN: return sigreturn_step(w);
	case ROW_FOREIGN: return step_abroad(w, ret_end);
	case ROW_END: *ret_end = true; return CUT_NONE;
	default: return row->flags & ROW_GUESSED ? apply_told(w, row) : apply_row(w, row);
	}
}

/* The rules of the frames walked so far are gone: so are the registers that they saved. */
static void forget_rules(struct walk *w)
{
	w->epoch = w->u->rules_epoch;
	w->from = w->n;
	w->own = (struct sample_regs){.arch = w->arch->arch};
	w->regs = &w->own;
}

enum cut_reason walk_run(struct walk *w, frame_id *frames, uint32_t max, uint32_t *ret_n)
{
	struct unwinder *u = w->u;
	uint64_t generation = space_generation(w->space);
	enum cut_reason why = CUT_NONE;
	bool end = false;
	for (w->n = 0;; w->n++) {
		if (w->n == max) {
			why = max < FRAMES_MAX ? CUT_LIMIT : CUT_LOOP;
			break;
		}
		const struct cache_entry *e = entry_at(u, w->space, generation, w->pc, w->how);
		if (!e) {
			why = CUT_NO_MODULE;
			if (w->n == 0)
				frames[w->n++] = FRAME_UNKNOWN;
			break;
		}
		if (w->epoch != u->rules_epoch && w->n)
			forget_rules(w);
		w->epoch = u->rules_epoch;
		frames[w->n] = e->frame;
		u->visits[w->n] = (struct visit){w->pc, w->sp, w->fp, w->sp, 0};
		struct row row = e->row;
		why = step(w, &row, &end);
		if (why || end) {
			w->n++;
			break;
		}
	}
	*ret_n = w->n;
	if (why == CUT_DUMP_END || why == CUT_NONE || why == CUT_LIMIT || why == CUT_LOOP)
		return why;
	return w->n && root_is(u, frames[w->n - 1], false) ? CUT_NONE : why;
}
