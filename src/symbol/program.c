/*
 * program: one module's file and what was read from it.
 *
 * Everything that touches a mapping runs inside image_guarded, with the arguments in a small
 * struct; memory made there hangs on the program at once, so that a guard that ends the work loses
 * nothing. Runs on the resolver thread.
 */
#include "program.h"

#include <stdio.h>

#include "fde.h"

static void read_symbols(void *ctx)
{
	struct program *p = ctx;

	(void)symtab_add(&p->symtab, p->image, 0);
	(void)symtab_add_plt(&p->symtab, p->image);
	(void)symtab_sort(&p->symtab);
}

static void load_symbols(struct program *p)
{
	if (image_guarded(p->image, read_symbols, p)) {
		p->damaged = true;
		snprintf(p->why, sizeof p->why, "the file became shorter while it was read");
		symtab_fini(&p->symtab);
		symtab_init(&p->symtab);
	}
	p->known = p->symtab.full          ? SYMBOLS_FULL
		   : p->symtab.entries.len ? SYMBOLS_DYNAMIC
					   : SYMBOLS_NONE;
}

struct program *program_open(const struct tables *tables, module_id id,
			     const struct module_access *access)
{
	struct program *p = calloc(1, sizeof *p);
	struct err err = {0};

	if (!p)
		return NULL;
	p->id = id;
	p->known = SYMBOLS_NONE;
	symtab_init(&p->symtab);
	if (module_image(tables, tables_module_get(tables, id), access, &p->image, &err)) {
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
	symtab_fini(&p->symtab);
	image_close(p->image);
	free(p);
}

size_t program_bytes(const struct program *p)
{
	return sizeof *p + symtab_bytes(&p->symtab);
}

uint64_t program_addr(const struct program *p, uint64_t addr, uint32_t frame_flags)
{
	uint64_t vaddr;

	if (frame_flags & FRAME_OFFSET && p->image && image_vaddr(p->image, addr, &vaddr))
		return vaddr;
	return addr;
}

struct name_args {
	struct program *p;
	uint64_t addr;
	struct found *found;
};

static void find_name(void *ctx)
{
	struct name_args *a = ctx;
	struct found_line *l = &a->found->lines[0];
	struct symbol s;
	uint64_t end;

	if (symtab_find(&a->p->symtab, a->addr, &s)) {
		l->start = s.start;
		l->size = s.end - s.start;
		l->raw = found_text(a->found, s.name, UINT16_MAX);
		l->no_symbol = !l->raw;
	} else if (fde_find(a->p->image, a->addr, &l->start, &end)) {
		l->size = end - l->start;
		l->no_symbol = true;
	}
}

void program_name(struct program *p, uint64_t addr, struct found *ret_found)
{
	struct name_args a = {p, addr, ret_found};
	struct found_line *l = &ret_found->lines[0];

	memset(l, 0, sizeof *l);
	ret_found->n = 1;
	if (p->image && image_guarded(p->image, find_name, &a))
		p->damaged = true;
	if (!l->raw && !l->no_symbol) {
		l->start = addr;
		l->no_symbol = true;
	}
}
