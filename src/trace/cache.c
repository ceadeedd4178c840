/*
 * cache: the cache analysis: instructions and time of each function, inclusive and own, on rebuilt
 * stacks.
 *
 * Inclusive figures cost nothing a line: each thread counts its instructions and time, a function
 * remembers where they stood when it came onto the stack, and the difference is added when it
 * leaves for good. The time since a thread's previous line belongs to the stack before this line,
 * the instruction to the stack after it; between two branches runs what the first led to, so that
 * this time belongs to the stack after the line. Source thread.
 */
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/filewrite.h"
#include "base/hash.h"
#include "base/vec.h"
#include "codec/jsontext.h"
#include "trace/pass.h"
#include "trace/paths.h"
#include "trace/rebuild.h"
#include "trace/result.h"

enum column { INST, SELF_INST, TIME, SELF_TIME, IPC, SELF_IPC, COUNT, DEPTH, SHARE, COLUMNS };

static const struct snapshot_column columns[COLUMNS] = {
	[INST] = {"inst", "", 0},
	[SELF_INST] = {"self_inst", "", 0},
	[TIME] = {"time", "ns", 0},
	[SELF_TIME] = {"self_time", "ns", 0},
	[IPC] = {"ipc", "", 2},
	[SELF_IPC] = {"self_ipc", "", 2},
	[COUNT] = {"count", "", 0},
	[DEPTH] = {"depth", "", 1},
	[SHARE] = {"trace_time_pct", "%", 2},
};

struct function {
	str_id name, module;
	frame_id frame;
	uint64_t insns, time_ns, self_insns, self_ns, calls, depths;
};

struct active { /* a function on one thread's stack */
	uint32_t times;
	uint64_t insns, time_ns; /* the thread's, when it came */
};

struct thread {
	int64_t pid, tid;
	bool started;
	uint64_t last_ns, insns, time_ns;
	uint64_t run_insns, run_ns; /* since the stack last changed */
	uint32_t node;              /* in paths */
	struct map64 active_of;     /* func → index in active */
	struct {
		VEC(struct active)
	} active;
	struct {
		VEC(frame_id)
	} frames; /* outermost first */
	struct {
		VEC(uint32_t)
	} nodes; /* where in paths each frame's caller is */
};

struct pass {
	struct analyser_options options;
	struct tables *tables;
	const struct sink *sink;
	struct rebuild *rebuild;
	struct paths *paths;
	struct map64 function_of; /* (symbol, module) → index */
	struct {
		VEC(struct function)
	} functions;
	struct {
		VEC(struct thread)
	} threads;
	struct {
		VEC(frame_id)
	} scratch;
	struct filewrite chrome;
	bool chrome_open, chrome_any;
	struct strbuf text;
	uint64_t now_ns, disorder, gaps;
	bool branches, begun, levels, returns;
};

static struct thread *thread_of(struct pass *p, uint32_t index)
{
	while (p->threads.len <= index) {
		struct thread t = {0};
		map64_init(&t.active_of);
		if (vec_push(&p->threads, t)) {
			map64_fini(&t.active_of);
			return NULL;
		}
	}
	return &p->threads.data[index];
}

static void chrome_event(struct pass *p, uint32_t thread, uint32_t func, char phase)
{
	if (!p->chrome_open)
		return;
	const struct thread *t = &p->threads.data[thread];
	const char *name = tables_text(p->tables, p->functions.data[func].name);
	strbuf_reset(&p->text);
	strbuf_puts(&p->text, p->chrome_any ? ",\n{\"name\":" : "\n{\"name\":");
	json_quote(&p->text, name, strlen(name));
	strbuf_printf(&p->text, ",\"ph\":\"%c\",\"ts\":%llu.%03u,\"pid\":%lld,\"tid\":%lld}", phase,
		      (unsigned long long)(p->now_ns / 1000), (unsigned)(p->now_ns % 1000),
		      (long long)t->pid, (long long)t->tid);
	filewrite_add(&p->chrome, p->text.buf, p->text.len);
	p->chrome_any = true;
}

/* What ran since the stack last changed belongs to its top. */
static int settle_run(struct pass *p, struct thread *t)
{
	if (!t->frames.len || (!t->run_insns && !t->run_ns))
		return 0;
	size_t n = t->frames.len;
	int rc = vec_reserve(&p->scratch, n);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++)
		p->scratch.data[i] = t->frames.data[n - 1 - i];
	struct sample_value value = {
		.event = 1, .state = VALUE_OK, .count = t->run_insns, .running = 1};
	struct raw_sample s = {.time_ns = p->now_ns,
			       .pid = (pid_t)t->pid,
			       .tid = (pid_t)t->tid,
			       .cpu = UINT32_MAX,
			       .weight = t->run_ns,
			       .frames = p->scratch.data,
			       .nframes = (uint32_t)n,
			       .values = &value,
			       .nvalues = p->branches ? 0 : 1};
	p->sink->ops->sample(p->sink->ctx, &s);
	paths_add(p->paths, t->node, t->run_insns, t->run_ns);
	t->run_insns = t->run_ns = 0;
	return 0;
}

/* The run belongs to the top's own figures too; called with the top still known. */
static int settle_top(struct pass *p, struct thread *t, uint32_t top)
{
	struct function *f = &p->functions.data[top];
	f->self_insns += t->run_insns;
	f->self_ns += t->run_ns;
	return settle_run(p, t);
}

static int top_of(const struct pass *p, uint32_t thread, uint32_t depth, uint32_t *ret_func)
{
	const uint32_t *stack;
	uint32_t n = rebuild_stack(p->rebuild, thread, &stack);
	if (!depth || depth > n)
		return -ENOENT;
	*ret_func = stack[depth - 1];
	return 0;
}

static int enter(void *ctx, uint32_t thread, uint32_t func, uint32_t depth)
{
	struct pass *p = ctx;
	struct thread *t = &p->threads.data[thread];
	uint32_t top, index;
	int rc = top_of(p, thread, depth - 1, &top) ? 0 : settle_top(p, t, top);
	if (rc)
		return rc;
	if (!map64_get(&t->active_of, func, &index)) {
		struct active a = {0};
		index = (uint32_t)t->active.len;
		rc = vec_push(&t->active, a);
		rc = rc ? rc : map64_put(&t->active_of, func, index);
		if (rc)
			return rc;
	}
	struct active *a = &t->active.data[index];
	if (!a->times++) {
		a->insns = t->insns;
		a->time_ns = t->time_ns;
	}
	struct function *f = &p->functions.data[func];
	f->calls++;
	f->depths += depth - 1;
	rc = vec_push(&t->nodes, t->node);
	if (rc)
		return rc;
	t->node = paths_child(p->paths, t->node, func);
	paths_call(p->paths, t->node);
	chrome_event(p, thread, func, 'B');
	return vec_push(&t->frames, f->frame);
}

static int leave(void *ctx, uint32_t thread, uint32_t func, uint32_t depth)
{
	(void)depth;
	struct pass *p = ctx;
	struct thread *t = &p->threads.data[thread];
	int rc = settle_top(p, t, func);
	uint32_t index;
	if (map64_get(&t->active_of, func, &index) && !--t->active.data[index].times) {
		p->functions.data[func].insns += t->insns - t->active.data[index].insns;
		p->functions.data[func].time_ns += t->time_ns - t->active.data[index].time_ns;
	}
	t->frames.len -= t->frames.len > 0;
	if (t->nodes.len)
		t->node = t->nodes.data[--t->nodes.len];
	chrome_event(p, thread, func, 'E');
	return rc;
}

static const struct rebuild_ops rebuild_ops = {enter, leave};

static void cache_close(struct pass *p)
{
	if (!p)
		return;
	if (p->chrome_open)
		filewrite_abort(&p->chrome);
	rebuild_free(p->rebuild);
	paths_free(p->paths);
	for (size_t i = 0; i < p->threads.len; i++) {
		map64_fini(&p->threads.data[i].active_of);
		vec_fini(&p->threads.data[i].active);
		vec_fini(&p->threads.data[i].frames);
		vec_fini(&p->threads.data[i].nodes);
	}
	vec_fini(&p->threads);
	vec_fini(&p->functions);
	vec_fini(&p->scratch);
	map64_fini(&p->function_of);
	strbuf_fini(&p->text);
	free(p);
}

static int cache_open(const struct analyser_options *options, struct tables *tables,
		      const struct sink *sink, struct pass **ret_pass, struct err *err)
{
	struct pass *p = calloc(1, sizeof *p);
	if (!p)
		return err_set(err, ENOMEM, "no memory for the cache analysis");
	p->options = *options;
	p->tables = tables;
	p->sink = sink;
	map64_init(&p->function_of);
	strbuf_init(&p->text);
	p->rebuild = rebuild_new(&rebuild_ops, p);
	p->paths = paths_new();
	int rc = p->rebuild && p->paths ? 0
					: err_set(err, ENOMEM, "no memory for the cache analysis");
	if (!rc && options->chrometracing) {
		rc = filewrite_open(&p->chrome, options->chrometracing, true, err);
		p->chrome_open = !rc;
	}
	if (rc) {
		cache_close(p);
		return rc;
	}
	static const char start[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
	if (p->chrome_open)
		filewrite_add(&p->chrome, start, sizeof start - 1);
	struct event_desc time = {
		.name = "trace-time", .unit = EVENT_NS, .sampled = true, .exact = true};
	struct event_desc insns = {.name = "instructions", .unit = EVENT_COUNT};
	sink->ops->event(sink->ctx, 0, &time);
	sink->ops->event(sink->ctx, 1, &insns);
	*ret_pass = p;
	return 0;
}

static void cache_thread(struct pass *p, uint32_t index, int64_t pid, int64_t tid, const char *name)
{
	struct thread *t = thread_of(p, index);
	if (!t)
		return;
	t->pid = pid;
	t->tid = tid;
	struct raw_task task = {.pid = (pid_t)pid, .tid = (pid_t)tid, .comm = name};
	if (name && name[0])
		p->sink->ops->comm(p->sink->ctx, &task);
}

static int function_of(struct pass *p, const struct trace_insn *i, uint32_t *ret_func)
{
	uint64_t key = hash_pair(i->symbol, i->module);
	if (map64_get(&p->function_of, key, ret_func))
		return 0;
	struct function f = {.name = i->symbol ? i->symbol : tables_str(p->tables, "[unknown]"),
			     .module = i->module};
	struct module m = {.kind = MODULE_NAMED, .path = i->module, .name = i->module};
	const char *path = tables_text(p->tables, i->module), *slash = strrchr(path, '/');
	if (slash && slash[1])
		m.name = tables_str(p->tables, slash + 1);
	struct frame frame = {.module = i->module ? tables_module(p->tables, &m) : 0,
			      .flags = FRAME_NAMED,
			      .name = f.name};
	f.frame = tables_frame(p->tables, &frame);
	if (!f.frame)
		f.frame = FRAME_UNKNOWN;
	*ret_func = (uint32_t)p->functions.len;
	int rc = vec_push(&p->functions, f);
	return rc ? rc : map64_put(&p->function_of, key, *ret_func);
}

static void pass_time(struct thread *t, uint64_t ns)
{
	t->time_ns += ns;
	if (t->frames.len) /* else nobody knows what ran */
		t->run_ns += ns;
}

static int cache_insn(struct pass *p, const struct trace_insn *i)
{
	struct thread *t = thread_of(p, i->thread);
	uint32_t func;
	int rc = t ? function_of(p, i, &func) : -ENOMEM;
	if (rc)
		return rc;
	uint64_t passed = t->started && i->time_ns > t->last_ns ? i->time_ns - t->last_ns : 0;
	bool after = insn_owns_time(i);
	if (!p->begun)
		p->sink->ops->extent(p->sink->ctx, i->time_ns, i->time_ns);
	p->begun = true;
	p->disorder += t->started && i->time_ns < t->last_ns;
	p->gaps += i->gap;
	p->branches |= i->branch_only;
	p->levels |= i->level;
	p->returns |= i->level && i->kind == INSN_RETURN;
	if (!after)
		pass_time(t, passed);
	/* the stack became what it is when the branch before was taken */
	p->now_ns = after && t->started ? t->last_ns : i->time_ns;
	t->last_ns = t->started && i->time_ns < t->last_ns ? t->last_ns : i->time_ns;
	t->started = true;
	rc = rebuild_step(p->rebuild, i, func);
	if (after)
		pass_time(t, passed);
	p->now_ns = i->time_ns;
	if (i->kind != INSN_START) {
		t->insns++;
		t->run_insns++;
	}
	return rc;
}

static const char *function_name(void *ctx, uint32_t func)
{
	struct pass *p = ctx;
	return tables_text(p->tables, p->functions.data[func].name);
}

static void fill_row(const struct pass *p, const struct function *f, double whole_ns, double *cells)
{
	double calls = (double)f->calls, time = (double)f->time_ns, self = (double)f->self_ns;
	double ghz = p->branches ? 0 : p->options.ghz;
	cells[INST] = (double)f->insns / calls;
	cells[SELF_INST] = (double)f->self_insns / calls;
	cells[TIME] = time / calls;
	cells[SELF_TIME] = self / calls;
	cells[IPC] = ghz > 0 && time > 0 ? (double)f->insns / (time * ghz) : NAN;
	cells[SELF_IPC] = ghz > 0 && self > 0 ? (double)f->self_insns / (self * ghz) : NAN;
	cells[COUNT] = calls;
	cells[DEPTH] = (double)f->depths / calls;
	cells[SHARE] = whole_ns > 0 ? 100 * time / whole_ns : 0;
}

static int deliver(struct pass *p)
{
	struct result *r = result_new(VIEW_CACHE, columns, COLUMNS);
	double whole_ns = 0;
	for (size_t i = 0; i < p->threads.len; i++)
		whole_ns += (double)p->threads.data[i].time_ns;
	int rc = r ? 0 : -ENOMEM;
	for (size_t i = 0; i < p->functions.len && !rc; i++) {
		const struct function *f = &p->functions.data[i];
		const char *name = tables_text(p->tables, f->name);
		if (!f->calls || (p->options.function && fnmatch(p->options.function, name, 0)))
			continue;
		double cells[COLUMNS];
		fill_row(p, f, whole_ns, cells);
		struct analysis_row row = {
			.name = f->name, .second = f->module, .share = cells[SHARE] / 100};
		rc = result_add(r, &row, cells);
	}
	if (rc) {
		result_free(r);
		return rc;
	}
	if (p->branches)
		result_note(r, "a branch trace: inst counts branches, IPC is not known");
	else if (!(p->options.ghz > 0))
		result_note(r, "IPC needs the clock: --ghz GHZ");
	if (p->levels && !p->returns)
		result_note(r, "returns are not in the trace: a call lasts until the next one that "
			       "is not deeper");
	if (rebuild_repairs(p->rebuild))
		result_note(r, "%llu times the stack made no sense and was started anew",
			    (unsigned long long)rebuild_repairs(p->rebuild));
	if (p->gaps)
		result_note(r, "%llu gaps in the trace", (unsigned long long)p->gaps);
	if (p->disorder)
		result_note(r, "%llu lines went back in time", (unsigned long long)p->disorder);
	result_deliver(r, p->sink, SHARE);
	return 0;
}

static int write_files(struct pass *p, struct err *err)
{
	int rc = 0;
	if (p->chrome_open) {
		filewrite_add(&p->chrome, "\n]}\n", 4);
		rc = filewrite_commit(&p->chrome, err);
		p->chrome_open = false;
	}
	if (!rc && p->options.ipc_trending) {
		struct strbuf csv;
		strbuf_init(&csv);
		paths_csv(p->paths, function_name, p, p->branches ? 0 : p->options.ghz, &csv);
		rc = csv.failed
			     ? err_set(err, ENOMEM, "no memory for %s", p->options.ipc_trending)
			     : filewrite_all(p->options.ipc_trending, true, csv.buf, csv.len, err);
		strbuf_fini(&csv);
	}
	return rc;
}

static int cache_end(struct pass *p, struct err *err)
{
	int rc = rebuild_finish(p->rebuild);
	rc = rc ? rc : deliver(p);
	return rc ? rc : write_files(p, err);
}

const struct pass_ops pass_cache = {
	.pattern = PATTERN_CACHE,
	.kind = TRACE_INSNS,
	.open = cache_open,
	.thread = cache_thread,
	.insn = cache_insn,
	.end = cache_end,
	.close = cache_close,
};
