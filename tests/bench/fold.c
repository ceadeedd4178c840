/*
 * fold: what the engine's own work costs: adding samples to the trie, answering with 100,000 nodes,
 * memory of ten minutes at 10 kHz. Prints a line a figure: name, value, unit.
 *
 *	build/tests/bench/fold
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "profile/fold.h"
#include "profile/foldtask.h"
#include "profile/pathtree.h"
#include "profile/profile.h"

#define S  1000000000ull
#define MS 1000000ull

static struct tables *tables;
static struct profile profile;
static struct flat flat;
static struct fold_rows rows;
static uint64_t random_state = 88172645463325252ull;

static uint32_t dice(uint32_t sides) /* xorshift64 (Marsaglia 2003) */
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % sides;
}

static frame_id frame(uint32_t i)
{
	return tables_frame(tables, &(struct frame){.module = 1, .addr = 0x1000 + 16ull * i});
}

/* @n frames in functions of eight frames each, a quarter of them with an inlined callee. */
static void make_frames(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct loc_line lines[2];
		uint32_t count = 0;
		if (i % 4 == 0)
			lines[count++].func = tables_func(
				tables, &(struct func){.module = 1, .start = 0x900000 + i / 32});
		lines[count++].func = tables_func(
			tables, &(struct func){.module = 1, .start = 0x1000 + i / 8});
		tables_resolve(tables, frame(i), lines, count);
	}
}

/* A random path: the outer parts are few, as in real programs. */
static uint32_t make_path(frame_id *frames, uint32_t depth, uint32_t variety)
{
	for (uint32_t d = 0; d < depth; d++) {
		uint32_t from_root = depth - 1 - d;
		uint32_t choices = from_root < 8 ? 2 : variety;
		frames[d] = frame((from_root * 97 + dice(choices)) % 8000);
	}
	return depth;
}

static void say(const char *what, double value, const char *unit)
{
	printf("%-44s %10.2f %s\n", what, value, unit);
	fflush(stdout);
}

static void add(uint64_t time_ns, task_id task, const frame_id *frames, uint32_t n)
{
	struct sample s = {
		.time_ns = time_ns, .weight = MS, .hits = 1, .task = task, .nframes = (uint16_t)n};
	profile_add(&profile, &s, NULL, frames);
}

static void bench_add(void)
{
	enum { PATHS = 2000, DEPTH = 30, ROUNDS = 200 };
	frame_id(*paths)[DEPTH] = malloc(sizeof *paths * PATHS);
	uint64_t now = S;
	profile_init(&profile, 0);
	for (int i = 0; i < PATHS; i++)
		make_path(paths[i], DEPTH, 6);
	for (int i = 0; i < PATHS; i++)
		add(now += MS, 1, paths[i], DEPTH);
	uint64_t start = clock_thread_cpu_ns();
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < PATHS; i++)
			add(now += MS / 10, 1 + dice(8), paths[dice(PATHS)], DEPTH);
	say("add a sample of 30 frames, warm",
	    (double)(clock_thread_cpu_ns() - start) / (PATHS * ROUNDS), "ns");
	free(paths);
	profile_fini(&profile);
}

static double timed_ms(void (*work)(const struct fold_query *), const struct fold_query *q)
{
	double best = 1e9;
	for (int i = 0; i < 5; i++) {
		uint64_t start = clock_thread_cpu_ns();
		work(q);
		double ms = (double)(clock_thread_cpu_ns() - start) / 1e6;
		best = ms < best ? ms : best;
	}
	return best;
}

static void do_functions(const struct fold_query *q)
{
	flat_build(&flat, &profile, tables, q);
	fold_functions(&rows, &flat, tables, q->flags);
}

static void do_edges(const struct fold_query *q)
{
	struct fold_edges e = {0};
	flat_build(&flat, &profile, tables, q);
	fold_edges(&e, &flat, tables, q->flags, 100);
	fold_edges_fini(&e);
}

static void open_all(struct pathtree *c, uint32_t node, uint32_t *budget)
{
	if (!*budget)
		return;
	--*budget;
	pathtree_open(c, node);
	for (uint32_t i = 0; i < c->nodes.data[node].nchildren; i++)
		open_all(c, c->nodes.data[node].children + i, budget);
}

static void do_tree(const struct fold_query *q)
{
	struct pathtree c;
	uint32_t budget = 5000;
	flat_build(&flat, &profile, tables, q);
	pathtree_init(&c, &flat, tables, q->flags, 0);
	open_all(&c, PATHTREE_ROOT, &budget);
	pathtree_fini(&c);
}

static void do_threads(const struct fold_query *q)
{
	struct task_folds r = {0};
	flat_build(&flat, &profile, tables, q);
	fold_tasks(&r, &profile, tables, q, profile.newest_ns);
	task_folds_fini(&r);
}

static void bench_fold(void)
{
	frame_id frames[64];
	uint64_t now = S;
	profile_init(&profile, 0);
	while (profile.trie.count < 100000)
		add(now += MS, 1 + dice(38), frames, make_path(frames, 20 + dice(30), 6));
	const struct {
		const char *name;
		uint64_t length_ns;
	} windows[] = {{"all", 0}, {"60 s", 60 * S}, {"10 s", 10 * S}};
	const struct {
		const char *name;
		void (*work)(const struct fold_query *);
		uint32_t flags;
	} works[] = {
		{"functions", do_functions, 0},
		{"functions, inlines folded", do_functions, QUERY_FOLD_INLINE},
		{"callers and callees", do_edges, 0},
		{"tree, 5,000 nodes open", do_tree, 0},
		{"bottom-up tree, 5,000 open", do_tree, QUERY_BOTTOM_UP},
		{"threads", do_threads, 0},
	};
	for (unsigned w = 0; w < 3; w++) {
		struct fold_query q = {.window = profile_window(&profile, windows[w].length_ns, 0,
								profile.newest_ns)};
		for (unsigned i = 0; i < sizeof works / sizeof *works; i++) {
			char text[96];
			q.flags = works[i].flags;
			double ms = timed_ms(works[i].work, &q);
			snprintf(text, sizeof text, "fold %u nodes of %u, %s: %s", flat.n,
				 profile.trie.count, windows[w].name, works[i].name);
			say(text, ms, "ms");
		}
	}
	profile_fini(&profile);
}

static double rss_mib(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	if (f && fscanf(f, "%*s %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

/* The worst of programs: almost no path comes twice. */
static void bench_memory(unsigned variety, unsigned seconds)
{
	frame_id frames[64];
	uint64_t start = clock_thread_cpu_ns();
	char text[64];
	profile_init(&profile, 0);
	double most = 0;
	for (uint64_t i = 0; i < seconds * 10000ull; i++) {
		add(S + i * MS / 10, 1 + dice(38), frames, make_path(frames, 30, variety));
		if (i % 10000)
			continue;
		double now = rss_mib();
		most = now > most ? now : most;
		if (i % (100 * 10000) || !i)
			continue;
		snprintf(text, sizeof text, "resident after %u s at 10 kHz, variety %u",
			 (unsigned)(i / 10000), variety);
		say(text, now, "MiB");
	}
	say("  at most", most, "MiB");
	say("  held by the profile", (double)profile_bytes(&profile) / (1 << 20), "MiB");
	say("  trie nodes", profile.trie.count, "");
	say("  times that rare paths were shortened", profile.pruned, "");
	say("  samples that went to [overflow]", (double)profile.overflowed_paths, "");
	say("  CPU time for it all", (double)(clock_thread_cpu_ns() - start) / 1e7 / seconds,
	    "% of a core");
	profile_fini(&profile);
}

int main(void)
{
	tables = tables_new();
	make_frames(8000);
	bench_add();
	bench_fold();
	bench_memory(2, 600);
	flat_fini(&flat);
	fold_rows_fini(&rows);
	tables_free(tables);
	return 0;
}
