/*
 * pass: what one analysis implements. The analyser feeds each event to the passes that want its
 * kind.
 */
#ifndef ALTPTTOP_PASS_H
#define ALTPTTOP_PASS_H

#include "trace/analyser.h"

struct pass; /* one running analysis: opaque */

struct pass_ops {
	enum pattern pattern;
	enum trace_kind kind;
	int (*open)(const struct analyser_options *options, struct tables *tables,
		    const struct sink *sink, struct pass **ret_pass, struct err *err);
	void (*thread)(struct pass *p, uint32_t index, int64_t pid, int64_t tid, const char *name);
	int (*span)(struct pass *p, const struct trace_span *s);      /* NULL: wants none */
	int (*edge)(struct pass *p, const struct trace_edge *e);      /* NULL: wants none */
	int (*insn)(struct pass *p, const struct trace_insn *i);      /* NULL: wants none */
	void (*beside)(struct pass *p, const struct trace_beside *b); /* NULL: wants none */
	int (*end)(struct pass *p, struct err *err);                  /* deliver to the sink */
	void (*close)(struct pass *p);
};

/*
 * Whose is the time since the thread's previous line? An instruction's until the next one: that
 * line's. Between two branches ran what leads to the second: @i's. A line that tells its
 * level changes the stack at once: the time before it was the old one's. Where lines are missing
 * nothing better is known than where the thread was before.
 */
static inline bool insn_owns_time(const struct trace_insn *i)
{
	return i->branch_only && !i->level && i->kind != INSN_START && !i->gap;
}

extern const struct pass_ops pass_duration, pass_cache, pass_edge;

#endif
