/*
 * resolver: the thread that names frames, and the door to it.
 *
 * It takes what is wanted one frame at a time: names by symbol tables first, then kernel names
 * (whose table takes a while to read), then lines and inlined functions. One lock covers the state
 * behind, so that resolver_now may be called on another thread; nothing else waits for it.
 */
#include "resolver.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/altstack.h"
#include "base/clock.h"
#include "codelist.h"
#include "resolve.h"
#include "wants.h"

#define STACK_BYTES    (16u << 20) /* demangling may nest deep */
#define IDLE_MS        300
#define TICK_NS        250000000ull
#define ERRAND_WAIT_MS 20

struct resolver {
	struct resolve state;
	pthread_mutex_t lock; /* state */
	struct wants *wants;
	struct shelf shelf;
	pthread_t thread;
	bool started, joined;
	uint64_t ticked_ns; /* the thread's own */
	_Atomic bool stop;
	_Atomic uint64_t damage; /* as last counted under the lock */
};

/* A module's symbols came late: its frames are resolved anew, its listings are old. */
static void again(void *ctx, frame_id frame)
{
	struct resolver *r = ctx;

	wants_again(r->wants, frame);
	shelf_clear(&r->shelf);
}

struct resolver *resolver_new(struct tables *tables, const struct resolver_config *config,
			      struct err *err)
{
	struct resolver *r = calloc(1, sizeof *r);

	if (r && (r->wants = wants_new()) && !resolve_init(&r->state, tables, config)) {
		pthread_mutex_init(&r->lock, NULL);
		shelf_init(&r->shelf);
		r->state.again = again;
		r->state.again_ctx = r;
		return r;
	}
	if (r)
		wants_free(r->wants);
	free(r);
	err_set(err, ENOMEM, "no memory for the resolver");
	return NULL;
}

void resolver_free(struct resolver *r)
{
	if (!r || !errands_free(r->state.errands, ERRAND_WAIT_MS))
		return; /* a server is waited for: the process ends without it */
	shelf_fini(&r->shelf);
	resolve_fini(&r->state);
	wants_free(r->wants);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void let_go(struct resolver *r)
{
	atomic_store_explicit(&r->damage, r->state.env.damage, memory_order_relaxed);
	pthread_mutex_unlock(&r->lock);
}

static void step(struct resolver *r, enum want_step what, frame_id frame)
{
	bool more = false, defer = false;

	if (what == WANT_TAIL) {
		struct frame_pair pair = wants_pair(r->wants);

		resolver_tail_now(r, pair.caller, pair.callee);
		wants_told(r->wants);
		return;
	}
	pthread_mutex_lock(&r->lock);
	if (what == WANT_LINES)
		resolve_lines(&r->state, frame);
	else if (what == WANT_NAME && resolve_is_dear(&r->state, frame))
		defer = true;
	else
		more = resolve_name(&r->state, frame);
	let_go(r);
	if (defer)
		wants_defer(r->wants, frame);
	else
		wants_named(r->wants, frame, more);
}

/* Somebody looks at a function: that goes before names that are not on the screen. */
static void make_listings(struct resolver *r)
{
	const struct listing *l;
	func_id func;

	while ((func = shelf_next_want(&r->shelf)) &&
	       !atomic_load_explicit(&r->stop, memory_order_relaxed)) {
		if (!(l = resolver_listing_now(r, func)))
			return;
		shelf_put(&r->shelf, l);
	}
}

/* Between two frames, at most a few times a second. */
static void tick(struct resolver *r)
{
	uint64_t now = clock_mono_ns();

	if (now - r->ticked_ns < TICK_NS)
		return;
	r->ticked_ns = now;
	pthread_mutex_lock(&r->lock);
	resolve_tick(&r->state);
	pthread_mutex_unlock(&r->lock);
}

static void *resolver_main(void *arg)
{
	struct resolver *r = arg;
	enum want_step what;
	frame_id frame;

	altstack_use();
	while (!atomic_load_explicit(&r->stop, memory_order_relaxed)) {
		make_listings(r);
		if ((what = wants_take(r->wants, IDLE_MS, &frame)))
			step(r, what, frame);
		tick(r);
	}
	return NULL;
}

int resolver_start(struct resolver *r)
{
	pthread_attr_t attr;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	rc = pthread_create(&r->thread, &attr, resolver_main, r);
	pthread_attr_destroy(&attr);
	r->started = !rc;
	if (r->started)
		pthread_setname_np(r->thread, "resolver");
	return -rc;
}

void resolver_stop(struct resolver *r)
{
	atomic_store_explicit(&r->stop, true, memory_order_relaxed);
	errands_stop(r->state.errands);
	wants_wake(r->wants);
}

bool resolver_join(struct resolver *r, int timeout_ms)
{
	struct timespec until;

	if (!r->started || r->joined)
		return true;
	until = clock_deadline(CLOCK_REALTIME, timeout_ms);
	r->joined = !pthread_timedjoin_np(r->thread, NULL, &until);
	return r->joined;
}

void resolver_want(struct resolver *r, const frame_id *frames, uint32_t n)
{
	wants_add(r->wants, frames, n);
}

void resolver_origin(struct resolver *r, const struct raw_origin *o)
{
	pthread_mutex_lock(&r->lock);
	resolve_origin(&r->state, o);
	let_go(r);
}

void resolver_ksymbol(struct resolver *r, uint64_t addr, uint32_t size, const char *name)
{
	pthread_mutex_lock(&r->lock);
	reckernel_add(&r->state.recorded, addr, size, name);
	let_go(r);
}

void resolver_now(struct resolver *r, frame_id frame)
{
	pthread_mutex_lock(&r->lock);
	if (resolve_name(&r->state, frame))
		resolve_lines(&r->state, frame);
	let_go(r);
}

void resolver_want_tails(struct resolver *r, const struct frame_pair *pairs, uint32_t n)
{
	wants_add_pairs(r->wants, pairs, n);
}

void resolver_tail_now(struct resolver *r, frame_id caller, frame_id callee)
{
	pthread_mutex_lock(&r->lock);
	resolve_tail(&r->state, caller, callee);
	let_go(r);
}

bool resolver_settle(struct resolver *r, int timeout_ms)
{
	return wants_settle(r->wants, timeout_ms);
}

void resolver_look(struct resolver *r)
{
	pthread_mutex_lock(&r->lock);
	resolve_look(&r->state);
	let_go(r);
}

/* ---- what is known of modules ---- */

enum module_symbols resolver_module(const struct resolver *r, module_id module)
{
	struct resolve *s = (struct resolve *)&r->state;
	enum module_symbols known = SYMBOLS_UNKNOWN;

	pthread_mutex_lock(&s->status_lock);
	if (module < s->status.len)
		known = s->status.data[module].known;
	pthread_mutex_unlock(&s->status_lock);
	return known;
}

void resolver_advice(struct resolver *r, module_id module, char *ret_text, size_t size)
{
	if (size)
		resolve_advice(&r->state, module, ret_text, size);
}

void resolver_download(const struct resolver *r, struct resolver_download *ret_download)
{
	struct errand_progress p;

	errands_progress(r->state.errands, &p);
	*ret_download = (struct resolver_download){p.module, p.done, p.all, p.waiting};
}

void resolver_cancel(struct resolver *r)
{
	errands_cancel(r->state.errands);
}

uint64_t resolver_damage(const struct resolver *r)
{
	return atomic_load_explicit(&r->damage, memory_order_relaxed);
}

/* ---- listings ---- */

const struct listing *resolver_listing(struct resolver *r, func_id func)
{
	bool fresh;
	const struct listing *l = func ? shelf_get(&r->shelf, func, &fresh) : NULL;

	if (func && !l && fresh)
		wants_wake(r->wants);
	return l;
}

const struct listing *resolver_listing_now(struct resolver *r, func_id func)
{
	const struct listing *l;

	pthread_mutex_lock(&r->lock);
	l = listing_make(&r->state, func);
	let_go(r);
	return l;
}
