/*
 * edge: the edge analysis: runs of instructions inside one symbol, by first and last address.
 *
 * Together they are the dynamic control-flow graph: how often a stretch of code ran from here to
 * there, how long it took and how it was left. With --maps the addresses become places in files,
 * which the resolver names. Memory is bounded by the number of different edges, and that by a cap.
 * Source thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "trace/pass.h"
#include "trace/places.h"
#include "trace/result.h"

#define EDGES_MAX (4u << 20)

enum column { COUNT, TOTAL, AVG, AVG_INST, COLUMNS };

static const struct snapshot_column columns[COLUMNS] = {
	[COUNT] = {"count", "", 0},
	[TOTAL] = {"total_time", "ns", 0},
	[AVG] = {"avg_time", "ns", 0},
	[AVG_INST] = {"avg_inst", "", 1},
};

static const char *const kind_names[INSN_CLASSES] = {
	[INSN_NONE] = "fall-through",  [INSN_CALL] = "call",        [INSN_RETURN] = "ret",
	[INSN_JMP] = "branch",         [INSN_JCC] = "branch",       [INSN_SYSCALL] = "call",
	[INSN_START] = "fall-through", [INSN_END] = "fall-through",
};

struct edge {
	str_id symbol, module;
	uint64_t first, last;
	enum insn_class kind;
	uint64_t count, insns, time_ns;
};

struct thread {
	bool started, open;
	uint64_t last_ns, run_ns, insns;
	str_id symbol, module;
	uint64_t first, last;
	enum insn_class kind;
	uint64_t to; /* where the last branch led, 0 unknown */
	str_id to_symbol;
};

struct pass {
	struct tables *tables;
	const struct sink *sink;
	struct places *places; /* NULL: no maps were given */
	struct map64 edge_of;
	struct {
		VEC(struct edge)
	} edges;
	struct {
		VEC(struct thread)
	} threads;
	uint64_t overflow;
	bool levels; /* lines without addresses came */
};

static void edge_close(struct pass *p)
{
	if (!p)
		return;
	places_free(p->places);
	map64_fini(&p->edge_of);
	vec_fini(&p->edges);
	vec_fini(&p->threads);
	free(p);
}

static int edge_open(const struct analyser_options *options, struct tables *tables,
		     const struct sink *sink, struct pass **ret_pass, struct err *err)
{
	struct pass *p = calloc(1, sizeof *p);
	if (!p)
		return err_set(err, ENOMEM, "no memory for the edge analysis");
	p->tables = tables;
	p->sink = sink;
	map64_init(&p->edge_of);
	int rc = options->maps ? places_new(options->maps, tables, &p->places, err) : 0;
	if (rc) {
		edge_close(p);
		return rc;
	}
	*ret_pass = p;
	return 0;
}

static struct thread *thread_of(struct pass *p, uint32_t index)
{
	while (p->threads.len <= index) {
		struct thread t = {0};
		if (vec_push(&p->threads, t))
			return NULL;
	}
	return &p->threads.data[index];
}

static void edge_thread(struct pass *p, uint32_t index, int64_t pid, int64_t tid, const char *name)
{
	(void)pid;
	(void)tid;
	(void)name;
	thread_of(p, index);
}

/* The thread's open run ends: one more passage of its edge. */
static int close_run(struct pass *p, struct thread *t)
{
	if (!t->open)
		return 0;
	t->open = false;
	uint64_t key = hash_pair(hash_pair(t->first, t->last), hash_pair(t->symbol, t->module));
	uint32_t index;
	if (!map64_get(&p->edge_of, key, &index)) {
		if (p->edges.len >= EDGES_MAX) {
			p->overflow++;
			return 0;
		}
		struct edge e = {.symbol = t->symbol,
				 .module = t->module,
				 .first = t->first,
				 .last = t->last,
				 .kind = t->kind};
		index = (uint32_t)p->edges.len;
		int rc = vec_push(&p->edges, e);
		rc = rc ? rc : map64_put(&p->edge_of, key, index);
		if (rc)
			return rc;
	}
	struct edge *e = &p->edges.data[index];
	e->count++;
	e->insns += t->insns;
	e->time_ns += t->run_ns;
	return 0;
}

static int edge_insn(struct pass *p, const struct trace_insn *i)
{
	struct thread *t = thread_of(p, i->thread);
	if (!t)
		return -ENOMEM;
	if (i->level) {
		p->levels = true;
		return 0;
	}
	uint64_t passed = t->started && i->time_ns > t->last_ns ? i->time_ns - t->last_ns : 0;
	bool after = insn_owns_time(i);
	if (!after)
		t->run_ns += passed;
	if (!t->started || i->time_ns > t->last_ns)
		t->last_ns = i->time_ns;
	t->started = true;
	/* between two branches ran what the first led to */
	bool led = i->branch_only && !i->gap && t->to && t->to_symbol == i->symbol;
	uint64_t first = led ? t->to : i->ip;
	t->to = i->to;
	t->to_symbol = i->to_symbol;
	bool same = t->open && t->symbol == i->symbol && t->module == i->module && !i->gap &&
		    i->kind != INSN_START;
	if (!same) {
		int rc = close_run(p, t);
		if (rc || i->kind == INSN_START)
			return rc;
		*t = (struct thread){.started = true,
				     .open = true,
				     .last_ns = t->last_ns,
				     .symbol = i->symbol,
				     .module = i->module,
				     .first = first,
				     .to = i->to,
				     .to_symbol = i->to_symbol};
	}
	if (after)
		t->run_ns += passed;
	t->last = i->ip;
	t->kind = i->kind;
	t->insns++;
	return 0;
}

static int deliver(struct pass *p)
{
	struct result *r = result_new(VIEW_EDGE, columns, COLUMNS);
	int rc = r ? 0 : -ENOMEM;
	double whole = 0;
	for (size_t i = 0; i < p->edges.len; i++)
		whole += (double)p->edges.data[i].time_ns;
	for (size_t i = 0; i < p->edges.len && !rc; i++) {
		const struct edge *e = &p->edges.data[i];
		double cells[COLUMNS] = {
			[COUNT] = (double)e->count,
			[TOTAL] = (double)e->time_ns,
			[AVG] = (double)e->time_ns / (double)e->count,
			[AVG_INST] = (double)e->insns / (double)e->count,
		};
		struct analysis_row row = {
			.name = e->symbol ? e->symbol : tables_str(p->tables, "[unknown]"),
			.second = e->module,
			.third = tables_str(p->tables, kind_names[e->kind]),
			.first = e->first,
			.last = e->last,
			.first_frame = places_frame(p->places, e->first),
			.last_frame = places_frame(p->places, e->last),
			.share = whole > 0 ? (double)e->time_ns / whole : 0,
		};
		rc = result_add(r, &row, cells);
	}
	if (rc) {
		result_free(r);
		return rc;
	}
	if (p->levels)
		result_note(r, "the trace holds no addresses, so that it has no edges");
	else if (!p->places)
		result_note(r, "source lines need --maps FILE, a copy of /proc/PID/maps");
	if (p->overflow)
		result_note(r,
			    "%llu runs of further edges were left out: more than %u different ones",
			    (unsigned long long)p->overflow, EDGES_MAX);
	result_deliver(r, p->sink, TOTAL);
	return 0;
}

static int edge_end(struct pass *p, struct err *err)
{
	(void)err;
	int rc = 0;
	for (size_t i = 0; i < p->threads.len && !rc; i++)
		rc = close_run(p, &p->threads.data[i]);
	return rc ? rc : deliver(p);
}

const struct pass_ops pass_edge = {
	.pattern = PATTERN_EDGE,
	.kind = TRACE_INSNS,
	.open = edge_open,
	.thread = edge_thread,
	.insn = edge_insn,
	.end = edge_end,
	.close = edge_close,
};
