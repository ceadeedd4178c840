/*
 * row: what undoes one frame at one pc, made once from CFI, then applied for nanoseconds.
 *
 * The hot part (16 bytes) finds the CFA, the return address and the frame pointer. Everything else
 * a function saved is in its rules, which are looked at only when a later frame asks for such a
 * register: most never do. Rules are interned, since few sets of saved registers exist: offsets in
 * them count from the CFA, so they do not change from pc to pc.
 */
#ifndef ALTPTTOP_ROW_H
#define ALTPTTOP_ROW_H

#include "unwind/cfi.h"
#include "unwind/regs.h"

enum row_kind_cfa {
	ROW_NO_CFI,    /* nothing is known here: frame-pointer guess */
	ROW_SP,        /* CFA = sp + cfa_off */
	ROW_FP,        /* CFA = fp + cfa_off */
	ROW_SP_AT,     /* CFA = the word at sp + cfa_off (signal frames) */
	ROW_FP_AT,     /* CFA = the word at fp + cfa_off (realigned stacks) */
	ROW_RULES,     /* CFA by the rule of RULE_CFA */
	ROW_END,       /* outermost: there is no return address */
	ROW_SIGRETURN, /* a signal's return, known by its instructions: registers lie in a ucontext
			*/
	ROW_SWITCH,    /* the caller is on another stack; the frame pointer leads there */
	ROW_FOREIGN,   /* not expressible here: libunwind */
};

enum row_flag {
	ROW_SIGNAL = 1 << 0,   /* the caller was interrupted: its pc is exact */
	ROW_FP_SAVED = 1 << 1, /* caller's fp at CFA + fp_off */
	ROW_FP_RULES = 1 << 2, /* caller's fp by a rule */
	ROW_SP_RULES = 1 << 3, /* caller's sp by a rule; else it is the CFA */
	ROW_RA_REG = 1 << 4,   /* return address still in the link register */
	ROW_RA_RULES = 1 << 5, /* return address by a rule; else at CFA + ra_off */
	ROW_GUESSED = 1 << 6,  /* told by instructions, not by CFI */
};

struct row {
	uint8_t cfa;   /* enum row_kind_cfa */
	uint8_t flags; /* enum row_flag */
	int16_t ra_off;
	int32_t cfa_off;
	int32_t fp_off;
	uint32_t rules; /* place in the rules store, 0 none */
};

enum rule_kind {
	RULE_SAME, /* also: nothing was said */
	RULE_UNDEFINED,
	RULE_AT_CFA,  /* saved at CFA + off */
	RULE_CFA_OFF, /* is CFA + off */
	RULE_REG,     /* is register base + off */
	RULE_AT_REG,  /* saved at register base + off */
	RULE_AT_EXPR, /* saved where the expression says */
	RULE_EXPR,    /* is what the expression says */
};

#define RULE_OF_CFA 0xff /* rule.reg of the rule that gives the CFA */
struct rule {
	uint8_t reg; /* DWARF number */
	uint8_t kind;
	uint8_t base;
	uint8_t len; /* bytes of the expression; off is where it lies, from the rules' start */
	int32_t off;
};
struct rules {
	uint32_t bytes; /* of all of this */
	uint32_t n;
	struct rule r[];
};

/* Rules by content, append-only up to a cap. */
struct rules_store;
struct rules_store *rules_new(size_t cap_bytes);
void rules_free(struct rules_store *s);
void rules_clear(struct rules_store *s); /* every row that refers to it must go too */
size_t rules_bytes(const struct rules_store *s);
const struct rules *rules_get(const struct rules_store *s, uint32_t at); /* till the next intern */

/* A row in the making: complete save that its rules are not interned yet. */
#define DRAFT_EXPR 1024
struct draft {
	struct row row;
	uint32_t n, expr_bytes;
	struct rule rules[REGS_MAX + 1];
	uint8_t expr[DRAFT_EXPR];
};

/* Working memory for one CFI program: the caller keeps one, contents do not matter. */
struct row_work;
struct row_work *row_work_new(void);
void row_work_free(struct row_work *w);

/*
 * Run the CFI program of @fde up to @vaddr. Touches the image: to be called guarded; touches
 * nothing else, so that being left half-way does no harm. -EBADMSG: the program makes no sense.
 */
int row_draft(struct row_work *w, const struct regs_arch *arch, const struct cfi_fde *fde,
	      uint64_t vaddr, struct draft *ret_draft);

/* Intern the rules. -ENOSPC: the store is full (clear it, and every row). */
int row_finish(struct rules_store *s, const struct draft *d, struct row *ret_row);

#endif
