/*
 * timer_capture: copies registers and stack of a thread, and hands the finished observation to the
 * sink later, when nobody is stopped.
 *
 * How much of a stack is read adapts per thread: reading ends by itself at the end of the mapping,
 * so only a thread whose whole ask was filled is asked for more next time. Sampler thread.
 */
#include <string.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "sample/timer_impl.h"

struct timer_capture *timer_capture(struct timer_source *ts)
{
	struct timer_capture *c;

	if (ts->ncaptures == TIMER_CAPTURES)
		timer_deliver(ts);
	c = &ts->captures[ts->ncaptures];
	c->s = (struct raw_sample){0};
	c->mode = MODE_WAITS;
	return c;
}

static void grow_ask(struct timer_source *ts, struct timer_thread *t)
{
	if (ts->config->stack_bytes || t->stack_bytes >= TIMER_STACK_MOST)
		return;
	t->stack_bytes *= 2;
	if (t->stack_bytes > atomic_load_explicit(&ts->status.stack_bytes, memory_order_relaxed))
		atomic_store_explicit(&ts->status.stack_bytes, t->stack_bytes,
				      memory_order_relaxed);
}

void timer_read_stack(struct timer_source *ts, struct timer_thread *t, struct timer_capture *c)
{
	uint64_t sp = timer_regs_sp(&c->regs);
	struct iovec to = {c->stack, t->stack_bytes},
		     from = {(void *)(uintptr_t)sp, t->stack_bytes};
	ssize_t n;

	if (ts->config->call_graph == CALL_GRAPH_NONE)
		return;
	n = process_vm_readv(t->tid, &to, 1, &from, 1, 0);
	c->s.stack = c->stack;
	c->s.stack_asked = t->stack_bytes;
	c->s.stack_bytes = n > 0 ? (size_t)n : 0;
	if (c->s.stack_bytes == c->s.stack_asked)
		grow_ask(ts, t);
}

/* Follow saved frame pointers through the copied stack; they must rise and stay in it. */
static uint32_t walk_fp(struct timer_capture *c, uint64_t fp)
{
	bool is32 = c->regs.arch == ARCH_X86 || c->regs.arch == ARCH_ARM;
	uint64_t sp = timer_regs_sp(&c->regs), word = is32 ? 4 : 8;
	uint32_t n = 0;

	c->chain[n++] = timer_regs_pc(&c->regs);
	while (n < sizeof c->chain / sizeof *c->chain && fp >= sp && fp % word == 0 &&
	       fp - sp <= c->s.stack_bytes && c->s.stack_bytes - (fp - sp) >= 2 * word) {
		uint64_t next = 0, ret = 0;

		memcpy(&next, c->stack + (fp - sp), word);
		memcpy(&ret, c->stack + (fp - sp) + word, word);
		if (!ret)
			break;
		c->chain[n++] = ret;
		if (next <= fp)
			break;
		fp = next;
	}
	return n;
}

/* Bring the stack into the form that was asked for. */
static void shape(const struct timer_source *ts, struct timer_capture *c)
{
	uint64_t fp;

	c->s.ip = timer_regs_pc(&c->regs);
	if (ts->config->call_graph == CALL_GRAPH_NONE)
		return;
	/* A waiting thread's frame pointer is not known: its stack goes the other way. */
	if (ts->config->call_graph == CALL_GRAPH_FP && timer_regs_fp(&c->regs, &fp)) {
		c->s.nuser = walk_fp(c, fp);
		c->s.user = c->chain;
		c->s.stack = NULL;
		c->s.stack_bytes = c->s.stack_asked = 0;
		return;
	}
	c->s.regs = &c->regs;
}

static uint64_t weight(const struct timer_source *ts, const struct timer_thread *t, uint64_t now_ns,
		       const struct timer_ran *ran)
{
	uint64_t elapsed = now_ns > t->sampled_ns ? now_ns - t->sampled_ns : 0;

	if (ts->no_schedstat) /* ticks are too coarse: it ran for about one interval */
		return elapsed < ts->interval_ns ? elapsed : ts->interval_ns;
	return ran->ns > t->sampled.ns ? ran->ns - t->sampled.ns : 0;
}

void timer_finish(struct timer_source *ts, struct timer_thread *t, struct timer_capture *c,
		  const struct timer_ran *ran)
{
	t->flags = c->s.flags;
	if (ts->wall) {
		c->s.flags |= SAMPLE_BEGINS;
	} else {
		c->s.weight = weight(ts, t, c->s.time_ns, ran);
		if (!c->s.weight)
			return;
		c->s.weight = timer_modes_weigh(ts, t, c->mode, c->s.weight);
		ts->weight_ns += c->s.weight;
		ts->lately_ran_ns += c->s.weight;
		if (t->known && ran->ready_ns > t->sampled.ready_ns) /* else it is another */
			ts->lately_ready_ns += ran->ready_ns - t->sampled.ready_ns;
		t->sampled_ns = c->s.time_ns;
	}
	c->s.pid = t->pid;
	c->s.tid = t->tid;
	shape(ts, c);
	t->sampled = *ran;
	t->known = true;
	ts->ncaptures++;
}

void timer_repeat(struct timer_source *ts, struct timer_thread *t, uint64_t until_ns)
{
	struct timer_capture *c;

	if (!ts->wall || !t->known || until_ns <= t->sampled_ns)
		return;
	c = timer_capture(ts);
	c->s.time_ns = clock_mono_ns(); /* not before what was delivered already */
	c->s.pid = t->pid;
	c->s.tid = t->tid;
	c->s.flags = t->flags | SAMPLE_REPEATED;
	c->s.weight = until_ns - t->sampled_ns;
	t->sampled_ns = until_ns;
	if (!(t->flags & SAMPLE_BLOCKED))
		ts->weight_ns += c->s.weight;
	ts->ncaptures++;
}

void timer_deliver(struct timer_source *ts)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < ts->ncaptures; i++) {
		const struct raw_sample *s = &ts->captures[i].s;

		if (s->ip)
			timer_check_code(ts, s->pid, s->ip, s->time_ns);
		ts->sink->ops->sample(ts->sink->ctx, s);
		n += !(s->flags & SAMPLE_BEGINS);
	}
	atomic_fetch_add_explicit(&ts->status.samples, n, memory_order_relaxed);
	ts->ncaptures = 0;
}
