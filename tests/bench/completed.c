/*
 * completed: how many cut stacks are completed, and how many of these wrongly, held against whole
 * ones of the same moment.
 *
 *	completed PID [SECONDS [BYTES...]]
 *
 * The perf source dumps 65,528 bytes of each stack. Those that are whole in it are the truth; each
 *is unwound again from its first BYTES (default 8, 16 and 32 KiB), as it arrives: completed from
 *the thread's past alone, from its past and its memory, and from its memory alone. One line for
 *each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/run.h"
#include "proc/space.h"
#include "unwind/unwind.h"

#define SIZES_MAX 8
#define ROOM      1100
#define TASK      1 /* the bench watches one thread; more of them share a past here */

enum way { WAY_PAST, WAY_BOTH, WAY_MEMORY, WAYS };
static const char *const way_names[] = {"past", "past and memory", "memory"};

struct way_seen {
	struct unwinder *unwinder;
	unsigned whole, completed, wrong;
};

static struct {
	const struct sink *to;
	struct tables *tables;
	struct space *space;
	struct unwinder *full;
	unsigned sizes[SIZES_MAX], nsizes;
	struct way_seen ways[SIZES_MAX][WAYS];
	unsigned samples, truths[SIZES_MAX];
	bool met;
} bench;

static bool same(const frame_id *a, const frame_id *b, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		const struct frame *f = tables_frame_get(bench.tables, a[k]);
		const struct frame *g = tables_frame_get(bench.tables, b[k]);

		if (f->addr != g->addr || f->module != g->module)
			return false;
	}
	return true;
}

static void unwind_cut(struct way_seen *w, enum way way, const struct raw_sample *cut,
		       const frame_id *truth, uint32_t n)
{
	static frame_id frames[ROOM];
	struct unwind_result r;

	if (way == WAY_MEMORY)
		unwinder_task_gone(w->unwinder, TASK);
	unwinder_stack(w->unwinder, bench.space, TASK, cut, frames, ROOM, &r);
	if (r.cut)
		return;
	if (!r.stitched) {
		w->whole++;
		return;
	}
	w->completed++;
	w->wrong += r.nframes != n || !same(frames, truth, n);
}

static void take_sample(void *ctx, const struct raw_sample *s)
{
	static frame_id truth[ROOM];
	struct raw_sample cut = *s;
	struct unwind_result r;

	if (!bench.met)
		space_read_proc(bench.space, NULL);
	bench.met = true;
	bench.samples++;
	cut.ret_cut = NULL;
	cut.nuser = 0;
	if (s->regs && s->stack_bytes)
		unwinder_stack(bench.full, bench.space, TASK, &cut, truth, ROOM, &r);
	for (unsigned k = 0; s->regs && s->stack_bytes && !r.cut && k < bench.nsizes; k++) {
		if (s->stack_bytes <= bench.sizes[k])
			continue;
		bench.truths[k]++;
		cut.stack_bytes = cut.stack_asked = bench.sizes[k];
		for (enum way way = 0; way < WAYS; way++)
			unwind_cut(&bench.ways[k][way], way, &cut, truth, r.nframes);
	}
	bench.to->ops->sample(ctx, s);
}

static void take_mmap(void *ctx, const struct raw_mmap *m)
{
	space_add(bench.space, m);
	bench.to->ops->mmap(ctx, m);
}

static double percent(unsigned part, unsigned all)
{
	return all ? 100.0 * part / all : 0;
}

static void report(void)
{
	printf("%u samples\n%8s %16s %8s %8s %10s %8s\n", bench.samples, "dump", "completed from",
	       "stacks", "whole", "completed", "of these wrong");
	for (unsigned k = 0; k < bench.nsizes; k++)
		for (enum way way = 0; way < WAYS; way++) {
			const struct way_seen *w = &bench.ways[k][way];

			printf("%8u %16s %8u %7.2f%% %9.2f%% %6u = %.2f%%\n", bench.sizes[k],
			       way_names[way], bench.truths[k], percent(w->whole, bench.truths[k]),
			       percent(w->completed, bench.truths[k]), w->wrong,
			       percent(w->wrong, w->completed));
		}
}

/* Past alone: as a recording is read. */
static struct unwinder *unwinder_of(enum way way)
{
	return unwinder_new(bench.tables,
			    &(struct unwind_config){.stitch = true, .live = way != WAY_PAST});
}

int main(int argc, char **argv)
{
	static const unsigned usual[] = {8192, 16384, 32768};
	pid_t pid = argc > 1 ? atoi(argv[1]) : 0;
	struct target target = {.pids = &pid, .npids = 1};
	struct source_config config = {
		.rate_hz = 997, .call_graph = CALL_GRAPH_DWARF, .stack_bytes = 65528};
	struct engine_setup setup = {.live = true, .interval_ms = 1000, .output_fd = -1};
	struct err err = {0};
	struct sink_ops ops;
	struct sink sink;
	struct source *source;

	if (!pid) {
		fprintf(stderr, "usage: completed PID [SECONDS [BYTES...]]\n");
		return 2;
	}
	for (int i = 3; i < argc && bench.nsizes < SIZES_MAX; i++)
		bench.sizes[bench.nsizes++] = (unsigned)atoi(argv[i]);
	for (unsigned k = 0; argc <= 3 && k < sizeof usual / sizeof *usual; k++)
		bench.sizes[bench.nsizes++] = usual[k];
	bench.tables = setup.tables = tables_new();
	bench.space = space_new(bench.tables, pid);
	bench.full = unwinder_new(bench.tables, &(struct unwind_config){.live = true});
	for (unsigned k = 0; k < bench.nsizes; k++)
		for (enum way way = 0; way < WAYS; way++)
			bench.ways[k][way].unwinder = unwinder_of(way);
	struct engine *engine = engine_new(&setup, &err);
	bench.to = engine_sink(engine);
	ops = *bench.to->ops;
	ops.sample = take_sample;
	ops.mmap = take_mmap;
	sink = (struct sink){.ops = &ops, .ctx = bench.to->ctx};
	if (source_perf.open(&target, &config, &sink, bench.tables, &source, &err) ||
	    engine_start(engine, &source_perf, source, &err)) {
		fprintf(stderr, "completed: %s\n", err.msg);
		return 2;
	}
	sleep(argc > 2 ? (unsigned)atoi(argv[2]) : 10);
	engine_stop(engine);
	engine_join(engine, 5000);
	report();
	fflush(stdout);
	_exit(bench.samples ? 0 : 1);
}
