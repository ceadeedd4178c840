/*
 * flow: follows code from an instruction to where it returns, makes a frame, or leaves one.
 *
 * All ways are followed, the nearer first, and jumps out of the function too: a tail call finds the
 * same return address. A way on which sp is taken from the frame pointer says for certain that
 * there is a frame; without such a way the first that says anything is believed. Calls are supposed
 * to come back with sp as it was. Pure functions.
 */
#include "unwind/flow.h"

#include "unwind/x86insn.h"

#define WAYS_MOST   48  /* branches followed */
#define INSNS_MOST  512 /* on all of them */
#define SLOT_MOST   (1 << 20)
#define FP_AS_IT_IS INT64_MIN /* what the caller has */
#define FP_NOT_YET  INT64_MAX /* the same: what will be restored is yet to be saved */

/* Places on the stack are counted in bytes above sp as it is at the start. */
struct way {
	size_t at;
	int64_t sp;
	bool made;   /* a frame was, on the way */
	bool lost;   /* sp went elsewhere since: the count is of no use but to tell a push's pop */
	int32_t reg; /* popped last, -1 none, */
	int64_t reg_at;  /* and from where */
	int64_t copy_at; /* what lies here is a copy */
	int64_t copy_of; /* of what lies here */
	int64_t fp;      /* where the caller's frame pointer comes from, or FP_* */
};

enum told {
	TOLD_NOTHING,
	TOLD_TAIL, /* by a jump to elsewhere, which may be a tail call */
	TOLD_ROW,
	TOLD_FRAME,
};

struct flow {
	size_t size;
	bool straight; /* what branches says nothing */
	struct way ways[WAYS_MOST];
	unsigned n, next, insns;
	enum told told;
	struct row row;
};

#define UNTOLD (-1)

/* Where the return address is at a return or a jump: on top, unless that was put there. */
static int64_t on_top(const struct way *w)
{
	return w->copy_at == w->sp ? w->copy_of : w->lost ? UNTOLD : w->sp;
}

static void push(struct way *w, int64_t copy_of)
{
	w->sp -= 8;
	if (copy_of == UNTOLD)
		return;
	w->copy_at = w->sp;
	w->copy_of = copy_of;
}

/* A way leads to a return address at @slot. */
static void tell(struct flow *f, enum told told, const struct way *w, int64_t slot)
{
	if (f->told >= told || slot < 0 || slot > SLOT_MOST)
		return;
	f->told = told;
	f->row = (struct row){
		.cfa = ROW_SP, .flags = ROW_GUESSED, .cfa_off = (int32_t)slot + 8, .ra_off = -8};
	if (w->fp >= 0 && w->fp < slot) {
		f->row.flags |= ROW_FP_SAVED;
		f->row.fp_off = (int32_t)(w->fp - slot) - 8;
	}
}

static void add_way(struct flow *f, size_t at, int32_t rel, const struct way *from)
{
	int64_t to = (int64_t)at + rel;

	if (f->straight)
		return;
	if (to < 0 || (uint64_t)to >= f->size) {
		tell(f, TOLD_TAIL, from, on_top(from));
		return;
	}
	for (unsigned k = 0; k < f->n; k++)
		if (f->ways[k].at == (size_t)to)
			return;
	if (f->n < WAYS_MOST) {
		f->ways[f->n] = *from;
		f->ways[f->n++].at = (size_t)to;
	}
}

static void on_fp_restored(struct way *w, int64_t from)
{
	if (w->fp != FP_NOT_YET && !w->lost)
		w->fp = from;
}

/* False: that told it. What is popped right before makes the frame for its caller, and returns. */
static bool on_frame_made(struct flow *f, struct way *w)
{
	int64_t slot = w->sp + 8;

	w->made = w->reg >= 0 && w->reg_at == slot - 8;
	if (!w->made && !w->lost)
		tell(f, TOLD_ROW, w, slot);
	return w->made;
}

static bool on_frame_used(struct flow *f, const struct way *w, bool left)
{
	if (w->made)
		return !left;
	if (left || f->told != TOLD_ROW)
		f->told = TOLD_FRAME;
	if (left)
		f->n = 0; /* no more is needed */
	return false;
}

/* False: the way ends. */
static bool follow(struct flow *f, struct way *w, const struct x86_insn *i,
		   const struct x86_insn *before)
{
	size_t end = w->at + i->len;

	switch (i->kind) {
	case X86_JUMP: add_way(f, end, i->value, w); return false;
	case X86_BRANCH: add_way(f, end, i->value, w); return !f->straight;
	case X86_STOP: return false;
	case X86_AWAY: tell(f, TOLD_TAIL, w, on_top(w)); return false;
	case X86_RET: tell(f, TOLD_ROW, w, on_top(w)); return false;
	case X86_PUSH:
		push(w, i->value >= 0 && i->value == w->reg ? w->reg_at : UNTOLD);
		return true;
	case X86_PUSH_SLOT: push(w, w->lost ? UNTOLD : w->sp + i->value); return true;
	case X86_PUSH_FP:
		push(w, UNTOLD);
		w->fp = FP_NOT_YET;
		return true;
	case X86_POP_FP:
		on_fp_restored(w, w->sp);
		w->sp += 8;
		return true;
	case X86_FP_LOADED: on_fp_restored(w, w->sp + i->value); return true;
	case X86_FP_INTO: /* Go keeps it right below the return address */
		if (before->kind == X86_FP_STORED && before->value == i->value && !w->lost)
			tell(f, TOLD_ROW, w, w->sp + i->value + 8);
		w->fp = FP_NOT_YET;
		return true;
	case X86_GO_BEGINS: /* after a panic, which did not come back, and runtime.morestack */
		return f->next == 0;
	case X86_POP:
		w->reg = w->lost ? -1 : i->value;
		w->reg_at = w->sp;
		w->sp += 8;
		return true;
	case X86_SP_ADD: w->sp += i->value; return true;
	case X86_FP_IS_SP: return before->kind == X86_PUSH_FP && on_frame_made(f, w);
	case X86_SP_IS_FP:
	case X86_BY_FP: return on_frame_used(f, w, i->kind == X86_SP_IS_FP);
	case X86_SP_LOST: w->lost = true; return true;
	default: return true;
	}
}

bool flow_row(const uint8_t *code, size_t size, size_t at, bool called, struct row *ret_row)
{
	static const struct x86_insn none;
	struct flow f = {.size = size,
			 .straight = called,
			 .ways = {{.at = at, .reg = -1, .copy_at = INT64_MAX, .fp = FP_AS_IT_IS}},
			 .n = 1};

	for (; f.next < f.n; f.next++) {
		struct way w = f.ways[f.next];
		struct x86_insn i, before = none;
		while (f.insns++ < INSNS_MOST && w.at < size &&
		       x86_insn_read(code + w.at, size - w.at, &i) && follow(&f, &w, &i, &before)) {
			w.at += i.len;
			before = i;
		}
	}
	if (f.told != TOLD_ROW && (f.told != TOLD_TAIL || called))
		return false;
	*ret_row = f.row;
	return true;
}
