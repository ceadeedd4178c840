/*
 * program: one module's files and what was read from them.
 *
 * Everything that touches a mapping runs inside guards, with the arguments in a small struct;
 * memory made there hangs on the program at once, so that a guard that ends the work loses nothing.
 * Names need symbols alone; DWARF is opened when lines are first asked for. Runs on the resolver
 * thread.
 */
#include "program.h"

#include <errno.h>
#include <stdio.h>

#include "fde.h"

/* ---- guards ---- */

struct guards {
	struct program *p;
	int next;
	void (*body)(void *ctx);
	void *ctx;
	int result;
};

static void guard_next(void *arg)
{
	struct guards *g = arg;

	while (g->next < IMAGES && !g->p->image[g->next])
		g->next++;
	if (g->next == IMAGES) {
		g->body(g->ctx);
		return;
	}
	if (image_guarded(g->p->image[g->next++], guard_next, g))
		g->result = -EFAULT;
}

int program_guarded(struct program *p, void (*body)(void *ctx), void *ctx)
{
	struct guards g = {.p = p, .body = body, .ctx = ctx};

	guard_next(&g);
	return g.result;
}

/* ---- opening ---- */

/* Prelink moves a program but not its debug file: the same section tells by how much. */
static uint64_t slide_between(const struct image *main, const struct image *debug)
{
	const struct image_section *a = image_section(main, ".text"),
				   *b = image_section(debug, ".text");

	return a && b && a->addr && b->addr ? a->addr - b->addr : 0;
}

static bool has_symtab(const struct image *image)
{
	const struct image_section *s = image ? image_section(image, ".symtab") : NULL;

	return s && s->type == SHT_SYMTAB && s->size;
}

static bool has_dwarf(const struct image *image)
{
	return image &&
	       (image_section(image, ".debug_info") || image_section(image, ".zdebug_info"));
}

static void read_symbols(void *ctx)
{
	struct program *p = ctx;
	const struct image *main = p->image[IMAGE_MAIN], *debug = p->image[IMAGE_DEBUG];

	if (!has_symtab(main) && has_symtab(debug))
		(void)symtab_add(&p->symtab, debug, p->slide);
	else
		(void)symtab_add(&p->symtab, main, 0);
	if (p->image[IMAGE_MINI])
		(void)symtab_add(&p->symtab, p->image[IMAGE_MINI],
				 slide_between(main, p->image[IMAGE_MINI]));
	(void)symtab_add_plt(&p->symtab, main);
	(void)symtab_sort(&p->symtab);
}

static void find_debug(struct program *p)
{
	struct image *main = p->image[IMAGE_MAIN];

	if (!has_symtab(main) || !has_dwarf(main))
		p->image[IMAGE_DEBUG] = debug_find(&p->places, main, p->fetched);
	if (p->image[IMAGE_DEBUG])
		p->slide = slide_between(main, p->image[IMAGE_DEBUG]);
	if (!has_symtab(main) && !has_symtab(p->image[IMAGE_DEBUG]))
		p->image[IMAGE_MINI] = debug_unpack_mini(main);
}

static void load_symbols(struct program *p)
{
	find_debug(p);
	if (program_guarded(p, read_symbols, p)) {
		++p->env->damage;
		snprintf(p->why, sizeof p->why, "the file became shorter while it was read");
		symtab_fini(&p->symtab);
		symtab_init(&p->symtab);
	}
	p->known = has_dwarf(p->image[IMAGE_MAIN]) || has_dwarf(p->image[IMAGE_DEBUG])
			   ? SYMBOLS_LINES
		   : p->symtab.full || p->image[IMAGE_MINI] ? SYMBOLS_FULL
		   : p->symtab.entries.len                  ? SYMBOLS_DYNAMIC
							    : SYMBOLS_NONE;
}

struct program *program_open(struct program_env *env, module_id id, const char *fetched)
{
	struct program *p = calloc(1, sizeof *p);
	const struct module *m = tables_module_get(env->tables, id);
	struct err err = {0};

	if (!p)
		return NULL;
	p->id = id;
	p->env = env;
	p->known = SYMBOLS_NONE;
	p->places = (struct debug_places){.access = &env->access,
					  .dirs = env->debug_dirs,
					  .downloads = env->downloads,
					  .path = tables_text(env->tables, m->path),
					  .pid = m->pid};
	symtab_init(&p->symtab);
	p->fetched = fetched ? strdup(fetched) : NULL;
	if (module_image(env->tables, m, &env->access, &p->image[IMAGE_MAIN], &err)) {
		p->image[IMAGE_MAIN] = NULL;
		snprintf(p->why, sizeof p->why, "%.250s", err.msg);
		return p;
	}
	load_symbols(p);
	return p;
}

void program_free(struct program *p)
{
	if (!p)
		return;
	dw_close(p->dw);
	symtab_fini(&p->symtab);
	free(p->fetched);
	for (size_t i = 0; i < p->dwos.len; i++)
		image_close(p->dwos.data[i]);
	vec_fini(&p->dwos);
	for (int i = 0; i < IMAGES; i++)
		image_close(p->image[i]);
	free(p);
}

size_t program_bytes(const struct program *p)
{
	size_t bytes = sizeof *p + symtab_bytes(&p->symtab) + (p->dw ? dw_bytes(p->dw) : 0);

	for (size_t i = 0; i < p->dwos.len; i++)
		bytes += p->dwos.data[i]->size;
	if (p->image[IMAGE_MINI])
		bytes += p->image[IMAGE_MINI]->size;
	return bytes;
}

uint64_t program_addr(const struct program *p, uint64_t addr, uint32_t frame_flags)
{
	const struct image *image = p->image[IMAGE_MAIN];
	uint64_t vaddr;

	if (frame_flags & FRAME_OFFSET && image && image_vaddr(image, addr, &vaddr))
		return vaddr;
	return addr;
}

/* ---- names by symbols ---- */

struct name_args {
	struct program *p;
	uint64_t addr;
	struct found *found;
	struct found_line *line;
};

static void find_name(void *ctx)
{
	static const char signal_frame[] = "[signal frame]";
	struct name_args *a = ctx;
	struct found_line *l = a->line;
	struct symbol s;
	uint64_t end;
	bool signal;

	if (symtab_find(&a->p->symtab, a->addr, &s)) {
		l->start = s.start;
		l->size = s.end - s.start;
		l->raw = found_text(a->found, s.name, UINT16_MAX);
		l->no_symbol = !l->raw;
	} else if (!l->raw &&
		   fde_find(a->p->image[IMAGE_MAIN], a->addr, &l->start, &end, &signal)) {
		l->size = end - l->start;
		/* C libraries have no public name for it, but what it is is known. */
		l->raw = signal ? found_text(a->found, signal_frame, strlen(signal_frame)) : 0;
		l->no_symbol = !l->raw;
	}
}

static void name_last(struct program *p, uint64_t addr, struct found *found)
{
	struct found_line *l = &found->lines[found->n - 1];
	struct name_args a = {p, addr, found, l};

	if (p->image[IMAGE_MAIN] && program_guarded(p, find_name, &a))
		++p->env->damage;
	if (!l->raw && !l->no_symbol) {
		l->start = addr;
		l->no_symbol = true;
	}
}

void program_name(struct program *p, uint64_t addr, struct found *ret_found)
{
	found_reset(ret_found);
	memset(&ret_found->lines[0], 0, sizeof ret_found->lines[0]);
	ret_found->n = 1;
	name_last(p, addr, ret_found);
}

/* ---- lines by DWARF ---- */

bool program_may_have_lines(const struct program *p)
{
	return p->known == SYMBOLS_LINES && !p->dw_bad;
}

static struct dw_file *open_split(void *ctx, const struct dw_unit *skeleton)
{
	struct program *p = ctx;
	struct image *image = debug_open_dwo(&p->places, skeleton->comp_dir, skeleton->dwo_name);
	struct dw_file *f;

	if (!image)
		return NULL;
	if (vec_push(&p->dwos, image)) {
		image_close(image);
		return NULL;
	}
	f = dw_open(image, true, &p->env->cache, &p->env->damage);
	return f;
}

static void scan(void *ctx)
{
	struct program *p = ctx;

	if (dw_scan(p->dw))
		p->dw_bad = true;
	if (p->dw->alt && dw_scan(p->dw->alt)) {
		dw_close(p->dw->alt);
		p->dw->alt = NULL;
	}
	if (p->dw->package && dw_scan(p->dw->package)) {
		dw_close(p->dw->package);
		p->dw->package = NULL;
	}
}

static void open_dwarf(struct program *p)
{
	struct image *from = has_dwarf(p->image[IMAGE_MAIN]) ? p->image[IMAGE_MAIN]
							     : p->image[IMAGE_DEBUG];
	struct dw_cache *cache = &p->env->cache;

	p->dw_tried = true;
	if (!from || !(p->dw = dw_open(from, false, cache, &p->env->damage))) {
		p->dw_bad = true;
		return;
	}
	p->dw->finder.split = open_split;
	p->dw->finder.ctx = p;
	p->image[IMAGE_ALT] = debug_find_alt(&p->places, from);
	if (p->image[IMAGE_ALT])
		p->dw->alt = dw_open(p->image[IMAGE_ALT], false, cache, &p->env->damage);
	p->image[IMAGE_PACKAGE] = debug_find_package(&p->places, p->image[IMAGE_MAIN]);
	if (p->image[IMAGE_PACKAGE])
		p->dw->package = dw_open(p->image[IMAGE_PACKAGE], true, cache, &p->env->damage);
	if (program_guarded(p, scan, p))
		p->dw_bad = true;
	if (p->dw_bad)
		++p->env->damage;
}

struct lines_args {
	struct program *p;
	struct dw_query query;
	struct found *found;
	bool any;
};

/* In the DWARF's address space, as the rest of what dw_find says. */
static uint64_t start_of(void *ctx, const char *linker_name)
{
	struct program *p = ctx;
	uint64_t start = symtab_start_of(&p->symtab, linker_name);

	return start ? start - p->slide : 0;
}

/* An inlined function that also exists on its own is the same function: it gets that one's name. */
static void name_copies(const struct program *p, struct found *found)
{
	for (uint32_t i = 0; i + 1 < found->n; i++) {
		struct found_line *l = &found->lines[i];
		struct symbol s;

		if (!l->start || !symtab_find(&p->symtab, l->start, &s) || s.start != l->start)
			continue;
		l->size = s.end - s.start;
		l->raw = found_text(found, s.name, UINT16_MAX);
	}
}

static void find_lines(void *ctx)
{
	struct lines_args *a = ctx;

	a->any = dw_find(a->p->dw, &a->query, a->found);
	for (uint32_t i = 0; i < a->found->n; i++)
		if (a->found->lines[i].start)
			a->found->lines[i].start += a->p->slide;
	name_copies(a->p, a->found);
}

bool program_lines(struct program *p, uint64_t addr, struct found *ret_found)
{
	struct lines_args a = {.p = p, .found = ret_found};

	if (!program_may_have_lines(p))
		return false;
	if (!p->dw_tried)
		open_dwarf(p);
	if (p->dw_bad)
		return false;
	found_reset(ret_found);
	a.query.addr = addr - p->slide;
	a.query.no_inline = p->env->no_inline;
	a.query.start_of = start_of;
	a.query.ctx = p;
	if (program_guarded(p, find_lines, &a)) {
		p->dw_bad = true; /* the file is not what it was */
		++p->env->damage;
		return false;
	}
	if (!a.any || !ret_found->n)
		return false;
	name_last(p, addr, ret_found);
	return true;
}

struct tail_args {
	struct program *p;
	struct dw_tail_query query;
	struct dw_tail_step *steps;
	unsigned n;
};

static void find_tail_calls(void *ctx)
{
	struct tail_args *a = ctx;

	a->n = dw_tail_calls(a->p->dw, &a->query, a->steps);
}

unsigned program_tail_calls(struct program *p, const struct dw_tail_query *q,
			    struct dw_tail_step ret_steps[DW_TAIL_MAX])
{
	struct tail_args a = {.p = p, .query = *q, .steps = ret_steps};

	if (!program_may_have_lines(p))
		return 0;
	if (!p->dw_tried)
		open_dwarf(p);
	if (p->dw_bad)
		return 0;
	a.query.ret -= q->ret ? p->slide : 0;
	a.query.callee_addr -= q->callee_addr ? p->slide : 0;
	a.query.callee_start -= q->callee_start ? p->slide : 0;
	a.query.start_of = start_of;
	a.query.ctx = p;
	if (program_guarded(p, find_tail_calls, &a)) {
		p->dw_bad = true; /* the file is not what it was */
		++p->env->damage;
		return 0;
	}
	for (unsigned i = 0; i < a.n; i++)
		ret_steps[i].pc += p->slide;
	return a.n;
}

struct row_args {
	struct program *p;
	uint64_t addr, end;
};

static void find_row_end(void *ctx)
{
	struct row_args *a = ctx;
	struct dw_unit *u;
	size_t at = 0;

	while ((u = dw_unit_for(a->p->dw, a->addr, &at))) {
		struct dw_index *i = dw_index_get(u->split ? u->split : u);

		if (i && dw_lines_find(&i->lines, a->addr, &a->end))
			return;
	}
}

uint64_t program_next_row(struct program *p, uint64_t addr)
{
	struct row_args a = {p, addr - p->slide, UINT64_MAX};

	if (!p->dw || p->dw_bad || program_guarded(p, find_row_end, &a) || a.end == UINT64_MAX)
		return UINT64_MAX;
	return a.end + p->slide;
}
