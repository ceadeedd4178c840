/*
 * rebuild: one stack a thread, and one rule a class of the previous instruction, in a table.
 *
 * How often a function is on a stack is counted a thread, so that "is it on the stack" costs one
 * look-up and only pops search. Source thread.
 */
#include "trace/rebuild.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

#define DEPTH_MAX 65536

struct thread {
	struct {
		VEC(uint32_t)
	} stack;
	struct {
		VEC(uint32_t)
	} levels; /* of the functions on the stack, where lines tell levels; else none */
	struct map64 present; /* func → times on the stack */
	enum insn_class previous;
	bool started;
};

struct rebuild {
	const struct rebuild_ops *ops;
	void *ctx;
	struct {
		VEC(struct thread)
	} threads;
	uint64_t repairs;
};

struct rebuild *rebuild_new(const struct rebuild_ops *ops, void *ctx)
{
	struct rebuild *r = calloc(1, sizeof *r);
	if (r) {
		r->ops = ops;
		r->ctx = ctx;
	}
	return r;
}

void rebuild_free(struct rebuild *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->threads.len; i++) {
		vec_fini(&r->threads.data[i].stack);
		vec_fini(&r->threads.data[i].levels);
		map64_fini(&r->threads.data[i].present);
	}
	vec_fini(&r->threads);
	free(r);
}

static struct thread *thread_of(struct rebuild *r, uint32_t index)
{
	while (r->threads.len <= index) {
		struct thread t = {0};
		map64_init(&t.present);
		if (vec_push(&r->threads, t)) {
			map64_fini(&t.present);
			return NULL;
		}
	}
	return &r->threads.data[index];
}

static uint32_t times(const struct thread *t, uint32_t func)
{
	uint32_t n = 0;
	map64_get(&t->present, func, &n);
	return n;
}

static bool on_top(const struct thread *t, uint32_t func)
{
	return t->stack.len && t->stack.data[t->stack.len - 1] == func;
}

static int pop(struct rebuild *r, uint32_t thread)
{
	struct thread *t = &r->threads.data[thread];
	uint32_t func = t->stack.data[--t->stack.len], n = times(t, func);
	if (n > 1)
		map64_put(&t->present, func, n - 1);
	else
		map64_del(&t->present, func);
	return r->ops->leave(r->ctx, thread, func, (uint32_t)t->stack.len);
}

static int clear(struct rebuild *r, uint32_t thread)
{
	int rc = 0;
	while (!rc && r->threads.data[thread].stack.len)
		rc = pop(r, thread);
	return rc;
}

static int push(struct rebuild *r, uint32_t thread, uint32_t func)
{
	struct thread *t = &r->threads.data[thread];
	int rc = 0;
	if (t->stack.len >= DEPTH_MAX) {
		r->repairs++;
		rc = clear(r, thread);
	}
	rc = rc ? rc : vec_push(&t->stack, func);
	rc = rc ? rc : map64_put(&t->present, func, times(t, func) + 1);
	return rc ? rc : r->ops->enter(r->ctx, thread, func, (uint32_t)t->stack.len);
}

static int pop_to(struct rebuild *r, uint32_t thread, uint32_t func)
{
	int rc = 0;
	while (!rc && !on_top(&r->threads.data[thread], func))
		rc = pop(r, thread);
	return rc;
}

static int start_over(struct rebuild *r, uint32_t thread, uint32_t func)
{
	r->repairs += r->threads.data[thread].stack.len > 0;
	int rc = clear(r, thread);
	return rc ? rc : push(r, thread, func);
}

/* --- one rule a class of the previous instruction; @i is in @func now --- */

struct step {
	struct rebuild *r;
	struct thread *t;
	uint32_t thread, func;
	bool entry;    /* at the function's first byte */
	bool interior; /* known not to be at it */
};

static int after_call(struct step *s)
{
	/* A call that comes back at once, or whose inside is not traced, goes on in the same
	 * function. */
	if (on_top(s->t, s->func) && s->interior)
		return 0;
	return push(s->r, s->thread, s->func);
}

static int after_return(struct step *s)
{
	int rc = s->t->stack.len ? pop(s->r, s->thread) : 0;
	if (rc || on_top(s->t, s->func))
		return rc;
	return times(s->t, s->func) ? pop_to(s->r, s->thread, s->func)
				    : push(s->r, s->thread, s->func);
}

static int after_jcc(struct step *s)
{
	if (on_top(s->t, s->func))
		return 0;
	return times(s->t, s->func) ? pop_to(s->r, s->thread, s->func)
				    : push(s->r, s->thread, s->func);
}

static int after_jmp(struct step *s)
{
	if (on_top(s->t, s->func))
		return 0;
	if (times(s->t, s->func))
		return pop_to(s->r, s->thread, s->func);
	int rc = s->t->stack.len ? pop(s->r, s->thread) : 0;
	return rc ? rc : push(s->r, s->thread, s->func);
}

static int after_none(struct step *s)
{
	if (on_top(s->t, s->func))
		return 0;
	if (s->entry || !s->t->stack.len)
		return push(s->r, s->thread, s->func);
	return start_over(s->r, s->thread, s->func);
}

/* Tracing starts: a function that is on the stack is believed, else nothing is known of the
 * callers. */
static int after_start(struct step *s)
{
	if (on_top(s->t, s->func))
		return 0;
	if (times(s->t, s->func))
		return pop_to(s->r, s->thread, s->func);
	int rc = clear(s->r, s->thread);
	return rc ? rc : push(s->r, s->thread, s->func);
}

/* Something is missing: a function that is on the stack is believed, anything else starts over. */
static int after_gap(struct step *s)
{
	if (on_top(s->t, s->func))
		return 0;
	return times(s->t, s->func) ? pop_to(s->r, s->thread, s->func)
				    : start_over(s->r, s->thread, s->func);
}

static int (*const rules[INSN_CLASSES])(struct step *s) = {
	[INSN_NONE] = after_none,  [INSN_CALL] = after_call, [INSN_RETURN] = after_return,
	[INSN_JMP] = after_jmp,    [INSN_JCC] = after_jcc,   [INSN_SYSCALL] = after_call,
	[INSN_START] = after_none, [INSN_END] = after_gap,
};

/* The line tells the level itself: nothing is guessed. */
static int level_step(struct rebuild *r, const struct trace_insn *i, uint32_t func)
{
	struct thread *t = &r->threads.data[i->thread];
	size_t top = t->levels.len;
	int rc = 0;
	if (i->kind == INSN_END || (i->kind == INSN_START && on_top(t, func) && top &&
				    t->levels.data[top - 1] == i->level))
		return 0;
	while (!rc && t->levels.len && t->levels.data[t->levels.len - 1] >= i->level) {
		t->levels.len--;
		rc = pop(r, i->thread);
	}
	if (rc || i->kind == INSN_RETURN)
		return rc;
	if (t->levels.len >= DEPTH_MAX)
		return 0; /* deeper than any stack: it counts as its caller's */
	rc = vec_push(&t->levels, i->level);
	return rc ? rc : push(r, i->thread, func);
}

int rebuild_step(struct rebuild *r, const struct trace_insn *i, uint32_t func)
{
	struct thread *t = thread_of(r, i->thread);
	if (!t)
		return -ENOMEM;
	struct step s = {
		r, t, i->thread, func, i->offset == 0, i->offset && i->offset != UINT64_MAX};
	enum insn_class previous = t->previous;
	bool called = previous == INSN_CALL || previous == INSN_SYSCALL;
	int rc;
	if (i->level)
		return level_step(r, i, func);
	if (!t->started)
		rc = push(r, i->thread, func);
	else if (i->kind == INSN_START && !called)
		rc = after_start(&s);
	else if (i->gap)
		rc = after_gap(&s);
	else
		rc = rules[previous](&s);
	t = &r->threads.data[i->thread];
	t->started = true;
	t->previous = i->kind;
	return rc;
}

int rebuild_finish(struct rebuild *r)
{
	int rc = 0;
	for (uint32_t i = 0; !rc && i < r->threads.len; i++)
		rc = clear(r, i);
	return rc;
}

uint32_t rebuild_stack(const struct rebuild *r, uint32_t thread, const uint32_t **ret_funcs)
{
	if (thread >= r->threads.len)
		return 0;
	*ret_funcs = r->threads.data[thread].stack.data;
	return (uint32_t)r->threads.data[thread].stack.len;
}

uint64_t rebuild_repairs(const struct rebuild *r)
{
	return r->repairs;
}
