/*
 * naming: the step from found texts to rows of the function table.
 *
 * Demangling costs microseconds and most addresses lie in functions seen before, so the ids are
 * remembered by identity. Runs on the resolver thread, outside guards.
 */
#include "naming.h"

#include <stdio.h>

#include "demangle.h"

#define KNOWN_MAX 4000000u /* then the memory of names starts anew; the table itself interns */

void naming_init(struct naming *n, struct tables *tables)
{
	n->tables = tables;
	map64_init(&n->known);
	strbuf_init(&n->name);
	strbuf_init(&n->shown);
}

void naming_fini(struct naming *n)
{
	map64_fini(&n->known);
	strbuf_fini(&n->name);
	strbuf_fini(&n->shown);
}

static bool same(const struct naming *n, func_id id, const struct func *f, const char *raw)
{
	const struct func *g = tables_func_get(n->tables, id);

	return g->module == f->module && g->start == f->start &&
	       !strcmp(tables_text(n->tables, g->raw), raw);
}

/* The table knows it already, by its address alone; now it has a symbol. */
static void rename_late(struct naming *n, func_id id, const struct func *f)
{
	if (tables_func_get(n->tables, id)->flags & FUNC_NO_SYMBOL && !(f->flags & FUNC_NO_SYMBOL))
		tables_func_rename(n->tables, id, f);
}

func_id naming_func(struct naming *n, struct func *f, const char *raw)
{
	uint64_t key = hash_pair(hash_pair(f->module, f->start), hash_bytes(raw, strlen(raw)));
	uint32_t id;

	if (map64_get(&n->known, key, &id) && same(n, id, f, raw))
		return id;
	strbuf_reset(&n->name);
	strbuf_reset(&n->shown);
	if (f->flags & FUNC_NO_SYMBOL || demangle(raw, &n->name) == MANGLING_NONE) {
		/* glibc's tables carry versions: memcpy@@GLIBC_2.14; stubs are memcpy@plt. */
		const char *at = strchr(raw, '@');
		size_t len = at && at > raw && strcmp(at, "@plt") != 0 ? (size_t)(at - raw)
								       : strlen(raw);
		strbuf_add(&n->name, raw, len);
	}
	demangle_fold(n->name.buf ? n->name.buf : "", &n->shown);
	f->raw = tables_str(n->tables, raw);
	f->name = tables_strn(n->tables, n->name.buf ? n->name.buf : "", n->name.len);
	f->shown = tables_strn(n->tables, n->shown.buf ? n->shown.buf : "", n->shown.len);
	id = tables_func(n->tables, f);
	if (!id)
		return 0;
	rename_late(n, id, f);
	if (n->known.count >= KNOWN_MAX)
		map64_clear(&n->known);
	(void)map64_put(&n->known, key, id);
	return id;
}

static func_id line_func(struct naming *n, module_id module, const struct found *found,
			 const struct found_line *l)
{
	struct func f = {.module = module, .start = l->start, .size = l->size};
	const struct func *known;
	char made_up[320];
	const char *raw = found_str(found, l->raw);
	func_id id;

	if (tables_module_get(n->tables, module)->kind == MODULE_KERNEL)
		f.flags |= FUNC_KERNEL;
	if (l->no_symbol || !raw[0]) {
		const struct module *m = tables_module_get(n->tables, module);

		f.flags |= FUNC_NO_SYMBOL;
		snprintf(made_up, sizeof made_up, "%.256s+0x%llx", tables_text(n->tables, m->name),
			 (unsigned long long)l->start);
		raw = made_up;
	} else if (!l->start) {
		f.flags |= FUNC_INLINE;
	}
	id = naming_func(n, &f, raw);
	known = tables_func_get(n->tables, id);
	if (id && l->decl_line && !known->line)
		tables_func_declare(n->tables, id,
				    tables_str(n->tables, found_str(found, l->decl_file)),
				    l->decl_line);
	return id;
}

void naming_publish(struct naming *n, frame_id frame, module_id module, const struct found *found)
{
	struct loc_line lines[FOUND_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < found->n; i++) {
		const struct found_line *l = &found->lines[i];
		struct loc_line *to = &lines[count];

		to->func = line_func(n, module, found, l);
		if (!to->func)
			continue;
		to->file = l->file ? tables_str(n->tables, found_str(found, l->file)) : 0;
		to->line = l->line;
		to->column = l->column;
		count++;
	}
	if (count)
		tables_resolve(n->tables, frame, lines, count);
}

void naming_publish_func(struct naming *n, frame_id frame, func_id func)
{
	struct loc_line line = {.func = func};

	if (func)
		tables_resolve(n->tables, frame, &line, 1);
}
