/*
 * intake: from raw observations to finished samples.
 *
 * Source thread. Keeps each process's mappings and each thread's life, unwinds where the stack
 * bytes lie, and writes straight into the queue. A thread that did not run since its last sample
 * keeps that sample's stack (SAMPLE_REPEATED). When an address is in no mapping of a live process,
 * its maps are read again, ever more rarely if that does not help.
 */
#include "engine/intake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/record.h"
#include "proc/space.h"
#include "symbol/resolver.h"
#include "unwind/unwind.h"

#define FRAMES_DEFAULT  1024
#define KERNEL_FRAMES   256 /* beside max_frames of the user's */
#define VALUES_MAX      255
#define SUM_MOST        (1ull << 62) /* of an event over the whole profile */
#define REREAD_FIRST_NS 20000000ull
#define REREAD_LAST_NS  5000000000ull
#define EFFECTIVE_LEAST 1e-9
#define PAST_BYTES      ((size_t)32 << 20)
#define BYTES_EVERY     4096 /* samples between two looks at the memory held */
#define RESEND_EVERY    64   /* samples of one stack: the engine may have shortened its path */

/* A stack that the source numbers. */
struct known {
	uint8_t sent; /* samples since its frames were sent, 0: never */
	uint8_t cut;  /* enum cut_reason */
};

struct intake {
	struct sink sink;
	struct tables *tables;
	struct shared *shared;
	struct spsc *ring;
	void (*say)(void *ctx, const char *sentence);
	void *say_ctx;
	struct resolver *resolver;
	struct unwinder *unwinder;
	struct lives lives;
	bool live;
	pid_t named;
	uint64_t samples;
	uint64_t sums[EVENT_MAX], hits; /* of all samples so far */
	struct known *known; /* [STACKS_MAX] by the source's numbers, NULL: it gives none */
	uint32_t max_frames;
	frame_id *frames;
	struct unwind_result result;
};

static void take_event(void *ctx, uint16_t index, const struct event_desc *desc)
{
	struct intake *in = ctx;
	shared_announce(in->shared, index, desc);
}

static void take_loss(void *ctx, enum loss_kind kind, uint64_t count)
{
	struct intake *in = ctx;
	shared_loss(in->shared, kind, count);
}

/* Room for one record, its head filled in; NULL: it is lost, and counted. */
static void *reserve(struct intake *in, enum record_kind kind, size_t bytes)
{
	size_t len = sizeof(struct record_head) + bytes;
	struct record_head *head = spsc_reserve(in->ring, len);
	if (!head && !in->live)
		head = shared_wait_room(in->shared, in->ring, len);
	if (!head)
		return NULL;
	*head = (struct record_head){.kind = kind, .bytes = (uint32_t)bytes};
	return head + 1;
}

static void unwind(struct intake *in, struct process *p, const struct life *life,
		   const struct raw_sample *s)
{
	if (s->nframes && s->nframes < in->max_frames && !s->nkernel) {
		uint32_t n = s->nframes;
		memcpy(in->frames, s->frames, n * sizeof *in->frames);
		in->result = (struct unwind_result){.nframes = n, .cut = (enum cut_reason)s->cut};
		return;
	}
	unwinder_stack(in->unwinder, p->space, life->task, s, in->frames, in->max_frames,
		       &in->result);
}

/* An address in no mapping: a library was loaded and nobody told. True: the maps changed. */
static bool reread(struct process *p, uint64_t time_ns)
{
	if (time_ns < p->reread_ns + p->reread_wait_ns)
		return false;
	uint64_t before = space_generation(p->space);
	space_read_proc(p->space, NULL);
	p->reread_ns = time_ns;
	if (space_generation(p->space) != before) {
		p->reread_wait_ns = REREAD_FIRST_NS;
		return true;
	}
	p->reread_wait_ns = p->reread_wait_ns ? p->reread_wait_ns * 2 : REREAD_FIRST_NS;
	if (p->reread_wait_ns > REREAD_LAST_NS)
		p->reread_wait_ns = REREAD_LAST_NS;
	return false;
}

static void remember(struct intake *in, struct life *life)
{
	uint32_t n = in->result.nframes;
	if (n > life->last_cap) {
		uint32_t cap = (n + 31) & ~31u;
		frame_id *last = realloc(life->last, cap * sizeof *last);
		if (!last) {
			life->nlast = 0;
			return;
		}
		life->last = last;
		life->last_cap = cap;
	}
	memcpy(life->last, in->frames, n * sizeof *life->last);
	life->nlast = n;
	life->last_cut = (uint8_t)in->result.cut;
	life->last_stitched = in->result.stitched != 0;
}

static void recall(struct intake *in, const struct life *life)
{
	memcpy(in->frames, life->last, life->nlast * sizeof *life->last);
	in->result = (struct unwind_result){.nframes = life->nlast,
					    .cut = (enum cut_reason)life->last_cut,
					    .stitched = life->last_stitched};
}

/*
 * A stack that the source knows to come again travels as its number, save now and then. What is of
 * one number is of one cut.
 */
static bool is_known(struct intake *in, const struct raw_sample *s)
{
	if (!in->known || s->renumbered)
		return false;
	struct known *k = &in->known[s->recurring];
	if (!k->sent || ++k->sent > RESEND_EVERY)
		return false;
	in->result = (struct unwind_result){.cut = (enum cut_reason)k->cut};
	return true;
}

static void make_known(struct intake *in, const struct raw_sample *s)
{
	if (!in->known)
		in->known = calloc(STACKS_MAX, sizeof *in->known);
	if (in->known)
		in->known[s->recurring] = (struct known){1, (uint8_t)in->result.cut};
}

static void find_stack(struct intake *in, struct process *p, struct life *life,
		       const struct raw_sample *s)
{
	bool has_stack = s->nkernel || s->nuser || s->regs || s->nframes || s->ip;
	if (s->flags & SAMPLE_REPEATED && !has_stack && life->nlast) {
		recall(in, life);
		return;
	}
	unwind(in, p, life, s);
	if (in->live && in->result.cut == CUT_NO_MODULE && reread(p, s->time_ns))
		unwind(in, p, life, s);
	if (s->ret_cut)
		*s->ret_cut = (uint8_t)in->result.cut;
	if (in->live) /* no recording says that a stack still holds */
		remember(in, life);
}

static bool numbered(const struct intake *in, const struct raw_sample *s)
{
	return !in->live && s->recurring && s->recurring < STACKS_MAX;
}

/* What a file claims of the weights behind a sample counts where it is possible. */
static double effective(const struct raw_sample *s, uint64_t hits)
{
	bool possible = s->effective >= EFFECTIVE_LEAST && s->effective < (double)hits;
	return possible ? s->effective : (double)hits;
}

static void queue(struct intake *in, const struct process *p, const struct life *life,
		  const struct raw_sample *s)
{
	uint32_t nvalues = s->nvalues < VALUES_MAX ? s->nvalues : VALUES_MAX;
	uint32_t nframes = in->result.nframes;
	struct sample *out = reserve(in, RECORD_SAMPLE, sample_bytes(nvalues, nframes));
	if (!out) {
		shared_loss(in->shared, LOSS_QUEUE, 1);
		return;
	}
	uint64_t hits = s->flags & SAMPLE_ACCOUNTED ? 0 : s->hits ? s->hits : 1;
	uint32_t cut = nframes == s->nframes ? 0 : SAMPLE_DISTINCT; /* of these frames only */
	*out = (struct sample){
		.time_ns = s->time_ns,
		.weight = s->weight,
		.hits = hits,
		.effective = effective(s, hits),
		.task = life->task,
		.cpu = s->cpu,
		.event = s->event,
		.flags = (uint16_t)((s->flags & ~cut) |
				    (in->result.stitched ? SAMPLE_STITCHED : 0)),
		.cut = (uint8_t)in->result.cut,
		.nvalues = (uint8_t)nvalues,
		.nframes = (uint16_t)nframes,
		.process = p->task,
		.stack = numbered(in, s) ? s->recurring : 0,
	};
	struct sample_value *values = (struct sample_value *)(void *)(out + 1);
	if (nvalues)
		memcpy(values, s->values, nvalues * sizeof *values);
	memcpy(values + nvalues, in->frames, nframes * sizeof *in->frames);
	spsc_commit(in->ring);
}

static bool add_to(uint64_t *sum, uint64_t more)
{
	if (more > SUM_MOST - *sum)
		return false;
	*sum += more;
	return true;
}

/* What a damaged recording claims would make the sums wrap, and shares of them nonsense. */
static bool is_countable(struct intake *in, const struct raw_sample *s)
{
	for (uint32_t i = 0; i < s->nvalues; i++) {
		const struct sample_value *v = &s->values[i];
		if (v->event < EVENT_MAX && !add_to(&in->sums[v->event], v->count))
			return false;
	}
	return add_to(&in->sums[s->event], s->weight) && add_to(&in->hits, s->hits);
}

static void take_sample(void *ctx, const struct raw_sample *s)
{
	struct intake *in = ctx;
	if (!shared_event(in->shared, s->event)) {
		shared_loss(in->shared, LOSS_UNKNOWN_ID, 1);
		return;
	}
	if (!is_countable(in, s)) {
		shared_loss(in->shared, LOSS_BAD_RECORD, 1);
		return;
	}
	struct life *life = lives_thread(&in->lives, s->pid, s->tid, s->time_ns);
	struct process *p = life ? lives_process(&in->lives, s->pid, s->time_ns) : NULL;
	if (!p) {
		shared_loss(in->shared, LOSS_QUEUE, 1);
		return;
	}
	bool number = numbered(in, s);
	if (!number || !is_known(in, s)) {
		find_stack(in, p, life, s);
		if (number)
			make_known(in, s);
	}
	if (!(s->flags & SAMPLE_BEGINS))
		queue(in, p, life, s);
	if (in->samples++ % BYTES_EVERY == 0) {
		if (!in->shared->main_module)
			in->shared->main_module = space_main_module(p->space);
		atomic_store_explicit(&in->shared->intake_bytes,
				      lives_bytes(&in->lives) + unwinder_bytes(in->unwinder),
				      memory_order_relaxed);
	}
	lives_sweep(&in->lives, s->time_ns);
}

static void take_mmap(void *ctx, const struct raw_mmap *m)
{
	struct intake *in = ctx;
	if (m->kernel) /* kernel symbols are the resolver's */
		return;
	struct process *p = lives_process(&in->lives, m->pid, m->time_ns);
	if (p)
		space_add(p->space, m);
}

static void take_fork(void *ctx, const struct raw_task *t)
{
	struct intake *in = ctx;
	lives_fork(&in->lives, t);
}

static void take_comm(void *ctx, const struct raw_task *t)
{
	struct intake *in = ctx;
	lives_comm(&in->lives, t);
	if (in->named && t->exec && t->comm && t->pid == in->named)
		atomic_store(&in->shared->executed, tables_str(in->tables, t->comm));
}

static void take_exit(void *ctx, const struct raw_task *t)
{
	struct intake *in = ctx;
	lives_exit(&in->lives, t);
	lives_sweep(&in->lives, t->time_ns);
}

static void take_account(void *ctx, const struct raw_account *a)
{
	struct intake *in = ctx;
	struct account out = {.time_ns = a->time_ns,
			      .cpu_ns = a->cpu_ns,
			      .user_ns = a->user_ns,
			      .system_ns = a->system_ns,
			      .ready_ns = a->ready_ns,
			      .runs = a->runs,
			      .detailed = a->detailed,
			      .state = a->state};
	if (a->tid) {
		const struct life *life = lives_thread(&in->lives, a->pid, a->tid, a->time_ns);
		const struct process *p = life ? lives_process(&in->lives, a->pid, a->time_ns)
					       : NULL;
		if (!p || life->task == p->task)
			return; /* one of too many: its process's account says it */
		out.task = life->task;
		out.whole_life = life->whole_life;
		out.born_ns = life->born_ns;
	} else {
		const struct process *p = lives_process(&in->lives, a->pid, a->time_ns);
		if (!p)
			return;
		out.process = true;
		out.task = p->task;
		out.whole_life = p->whole_life;
		out.born_ns = p->born_ns;
	}
	if (a->waits_on)
		out.waits_on = tables_str(in->tables, a->waits_on);
	struct account *room = reserve(in, RECORD_ACCOUNT, sizeof *room);
	if (!room)
		return; /* cumulative: the next one says it all */
	*room = out;
	spsc_commit(in->ring);
	lives_sweep(&in->lives, a->time_ns);
}

static void take_count(void *ctx, const struct raw_count *c)
{
	struct intake *in = ctx;
	struct raw_count *room = reserve(in, RECORD_COUNT, sizeof *room);
	if (!room)
		return;
	*room = *c;
	spsc_commit(in->ring);
}

static void take_extent(void *ctx, uint64_t from_ns, uint64_t until_ns)
{
	struct intake *in = ctx;
	struct extent *room = reserve(in, RECORD_EXTENT, sizeof *room);
	if (!room)
		return;
	*room = (struct extent){from_ns, until_ns};
	spsc_commit(in->ring);
}

static bool take_progress(void *ctx, uint64_t done, uint64_t all)
{
	struct intake *in = ctx;
	struct shared *s = in->shared;
	atomic_store_explicit(&s->progress_all, all, memory_order_relaxed);
	atomic_store_explicit(&s->progress_done, done, memory_order_relaxed);
	return !atomic_load_explicit(&s->stopping, memory_order_relaxed) &&
	       !atomic_load_explicit(&s->cancelled, memory_order_relaxed);
}

static void take_say(void *ctx, const char *sentence)
{
	struct intake *in = ctx;
	in->say(in->say_ctx, sentence);
}

static void take_analysis(void *ctx, struct analysis *a)
{
	struct intake *in = ctx;
	shared_put_analysis(in->shared, a);
}

/*
 * A live kernel's symbols are looked up by the resolver in /proc/kallsyms, which lists BPF programs
 * too. A recording's programs are known by its records alone.
 */
static void take_ksymbol(void *ctx, uint64_t time_ns, uint64_t addr, uint32_t size,
			 const char *name, bool unregister)
{
	struct intake *in = ctx;
	(void)time_ns;
	if (!in->live && in->resolver && !unregister)
		resolver_ksymbol(in->resolver, addr, size, name);
}

static void take_origin(void *ctx, const struct raw_origin *o)
{
	struct intake *in = ctx;
	char text[256];
	if (o->host || o->release) {
		snprintf(text, sizeof text, "%s%s%s %.90s %.30s", o->host ? "Linux " : "",
			 o->host ? o->host : "", o->host ? "" : "Linux",
			 o->release ? o->release : "", o->machine ? o->machine : "");
		atomic_store(&in->shared->origin, tables_str(in->tables, text));
	}
	atomic_store(&in->shared->wall_start_ns, o->wall_start_ns);
	atomic_store(&in->shared->duration_ns, o->duration_ns);
	if (in->resolver)
		resolver_origin(in->resolver, o);
}

static const struct sink_ops ops = {
	.event = take_event,
	.sample = take_sample,
	.mmap = take_mmap,
	.fork = take_fork,
	.comm = take_comm,
	.exit = take_exit,
	.ksymbol = take_ksymbol,
	.loss = take_loss,
	.account = take_account,
	.count = take_count,
	.progress = take_progress,
	.extent = take_extent,
	.say = take_say,
	.origin = take_origin,
	.analysis = take_analysis,
};

struct intake *intake_new(const struct intake_config *config)
{
	struct intake *in = calloc(1, sizeof *in);
	if (!in)
		return NULL;
	in->sink = (struct sink){.ops = &ops, .ctx = in};
	in->tables = config->tables;
	in->shared = config->shared;
	in->ring = config->ring;
	in->say = config->say;
	in->say_ctx = config->say_ctx;
	in->live = config->live;
	in->named = config->named;
	in->resolver = config->resolver;
	uint32_t user = config->max_frames ? config->max_frames : FRAMES_DEFAULT;
	in->max_frames = (user < FRAMES_DEFAULT ? user : FRAMES_DEFAULT) + KERNEL_FRAMES;
	in->frames = malloc(in->max_frames * sizeof *in->frames);
	struct unwind_config unwind = {.symfs = config->symfs,
				       .stitch = config->stitch,
				       .live = config->live,
				       .max_frames = user < FRAMES_DEFAULT ? user : FRAMES_DEFAULT,
				       .past_bytes = PAST_BYTES};
	in->unwinder = unwinder_new(config->tables, &unwind);
	lives_init(&in->lives, config->tables, in->unwinder, config->live, config->symfs);
	if (!in->frames || !in->unwinder) {
		intake_free(in);
		return NULL;
	}
	return in;
}

void intake_free(struct intake *in)
{
	if (!in)
		return;
	lives_fini(&in->lives);
	free(in->known);
	unwinder_free(in->unwinder);
	free(in->frames);
	free(in);
}

const struct sink *intake_sink(struct intake *in)
{
	return &in->sink;
}
