/*
 * namelist: asks the tables once for every frame of a snapshot.
 *
 * Resolution may go on meanwhile on the resolver thread; what is read here stays as it was read, so
 * all parts of one export agree. Any one thread.
 */
#include "export/namelist.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *namelist_module(const struct namelist *n, module_id module)
{
	const char *name = module <= n->nlabels ? n->labels[module] : "";

	return *name ? name : "[unknown]";
}

/* As they are now: a module that comes later may change them. */
static int label_modules(struct namelist *n)
{
	uint32_t count = tables_module_count(n->tables);

	n->labels = calloc((size_t)count + 1, sizeof *n->labels);
	if (!n->labels)
		return -ENOMEM;
	n->nlabels = count;
	for (module_id id = 0; id <= count; id++) {
		char buf[256];
		const char *name = tables_module_label(n->tables, id, buf, sizeof buf);

		n->labels[id] = name == buf ? arena_strdup(&n->texts, buf) : name;
		if (!n->labels[id])
			return -ENOMEM;
	}
	return 0;
}

static int add_func(struct namelist *n, uint64_t key, const struct namelist_func *f,
		    uint32_t *ret_index)
{
	uint32_t index = (uint32_t)n->funcs.len;

	if (vec_push(&n->funcs, *f) || map64_put(&n->by_func, key, index))
		return -ENOMEM;
	*ret_index = index;
	return 0;
}

/* @told: by a frame that only DWARF's call sites tell of; its name says so. */
static int func_index(struct namelist *n, func_id id, bool told, uint32_t *ret_index)
{
	uint64_t key = told ? (uint64_t)2 << 32 | id : id;

	if (map64_get(&n->by_func, key, ret_index))
		return 0;
	const struct func *f = tables_func_get(n->tables, id);
	struct namelist_func own = {
		.name = tables_text(n->tables, f->name),
		.raw = tables_text(n->tables, f->raw),
		.file = tables_text(n->tables, f->file),
		.line = f->line,
		.module = f->module,
		.addr = f->start,
		.kernel = f->flags & FUNC_KERNEL,
		.special = f->flags & FUNC_SPECIAL,
		.no_symbol = f->flags & FUNC_NO_SYMBOL,
	};
	if (!*own.name)
		own.name = *own.raw ? own.raw : "[unknown]";
	if (told && !(own.name = arena_printf(&n->texts, "%s [tail call]", own.name)))
		return -ENOMEM;
	return add_func(n, key, &own, ret_index);
}

/* A function for one frame that nothing is known of but its place. */
static int place_index(struct namelist *n, frame_id id, uint32_t *ret_index)
{
	const struct frame *f = tables_frame_get(n->tables, id);
	const char *name = f->flags & FRAME_NAMED ? tables_text(n->tables, f->name) : "";

	if (!*name)
		name = arena_printf(&n->texts, "%s+0x%" PRIx64, namelist_module(n, f->module),
				    f->addr);
	if (!name)
		return -ENOMEM;
	return add_func(n, (uint64_t)1 << 32 | id,
			&(struct namelist_func){.name = name,
						.raw = name,
						.file = tables_text(n->tables, f->file),
						.module = f->module,
						.addr = f->addr,
						.kernel = f->flags & FRAME_KERNEL,
						.unresolved = true},
			ret_index);
}

static int add_lines(struct namelist *n, frame_id id)
{
	const struct loc *loc = tables_loc(n->tables, id);
	bool told = tables_frame_get(n->tables, id)->flags & FRAME_TAILCALL;
	uint32_t func;
	int rc;

	if (!loc) {
		const struct frame *f = tables_frame_get(n->tables, id);
		rc = place_index(n, id, &func);
		if (rc)
			return rc;
		return vec_push(&n->lines, ((struct namelist_line){
						   .func = func,
						   .file = n->funcs.data[func].file,
						   .line = f->flags & FRAME_NAMED ? f->line : 0}));
	}
	for (uint32_t i = 0; i < loc->n; i++) {
		const struct loc_line *l = &loc->lines[i];
		rc = func_index(n, l->func, told, &func);
		if (!rc)
			rc = vec_push(&n->lines, ((struct namelist_line){
							 .func = func,
							 .file = tables_text(n->tables, l->file),
							 .line = l->line,
							 .column = l->column}));
		if (rc)
			return rc;
	}
	return 0;
}

static int add_frame(struct namelist *n, frame_id id, uint32_t *ret_index)
{
	if (map64_get(&n->by_frame, id, ret_index))
		return 0;
	uint32_t first = (uint32_t)n->lines.len;
	uint32_t index = (uint32_t)n->frames.len;
	int rc = add_lines(n, id);
	if (!rc)
		rc = vec_push(&n->frames,
			      ((struct namelist_frame){.frame = id,
						       .first = first,
						       .n = (uint32_t)n->lines.len - first}));
	if (!rc)
		rc = map64_put(&n->by_frame, id, index);
	if (!rc)
		*ret_index = index;
	return rc;
}

int namelist_init(struct namelist *n, const struct snapshot *s)
{
	uint32_t unknown;

	memset(n, 0, sizeof *n);
	n->tables = s->tables;
	map64_init(&n->by_func);
	map64_init(&n->by_frame);
	arena_init(&n->texts);
	n->node_frame = calloc(s->nnodes + 1, sizeof *n->node_frame);
	n->through_frame = calloc(s->nthrough + 1, sizeof *n->through_frame);
	int rc = n->node_frame && n->through_frame ? label_modules(n) : -ENOMEM;
	if (!rc)
		rc = add_frame(n, FRAME_UNKNOWN, &unknown);
	for (uint32_t i = 0; i < s->nnodes && !rc; i++)
		rc = add_frame(n, s->nodes[i].frame, &n->node_frame[i]);
	for (uint32_t i = 0; i < s->nthrough && !rc; i++)
		if (s->through[i].frame)
			rc = add_frame(n, s->through[i].frame, &n->through_frame[i]);
	if (rc)
		namelist_fini(n);
	return rc;
}

void namelist_fini(struct namelist *n)
{
	vec_fini(&n->funcs);
	vec_fini(&n->lines);
	vec_fini(&n->frames);
	free(n->node_frame);
	free(n->through_frame);
	n->node_frame = n->through_frame = NULL;
	free(n->labels);
	n->labels = NULL;
	map64_fini(&n->by_func);
	map64_fini(&n->by_frame);
	arena_fini(&n->texts);
}
