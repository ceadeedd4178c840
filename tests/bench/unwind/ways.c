/*
 * ways: one sample unwound by ours, by libunwind (custom accessors, its global cache), and by libdw
 * (one persistent Dwfl).
 */
#include "bench.h"

#include <stdio.h>

static void start_walk(struct bench *b, const struct stack_sample *s, struct walk *w)
{
	*w = (struct walk){.u = b->u,
			   .space = b->stacks.spaces[s->space],
			   .arch = regs_arch_get(s->regs.arch),
			   .regs = &s->regs,
			   .budget = EXPR_BUDGET,
			   .stack = s->bytes,
			   .stack_bytes = s->size};
	regs_get(w->arch, &s->regs, w->arch->pc, &w->pc);
	regs_get(w->arch, &s->regs, w->arch->sp, &w->sp);
	regs_get(w->arch, &s->regs, w->arch->fp, &w->fp);
	w->stack_start = w->sp;
}

static void run_own(struct bench *b, const struct stack_sample *s, struct chain *c)
{
	static frame_id frames[FRAMES_MAX];
	struct walk w;
	start_walk(b, s, &w);
	c->cut = walk_run(&w, frames, FRAMES_MAX, &c->n);
	c->end = c->cut == CUT_NONE;
	for (uint32_t k = 0; k < c->n; k++)
		c->pcs[k] = b->u->visits[k].pc;
}

static void run_libunwind(struct bench *b, const struct stack_sample *s, struct chain *c)
{
	struct walk w;
	start_walk(b, s, &w);
	w.stack = s->below;
	w.stack_start -= RED_ZONE;
	w.stack_bytes += RED_ZONE;
	c->n = foreign_chain(b->foreign, &w, c->pcs, FRAMES_MAX, &c->end);
}

static void run_libdw(struct bench *b, const struct stack_sample *s, struct chain *c)
{
	c->n = oracle_dw_chain(b->dw, s, s->size, c->pcs, FRAMES_MAX);
}

const struct way ways[WAYS] = {
	{"own", run_own}, {"libunwind", run_libunwind}, {"libdw", run_libdw}};

void print_frame(struct bench *b, const struct stack_sample *s, uint64_t pc)
{
	struct space *space = b->stacks.spaces[s->space];
	const struct cache_entry *e = entry_at(b->u, space, space_generation(space), pc,
					       HOW_RETURN);
	const struct frame *f = tables_frame_get(b->tables, e ? e->frame : 0);
	printf("%s+0x%llx (row %d) ",
	       tables_text(b->tables, tables_module_get(b->tables, f->module)->name),
	       (unsigned long long)f->addr, e ? e->row.cfa : -1);
}
