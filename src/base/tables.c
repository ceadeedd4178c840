/*
 * tables: modules, frames, functions, locations and tasks as every thread sees them.
 *
 * Any thread. Each table is a chunk (entries never move) with an idset (equal entries are found
 * without a lock); appends take the one mutex. An id is entry index + 1. What an id resolves to is
 * an atomic pointer beside the frame, replaced whole: replaced locations stay in the arena because
 * a reader may still hold them.
 */
#include "tables.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/chunk.h"
#include "base/hash.h"
#include "base/idset.h"
#include "base/strtab.h"
#include "sink.h"

/* Caps. Together they bound what a hostile recording or a long run can make us hold. */
#define MODULES_MAX      (1u << 18)
#define FRAMES_MAX       (1u << 23)
#define FUNCS_MAX        (1u << 22)
#define TASKS_MAX        (1u << 22)
#define TAILS_MAX        (1u << 20)
#define STRING_BYTES_MAX ((size_t)1 << 29)
#define LOC_BYTES_MAX    ((size_t)1 << 29)
#define LOC_LINES_MAX    1024 /* deepest inline chain kept */

struct frame_entry {
	struct frame frame;
	_Atomic(const struct loc *) loc;
	_Atomic frame_id newer; /* 0 none */
};

struct indexed {
	struct chunk entries;
	struct idset index;
};

struct tables {
	pthread_mutex_t lock;
	struct indexed modules, frames, funcs, tails;
	struct map64 by_name; /* of modules: name → the latest of that name; under the lock */
	struct chunk tasks;
	struct arena locs;
	struct strtab strings;
	_Atomic uint64_t refused, generation;
	_Atomic uint32_t superseded;
};

static void indexed_init(struct indexed *x, size_t item_bytes, uint32_t cap)
{
	chunk_init(&x->entries, item_bytes, cap);
	idset_init(&x->index);
}

static void indexed_fini(struct indexed *x)
{
	chunk_fini(&x->entries);
	idset_fini(&x->index);
}

/* Under the lock: publish the entry just filled and index it. Published first: whoever finds the id
 * may read the entry. */
static uint32_t indexed_publish(struct indexed *x, uint64_t hash)
{
	uint32_t id = chunk_publish(&x->entries) + 1;
	idset_add(&x->index, hash, id);
	return id;
}

static uint32_t refuse(struct tables *t, uint32_t id)
{
	if (!id)
		atomic_fetch_add_explicit(&t->refused, 1, memory_order_relaxed);
	return id;
}

/* The frames of enum special_frame, in order, each with its own function. */
static void add_specials(struct tables *t)
{
	static const char *const names[] = {"[truncated]", "[unsampled]", "[unknown]",
					    "[overflow]"};
	str_id place = tables_str(t, "[special]");
	module_id module = tables_module(
		t, &(struct module){.kind = MODULE_SPECIAL, .path = place, .name = place});

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		str_id name = tables_str(t, names[i]);
		struct frame frame = {.module = module, .flags = FRAME_NAMED, .name = name};
		struct func func = {.module = module,
				    .flags = FUNC_SPECIAL,
				    .raw = name,
				    .name = name,
				    .shown = name};
		struct loc_line line = {.func = tables_func(t, &func)};
		tables_resolve(t, tables_frame(t, &frame), &line, 1);
	}
}

struct tables *tables_new(void)
{
	struct tables *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	map64_init(&t->by_name);
	indexed_init(&t->modules, sizeof(struct module), MODULES_MAX);
	indexed_init(&t->frames, sizeof(struct frame_entry), FRAMES_MAX);
	indexed_init(&t->funcs, sizeof(struct func), FUNCS_MAX);
	indexed_init(&t->tails, sizeof(struct tail_calls), TAILS_MAX);
	chunk_init(&t->tasks, sizeof(struct task), TASKS_MAX);
	arena_init(&t->locs);
	strtab_init(&t->strings, STRING_BYTES_MAX);
	add_specials(t);
	if (!tables_loc(t, FRAME_UNKNOWN)) {
		tables_free(t);
		return NULL;
	}
	return t;
}

void tables_free(struct tables *t)
{
	if (!t)
		return;
	map64_fini(&t->by_name);
	indexed_fini(&t->modules);
	indexed_fini(&t->frames);
	indexed_fini(&t->funcs);
	indexed_fini(&t->tails);
	chunk_fini(&t->tasks);
	arena_fini(&t->locs);
	strtab_fini(&t->strings);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

uint64_t tables_overflow(const struct tables *t)
{
	return atomic_load_explicit(&t->refused, memory_order_relaxed) +
	       atomic_load_explicit(&t->strings.refused, memory_order_relaxed);
}

static size_t indexed_bytes(const struct indexed *x)
{
	return x->entries.bytes + x->index.bytes;
}

size_t tables_bytes(const struct tables *t)
{
	struct tables *own = (struct tables *)(uintptr_t)t; /* the mutex is no part of the value */
	pthread_mutex_lock(&own->lock);
	size_t bytes = sizeof *t + indexed_bytes(&t->modules) + indexed_bytes(&t->frames) +
		       indexed_bytes(&t->funcs) + indexed_bytes(&t->tails) + t->tasks.bytes +
		       t->locs.bytes;
	pthread_mutex_unlock(&own->lock);
	return bytes + strtab_bytes(&own->strings);
}

str_id tables_str(struct tables *t, const char *s)
{
	return s ? strtab_add(&t->strings, s, strlen(s)) : 0;
}

str_id tables_strn(struct tables *t, const char *s, size_t len)
{
	return strtab_add(&t->strings, s, len);
}

const char *tables_text(const struct tables *t, str_id id)
{
	return strtab_text(&t->strings, id);
}

/* Modules. */

static uint64_t hash_module(const struct module *m)
{
	uint64_t dev = (uint64_t)m->dev_major << 32 | m->dev_minor;
	uint64_t what = (uint64_t)m->kind << 32 | m->path;
	uint64_t pid = m->kind == MODULE_JIT ? (uint64_t)m->pid : 0;
	return hash_pair(hash_pair(what, pid), hash_pair(dev, m->inode));
}

static bool same_module(const struct module *a, const struct module *b)
{
	return a->kind == b->kind && a->path == b->path && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && a->inode == b->inode &&
	       (a->kind != MODULE_JIT || a->pid == b->pid);
}

static bool same_build_id(const struct module *a, const struct module *b)
{
	return a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size);
}

/* An equal build id wins over one where either side has none; two that differ are two modules. */
static module_id find_module(const struct tables *t, uint64_t hash, const struct module *m)
{
	struct idset_walk w = idset_walk(&t->modules.index, hash);
	module_id id, loose = 0;
	while ((id = idset_next(&w))) {
		const struct module *e = chunk_at(&t->modules.entries, id - 1);
		if (!same_module(e, m))
			continue;
		if (same_build_id(e, m))
			return id;
		if (!e->build_id_size || !m->build_id_size)
			loose = id;
	}
	return loose;
}

/* Without memory for it names stay as they are. */
static void note_name(struct tables *t, module_id id, struct module *m)
{
	uint32_t other;

	if (!id || !m->name)
		return;
	if (map64_get(&t->by_name, m->name, &other)) {
		struct module *o = chunk_at(&t->modules.entries, other - 1);

		uint32_t next = atomic_load_explicit(&o->namesake, memory_order_relaxed);

		atomic_store_explicit(&m->namesake, next ? next : other, memory_order_relaxed);
		atomic_store_explicit(&o->namesake, id, memory_order_release);
	}
	(void)map64_put(&t->by_name, m->name, id);
}

module_id tables_module(struct tables *t, const struct module *m)
{
	struct module clean = *m;
	if (clean.build_id_size > sizeof clean.build_id)
		clean.build_id_size = sizeof clean.build_id;
	uint64_t hash = hash_module(&clean);
	module_id id = find_module(t, hash, &clean);
	if (id)
		return id;
	pthread_mutex_lock(&t->lock);
	id = find_module(t, hash, &clean);
	struct module *e = id ? NULL : chunk_next(&t->modules.entries);
	if (e) {
		*e = clean;
		e->namesake = 0;
		id = indexed_publish(&t->modules, hash);
		note_name(t, id, e);
	}
	pthread_mutex_unlock(&t->lock);
	return refuse(t, id);
}

const struct module *tables_module_get(const struct tables *t, module_id id)
{
	static const struct module unknown = {.kind = MODULE_SPECIAL};
	const struct module *m = id ? chunk_get(&t->modules.entries, id - 1) : NULL;
	return m ? m : &unknown;
}

module_id tables_module_named(struct tables *t, str_id name)
{
	uint32_t id = 0;

	pthread_mutex_lock(&t->lock);
	if (name && !map64_get(&t->by_name, name, &id))
		id = 0;
	pthread_mutex_unlock(&t->lock);
	return id;
}

uint32_t tables_module_count(const struct tables *t)
{
	return chunk_len(&t->modules.entries);
}

/* Frames. */

static uint64_t hash_frame(const struct frame *f)
{
	uint64_t h = hash_pair(f->addr, (uint64_t)f->module << 32 | f->flags);
	if (f->name | f->file | f->line)
		h = hash_pair(hash_pair(h, f->line), (uint64_t)f->name << 32 | f->file);
	return h;
}

static frame_id find_frame(const struct tables *t, uint64_t hash, const struct frame *f)
{
	struct idset_walk w = idset_walk(&t->frames.index, hash);
	frame_id id;
	while ((id = idset_next(&w))) {
		const struct frame_entry *e = chunk_at(&t->frames.entries, id - 1);
		const struct frame *g = &e->frame;
		if (g->addr == f->addr && g->module == f->module && g->flags == f->flags &&
		    g->name == f->name && g->file == f->file && g->line == f->line)
			return id;
	}
	return 0;
}

frame_id tables_frame(struct tables *t, const struct frame *f)
{
	uint64_t hash = hash_frame(f);
	frame_id id = find_frame(t, hash, f);
	if (id)
		return id;
	pthread_mutex_lock(&t->lock);
	id = find_frame(t, hash, f);
	struct frame_entry *e = id ? NULL : chunk_next(&t->frames.entries);
	if (e) {
		e->frame = *f;
		id = indexed_publish(&t->frames, hash);
	}
	pthread_mutex_unlock(&t->lock);
	return refuse(t, id);
}

static struct frame_entry *frame_entry(const struct tables *t, frame_id id)
{
	return id ? chunk_get(&t->frames.entries, id - 1) : NULL;
}

const struct frame *tables_frame_get(const struct tables *t, frame_id id)
{
	static const struct frame none;
	const struct frame_entry *e = frame_entry(t, id);
	return e ? &e->frame : &none;
}

void tables_frame_supersede(struct tables *t, frame_id frame, frame_id newer)
{
	struct frame_entry *e = frame_entry(t, frame);
	if (!e || newer <= frame) /* ids only grow, so that no circle can be made */
		return;
	atomic_store_explicit(&e->newer, newer, memory_order_release);
	atomic_fetch_add_explicit(&t->superseded, 1, memory_order_release);
}

frame_id tables_frame_newest(const struct tables *t, frame_id frame)
{
	const struct frame_entry *e;
	frame_id newer;
	while ((e = frame_entry(t, frame)) &&
	       (newer = atomic_load_explicit(&e->newer, memory_order_acquire)))
		frame = newer;
	return frame;
}

uint32_t tables_superseded(const struct tables *t)
{
	return atomic_load_explicit(&t->superseded, memory_order_acquire);
}

uint32_t tables_frame_count(const struct tables *t)
{
	return chunk_len(&t->frames.entries);
}

/* Functions. */

static uint64_t hash_func(const struct func *f)
{
	return hash_pair(f->start ? f->start : f->raw, (uint64_t)f->module << 1 | (f->start != 0));
}

static func_id find_func(const struct tables *t, uint64_t hash, const struct func *f)
{
	struct idset_walk w = idset_walk(&t->funcs.index, hash);
	func_id id;
	while ((id = idset_next(&w))) {
		const struct func *e = chunk_at(&t->funcs.entries, id - 1);
		if (e->module == f->module && e->start == f->start &&
		    (f->start || e->raw == f->raw))
			return id;
	}
	return 0;
}

func_id tables_func(struct tables *t, const struct func *f)
{
	uint64_t hash = hash_func(f);
	func_id id = find_func(t, hash, f);
	if (id)
		return id;
	pthread_mutex_lock(&t->lock);
	id = find_func(t, hash, f);
	struct func *e = id ? NULL : chunk_next(&t->funcs.entries);
	if (e) {
		*e = *f;
		id = indexed_publish(&t->funcs, hash);
	}
	pthread_mutex_unlock(&t->lock);
	return refuse(t, id);
}

const struct func *tables_func_get(const struct tables *t, func_id id)
{
	static const struct func none;
	const struct func *f = id ? chunk_get(&t->funcs.entries, id - 1) : NULL;
	return f ? f : &none;
}

void tables_func_rename(struct tables *t, func_id id, const struct func *f)
{
	struct func *e = id ? chunk_get(&t->funcs.entries, id - 1) : NULL;

	if (!e || !e->start || e->start != f->start || e->module != f->module)
		return; /* without a start the name is the identity */
	atomic_store_explicit(&e->size, f->size, memory_order_relaxed);
	atomic_store_explicit(&e->raw, f->raw, memory_order_relaxed);
	atomic_store_explicit(&e->name, f->name, memory_order_relaxed);
	atomic_store_explicit(&e->shown, f->shown, memory_order_relaxed);
	atomic_store_explicit(&e->flags, f->flags, memory_order_release);
}

void tables_func_declare(struct tables *t, func_id id, str_id file, uint32_t line)
{
	struct func *f = id ? chunk_get(&t->funcs.entries, id - 1) : NULL;

	if (!f)
		return;
	if (file)
		atomic_store_explicit(&f->file, file, memory_order_relaxed);
	if (line)
		atomic_store_explicit(&f->line, line, memory_order_relaxed);
}

uint32_t tables_func_count(const struct tables *t)
{
	return chunk_len(&t->funcs.entries);
}

/* What frames resolve to. */

static bool same_loc(const struct loc *loc, const struct loc_line *lines, uint32_t n)
{
	if (!loc || loc->n != n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct loc_line *a = &loc->lines[i], *b = &lines[i];
		if (a->func != b->func || a->file != b->file || a->line != b->line ||
		    a->column != b->column)
			return false;
	}
	return true;
}

void tables_resolve(struct tables *t, frame_id frame, const struct loc_line *lines, uint32_t n)
{
	struct frame_entry *e = frame_entry(t, frame);
	if (!e || !n)
		return;
	if (n > LOC_LINES_MAX) { /* keep the function that holds the code: the last one */
		lines += n - LOC_LINES_MAX;
		n = LOC_LINES_MAX;
	}
	pthread_mutex_lock(&t->lock);
	const struct loc *old = atomic_load_explicit(&e->loc, memory_order_relaxed);
	bool same = same_loc(old, lines, n);
	size_t bytes = sizeof(struct loc) + n * sizeof *lines;
	struct loc *loc = NULL;
	if (!same && t->locs.bytes + bytes <= LOC_BYTES_MAX)
		loc = arena_alloc(&t->locs, bytes);
	if (loc) {
		loc->n = n;
		memcpy(loc->lines, lines, n * sizeof *lines);
		atomic_store_explicit(&e->loc, loc, memory_order_release);
		atomic_fetch_add_explicit(&t->generation, 1, memory_order_release);
	}
	pthread_mutex_unlock(&t->lock);
	refuse(t, same || loc);
}

const struct loc *tables_loc(const struct tables *t, frame_id frame)
{
	const struct frame_entry *e = frame_entry(t, frame);
	return e ? atomic_load_explicit(&e->loc, memory_order_acquire) : NULL;
}

uint64_t tables_generation(const struct tables *t)
{
	return atomic_load_explicit(&t->generation, memory_order_acquire);
}

/* Tail calls. */

static uint64_t hash_tail(frame_id caller, frame_id callee)
{
	return hash_pair(caller, callee);
}

const struct tail_calls *tables_tail_get(const struct tables *t, frame_id caller, frame_id callee)
{
	struct idset_walk w = idset_walk(&t->tails.index, hash_tail(caller, callee));
	uint32_t id;
	while ((id = idset_next(&w))) {
		const struct tail_calls *e = chunk_at(&t->tails.entries, id - 1);
		if (e->caller == caller && e->callee == callee)
			return e;
	}
	return NULL;
}

void tables_tail(struct tables *t, const struct tail_calls *tail)
{
	pthread_mutex_lock(&t->lock);
	bool known = tables_tail_get(t, tail->caller, tail->callee);
	struct tail_calls *e = known ? NULL : chunk_next(&t->tails.entries);
	if (e) {
		*e = *tail;
		e->n = tail->n < TAIL_MAX ? tail->n : TAIL_MAX;
		indexed_publish(&t->tails, hash_tail(tail->caller, tail->callee));
		if (e->n)
			atomic_fetch_add_explicit(&t->generation, 1, memory_order_release);
	}
	pthread_mutex_unlock(&t->lock);
	refuse(t, known || e);
}

bool tables_tail_possible(const struct tables *t, frame_id caller, frame_id callee)
{
	const struct frame *up = tables_frame_get(t, caller), *down = tables_frame_get(t, callee);
	const uint32_t never = FRAME_KERNEL | FRAME_NAMED | FRAME_GUESS | FRAME_TAILCALL;
	return up->flags & FRAME_RETURN && !((up->flags | down->flags) & never) &&
	       tables_module_get(t, up->module)->kind == MODULE_FILE &&
	       tables_module_get(t, down->module)->kind == MODULE_FILE;
}

/* Tasks. */

task_id tables_task(struct tables *t, pid_t pid, pid_t tid, uint64_t born_ns, str_id comm)
{
	task_id id = 0;
	pthread_mutex_lock(&t->lock);
	struct task *e = chunk_next(&t->tasks);
	if (e) {
		e->pid = pid;
		e->tid = tid;
		e->born_ns = born_ns;
		atomic_init(&e->comm, comm);
		atomic_init(&e->gone_ns, 0);
		id = chunk_publish(&t->tasks) + 1;
	}
	pthread_mutex_unlock(&t->lock);
	return refuse(t, id);
}

struct task *tables_task_get(const struct tables *t, task_id id)
{
	static struct task unknown;
	struct task *e = id ? chunk_get(&t->tasks, id - 1) : NULL;
	return e ? e : &unknown;
}

uint32_t tables_task_count(const struct tables *t)
{
	return chunk_len(&t->tasks);
}

/* A process's task is made before those of its threads; a reused pid begins anew with its own. */
task_id *tables_processes(const struct tables *t, uint32_t *ret_n)
{
	uint32_t n = tables_task_count(t) + 1, at;
	task_id *process = calloc(n, sizeof *process);
	struct map64 newest;

	map64_init(&newest);
	for (task_id id = 1; process && id < n; id++) {
		const struct task *task = tables_task_get(t, id);
		uint64_t pid = (uint32_t)task->pid;

		process[id] = id;
		if (task->tid && map64_get(&newest, pid, &at)) {
			process[id] = at;
		} else if (!task->tid && map64_put(&newest, pid, id)) {
			free(process);
			process = NULL;
		}
	}
	map64_fini(&newest);
	*ret_n = process ? n : 0;
	return process;
}

static const char *const reasons[] = {
	[VALUE_OK] = "",
	[VALUE_SCALED] = "scaled: it shared its counter with others",
	[VALUE_UNSUPPORTED] = "n/a: this CPU or kernel has no such event",
	[VALUE_REFUSED] = "n/a: not allowed",
	[VALUE_HIDDEN] = "n/a: it happens in the kernel, whose code is left out",
	[VALUE_NOT_RUNNING] = "n/a: opened, but it never got a counter",
	[VALUE_NOTHING] = "n/a: counted nothing at all",
	[VALUE_NONE] = "",
};

const char *value_reason(uint8_t state)
{
	return state < sizeof reasons / sizeof *reasons ? reasons[state] : "";
}

bool event_is_called(const char *name, const char *asked)
{
	size_t len = strlen(asked);

	if (!len || strncmp(name, asked, len))
		return false;
	const char *rest = name + len;
	return !*rest || !strcmp(rest, strchr(asked, ':') ? "u" : ":u");
}

/* Short names of why something is missing, as status lines and exports say them. */

const char *loss_kind_name(enum loss_kind kind)
{
	static const char *const names[LOSS_KINDS] = {
		[LOSS_RING] = "lost in the kernel's ring",
		[LOSS_THROTTLED] = "throttled",
		[LOSS_QUEUE] = "dropped, queue full",
		[LOSS_ORDER] = "too late to be ordered",
		[LOSS_BAD_RECORD] = "damaged records",
		[LOSS_TORN] = "torn",
		[LOSS_MISSED] = "missed ticks",
		[LOSS_EINTR] = "calls interrupted",
		[LOSS_RESTARTED] = "calls restarted",
		[LOSS_UNKNOWN_ID] = "unknown event id",
		[LOSS_GAP] = "ms not sampled while events were exchanged",
		[LOSS_MEMORY] = "counts that had no memory",
	};
	return (unsigned)kind < LOSS_KINDS ? names[kind] : "unknown";
}

const char *cut_reason_name(enum cut_reason reason)
{
	static const char *const names[CUT_REASONS] = {
		[CUT_NONE] = "complete",
		[CUT_DUMP_END] = "stack dump too short",
		[CUT_NO_CFI] = "no unwind information",
		[CUT_NO_MODULE] = "address in no readable file",
		[CUT_BAD_CFA] = "stack makes no sense",
		[CUT_LOOP] = "too many frames",
		[CUT_NO_REGS] = "no user registers",
		[CUT_FP_CHAIN] = "frame pointers ended",
		[CUT_LIMIT] = "stack depth limit",
		[CUT_LBR] = "LBR keeps the last 32 calls",
		[CUT_NO_ROOT] = "no root in the recording",
	};
	return (unsigned)reason < CUT_REASONS ? names[reason] : "unknown";
}
