/*
 * verdict_facts: walks the fold once for what runs and, where waiting was sampled, once more with
 * it.
 *
 * Time in the kernel and in the C library is laid at the door of the function that asked for it:
 * the nearest one up the stack that is neither. Engine thread.
 */
#include "engine/verdict_facts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void suspects_fini(struct suspects *s)
{
	vec_fini(s);
	free(s->by_func);
	map64_fini(&s->by_fid);
	map64_fini(&s->edges);
}

static struct suspect *suspect_of(struct suspects *s, fid_t fid, uint32_t *ret_index)
{
	bool dense = fid < s->nfuncs;
	if (dense && s->by_func[fid]) {
		*ret_index = s->by_func[fid] - 1;
	} else if (dense || !map64_get(&s->by_fid, fid, ret_index)) {
		struct suspect p = {.fid = fid};
		*ret_index = (uint32_t)s->len;
		if (vec_push(s, p) || (!dense && map64_put(&s->by_fid, fid, *ret_index)))
			return NULL;
		if (dense)
			s->by_func[fid] = *ret_index + 1;
	}
	return &s->data[*ret_index];
}

static bool module_serves(const struct tables *t, module_id module)
{
	static const char *const modules[] = {"libc.so",    "libc-2", "ld-linux",
					      "libpthread", "[vdso]", "ld-musl"};
	const struct module *m = tables_module_get(t, module);
	const char *name = tables_text(t, m->name);
	if (m->kind == MODULE_KERNEL || m->kind == MODULE_KMODULE || m->kind == MODULE_VDSO)
		return true;
	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
		if (!strncmp(name, modules[i], strlen(modules[i])))
			return true;
	return false;
}

static bool serves_others(struct suspects *s, const struct visit *v)
{
	const struct frame *f = tables_frame_get(s->b->t, s->b->e->flat.nodes[v->node].frame);
	if (f->flags & FRAME_KERNEL)
		return true;
	if (f->module != s->module) {
		s->module = f->module;
		s->serves = module_serves(s->b->t, f->module);
	}
	return s->serves;
}

static bool is_kernel(const struct suspects *s, const struct visit *v)
{
	const struct frame *f = tables_frame_get(s->b->t, s->b->e->flat.nodes[v->node].frame);
	return f->flags & FRAME_KERNEL;
}

/* The name as its file has it, NULL: none is known. */
static const char *raw_name(const struct suspects *s, const struct visit *v)
{
	return v->fid & FID_FRAME ? NULL
				  : tables_text(s->b->t, tables_func_get(s->b->t, v->fid)->raw);
}

/* [kernel], [generated code]: any number of functions, of which none is known to recur. */
static bool is_crowd(const struct suspects *s, const struct visit *v)
{
	const char *raw = raw_name(s, v);

	return raw && raw[0] == '[';
}

static bool has_any(const char *text, const char *const *names)
{
	for (; *names; names++)
		if (strstr(text, *names))
			return true;
	return false;
}

/*
 * Does a stack that ends like this wait for a lock? By the names of what waits: the futex alone
 * does not tell, joins, semaphores and conditions wait on one too. Python's locks are made of
 * those.
 */
static bool waits_for_lock(const struct suspects *s, const struct visit *path, uint32_t depth)
{
	static const char *const locks[] = {
		"lll_lock_wait", "mutex_lock", "mutex_timedlock", "mutex_clocklock", "rwlock",
		"futex_lock_pi", NULL};
	static const char *const made[] = {"take_gil", "PyThread_acquire_lock", NULL};
	static const char *const others[] = {"cond_", "unlock", NULL};
	bool lock = false, other = false;

	for (uint32_t d = depth; d > 0 && d + 8 > depth; d--) {
		const char *raw = raw_name(s, &path[d - 1]);
		if (raw && has_any(raw, made))
			return true;
		if (!raw || d + 4 <= depth || lock || other)
			continue;
		other = has_any(raw, others);
		lock = !other && has_any(raw, locks);
	}
	return lock;
}

/* A wrapper of the language's library, inlined or not, around what waits. */
static bool wraps_waiting(const struct suspects *s, const struct visit *v)
{
	static const char *const starts[] = {"__gthread_",
					     "std::mutex::",
					     "std::timed_mutex::",
					     "std::recursive_mutex::",
					     "std::__",
					     "std::unique_lock<",
					     "std::lock_guard<",
					     "std::scoped_lock<",
					     "std::lock<",
					     "std::shared_mutex::",
					     "std::shared_lock<",
					     "std::condition_variable::",
					     "std::this_thread::"};
	if (v->fid & FID_FRAME)
		return false;
	const char *name = tables_text(s->b->t, tables_func_get(s->b->t, v->fid)->name);
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* [truncated] and its like: no function. */
static bool is_special(const struct suspects *s, const struct visit *v)
{
	return s->b->e->flat.nodes[v->node].frame < FRAME_SPECIAL_COUNT;
}

/* The nearest function up the stack that works for itself; where all that is known of it serves,
 * the innermost that is not the kernel's, if there is any. */
static const struct visit *who_asked(struct suspects *s, const struct visit *path, uint32_t depth,
				     bool waits)
{
	for (uint32_t d = depth; d > 0; d--)
		if (!serves_others(s, &path[d - 1]) && !is_special(s, &path[d - 1]) &&
		    !(waits && wraps_waiting(s, &path[d - 1])))
			return &path[d - 1];
	for (uint32_t d = depth; d > 0; d--)
		if (!is_kernel(s, &path[d - 1]) && !is_special(s, &path[d - 1]))
			return &path[d - 1];
	return &path[depth - 1];
}

/* Sums that are taken off again were added before, or are of a name that changed meanwhile. */
static void change(struct sums *s, const struct sums *more, int sign)
{
	s->samples += (uint64_t)sign * more->samples;
	s->weight += (uint64_t)sign * more->weight;
	s->weight_sq += sign * more->weight_sq;
}

static void take_self(struct suspects *s, const struct visit *path, uint32_t depth)
{
	const struct visit *top = &path[depth - 1];
	const struct sums *self = &s->b->e->flat.nodes[top->node].self;
	bool lock = s->wall && waits_for_lock(s, path, depth), waits = s->sign || lock;
	uint32_t index;
	struct suspect *p = suspect_of(s, who_asked(s, path, depth, waits)->fid, &index);
	if (!p)
		return;
	if (waits) {
		change(&p->waiting, self, s->sign ? s->sign : 1);
		if (lock)
			change(&p->locked, self, s->sign ? s->sign : 1);
		return;
	}
	sums_add(&p->own, self);
	if (is_kernel(s, top))
		p->kernel += self->weight;
	p = suspect_of(s, top->fid, &index);
	if (p)
		sums_add(&p->self, self);
}

static void count_edge(struct suspects *s, const struct visit *path, uint32_t depth,
		       uint32_t callee)
{
	if (depth < 2 || path[depth - 2].fid == path[depth - 1].fid ||
	    is_special(s, &path[depth - 2]) || is_special(s, &path[depth - 1]))
		return;
	uint32_t caller = path[depth - 2].slot;
	size_t edges = s->edges.count;
	if (caller >= s->len ||
	    map64_put(&s->edges, hash_pair(path[depth - 2].fid, path[depth - 1].fid), 1) ||
	    s->edges.count == edges)
		return;
	s->data[caller].callees++;
	s->data[callee].callers++;
}

static void enter(void *ctx, struct visit *path, uint32_t depth)
{
	struct suspects *s = ctx;
	struct visit *v = &path[depth - 1];
	if (s->sign) {
		if (v->k == 0 && s->b->e->flat.nodes[v->node].self.weight)
			take_self(s, path, depth);
		return;
	}
	struct suspect *p = suspect_of(s, v->fid, &v->slot);
	uint32_t index = v->slot;
	if (!p) {
		v->slot = UINT32_MAX;
		return;
	}
	if (depth > s->deepest)
		s->deepest = depth;
	if (p->active++ && p->active > p->recursion && !is_crowd(s, v)) {
		bool direct = path[depth - 2].fid == v->fid;
		s->recursive += p->recursion < 2 && direct;
		s->cyclic += p->recursion < 2 && !direct;
		p->recursion = p->active;
	}
	count_edge(s, path, depth, index);
	if (v->k == 0 && s->b->e->flat.nodes[v->node].self.weight)
		take_self(s, path, depth);
}

static void leave(void *ctx, struct visit *path, uint32_t depth)
{
	struct suspects *s = ctx;
	if (!s->sign && path[depth - 1].slot < s->len)
		s->data[path[depth - 1].slot].active--;
}

static int walk(struct suspects *s, struct visitor *v, const struct fold_query *q, int sign)
{
	struct build *b = s->b;
	int rc = flat_build(&b->e->flat, &b->e->profile, b->t, q);
	s->sign = sign;
	return rc ? rc : fold_walk(&b->e->flat, b->t, b->q->flags, v);
}

int suspects_gather(struct suspects *s, struct build *b)
{
	struct visitor v = {enter, leave, s};
	struct flat *flat = &b->e->flat;
	s->b = b;
	s->serves = module_serves(b->t, s->module);
	s->nfuncs = tables_func_count(b->t) + 1;
	s->by_func = calloc(s->nfuncs, sizeof *s->by_func);
	if (!s->by_func)
		return -ENOMEM;
	map64_init(&s->by_fid);
	map64_init(&s->edges);
	s->whole = b->whole;
	s->whole_n = b->whole_n;
	if (!b->desc || !b->desc->states)
		return fold_walk(flat, b->t, b->q->flags, &v);
	/* Wall clock: what runs is judged as such; what waits is what the fold with waiting samples
	 * has more. */
	struct fold_query running = b->fq, all = b->fq;
	running.flags |= QUERY_NO_WAITING;
	all.flags &= ~(uint32_t)QUERY_NO_WAITING;
	s->wall = true;
	int rc = walk(s, &v, &running, 0);
	rc = rc ? rc : walk(s, &v, &running, -1);
	rc = rc ? rc : walk(s, &v, &all, 1); /* the last: the fold is then as it was asked for */
	s->whole = flat->all.weight;
	s->whole_n = confidence_effective(flat->all.weight, flat->all.weight_sq);
	/* A function that got its name between two walks was taken off under it alone. */
	for (size_t i = 0; i < s->len; i++) {
		struct suspect *p = &s->data[i];
		if ((int64_t)p->waiting.weight < 0 || (int64_t)p->waiting.samples < 0 ||
		    p->waiting.weight_sq < 0)
			p->waiting = (struct sums){0};
		if ((int64_t)p->locked.weight < 0 || (int64_t)p->locked.samples < 0 ||
		    p->locked.weight_sq < 0 || p->locked.weight > p->waiting.weight)
			p->locked = (struct sums){0};
		else
			change(&p->waiting, &p->locked, -1); /* that is told apart */
	}
	return rc;
}

static void no_facts(struct verdict_facts *f, enum verdict_source source)
{
	*f = (struct verdict_facts){.source = source};
	for (int i = 0; i < FACTS; i++)
		f->fact[i] = NAN;
}

void suspect_facts(const struct suspects *s, const struct suspect *p, enum suspect_part part,
		   struct verdict_facts *f)
{
	const struct sums *sums = part == SUSPECT_SELF    ? &p->self
				  : part == SUSPECT_WAITS ? &p->waiting
				  : part == SUSPECT_LOCKS ? &p->locked
							  : &p->own;
	struct interval i = confidence_interval(sums->weight, sums->weight_sq, s->whole,
						s->whole_n);

	no_facts(f, VERDICT_SAMPLES);
	f->share = i.share;
	f->share_margin = i.share - i.low;
	f->samples = sums->samples;
	f->hits = isinf(s->whole_n) ? (double)sums->samples
				    : confidence_effective(sums->weight, sums->weight_sq);
	switch (part) {
	case SUSPECT_SELF: f->fact[FACT_SELF_SHARE] = i.share; break;
	case SUSPECT_OWN:
		if (sums->weight)
			f->fact[FACT_KERNEL] = (double)p->kernel / (double)sums->weight;
		if (p->recursion > 1)
			f->fact[FACT_RECURSION] = p->recursion;
		break;
	case SUSPECT_WAITS: f->fact[FACT_BLOCKED] = i.share; break;
	case SUSPECT_LOCKS: f->fact[FACT_LOCKED] = i.share; break;
	case SUSPECT_PARTS: break;
	}
}

static double cell(const struct analysis *a, uint32_t row, const char *title)
{
	for (uint32_t i = 0; i < a->ncolumns; i++)
		if (!strcmp(a->columns[i].title, title))
			return a->cells[(size_t)row * a->ncolumns + i];
	return NAN;
}

void analysis_facts(const struct analysis *a, uint32_t index, bool own, struct verdict_facts *f)
{
	no_facts(f, a->view == VIEW_DURATION ? VERDICT_DURATION
		    : a->view == VIEW_CACHE  ? VERDICT_CACHE
					     : VERDICT_EDGE);
	f->share = a->rows[index].share;
	f->hits = cell(a, index, "count");
	if (own) {
		bool known = a->view == VIEW_DURATION;
		f->share = known ? a->rows[index].self_share : 0;
		f->fact[FACT_SELF_NS] = known ? a->rows[index].self_ns : NAN;
		return;
	}
	f->fact[FACT_COUNT] = f->hits;
	if (a->view == VIEW_EDGE)
		f->fact[FACT_PATH_SHARE] = f->share;
	f->fact[FACT_IPC] = cell(a, index, "ipc");
	f->fact[FACT_MAX_AVG] = cell(a, index, "max_avg");
	f->fact[FACT_SD_AVG] = cell(a, index, "sd_avg");
	f->fact[FACT_P99_P50] = cell(a, index, "p99") / cell(a, index, "p50");
}
