/*
 * firstnames: from the first sample of a process to the first names of its functions in an answer.
 *
 *	firstnames PID [ROWS]
 *
 * The engine, the perf source and the resolver as the program runs them, asked like the first
 * screen (functions by self time; ROWS, default 20). Prints the milliseconds from the source's
 * start to the first sample, and from that sample's time stamp to the first answer with rows, to
 * the first with a name of user code, and to the one in which all rows of the first have theirs.
 * Ends with 1 when they do not come within ten seconds.
 */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/run.h"
#include "profile/chain.h"
#include "symbol/resolver.h"

#define PATIENCE_NS 10000000000ull

static _Atomic uint64_t first_ns;
static const struct sink *to;

static void note_sample(void *ctx, const struct raw_sample *s)
{
	uint64_t none = 0;

	atomic_compare_exchange_strong(&first_ns, &none, s->time_ns);
	to->ops->sample(ctx, s);
}

struct seen {
	uint64_t rows_ns, name_ns, names_ns;
	frame_id frames[64]; /* of the first screen, without names then */
	uint32_t nframes;
};

/* Samples go on and bring new places: the names meant are those of the first screen. */
static void take_first(struct seen *seen, const struct answer *a)
{
	seen->rows_ns = clock_mono_ns();
	for (uint32_t i = 0; i < a->nrows && seen->nframes < 64; i++)
		if (a->rows[i].flags & ROW_UNRESOLVED && a->rows[i].key.a & FID_FRAME)
			seen->frames[seen->nframes++] = a->rows[i].key.a & ~FID_FRAME;
}

static bool any_named(const struct answer *a)
{
	for (uint32_t i = 0; i < a->nrows; i++)
		if (a->rows[i].key.kind == ROW_FUNCTION &&
		    !(a->rows[i].flags & (ROW_UNRESOLVED | ROW_KERNEL)))
			return true;
	return false;
}

static bool all_named(const struct seen *seen, const struct tables *t)
{
	for (uint32_t i = 0; i < seen->nframes; i++)
		if (!tables_loc(t, seen->frames[i]))
			return false;
	return seen->rows_ns != 0;
}

static void watch(struct engine *e, const struct tables *t, struct seen *seen)
{
	uint64_t until = clock_mono_ns() + PATIENCE_NS;

	while (!(seen->name_ns && seen->names_ns) && clock_mono_ns() < until) {
		struct pollfd p = {.fd = engine_fd(e), .events = POLLIN};
		const struct answer *a;
		struct notice notice;

		poll(&p, 1, 100);
		if (!(a = engine_answer(e)))
			continue;
		while (engine_notice(e, &notice))
			;
		if (!seen->rows_ns && a->nrows && a->status.samples)
			take_first(seen, a);
		if (!seen->name_ns && any_named(a))
			seen->name_ns = clock_mono_ns();
		if (!seen->names_ns && all_named(seen, t))
			seen->names_ns = clock_mono_ns();
		answer_unref(a);
	}
}

static double ms(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns ? (double)(int64_t)(to_ns - from_ns) / 1e6 : -1;
}

int main(int argc, char **argv)
{
	pid_t pid = argc > 1 ? atoi(argv[1]) : 0;
	struct target target = {.pids = &pid, .npids = 1};
	struct source_config config = {.rate_hz = 997, .call_graph = CALL_GRAPH_AUTO};
	struct query query = {.view = VIEW_FUNCTIONS, .event = UINT16_MAX, .set = UINT16_MAX};
	struct tables *tables = tables_new();
	struct err err = {0};
	struct resolver *resolver = resolver_new(tables, &(struct resolver_config){.live = true},
						 &err);
	struct engine *engine = engine_new(&(struct engine_setup){.tables = tables,
								  .resolver = resolver,
								  .live = true,
								  .interval_ms = 1000,
								  .output_fd = -1},
					   &err);
	struct sink_ops ops;
	struct sink sink;
	struct source *source;
	struct seen seen = {0};
	uint64_t start;

	if (!pid || !engine) {
		fprintf(stderr, "usage: firstnames PID [ROWS]\n");
		return 2;
	}
	query.max_rows = argc > 2 ? (uint32_t)atoi(argv[2]) : 20;
	to = engine_sink(engine);
	ops = *to->ops;
	ops.sample = note_sample;
	sink = (struct sink){.ops = &ops, .ctx = to->ctx};
	start = clock_mono_ns();
	if (resolver_start(resolver) ||
	    source_perf.open(&target, &config, &sink, tables, &source, &err) ||
	    engine_start(engine, &source_perf, source, &err)) {
		fprintf(stderr, "firstnames: %s\n", err.msg);
		return 2;
	}
	engine_ask(engine, &query);
	watch(engine, tables, &seen);
	printf("first_sample_ms %.0f\nrows_ms %.0f\nname_ms %.0f\nnames_ms %.0f\n",
	       ms(start, first_ns), ms(first_ns, seen.rows_ns), ms(first_ns, seen.name_ns),
	       ms(first_ns, seen.names_ns));
	fflush(stdout);
	_exit(seen.name_ns && seen.names_ns ? 0 : 1);
}
