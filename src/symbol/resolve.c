/*
 * resolve: what a frame's module is decides how its name is found.
 *
 * Each kind of module has one small function in the table at the end. Whatever happens a frame gets
 * a name: in the worst case module+0x1234. Runs on the resolver thread (or the caller's of
 * resolver_now), under the resolver's lock.
 */
#include "resolve.h"

#include <stdio.h>

#include "base/clock.h"

#define CACHE_BYTES     ((size_t)512 << 20)
#define JIT_LOOK_NS     250000000ull /* between two looks at a growing map */
#define JIT_UNNAMED_MAX 65536u
#define JIT_NAMED_MAX   16384u
#define JIT_ENDED_BYTES ((size_t)64 << 20) /* of what processes told that are gone */

int resolve_init(struct resolve *r, struct tables *tables, const struct resolver_config *config)
{
	memset(r, 0, sizeof *r);
	r->tables = tables;
	r->config = *config;
	r->env.tables = tables;
	r->env.access = (struct module_access){.symfs = config->symfs, .live = config->live};
	r->env.debug_dirs = config->debug_dirs ? config->debug_dirs : "/usr/lib/debug";
	r->env.downloads = config->debuginfod;
	r->env.no_inline = config->no_inline;
	r->cache_bytes = config->cache_bytes ? config->cache_bytes : CACHE_BYTES;
	r->env.cache.cap = r->cache_bytes / 2;
	naming_init(&r->naming, tables);
	found_init(&r->found);
	pthread_mutex_init(&r->status_lock, NULL);
	r->kernel = kernel_new(NULL);
	reckernel_init(&r->recorded, tables, &r->env);
	r->errands = errands_new();
	return r->kernel && r->errands ? 0 : -ENOMEM;
}

void resolve_fini(struct resolve *r)
{
	for (size_t i = 0; i < r->programs.len; i++)
		program_free(r->programs.data[i]);
	vec_fini(&r->programs);
	for (size_t i = 0; i < r->jits.len; i++) {
		jitmap_free(r->jits.data[i].map);
		vec_fini(&r->jits.data[i].unnamed);
		vec_fini(&r->jits.data[i].named);
	}
	vec_fini(&r->jits);
	for (size_t i = 0; i < r->status.len; i++)
		free(r->status.data[i].fetched);
	vec_fini(&r->status);
	kernel_free(r->kernel);
	reckernel_fini(&r->recorded);
	found_fini(&r->found);
	naming_fini(&r->naming);
	pthread_mutex_destroy(&r->status_lock);
}

/* Forget the programs that were not used for longest, until the rest fits. */
static void shrink(struct resolve *r, const struct program *keep)
{
	for (;;) {
		struct program **oldest = NULL;
		size_t bytes = 0;

		for (size_t i = 0; i < r->programs.len; i++) {
			struct program **p = &r->programs.data[i];

			if (!*p)
				continue;
			bytes += program_bytes(*p);
			if (*p != keep && (!oldest || (*p)->used < (*oldest)->used))
				oldest = p;
		}
		if (bytes <= r->cache_bytes / 2 || !oldest)
			return;
		program_free(*oldest);
		*oldest = NULL;
	}
}

struct program *resolve_program(struct resolve *r, module_id module)
{
	struct program **p;

	while (r->programs.len <= module)
		if (vec_push(&r->programs, NULL))
			return NULL;
	p = &r->programs.data[module];
	if (!*p) {
		*p = program_open(&r->env, module, resolve_fetched(r, module));
		if (!*p)
			return NULL;
		resolve_status(r, module, (*p)->known, (*p)->why);
		shrink(r, *p);
		resolve_fetch(r, *p);
	}
	(*p)->used = ++r->uses;
	return *p;
}

/* Where to look: a return address belongs to the call before it. */
static uint64_t look_up_addr(const struct frame *f)
{
	return f->flags & FRAME_RETURN && f->addr ? f->addr - 1 : f->addr;
}

static void publish_text(struct resolve *r, frame_id frame, module_id module, uint32_t flags,
			 const char *text)
{
	struct func f = {.module = module, .flags = flags};

	naming_publish_func(&r->naming, frame, naming_func(&r->naming, &f, text));
}

/* module+0x1234 of the address itself. */
static void publish_address(struct resolve *r, frame_id frame, const struct frame *f, uint64_t addr)
{
	struct func func = {.module = f->module, .start = addr, .flags = FUNC_NO_SYMBOL};
	const struct module *m = tables_module_get(r->tables, f->module);
	char text[320];

	if (f->flags & FRAME_KERNEL)
		func.flags |= FUNC_KERNEL;
	snprintf(text, sizeof text, "%.256s+0x%llx", tables_text(r->tables, m->name),
		 (unsigned long long)addr);
	naming_publish_func(&r->naming, frame, naming_func(&r->naming, &func, text));
}

/* ---- kinds ---- */

static bool name_file(struct resolve *r, frame_id frame, const struct frame *f)
{
	struct program *p = resolve_program(r, f->module);

	if (!p) {
		publish_address(r, frame, f, look_up_addr(f));
		return false;
	}
	program_name(p, program_addr(p, look_up_addr(f), f->flags), &r->found);
	naming_publish(&r->naming, frame, f->module, &r->found);
	return program_may_have_lines(p);
}

/* The module that kallsyms names in brackets, seen as one of its own. */
static module_id kernel_module(struct resolve *r, const char *name)
{
	struct module m = {.kind = strcmp(name, "bpf") ? MODULE_KMODULE : MODULE_BPF};
	char text[80];

	snprintf(text, sizeof text, "[%.60s]", name);
	m.path = m.name = tables_str(r->tables, text);
	return tables_module(r->tables, &m);
}

static void publish_kernel(struct resolve *r, frame_id frame, const struct frame *f,
			   const struct kernel_symbol *s)
{
	struct func func = {.module = f->module,
			    .start = s->start,
			    .size = s->end - s->start,
			    .flags = FUNC_KERNEL};

	if (s->module[0] && tables_module_get(r->tables, f->module)->kind == MODULE_KERNEL)
		func.module = kernel_module(r, s->module);
	naming_publish_func(&r->naming, frame, naming_func(&r->naming, &func, s->name));
	resolve_status(r, f->module, SYMBOLS_FULL, "");
}

/* One name for all that has none: its addresses differ, and say nothing. */
static void publish_no_kernel(struct resolve *r, frame_id frame, const struct frame *f,
			      const char *why)
{
	const struct module *m = tables_module_get(r->tables, f->module);
	struct func func = {.module = f->module, .flags = FUNC_KERNEL | FUNC_NO_SYMBOL};

	naming_publish_func(&r->naming, frame,
			    naming_func(&r->naming, &func, tables_text(r->tables, m->name)));
	resolve_status(r, f->module, SYMBOLS_NONE, why);
}

/* A recording's kernel: see reckernel.h. */
static bool name_recorded_kernel(struct resolve *r, frame_id frame, const struct frame *f)
{
	struct kernel_symbol s;
	uint64_t addr;
	struct program *p;

	if (reckernel_find(&r->recorded, look_up_addr(f), &s)) {
		publish_kernel(r, frame, f, &s);
		return false;
	}
	p = reckernel_file(&r->recorded, look_up_addr(f), &addr);
	if (p) {
		program_name(p, addr, &r->found);
		if (!r->found.lines[0].no_symbol) {
			naming_publish(&r->naming, frame, f->module, &r->found);
			resolve_status(r, f->module, p->known, "");
			return program_may_have_lines(p);
		}
	}
	if (reckernel_why(&r->recorded)[0])
		publish_no_kernel(r, frame, f, reckernel_why(&r->recorded));
	else
		publish_address(r, frame, f, look_up_addr(f));
	return false;
}

void resolve_origin(struct resolve *r, const struct raw_origin *o)
{
	r->env.access.same_boot = o->same_boot;
	if (!reckernel_origin(&r->recorded, o) || !r->again)
		return;
	for (frame_id f = 1; f <= tables_frame_count(r->tables); f++)
		if (tables_frame_get(r->tables, f)->flags & FRAME_KERNEL &&
		    tables_loc(r->tables, f))
			r->again(r->again_ctx, f);
}

static bool name_kernel(struct resolve *r, frame_id frame, const struct frame *f)
{
	struct kernel_symbol s;

	if (!r->config.live)
		return name_recorded_kernel(r, frame, f);
	if (kernel_find(r->kernel, look_up_addr(f), &s))
		publish_kernel(r, frame, f, &s);
	else if (kernel_reason(r->kernel)[0])
		publish_no_kernel(r, frame, f, kernel_reason(r->kernel));
	else
		publish_address(r, frame, f, look_up_addr(f));
	return false;
}

/* PERF_RECORD_KSYMBOL names the program, and its range is the module's. */
static bool name_bpf(struct resolve *r, frame_id frame, const struct frame *f)
{
	const struct module *m = tables_module_get(r->tables, f->module);
	struct func func = {.module = f->module, .start = m->base, .size = m->size};

	func.flags = FUNC_KERNEL;
	naming_publish_func(&r->naming, frame,
			    naming_func(&r->naming, &func, tables_text(r->tables, m->name)));
	return false;
}

struct jit_module *resolve_jit(struct resolve *r, module_id module)
{
	struct jit_module j = {.id = module};
	const struct module *m = tables_module_get(r->tables, module);

	for (size_t i = 0; i < r->jits.len; i++)
		if (r->jits.data[i].id == module)
			return &r->jits.data[i];
	j.map = jitmap_new(m->pid, &r->env.access);
	if (!j.map || vec_push(&r->jits, j)) {
		jitmap_free(j.map);
		return NULL;
	}
	return &r->jits.data[r->jits.len - 1];
}

static bool jit_look(struct jit_module *j, uint64_t every_ns)
{
	uint64_t now = clock_mono_ns();

	if (j->ended || (j->looked_ns && now - j->looked_ns < every_ns))
		return false;
	j->looked_ns = now;
	return jitmap_refresh(j->map);
}

static bool jit_publish(struct resolve *r, struct jit_module *j, frame_id frame,
			const struct frame *f)
{
	struct func func = {.module = f->module};
	struct loc_line line = {0};
	struct jit_symbol s;
	char cut[160] = "";

	if (!jitmap_find(j->map, look_up_addr(f), &s))
		return false;
	func.start = s.start;
	func.size = s.end - s.start;
	line.func = naming_func(&r->naming, &func, s.name);
	if (line.func && strcmp(tables_text(r->tables, tables_func_get(r->tables, line.func)->raw),
				s.name) != 0) {
		/* Other code began there before: a function is known by its start, this one by its
		 * name. */
		func = (struct func){.module = f->module};
		line.func = naming_func(&r->naming, &func, s.name);
	}
	line.file = s.file[0] ? tables_str(r->tables, s.file) : 0;
	line.line = s.line;
	if (line.func)
		tables_resolve(r->tables, frame, &line, 1);
	resolve_status(r, f->module,
		       !jitmap_cut(j->map, cut, sizeof cut) && line.line ? SYMBOLS_LINES
									 : SYMBOLS_FULL,
		       cut);
	return line.func != 0;
}

/* As for the kernel: until names come, addresses of generated code tell nothing apart. */
static void publish_generated(struct resolve *r, struct jit_module *j, frame_id frame,
			      const struct frame *f)
{
	struct func func = {.module = f->module, .flags = FUNC_NO_SYMBOL};
	char advice[160] = "generated code whose names were not recorded", path[96];
	size_t len = 0;

	naming_publish_func(&r->naming, frame, naming_func(&r->naming, &func, "[generated code]"));
	bool cut = j && jitmap_cut(j->map, advice, sizeof advice);
	if (cut)
		resolve_status(r, f->module, SYMBOLS_NONE, advice);
	if (!j || j->advised || cut)
		return;
	j->advised = true;
	if (r->config.live && jitmap_stale(j->map, path, sizeof path))
		len = (size_t)snprintf(advice, sizeof advice,
				       "%s is older than the process and not read; ", path);
	if (r->config.live)
		runtime_advice(r->tables, tables_module_get(r->tables, f->module)->pid,
			       advice + len, sizeof advice - len);
	resolve_status(r, f->module, SYMBOLS_NONE, advice);
}

/* Frames whose code is no longer what it was: later samples there are of another frame. */
static void jit_supersede(struct resolve *r, struct jit_module *j)
{
	for (size_t n = 0; n < j->named.len; n++) {
		frame_id old = j->named.data[n], newer;
		struct frame f = *tables_frame_get(r->tables, old);
		const struct loc *loc = tables_loc(r->tables, old);
		const struct func *func = loc ? tables_func_get(r->tables,
								loc->lines[loc->n - 1].func)
					      : NULL;
		struct jit_symbol s;

		if (!func || !jitmap_find(j->map, look_up_addr(&f), &s) ||
		    !strcmp(tables_text(r->tables, func->raw), s.name))
			continue;
		f.line++; /* of no other use in frames that are not named by a recording */
		newer = tables_frame(r->tables, &f);
		if (!newer || !jit_publish(r, j, newer, &f))
			continue;
		tables_frame_supersede(r->tables, old, newer);
		j->named.data[n] = newer;
	}
}

static bool jit_named(struct resolve *r, struct jit_module *j, frame_id frame,
		      const struct frame *f)
{
	if (!jit_publish(r, j, frame, f))
		return false;
	if (r->config.live && !j->ended && j->named.len < JIT_NAMED_MAX)
		(void)vec_push(&j->named, frame);
	return true;
}

/* Its process is gone, and another may have its number: then all is looked for anew. */
static void jit_restart(struct resolve *r, struct jit_module *j)
{
	uint64_t now = clock_mono_ns();
	struct jitmap *map;

	if (!j->ended || now - j->looked_ns < JIT_LOOK_NS)
		return;
	j->looked_ns = now;
	map = jitmap_new(tables_module_get(r->tables, j->id)->pid, &r->env.access);
	if (map && jitmap_alive(map)) {
		jitmap_free(j->map);
		j->map = map;
		j->looked_ns = 0;
		j->ended = false;
	} else {
		jitmap_free(map);
	}
}

static bool name_jit(struct resolve *r, frame_id frame, const struct frame *f)
{
	struct jit_module *j = resolve_jit(r, f->module);

	if (j && jit_named(r, j, frame, f))
		return false;
	if (j)
		jit_restart(r, j);
	if (j && jit_look(j, JIT_LOOK_NS)) {
		jit_supersede(r, j);
		if (jit_named(r, j, frame, f))
			return false;
	}
	publish_generated(r, j, frame, f);
	if (j && !j->ended && j->unnamed.len < JIT_UNNAMED_MAX)
		(void)vec_push(&j->unnamed, frame);
	return false;
}

static void jit_again(struct resolve *r, struct jit_module *j)
{
	size_t left = 0;

	if ((!j->unnamed.len && !j->named.len) || !jit_look(j, JIT_LOOK_NS))
		return;
	jit_supersede(r, j);
	for (size_t n = 0; n < j->unnamed.len; n++) {
		frame_id frame = j->unnamed.data[n];

		if (!jit_named(r, j, frame, tables_frame_get(r->tables, frame)))
			j->unnamed.data[left++] = frame;
	}
	j->unnamed.len = left;
}

/* Its process is gone: one last look, then its files are left. */
static void jit_end(struct resolve *r, struct jit_module *j)
{
	j->looked_ns = 0;
	jit_again(r, j);
	jitmap_end(j->map);
	vec_fini(&j->unnamed);
	vec_fini(&j->named);
	j->ended = true;
}

/* Processes come and go for hours: what those told that are gone is kept within bounds. */
static void jits_tend(struct resolve *r)
{
	size_t bytes = 0;

	for (size_t i = r->jits.len; i-- > 0;) {
		struct jit_module *j = &r->jits.data[i];

		if (!j->ended && !jitmap_alive(j->map))
			jit_end(r, j);
		bytes += j->ended ? jitmap_bytes(j->map) : 0;
		if (j->ended && bytes > JIT_ENDED_BYTES)
			jitmap_forget(j->map);
	}
}

static bool name_address(struct resolve *r, frame_id frame, const struct frame *f)
{
	publish_address(r, frame, f, look_up_addr(f));
	return false;
}

static bool name_special(struct resolve *r, frame_id frame, const struct frame *f)
{
	static const char *const names[FRAME_SPECIAL_COUNT] = {
		[FRAME_TRUNCATED] = "[truncated]",
		[FRAME_UNSAMPLED] = "[unsampled]",
		[FRAME_UNKNOWN] = "[unknown]",
		[FRAME_OVERFLOW] = "[overflow]",
	};
	const char *text = f->name ? tables_text(r->tables, f->name)
			   : frame < FRAME_SPECIAL_COUNT && names[frame] ? names[frame]
									 : "[unknown]";

	publish_text(r, frame, f->module, FUNC_SPECIAL, text);
	return false;
}

/* The recording brought the name, and perhaps a line. */
static void name_recorded(struct resolve *r, frame_id frame, const struct frame *f)
{
	struct func func = {.module = f->module};
	struct loc_line line = {.file = f->file, .line = f->line};
	const char *text = tables_text(r->tables, f->name);

	if (f->flags & FRAME_KERNEL)
		func.flags |= FUNC_KERNEL;
	if (f->addr && (!text[0] || !strcmp(text, "[unknown]"))) {
		publish_address(r, frame, f, f->addr);
		return;
	}
	line.func = naming_func(&r->naming, &func, text);
	if (line.func)
		tables_resolve(r->tables, frame, &line, 1);
}

typedef bool name_fn(struct resolve *r, frame_id frame, const struct frame *f);

static name_fn *const by_kind[] = {
	[MODULE_FILE] = name_file,     [MODULE_VDSO] = name_file,
	[MODULE_KERNEL] = name_kernel, [MODULE_KMODULE] = name_kernel,
	[MODULE_BPF] = name_bpf,       [MODULE_JIT] = name_jit,
	[MODULE_NAMED] = name_address, [MODULE_SPECIAL] = name_special,
};

/* ---- the two steps ---- */

bool resolve_is_dear(struct resolve *r, frame_id frame)
{
	const struct frame *f = tables_frame_get(r->tables, frame);
	enum module_kind kind = tables_module_get(r->tables, f->module)->kind;

	return (kind == MODULE_KERNEL || kind == MODULE_KMODULE) && r->config.live &&
	       !(f->flags & FRAME_NAMED) && !kernel_loaded(r->kernel);
}

bool resolve_name(struct resolve *r, frame_id frame)
{
	const struct frame *f = tables_frame_get(r->tables, frame);
	enum module_kind kind = tables_module_get(r->tables, f->module)->kind;

	if (f->flags & FRAME_NAMED && kind != MODULE_SPECIAL) {
		name_recorded(r, frame, f);
		return false;
	}
	if (kind >= sizeof by_kind / sizeof *by_kind || !f->module)
		return name_special(r, frame, f);
	return by_kind[kind](r, frame, f);
}

void resolve_lines(struct resolve *r, frame_id frame)
{
	const struct frame *f = tables_frame_get(r->tables, frame);
	struct program *p;
	uint64_t addr;
	bool first;

	if (tables_module_get(r->tables, f->module)->kind == MODULE_KERNEL) {
		p = reckernel_file(&r->recorded, look_up_addr(f), &addr);
		if (p && program_lines(p, addr, &r->found))
			naming_publish(&r->naming, frame, f->module, &r->found);
		return;
	}
	p = resolve_program(r, f->module);
	if (!p)
		return; /* without memory the name has to do */
	first = !p->dw_tried;
	if (program_lines(p, program_addr(p, look_up_addr(f), f->flags), &r->found))
		naming_publish(&r->naming, frame, f->module, &r->found);
	if (first)
		shrink(r, p);
}

/*
 * Functions missing between a call and what runs there: of the caller's module, or, when that one's
 * DWARF says only which function of another is called, of the module that now runs.
 */
static unsigned find_tail(struct resolve *r, const struct frame *up, const struct frame *down,
			  const struct func *holder, struct dw_tail_step steps[DW_TAIL_MAX],
			  module_id *ret_module)
{
	bool inside = down->module == up->module;
	struct program *p = resolve_program(r, up->module);
	char elsewhere[DW_TAIL_NAME] = "";
	struct dw_tail_query q = {.callee_name = tables_text(r->tables, holder->raw),
				  .callee_start = inside ? holder->start : 0,
				  .ret_elsewhere = elsewhere};
	unsigned n;

	if (!p)
		return 0;
	q.ret = program_addr(p, up->addr, up->flags);
	if (inside)
		q.callee_addr = program_addr(p, look_up_addr(down), down->flags);
	*ret_module = up->module;
	n = program_tail_calls(p, &q, steps);
	if (n || inside || !elsewhere[0] || !(p = resolve_program(r, down->module)))
		return n;
	q.ret = 0;
	q.first_name = elsewhere;
	q.ret_elsewhere = NULL;
	q.callee_addr = program_addr(p, look_up_addr(down), down->flags);
	q.callee_start = holder->start;
	*ret_module = down->module;
	return program_tail_calls(p, &q, steps);
}

void resolve_tail(struct resolve *r, frame_id caller, frame_id callee)
{
	const struct frame *up = tables_frame_get(r->tables, caller);
	const struct frame *down = tables_frame_get(r->tables, callee);
	struct tail_calls tail = {.caller = caller, .callee = callee};
	struct dw_tail_step steps[DW_TAIL_MAX];
	const struct func *holder = NULL;
	const struct loc *loc = tables_loc(r->tables, callee);
	module_id module = up->module;

	if (tables_tail_get(r->tables, caller, callee))
		return;
	if (!loc) {
		(void)resolve_name(r, callee);
		loc = tables_loc(r->tables, callee);
	}
	if (loc)
		holder = tables_func_get(r->tables, loc->lines[loc->n - 1].func);
	if (tables_tail_possible(r->tables, caller, callee) && holder &&
	    !(holder->flags & FUNC_NO_SYMBOL))
		tail.n = find_tail(r, up, down, holder, steps, &module);
	for (uint32_t i = 0; i < tail.n; i++) {
		struct frame f = {.module = module,
				  .addr = steps[i].pc,
				  .flags = FRAME_TAILCALL | (steps[i].behind ? FRAME_RETURN : 0)};

		tail.frames[i] = tables_frame(r->tables, &f);
		if (!tail.frames[i])
			tail.n = i;
		else if (!tables_loc(r->tables, tail.frames[i]) && resolve_name(r, tail.frames[i]))
			resolve_lines(r, tail.frames[i]);
	}
	tables_tail(r->tables, &tail);
}

void resolve_look(struct resolve *r)
{
	for (size_t i = 0; i < r->jits.len; i++) {
		if (!r->jits.data[i].ended)
			r->jits.data[i].looked_ns = 0;
		jit_again(r, &r->jits.data[i]);
	}
}

void resolve_tick(struct resolve *r)
{
	for (size_t i = 0; i < r->jits.len; i++)
		jit_again(r, &r->jits.data[i]);
	if (r->config.live)
		jits_tend(r);
	resolve_errands(r);
}
