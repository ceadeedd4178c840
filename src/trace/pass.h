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
	int (*span)(struct pass *p, const struct trace_span *s); /* NULL: wants none */
	int (*edge)(struct pass *p, const struct trace_edge *e); /* NULL: wants none */
	int (*insn)(struct pass *p, const struct trace_insn *i); /* NULL: wants none */
	int (*end)(struct pass *p, struct err *err);             /* deliver to the sink */
	void (*close)(struct pass *p);
};

extern const struct pass_ops pass_duration, pass_cache, pass_edge;

#endif
