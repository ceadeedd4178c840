/*
 * codelist: instructions of one function with their lines, and the text of its source file.
 *
 * Bytes are copied out of the file under a guard and then decoded. Each instruction is looked up
 * like a frame, so that its line and inlined function are what the profile shows. Bytes that are
 * no instruction become data up to the next place where code is known to begin: a row of the line
 * table, a symbol, the target of a jump. Runs on the resolver thread.
 */
#include "codelist.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "disasm.h"
#include "kcore.h"
#include "srcfile.h"

#define CODE_MAX     (1u << 20) /* bytes of one function that are decoded */
#define AROUND       4          /* lines before the first and behind the last */
#define INLINE_LINES 60         /* shown of a function that has no code of its own */
#define LINES_MAX    20000u
#define DATA_ROW     16 /* bytes of data in one row */

struct held {
	struct listing pub;
	struct arena arena;
};

struct maker {
	struct resolve *r;
	struct program *p;      /* NULL: no file behind */
	struct jit_module *jit; /* generated code */
	bool kernel;
	struct held *held;
	const struct func *func;
	uint64_t start;               /* the function's; of one known by its name, its code's */
	struct jit_symbol generation; /* with jit: which of those that lay at an address */
	struct disasm *disasm;
	uint8_t *code;
	size_t size;
	struct {
		VEC(struct listing_insn)
	} insns;
	struct {
		VEC(uint64_t)
	} targets;
	uint32_t first_line, last_line;
};

void listing_unref(const struct listing *l)
{
	struct held *h = (struct held *)l;

	if (!h || atomic_fetch_sub_explicit(&h->pub.refs, 1, memory_order_acq_rel) != 1)
		return;
	arena_fini(&h->arena);
	free(h->pub.insns);
	free(h);
}

/* The first thing to say stays. */
static void note(struct maker *m, const char *what, const char *path)
{
	char *text = m->held->pub.note;

	if (!text[0])
		snprintf(text, sizeof m->held->pub.note, "%s%.200s", what, path);
}

/* ---- code ---- */

struct code_args {
	struct maker *m;
	uint64_t addr;
	size_t want;
};

static void copy_code(void *ctx)
{
	struct code_args *a = ctx;
	const uint8_t *p;
	size_t avail = 0;

	p = image_at(a->m->p->image[IMAGE_MAIN], a->addr, 1, &avail);
	if (!p)
		return;
	a->m->size = avail < a->want ? avail : a->want;
	memcpy(a->m->code, p, a->m->size);
}

static enum arch native_arch(void)
{
#if defined(__x86_64__)
	return ARCH_X86_64;
#elif defined(__aarch64__)
	return ARCH_AARCH64;
#else
	return ARCH_OTHER;
#endif
}

static void fetch_jit_code(struct maker *m)
{
	const char *name = tables_text(m->r->tables, m->func->raw);
	struct jit_symbol s;
	size_t size;

	if (!jitmap_find_named(m->jit->map, m->func->start, name, &s))
		return;
	m->generation = s;
	m->start = s.start;
	size = s.end - s.start < CODE_MAX ? s.end - s.start : CODE_MAX;
	m->code = malloc(size);
	if (!m->code || !jitmap_code(m->jit->map, &s, m->code, size)) {
		note(m, "its code is not kept: the program writes no jitdump file", "");
		return;
	}
	m->size = size;
	m->disasm = disasm_new(native_arch());
}

/* Of the kernel that runs: a recording's was another one. */
static void fetch_kernel_code(struct maker *m)
{
	uint64_t size = m->func->size < CODE_MAX ? m->func->size : CODE_MAX;
	char why[200];

	if (!m->r->config.live) {
		note(m, "no code: the recording is of another boot", "");
		return;
	}
	if (!m->func->start || !size || !(m->code = malloc(size)))
		return;
	if (kcore_read("/proc/kcore", m->func->start, m->code, size, why, sizeof why)) {
		note(m, why, "");
		return;
	}
	m->size = size;
	m->disasm = disasm_new(native_arch());
}

static void fetch_code(struct maker *m)
{
	uint64_t size = m->func->size;
	struct code_args a = {m, m->func->start, 0};

	if (m->kernel)
		fetch_kernel_code(m);
	if (m->jit)
		fetch_jit_code(m);
	if (!m->p || !m->p->image[IMAGE_MAIN] || !m->func->start)
		return;
	if (!size) {
		uint64_t next = symtab_next(&m->p->symtab, a.addr);

		size = next - a.addr < 4096 ? next - a.addr : 4096;
	}
	if (size > CODE_MAX) {
		size = CODE_MAX;
		note(m, "only the first MiB of this function is shown", "");
	}
	a.want = size;
	m->code = malloc(size);
	if (m->code && program_guarded(m->p, copy_code, &a))
		m->size = 0;
	m->disasm = m->size ? disasm_new(m->p->image[IMAGE_MAIN]->arch) : NULL;
}

/* Where code is known to begin again behind @addr, at most the function's end. */
static uint64_t next_boundary(struct maker *m, uint64_t addr)
{
	uint64_t end = m->start + m->size, best = end, at;

	if (m->p) {
		at = symtab_next(&m->p->symtab, addr);
		best = at < best ? at : best;
		at = program_next_row(m->p, addr);
		best = at < best ? at : best;
	}
	for (size_t i = 0; i < m->targets.len; i++)
		if (m->targets.data[i] > addr && m->targets.data[i] < best)
			best = m->targets.data[i];
	/* Nothing is known: try again at once. */
	return best == end ? addr + disasm_step(m->disasm) : best;
}

/* The function at @addr of the same module, 0 unknown. */
static func_id func_at(struct maker *m, uint64_t addr)
{
	struct func f = {.module = m->func->module};
	struct found *found = &m->r->found;
	struct kernel_symbol k;
	struct jit_symbol s;

	if (m->p) {
		program_name(m->p, addr, found);
		if (found->lines[0].no_symbol)
			return 0;
		f.start = found->lines[0].start;
		f.size = found->lines[0].size;
		return naming_func(&m->r->naming, &f, found_str(found, found->lines[0].raw));
	}
	if (m->kernel && kernel_find(m->r->kernel, addr, &k)) {
		f.start = k.start;
		f.size = k.end - k.start;
		f.flags = FUNC_KERNEL;
		return naming_func(&m->r->naming, &f, k.name);
	}
	if (!m->jit || !jitmap_find(m->jit->map, addr, &s))
		return 0;
	f.start = s.start;
	f.size = s.end - s.start;
	return naming_func(&m->r->naming, &f, s.name);
}

/* `<name+0x10>` behind the text; the function itself when it is another one. */
static void name_target(struct maker *m, struct listing_insn *to, const struct disasm_insn *in,
			uint64_t target)
{
	uint64_t start = m->start;
	const struct func *known = m->func;
	char text[512];

	if (target < start || target >= start + m->size) {
		to->callee = func_at(m, target);
		if (!to->callee)
			return;
		known = tables_func_get(m->r->tables, to->callee);
		start = known->start;
	}
	if (target == start)
		snprintf(text, sizeof text, "%s <%.256s>", in->text,
			 tables_text(m->r->tables, known->shown));
	else
		snprintf(text, sizeof text, "%s <%.256s+0x%llx>", in->text,
			 tables_text(m->r->tables, known->shown),
			 (unsigned long long)(target - start));
	to->text = arena_strdup(&m->held->arena, text);
}

/* A row of data from @at, and where to go on. */
static size_t add_data(struct maker *m, size_t at)
{
	uint64_t next = next_boundary(m, m->start + at);
	size_t end = next - m->start < m->size ? next - m->start : m->size;

	while (at < end) {
		size_t n = end - at < DATA_ROW ? end - at : DATA_ROW;
		struct listing_insn row = {.addr = m->start + at, .data = true};
		char text[16 + DATA_ROW * 6] = ".byte ";
		size_t len = strlen(text);

		row.size = (uint8_t)n;
		for (size_t i = 0; i < n; i++)
			len += (size_t)snprintf(text + len, sizeof text - len, "%s0x%02x",
						i ? ", " : "", m->code[at + i]);
		row.text = arena_strdup(&m->held->arena, text);
		if (!row.text || vec_push(&m->insns, row))
			return m->size;
		at += n;
	}
	return end;
}

static size_t add_insn(struct maker *m, size_t at)
{
	struct listing_insn row = {.addr = m->start + at};
	struct disasm_insn in;

	if (!disasm_one(m->disasm, m->code + at, m->size - at, row.addr, &in))
		return add_data(m, at);
	row.size = in.size;
	row.target = in.target;
	if (in.target)
		name_target(m, &row, &in, in.target);
	if (in.target && vec_push(&m->targets, in.target))
		return m->size;
	if (!row.text && in.data)
		row.text = arena_printf(&m->held->arena, "%s  # 0x%llx", in.text,
					(unsigned long long)in.data);
	if (!row.text)
		row.text = arena_strdup(&m->held->arena, in.text);
	if (!row.text || vec_push(&m->insns, row))
		return m->size;
	return at + in.size;
}

/* ---- lines ---- */

/* Line @line of the main file belongs to the function. */
static void widen(struct maker *m, str_id file, uint32_t line)
{
	if (!file || file != m->held->pub.file || !line)
		return;
	if (!m->first_line || line < m->first_line)
		m->first_line = line;
	if (line > m->last_line)
		m->last_line = line;
}

static void place_insn(struct maker *m, struct listing_insn *row)
{
	struct tables *t = m->r->tables;
	struct found *found = &m->r->found;
	const struct found_line *inner, *outer;
	const char *file;
	uint32_t line;

	if (m->jit && jitmap_line(m->jit->map, &m->generation, row->addr, &file, &line)) {
		row->file = tables_str(t, file);
		row->line = row->call_line = line;
		if (!m->held->pub.file)
			m->held->pub.file = row->file;
		widen(m, row->file, row->line);
	}
	if (!m->p || !program_lines(m->p, row->addr, found))
		return;
	inner = &found->lines[0];
	outer = &found->lines[found->n - 1];
	row->file = inner->file ? tables_str(t, found_str(found, inner->file)) : 0;
	row->line = inner->line;
	row->call_line = outer->line;
	if (found->n > 1) {
		struct func f = {
			.module = m->func->module, .start = inner->start, .size = inner->size};
		const char *raw = found_str(found, inner->raw);

		f.flags = inner->start ? 0 : FUNC_INLINE;
		if (raw[0])
			row->inlined =
				tables_func_get(t, naming_func(&m->r->naming, &f, raw))->shown;
	}
	if (!m->held->pub.file && outer->decl_file)
		m->held->pub.file = tables_str(t, found_str(found, outer->decl_file));
	if (!m->held->pub.file && outer->file)
		m->held->pub.file = tables_str(t, found_str(found, outer->file));
	if (outer->file)
		widen(m, tables_str(t, found_str(found, outer->file)), outer->line);
	if (outer->decl_file)
		widen(m, tables_str(t, found_str(found, outer->decl_file)), outer->decl_line);
}

/* A function known only as inlined code: the lines that frames in it were seen on. */
static void widen_by_frames(struct maker *m)
{
	const struct tables *t = m->r->tables;

	for (frame_id f = 1; f <= tables_frame_count(t); f++) {
		const struct loc *loc = tables_loc(t, f);

		for (uint32_t i = 0; loc && i < loc->n; i++)
			if (loc->lines[i].func == m->held->pub.func) {
				if (!m->held->pub.file)
					m->held->pub.file = loc->lines[i].file;
				widen(m, loc->lines[i].file, loc->lines[i].line);
			}
	}
	if (m->func->line)
		widen(m, m->held->pub.file, m->func->line + INLINE_LINES);
}

static time_t program_time(const struct maker *m)
{
	struct stat st;
	int fd = m->p ? debug_open_path(&m->p->places, m->p->places.path) : -1;
	time_t t = fd >= 0 && !fstat(fd, &st) ? st.st_mtime : 0;

	if (fd >= 0)
		close(fd);
	return t;
}

static const char *why_no_lines(const struct maker *m)
{
	if (m->jit)
		return "no line is known for this generated code";
	if (m->kernel)
		return "the kernel's source is not looked for";
	if (!m->p || !m->p->image[IMAGE_MAIN])
		return "its program file is not here: no source and no instructions to show";
	if (m->p->known == SYMBOLS_LINES)
		return "no line is known for this function";
	return "no line information: built without -g, or its debug symbols are not installed";
}

static void fetch_source(struct maker *m)
{
	const struct resolver_config *c = &m->r->config;
	struct module_access access = {.symfs = c->symfs, .live = c->live};
	struct debug_places places = {.access = &access, .dirs = "", .path = ""};
	struct listing *l = &m->held->pub;
	struct srcfile file;
	uint32_t from, to;
	time_t built;
	int rc;

	if (!l->file || !m->first_line) {
		note(m, why_no_lines(m), "");
		return;
	}
	rc = srcfile_read(m->p ? &m->p->places : &places, tables_text(m->r->tables, l->file),
			  c->path_from, c->path_to, &m->held->arena, &file);
	if (rc) {
		note(m, "source not found (moved? --source-path FROM=TO): ",
		     tables_text(m->r->tables, l->file));
		return;
	}
	built = program_time(m);
	if (built && file.modified > built)
		note(m, "the source is newer than the program", "");
	from = m->first_line > AROUND ? m->first_line - AROUND : 1;
	to = m->last_line + AROUND;
	if (to > file.nlines && m->last_line <= file.nlines)
		to = file.nlines;
	if (to - from >= LINES_MAX)
		to = from + LINES_MAX - 1;
	l->lines = arena_alloc(&m->held->arena, (to - from + 1) * sizeof *l->lines);
	for (uint32_t line = from; l->lines && line <= to; line++)
		l->lines[l->nlines++] = (struct listing_line){
			line, line <= file.nlines ? file.lines[line - 1] : ""};
}

const struct listing *listing_make(struct resolve *r, func_id func)
{
	struct maker m = {.r = r, .func = tables_func_get(r->tables, func)};
	enum module_kind kind = tables_module_get(r->tables, m.func->module)->kind;

	m.start = m.func->start;
	m.held = calloc(1, sizeof *m.held);
	if (!m.held)
		return NULL;
	m.held->pub.refs = 1;
	m.held->pub.func = func;
	m.held->pub.file = m.func->file;
	arena_init(&m.held->arena);
	if (kind == MODULE_FILE || kind == MODULE_VDSO)
		m.p = resolve_program(r, m.func->module);
	if (kind == MODULE_JIT)
		m.jit = resolve_jit(r, m.func->module);
	m.kernel = kind == MODULE_KERNEL || kind == MODULE_KMODULE;
	if (m.jit)
		(void)jitmap_refresh(m.jit->map);
	fetch_code(&m);
	for (size_t at = 0; at < m.size && m.disasm;)
		at = add_insn(&m, at);
	for (size_t i = 0; i < m.insns.len; i++)
		place_insn(&m, &m.insns.data[i]);
	widen(&m, m.held->pub.file, m.func->line);
	if (!m.insns.len)
		widen_by_frames(&m);
	fetch_source(&m);
	m.held->pub.insns = m.insns.data;
	m.held->pub.ninsns = (uint32_t)m.insns.len;
	disasm_free(m.disasm);
	vec_fini(&m.targets);
	free(m.code);
	return &m.held->pub;
}
