/*
 * analyser: chooses the passes that fit the recording and the person's wish, and feeds them.
 */
#include "trace/analyser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/duration.h"
#include "trace/filter.h"
#include "trace/pass.h"

#define PASSES 3

static const struct pass_ops *const passes[PASSES] = {&pass_duration, &pass_cache, &pass_edge};

struct analyser {
	struct trace_sink sink;
	struct analyser_options options;
	struct tables *tables;
	const struct sink *out;
	struct pass *running[PASSES]; /* NULL: not wanted, or not this kind of recording */
};

static int analyser_begin(void *ctx, enum trace_kind kind)
{
	static const char *const misfit[] = {
		[TRACE_SPANS] = "this recording holds spans: only --pattern duration fits it",
		[TRACE_INSNS] =
			"this recording holds instructions: --pattern cache or edge fits it",
	};
	struct analyser *a = ctx;
	bool any = false;
	for (int i = 0; i < PASSES; i++) {
		enum pattern wanted = a->options.pattern;
		bool fits = passes[i]->kind == kind &&
			    (wanted == PATTERN_AUTO || wanted == passes[i]->pattern);
		if (!fits || a->running[i])
			continue;
		struct err err = {0};
		int rc = passes[i]->open(&a->options, a->tables, a->out, &a->running[i], &err);
		if (rc && err.msg[0])
			a->out->ops->say(a->out->ctx, err.msg);
		if (rc)
			return rc;
		any = true;
	}
	if (!any)
		a->out->ops->say(a->out->ctx, misfit[kind]);
	return 0;
}

static void analyser_thread(void *ctx, uint32_t index, int64_t pid, int64_t tid, const char *name)
{
	struct analyser *a = ctx;
	for (int i = 0; i < PASSES; i++)
		if (a->running[i])
			passes[i]->thread(a->running[i], index, pid, tid, name);
}

static int analyser_span(void *ctx, const struct trace_span *s)
{
	struct analyser *a = ctx;
	int rc = 0;
	for (int i = 0; i < PASSES && !rc; i++)
		if (a->running[i] && passes[i]->span)
			rc = passes[i]->span(a->running[i], s);
	return rc;
}

/* A pass that cannot take them makes whole spans come, and that for all. */
static int analyser_edge(void *ctx, const struct trace_edge *e)
{
	struct analyser *a = ctx;
	int rc = 0;
	for (int i = 0; i < PASSES && !rc; i++)
		if (a->running[i] && passes[i]->span)
			rc = passes[i]->edge ? passes[i]->edge(a->running[i], e) : 1;
	return rc;
}

static int analyser_insn(void *ctx, const struct trace_insn *insn)
{
	struct analyser *a = ctx;
	int rc = 0;
	for (int i = 0; i < PASSES && !rc; i++)
		if (a->running[i] && passes[i]->insn)
			rc = passes[i]->insn(a->running[i], insn);
	return rc;
}

static void analyser_beside(void *ctx, const struct trace_beside *b)
{
	struct analyser *a = ctx;
	for (int i = 0; i < PASSES; i++)
		if (a->running[i] && passes[i]->beside)
			passes[i]->beside(a->running[i], b);
}

static int analyser_end(void *ctx, struct err *err)
{
	struct analyser *a = ctx;
	int first = 0;
	for (int i = 0; i < PASSES; i++) {
		int rc = a->running[i] ? passes[i]->end(a->running[i], err) : 0;
		first = first ? first : rc;
	}
	return first;
}

static const struct trace_ops analyser_ops = {
	analyser_begin, analyser_thread, analyser_span, analyser_edge,
	analyser_insn,  analyser_beside, analyser_end,
};

int analyser_new(const struct analyser_options *options, struct tables *tables,
		 const struct sink *sink, struct analyser **ret_analyser, struct err *err)
{
	struct filter *filter = NULL;
	if (options->filter && filter_parse(&duration_filter, options->filter, &filter, err))
		return -EINVAL;
	filter_free(filter);
	struct analyser *a = calloc(1, sizeof *a);
	if (!a)
		return err_set(err, ENOMEM, "no memory for the trace analysis");
	a->sink = (struct trace_sink){&analyser_ops, a};
	a->options = *options;
	a->tables = tables;
	a->out = sink;
	*ret_analyser = a;
	return 0;
}

void analyser_free(struct analyser *a)
{
	for (int i = 0; a && i < PASSES; i++)
		if (a->running[i])
			passes[i]->close(a->running[i]);
	free(a);
}

int analyser_missed(const struct analyser *a, struct err *err)
{
	const struct analyser_options *o = &a->options;
	const char *file = o->chrometracing ? o->chrometracing : o->ipc_trending;

	for (int i = 0; i < PASSES; i++)
		if (a->running[i] && passes[i]->pattern == PATTERN_CACHE)
			return 0;
	if (!file)
		return 0;
	return err_set(err, ENODATA,
		       "%s was not written: --%s needs a trace of instructions and --pattern cache",
		       file, o->chrometracing ? "chrometracing" : "ipc-trending");
}

const struct trace_sink *analyser_sink(struct analyser *a)
{
	return &a->sink;
}
