/*
 * unwind: the room's face: one raw sample in, frame ids out.
 *
 * Chooses between the ways a stack may arrive (registers and stack bytes, a chain of addresses,
 * frames already named), puts the kernel's part before it and [truncated] behind what did not reach
 * a root. Owned by the source thread.
 */
#include "unwind/unwind.h"

#include <stdlib.h>

#include "unwind/foreign.h"
#include "unwind/root.h"

#define SETS_LOG2 15 /* 64 Ki entries, 2 MiB a cache when full */
#define RULES_CAP ((size_t)8 << 20)

struct unwinder *unwinder_new(struct tables *tables, const struct unwind_config *config)
{
	struct unwinder *u = calloc(1, sizeof *u);
	if (!u)
		return NULL;
	struct module_access access = {config->symfs, config->live};
	u->tables = tables;
	u->config = *config;
	if (!u->config.max_frames || u->config.max_frames > FRAMES_MAX)
		u->config.max_frames = FRAMES_MAX;
	u->objects = objects_new(tables, &access);
	u->rules = rules_new(RULES_CAP);
	u->work = row_work_new();
	u->visits = malloc((FRAMES_MAX + 1) * sizeof *u->visits);
	struct module kernel = {.kind = MODULE_KERNEL};
	kernel.path = kernel.name = tables_str(tables, "[kernel]");
	u->kernel = tables_module(tables, &kernel);
	if (!u->objects || !u->rules || !u->work || !u->visits ||
	    cache_init(&u->by_pc, SETS_LOG2) || cache_init(&u->by_addr, SETS_LOG2)) {
		unwinder_free(u);
		return NULL;
	}
	return u;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	cache_fini(&u->by_pc);
	cache_fini(&u->by_addr);
	foreign_free(u->foreign);
	free(u->visits);
	row_work_free(u->work);
	rules_free(u->rules);
	objects_free(u->objects);
	free(u);
}

/* Kernel frames are cached beside user ones: their owner is no generation of any maps. */
#define KERNEL_OWNER 0

static uint32_t kernel_frames(struct unwinder *u, const struct raw_sample *s, frame_id *frames,
			      uint32_t max)
{
	const struct row none = {.cfa = ROW_END};
	uint32_t n = s->nkernel < max ? s->nkernel : max;
	for (uint32_t k = 0; k < n; k++) {
		unsigned how = k ? HOW_RETURN : HOW_EXACT;
		uint64_t key = s->kernel[k] << 2 | how;
		const struct cache_entry *e = cache_get(&u->by_pc, key, KERNEL_OWNER);
		if (!e) {
			struct frame f = {.module = u->kernel,
					  .addr = s->kernel[k],
					  .flags = FRAME_KERNEL | (k ? FRAME_RETURN : 0)};
			e = cache_put(&u->by_pc, key, KERNEL_OWNER, tables_frame(u->tables, &f),
				      &none);
		}
		frames[k] = e->frame;
	}
	return n;
}

/* Addresses that the kernel or the hardware walked. */
static enum cut_reason chain_frames(struct unwinder *u, struct space *space,
				    const struct raw_sample *s, frame_id *frames, uint32_t max,
				    uint32_t *ret_n)
{
	uint64_t generation = space_generation(space);
	enum cut_reason why = CUT_FP_CHAIN;
	uint32_t n = 0;
	for (uint32_t k = 0; k < s->nuser; k++) {
		if (n == max) {
			why = CUT_LIMIT;
			break;
		}
		const struct cache_entry *e = entry_at(u, space, generation, s->user[k],
						       k ? HOW_RETURN : HOW_EXACT);
		if (!e && k > 0) {
			why = CUT_NO_MODULE;
			break;
		}
		frames[n++] = e ? e->frame : FRAME_UNKNOWN;
		if (e && e->row.cfa == ROW_END) {
			why = CUT_NONE;
			break;
		}
	}
	*ret_n = n;
	if (why == CUT_FP_CHAIN && n && root_is(u, frames[n - 1], true))
		why = CUT_NONE;
	return why;
}

static enum cut_reason stack_frames(struct unwinder *u, struct space *space,
				    const struct raw_sample *s, frame_id *frames, uint32_t max,
				    uint32_t *ret_n)
{
	struct walk w = {.u = u, .space = space, .regs = s->regs, .budget = EXPR_BUDGET};
	w.arch = regs_arch_get(s->regs->arch);
	*ret_n = 0;
	if (!w.arch || !regs_get(w.arch, s->regs, w.arch->pc, &w.pc) ||
	    !regs_get(w.arch, s->regs, w.arch->sp, &w.sp))
		return CUT_NO_REGS;
	regs_get(w.arch, s->regs, w.arch->fp, &w.fp);
	w.stack = s->stack;
	w.stack_start = w.sp;
	w.stack_bytes = s->stack_bytes;
	w.stack_whole = s->stack_bytes < s->stack_asked;
	return walk_run(&w, frames, max, ret_n);
}

static enum cut_reason user_frames(struct unwinder *u, struct space *space,
				   const struct raw_sample *s, frame_id *frames, uint32_t max,
				   uint32_t *ret_n)
{
	*ret_n = 0;
	if (s->regs && s->stack_bytes)
		return stack_frames(u, space, s, frames, max, ret_n);
	if (s->nuser)
		return chain_frames(u, space, s, frames, max, ret_n);
	if (s->flags & SAMPLE_KERNEL || !s->ip)
		return CUT_NO_REGS;
	/* Nobody asked for a stack: the one address is all there is, and not a cut one. */
	struct raw_sample flat = *s;
	flat.user = &s->ip;
	flat.nuser = 1;
	enum cut_reason why = chain_frames(u, space, &flat, frames, max, ret_n);
	return s->regs ? CUT_NO_REGS : why == CUT_FP_CHAIN ? CUT_NONE : why;
}

void unwinder_stack(struct unwinder *u, struct space *space, task_id task,
		    const struct raw_sample *s, frame_id *frames, uint32_t max,
		    struct unwind_result *ret_result)
{
	struct unwind_result result = {0, CUT_NONE, 0};
	uint32_t limit = max - 1 < u->config.max_frames ? max - 1 : u->config.max_frames;
	(void)task;
	u->stats.stacks++;
	if (s->nframes) {
		result.nframes = s->nframes < limit ? s->nframes : limit;
		for (uint32_t k = 0; k < result.nframes; k++)
			frames[k] = s->frames[k];
	} else {
		uint32_t n = kernel_frames(u, s, frames, limit), user = 0;
		if (space)
			result.cut = user_frames(u, space, s, frames + n, limit - n, &user);
		result.nframes = n + user;
	}
	if (result.nframes == 0 && !result.cut)
		frames[result.nframes++] = FRAME_UNKNOWN;
	if (result.cut)
		frames[result.nframes++] = FRAME_TRUNCATED;
	u->stats.frames += result.nframes;
	*ret_result = result;
}

void unwinder_task_gone(struct unwinder *u, task_id task)
{
	(void)u;
	(void)task;
}

size_t unwinder_bytes(const struct unwinder *u)
{
	return sizeof *u + (u->by_pc.sets + u->by_addr.sets) * 2 * sizeof(struct cache_entry) +
	       rules_bytes(u->rules) + objects_bytes(u->objects) +
	       (FRAMES_MAX + 1) * sizeof *u->visits;
}

void unwinder_stats(const struct unwinder *u, struct unwind_stats *ret_stats)
{
	*ret_stats = u->stats;
}
