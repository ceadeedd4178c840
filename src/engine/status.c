/*
 * status: the facts of the header and status lines.
 *
 * Engine thread. Counts of the window come from its tally, CPU use from the kernel's accounts where
 * there are any, else from what the samples stand for.
 */
#include <math.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/build.h"
#include "engine/named.h"
#include "insight/cut.h"
#include "profile/usage.h"
#include "symbol/resolver.h"

#define SECOND_NS   1000000000ull
#define UNACCOUNTED 0.05

static uint64_t read_rss(void)
{
	char text[64] = "";
	unsigned long long all, resident = 0;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0 || sscanf(text, "%llu %llu", &all, &resident) != 2)
		return 0;
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Our own use since the last look, at most once a second. */
static void look_at_ourselves(struct engine *e)
{
	uint64_t now = clock_mono_ns();
	if (e->own_seen_ns && now < e->own_seen_ns + SECOND_NS)
		return;
	uint64_t cpu = clock_process_cpu_ns();
	uint64_t since = e->own_seen_ns ? e->own_seen_ns : e->start_ns;
	if (now > since)
		e->own_cpu = (double)(cpu - e->own_cpu_ns) / (double)(now - since);
	e->own_cpu_ns = cpu;
	e->own_seen_ns = now;
	e->own_rss = read_rss();
}

double build_account_cpu(const struct build *b, double *ret_cpu_s)
{
	struct usages u = {0};
	double sum = 0, seconds = 0;
	bool any = false;
	usages_gather(&u, &b->e->profile, &b->window);
	uint32_t n = tables_task_count(b->t);
	for (task_id task = 1; task <= n; task++) {
		const struct task *k = tables_task_get(b->t, task);
		struct usage_shares shares;
		if (k->tid || !usage_shares(&u, &b->e->profile, &b->window, task, &shares))
			continue;
		const struct usage *x = usages_find(&u, task);
		sum += shares.cpu;
		seconds += x ? (double)x->cpu_ns / 1e9 : 0;
		any = true;
	}
	usages_fini(&u);
	*ret_cpu_s = seconds;
	return any ? sum : -1;
}

/*
 * Samples a CPU second while something runs; on the wall clock, which waiting threads are sampled
 * by too, samples a second of a thread.
 */
static double delivered_hz(const struct build *b, double busy_s, uint64_t samples)
{
	const struct sums *all = &b->e->flat.all;

	if (b->desc && b->desc->unit == EVENT_NS && !b->desc->cpu_time)
		return all->weight ? (double)all->samples * 1e9 / (double)all->weight : 0;
	return busy_s > 0 ? (double)samples / busy_s : 0;
}

/* Of the event's weight, what processes have whose CPU time nobody told. */
static double unaccounted(const struct build *b)
{
	const struct profile *p = &b->e->profile;
	struct profile_walk walk = profile_walk(p, &b->window);
	uint64_t all = 0, without = 0;
	uint32_t n;
	task_id *process = tables_processes(b->t, &n);

	while (process && profile_next(&walk)) {
		const struct cell *c = walk.cell;
		if (c->event != b->event || c->flags & ~CELL_GUEST || c->task >= n)
			continue;
		all += c->weight;
		without += ledger_get(&p->ledger, process[c->task])->cpu < 0 ? c->weight : 0;
	}
	free(process);
	return all ? (double)without / (double)all : 0;
}

/*
 * The CPU time of processes that end is not told where whole CPUs are sampled and not processes. A
 * clock's samples say it; beside other events it is unknown where such processes have a part that
 * counts.
 */
static void fill_use(struct build *b, struct answer_status *s, const struct tally *t)
{
	double covered = (double)b->window.covered_ns / 1e9, cpu_s, sampled = -1;
	double accounted = b->e->setup.partial ? -1 : build_account_cpu(b, &cpu_s);
	bool clock = b->event < EVENT_MAX && b->e->profile.events_on_cpu >> b->event & 1;

	if (clock && covered > 0)
		sampled = (double)t->cpu_ns / 1e9 / covered;
	s->cpu = fmax(accounted, sampled);
	s->samples = t->samples;
	if (!clock && s->cpu >= 0 && unaccounted(b) > UNACCOUNTED)
		s->cpu = s->delivered_hz = -1;
	else
		s->delivered_hz = delivered_hz(b, s->cpu > 0 ? s->cpu * covered : covered,
					       t->samples);
}

static void fill_quality(const struct build *b, struct answer_status *s, const struct tally *t)
{
	uint64_t cut = 0;
	memcpy(s->loss, t->loss, sizeof s->loss);
	memcpy(s->cut, t->cut, sizeof s->cut);
	for (unsigned i = CUT_NONE + 1; i < CUT_REASONS; i++)
		cut += t->cut[i];
	s->cut_share = t->stacks ? (double)cut / (double)t->stacks : 0;
	cut_advice(t->cut, !b->e->setup.live, s->cut_advice, sizeof s->cut_advice);
	s->stitched_share = t->stacks ? (double)t->stitched / (double)t->stacks : 0;
	s->unsampled_share = b->whole ? (double)b->unsampled_weight / (double)b->whole : 0;
}

/* Weight of innermost frames in functions without a symbol, and the module with most of it. */
static void fill_symbols(struct build *b, struct answer_status *s)
{
	const struct flat *f = &b->e->flat;
	uint64_t without = 0, most = 0;
	module_id worst = 0;
	uint32_t modules = tables_module_count(b->t) + 1;
	uint64_t *by_module = calloc(modules, sizeof *by_module);

	for (uint32_t i = 0; by_module && i < f->n; i++) {
		const struct flat_node *n = &f->nodes[i];
		const struct loc *loc = n->self.weight ? tables_loc(b->t, n->frame) : NULL;
		if (!loc || !(tables_func_get(b->t, loc->lines[0].func)->flags & FUNC_NO_SYMBOL))
			continue;
		module_id module = tables_frame_get(b->t, n->frame)->module;
		without += n->self.weight;
		if (module < modules && (by_module[module] += n->self.weight) > most) {
			most = by_module[module];
			worst = module;
		}
	}
	free(by_module);
	b->nameless = worst;
	s->no_symbol_share = f->all.weight ? (double)without / (double)f->all.weight : 0;
	if (worst && b->e->setup.resolver && s->no_symbol_share > 0.005)
		resolver_advice(b->e->setup.resolver, worst, s->no_symbol_advice,
				sizeof s->no_symbol_advice);
}

/* Debug files on their way, and what made no sense in those that are here. */
static void fill_files(const struct build *b, struct answer_status *s)
{
	const struct resolver *r = b->e->setup.resolver;
	struct resolver_download d;

	if (!r)
		return;
	s->damage = resolver_damage(r);
	resolver_download(r, &d);
	s->download_waiting = d.waiting;
	if (!d.module)
		return;
	build_copy(s->download, sizeof s->download,
		   tables_text(b->t, tables_module_get(b->t, d.module)->name));
	s->download_done = d.done;
	s->download_all = d.all;
}

/* CPU use by second, newest last, from the history's tallies. */
static void fill_spark(const struct build *b, struct answer_status *s)
{
	const struct profile *p = &b->e->profile;
	const struct history *h = &p->history;
	uint64_t end = b->q->until_ns ? b->q->until_ns : p->newest_ns;
	uint64_t cpu[SPARK_MAX] = {0};

	if (!p->begin_ns || !p->events_on_cpu)
		return;
	uint64_t age_s = (end > p->begin_ns ? end - p->begin_ns : 0) / SECOND_NS;
	s->nspark = (uint8_t)(age_s < SPARK_MAX ? age_s : SPARK_MAX);
	for (uint32_t i = h->len; i-- > 0;) {
		const struct bucket *k = h->buckets[i];
		if (k->start_ns >= end)
			continue;
		uint64_t ago = (end - k->start_ns) / SECOND_NS;
		if (ago >= s->nspark)
			break;
		cpu[s->nspark - 1 - ago] += k->tally.cpu_ns;
	}
	for (unsigned i = 0; i < s->nspark; i++)
		s->spark[i] = (float)cpu[i] / (float)SECOND_NS;
}

static void fill_source(const struct engine *e, struct answer_status *s)
{
	s->cost = -1;
	if (!e->source)
		return;
	const struct source_status *x = e->ops->status(e->source);
	if (!x)
		return;
	build_copy(s->arrangement, sizeof s->arrangement, source_arrangement(x));
	s->threads = atomic_load_explicit(&x->threads, memory_order_relaxed);
	s->unwatched = atomic_load_explicit(&x->unwatched, memory_order_relaxed);
	s->asked_hz = atomic_load_explicit(&x->asked_hz, memory_order_relaxed);
	s->stop_median_ns = atomic_load_explicit(&x->stop_median_ns, memory_order_relaxed);
	s->sample_cost_ns = atomic_load_explicit(&x->sample_cost_ns, memory_order_relaxed);
	s->read_cost_ns = atomic_load_explicit(&x->read_cost_ns, memory_order_relaxed);
	uint64_t cost = atomic_load_explicit(&x->cost_ppm, memory_order_relaxed);
	if (e->setup.live)
		s->cost = (double)cost / 1e6;
}

/* Where each so-many-th occurrence is sampled no rate was asked for, and what comes costs. */
static void fill_by_period(const struct build *b, struct answer_status *s)
{
	if (s->recording || !b->desc || b->desc->freq_hz || !b->desc->period)
		return;
	s->asked_hz = 0;
	if (s->sample_cost_ns && s->delivered_hz >= 0)
		s->cost = fmin(1, s->delivered_hz * (s->sample_cost_ns + s->read_cost_ns) / 1e9);
}

double engine_progress(const struct engine *e)
{
	if (e->setup.live || atomic_load(&e->shared.finished))
		return -1;
	uint64_t all = atomic_load_explicit(&e->shared.progress_all, memory_order_relaxed);
	uint64_t done = atomic_load_explicit(&e->shared.progress_done, memory_order_relaxed);
	if (!all)
		return 0;
	return done < all ? (double)done / (double)all : 1;
}

/* What gives names to a function without one is said where it stands. */
static void explain_nameless(struct build *b, const char *advice)
{
	for (uint32_t i = 0; *advice && i < b->nrows; i++) {
		struct row *row = &b->rows[i];
		const struct func *f = tables_func_get(
			b->t, row->key.kind == ROW_FUNCTION ? (func_id)row->key.a : 0);
		if (f->flags & FUNC_NO_SYMBOL && f->module == b->nameless && !*row->hint)
			row->hint = advice;
	}
}

/* What makes more stacks whole is said where the cut ones hang, also on rows of several frames. */
static void explain_cut(struct build *b, const char *advice)
{
	const struct loc *cut = tables_loc(b->t, FRAME_TRUNCATED);
	const char *name = tables_text(b->t, tables_func_get(b->t, cut->lines[0].func)->shown);

	for (uint32_t i = 0; *advice && i < b->nrows; i++)
		if (!*b->rows[i].hint && strstr(b->rows[i].full, name))
			b->rows[i].hint = advice;
}

void build_status(struct build *b, struct answer_status *s)
{
	struct engine *e = b->e;
	const struct profile *p = &e->profile;
	struct tally tally;

	look_at_ourselves(e);
	profile_tally(p, &b->window, &tally);
	named_text(e, e->setup.target_text, false, s->target, sizeof s->target);
	build_copy(s->where, sizeof s->where, e->setup.where);
	build_copy(s->event_set, sizeof s->event_set,
		   b->desc && *set_name(e, b->desc->set) ? set_name(e, b->desc->set)
		   : b->desc                             ? b->desc->name
							 : "");
	s->set_covered_ns = build_set_covered_ns(b);
	fill_source(e, s);
	fill_use(b, s, &tally);
	fill_quality(b, s, &tally);
	fill_symbols(b, s);
	explain_nameless(b, s->no_symbol_advice);
	explain_cut(b, s->cut_advice);
	fill_files(b, s);
	fill_spark(b, s);
	s->own_cpu = e->own_cpu;
	s->own_rss = e->own_rss;
	uint64_t now = engine_now(e), begin = e->setup.live ? e->start_ns : p->begin_ns;
	s->elapsed_ns = now > begin ? now - begin : engine_window(e, 0, 0).covered_ns;
	s->window_ns = b->q->window_ns;
	s->covered_ns = b->window.covered_ns;
	s->marked = p->mark_ns != 0;
	s->since_mark_ns = s->marked ? engine_window(e, 0, b->q->until_ns).covered_ns : 0;
	s->totals_low = p->through.cells.len && !e->flat.through;
	s->finished = e->said_finished;
	s->recording = !e->setup.live;
	fill_by_period(b, s);
	s->progress = engine_progress(e);
}
