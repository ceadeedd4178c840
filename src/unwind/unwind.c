/*
 * unwind: the room's face: one raw sample in, frame ids out.
 *
 * Chooses between the ways a stack may arrive (registers and stack bytes, a chain of addresses,
 * frames already named), puts the kernel's part before it and [truncated] behind what did not reach
 * a root. Owned by the source thread.
 */
#include "unwind/unwind.h"

#include <stdlib.h>

#include "unwind/addrchain.h"
#include "unwind/foreign.h"

#define SETS_LOG2  15 /* 64 Ki entries, 2 MiB a cache when full */
#define PAST_BYTES ((size_t)32 << 20)
#define RULES_CAP  ((size_t)8 << 20)

struct unwinder *unwinder_new(struct tables *tables, const struct unwind_config *config)
{
	struct unwinder *u = calloc(1, sizeof *u);
	if (!u)
		return NULL;
	struct module_access access = {.symfs = config->symfs, .live = config->live};
	u->tables = tables;
	u->config = *config;
	if (!u->config.max_frames || u->config.max_frames > FRAMES_MAX)
		u->config.max_frames = FRAMES_MAX;
	u->objects = objects_new(tables, &access);
	u->rules = rules_new(RULES_CAP);
	u->work = row_work_new();
	u->visits = malloc((FRAMES_MAX + 1) * sizeof *u->visits);
	u->points = malloc((FRAMES_MAX + 1) * sizeof *u->points);
	if (config->stitch)
		u->stitch = stitch_new(config->past_bytes ? config->past_bytes : PAST_BYTES);
	struct module kernel = {.kind = MODULE_KERNEL};
	kernel.path = kernel.name = tables_str(tables, "[kernel]");
	u->kernel = tables_module(tables, &kernel);
	if (!u->objects || !u->rules || !u->work || !u->visits || !u->points ||
	    (config->stitch && !u->stitch) || cache_init(&u->by_pc, SETS_LOG2) ||
	    cache_init(&u->by_addr, SETS_LOG2)) {
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
	stitch_free(u->stitch);
	beyond_fini(&u->beyond);
	free(u->points);
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
	bool flat = s->nkernel == 0 && s->flags & SAMPLE_KERNEL && s->ip;
	const uint64_t *chain = flat ? &s->ip : s->kernel;
	uint32_t n = flat ? 1 : s->nkernel;
	if (n > max)
		n = max;
	for (uint32_t k = 0; k < n; k++) {
		unsigned how = k ? HOW_RETURN : HOW_EXACT;
		uint64_t key = chain[k] << 2 | how;
		const struct cache_entry *e = cache_get(&u->by_pc, key, KERNEL_OWNER);
		if (!e) {
			struct frame f = {.module = u->kernel,
					  .addr = chain[k],
					  .flags = FRAME_KERNEL | (k ? FRAME_RETURN : 0)};
			e = cache_put(&u->by_pc, key, KERNEL_OWNER, tables_frame(u->tables, &f),
				      &none);
		}
		frames[k] = e->frame;
	}
	return n;
}

/* The same frame, marked as taken from the past. */
static frame_id stitched_frame(struct unwinder *u, frame_id id)
{
	struct stitched_memo *memo = &u->stitched[id % STITCHED_MEMOS];
	if (memo->from != id) {
		struct frame f = *tables_frame_get(u->tables, id);
		f.flags |= FRAME_STITCHED;
		*memo = (struct stitched_memo){id, tables_frame(u->tables, &f)};
	}
	return memo->to;
}

/* Points of the @n frames walked: u->points. */
static void make_points(struct unwinder *u, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		u->points[k] = stitch_point(u->visits[k].pc, u->visits[k].cfa);
}

static enum cut_reason stitch(struct walk *w, task_id task, frame_id *frames, uint32_t max,
			      uint32_t *ret_n)
{
	struct unwinder *u = w->u;
	const struct visit *last = &u->visits[*ret_n - 1];
	uint32_t n = *ret_n, got;
	if (last->cfa == last->sp) /* its CFA could not be told */
		return CUT_DUMP_END;
	got = stitch_callers(u->stitch, task, stitch_point(last->pc, last->cfa), frames + n,
			     u->points + n, max - n);
	if (!got)
		return CUT_DUMP_END;
	make_points(u, n);
	stitch_learn(u->stitch, task, frames, u->points, n + got);
	for (uint32_t k = n; k < n + got; k++)
		frames[k] = stitched_frame(u, frames[k]);
	*ret_n = n + got;
	u->stitched_frames = got;
	return CUT_NONE;
}

/*
 * Complete stacks are remembered only while some are cut: where dumps suffice this costs nothing.
 */
static enum cut_reason remember_or_stitch(struct walk *w, task_id task, frame_id *frames,
					  uint32_t max, uint32_t *ret_n, enum cut_reason why)
{
	struct unwinder *u = w->u;
	if (why == CUT_DUMP_END && *ret_n) {
		u->learn_left = LEARN_STACKS;
		return stitch(w, task, frames, max, ret_n);
	}
	if (why != CUT_NONE || !u->learn_left || w->n != *ret_n)
		return why;
	u->learn_left--;
	make_points(u, w->n);
	stitch_learn(u->stitch, task, frames, u->points, w->n);
	return why;
}

static bool start_walk(struct walk *w, struct unwinder *u, struct space *space,
		       const struct raw_sample *s)
{
	*w = (struct walk){.u = u, .space = space, .regs = s->regs, .budget = EXPR_BUDGET};
	w->arch = regs_arch_get(s->regs->arch);
	if (!w->arch || !regs_get(w->arch, s->regs, w->arch->pc, &w->pc) ||
	    !regs_get(w->arch, s->regs, w->arch->sp, &w->sp))
		return false;
	regs_get(w->arch, s->regs, w->arch->fp, &w->fp);
	w->stack = s->stack;
	w->stack_start = w->sp;
	w->stack_bytes = s->stack_bytes;
	w->stack_whole = s->stack_bytes < s->stack_asked;
	return true;
}

/*
 * Nothing in the thread's past goes on where the dump of @n frames ends: perhaps the stack itself
 * still does. What it gives is remembered, so that the next ones need not be read.
 */
static enum cut_reason walk_beyond(struct walk *w, task_id task, const struct raw_sample *s,
				   frame_id *frames, uint32_t max, uint32_t *ret_n)
{
	struct unwinder *u = w->u;
	uint64_t start = w->stack_start, off = w->sp - start;
	uint32_t known = *ret_n, n;
	size_t size;
	bool whole;
	if (!u->config.live || w->stack_whole || off > w->stack_bytes ||
	    !beyond_read(&u->beyond, space_pid(w->space), s->stack, start, s->stack_bytes, &size,
			 &whole))
		return CUT_DUMP_END;
	start_walk(w, u, w->space, s);
	w->stack = u->beyond.bytes;
	w->stack_bytes = size;
	w->stack_whole = whole;
	if (walk_run(w, frames, max, &n) != CUT_NONE || n <= known)
		return CUT_DUMP_END;
	make_points(u, n);
	stitch_learn(u->stitch, task, frames, u->points, n);
	for (uint32_t k = known; k < n; k++)
		frames[k] = stitched_frame(u, frames[k]);
	*ret_n = n;
	u->stitched_frames = n - known;
	return CUT_NONE;
}

static enum cut_reason stack_frames(struct unwinder *u, struct space *space, task_id task,
				    const struct raw_sample *s, frame_id *frames, uint32_t max,
				    uint32_t *ret_n)
{
	struct walk w;
	*ret_n = 0;
	if (!start_walk(&w, u, space, s))
		return CUT_NO_REGS;
	enum cut_reason why = walk_run(&w, frames, max, ret_n);
	if (why == CUT_DUMP_END)
		why = chain_continue(&w, s, frames, max, ret_n, why);
	if (u->stitch)
		why = remember_or_stitch(&w, task, frames, max, ret_n, why);
	if (u->stitch && why == CUT_DUMP_END && *ret_n)
		why = walk_beyond(&w, task, s, frames, max, ret_n);
	return why;
}

/*
 * A sample without any user part is whole as it is: a kernel thread has none, else nobody asked for
 * one (every user task can give its registers). Then the event's own address is the stack.
 */
static enum cut_reason flat_frames(struct unwinder *u, struct space *space,
				   const struct raw_sample *s, frame_id *frames, uint32_t max,
				   uint32_t *ret_n)
{
	struct raw_sample flat = *s;
	flat.user = &s->ip;
	flat.nuser = 1;
	if (!s->nkernel && !(s->flags & SAMPLE_KERNEL) && s->ip)
		chain_frames(u, space, &flat, frames, max, ret_n);
	return s->regs ? CUT_NO_REGS : CUT_NONE;
}

static enum cut_reason user_frames(struct unwinder *u, struct space *space, task_id task,
				   const struct raw_sample *s, frame_id *frames, uint32_t max,
				   uint32_t *ret_n)
{
	*ret_n = 0;
	if (s->regs && s->stack_bytes)
		return stack_frames(u, space, task, s, frames, max, ret_n);
	if (s->nuser)
		return chain_frames(u, space, s, frames, max, ret_n);
	return flat_frames(u, space, s, frames, max, ret_n);
}

void unwinder_stack(struct unwinder *u, struct space *space, task_id task,
		    const struct raw_sample *s, frame_id *frames, uint32_t max,
		    struct unwind_result *ret_result)
{
	struct unwind_result result = {0, CUT_NONE, 0};
	uint32_t limit = max - 1 < u->config.max_frames ? max - 1 : u->config.max_frames;
	u->stitched_frames = 0;
	if (tables_superseded(u->tables) != u->superseded) {
		u->superseded = tables_superseded(u->tables);
		cache_clear(&u->by_pc);
		cache_clear(&u->by_addr);
	}
	if (s->nframes) {
		result.nframes = s->nframes < limit ? s->nframes : limit;
		for (uint32_t k = 0; k < result.nframes; k++)
			frames[k] = s->frames[k];
		result.cut = s->nframes > limit ? CUT_LIMIT : (enum cut_reason)s->cut;
	} else {
		uint32_t n = kernel_frames(u, s, frames, limit), user = 0;
		if (space)
			result.cut = user_frames(u, space, task, s, frames + n, limit - n, &user);
		result.nframes = n + user;
		result.stitched = u->stitched_frames;
	}
	if (result.nframes == 0 && !result.cut)
		frames[result.nframes++] = FRAME_UNKNOWN;
	if (result.cut && result.cut != CUT_NO_ROOT) /* names stay as they were recorded */
		frames[result.nframes++] = FRAME_TRUNCATED;
	*ret_result = result;
}

void unwinder_task_gone(struct unwinder *u, task_id task)
{
	if (u->stitch)
		stitch_forget(u->stitch, task);
}

size_t unwinder_bytes(const struct unwinder *u)
{
	return sizeof *u + (u->by_pc.sets + u->by_addr.sets) * 2 * sizeof(struct cache_entry) +
	       rules_bytes(u->rules) + objects_bytes(u->objects) +
	       (FRAMES_MAX + 1) * (sizeof *u->visits + sizeof *u->points) +
	       (u->stitch ? stitch_bytes(u->stitch) : 0) + beyond_bytes(&u->beyond);
}
