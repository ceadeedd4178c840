/*
 * rollup: one walk over the preorder of nodes, with a count of how often each function is on the
 * current path.
 *
 * Any one thread; the snapshot is read only.
 */
#include "export/rollup.h"

#include <stdlib.h>
#include <string.h>

#include "export/export.h"

static void add(struct rollup_count *to, const struct rollup_count *c)
{
	to->samples += c->samples;
	to->weight += c->weight;
	to->weight_sq += c->weight_sq;
}

/* Modules that are on the current path, and where their rows are. */
struct walk {
	const struct snapshot *s;
	const struct namelist *n;
	struct rollup *r;
	uint32_t *func_depth;   /* per function: times on the path */
	uint32_t *module_depth; /* per row of r->modules */
	uint32_t *func_module;  /* per function: its row of r->modules */
	uint32_t *path;         /* nodes from the root to the current one */
	uint32_t depth;
};

static int index_modules(struct walk *w)
{
	struct map64 rows;
	int rc = 0;

	map64_init(&rows);
	for (uint32_t i = 0; i < w->n->funcs.len && !rc; i++) {
		module_id id = w->n->funcs.data[i].module;
		if (map64_get(&rows, id, &w->func_module[i]))
			continue;
		w->func_module[i] = (uint32_t)w->r->modules.len;
		rc = vec_push(&w->r->modules, ((struct rollup_row){.id = id}));
		if (!rc)
			rc = map64_put(&rows, id, w->func_module[i]);
	}
	map64_fini(&rows);
	return rc;
}

/* Enter the lines of a frame, outermost first: what is new on the path gets the total. */
static void enter(struct walk *w, uint32_t frame, const struct rollup_count *total)
{
	const struct namelist_frame *f = &w->n->frames.data[frame];

	for (uint32_t i = f->n; i-- > 0;) {
		uint32_t func = w->n->lines.data[f->first + i].func;
		uint32_t module = w->func_module[func];
		if (!w->func_depth[func]++)
			add(&w->r->funcs[func].total, total);
		if (!w->module_depth[module]++)
			add(&w->r->modules.data[module].total, total);
	}
}

static void leave(struct walk *w, uint32_t frame)
{
	const struct namelist_frame *f = &w->n->frames.data[frame];

	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t func = w->n->lines.data[f->first + i].func;
		w->func_depth[func]--;
		w->module_depth[w->func_module[func]]--;
	}
}

static void add_self(struct walk *w, uint32_t frame, const struct rollup_count *self)
{
	uint32_t func = w->n->lines.data[w->n->frames.data[frame].first].func;

	add(&w->r->funcs[func].self, self);
	add(&w->r->modules.data[w->func_module[func]].self, self);
}

static void walk_nodes(struct walk *w)
{
	for (uint32_t i = 0; i < w->s->nnodes; i++) {
		while (w->depth && w->path[w->depth - 1] != w->s->nodes[i].parent)
			leave(w, w->n->node_frame[w->path[--w->depth]]);
		enter(w, w->n->node_frame[i], &w->r->node_total[i]);
		add_self(w, w->n->node_frame[i], &w->r->node_self[i]);
		w->path[w->depth++] = i;
	}
	while (w->depth)
		leave(w, w->n->node_frame[w->path[--w->depth]]);
}

/* Zero for the nodes from *@io_made up to @end, written as they are come to: memory is entered once
 * then, and not first to be read. */
static void make_selves(struct walk *w, uint32_t end, uint32_t *io_made)
{
	for (; *io_made < end; ++*io_made)
		w->r->node_self[*io_made] = (struct rollup_count){0};
}

static int add_cells(struct walk *w, uint16_t event)
{
	struct map64 rows;
	uint32_t row = 0, made = 0, nodes = w->s->nnodes;
	int rc = 0;

	map64_init(&rows);
	for (uint32_t i = 0; i < w->s->ncells && !rc; i++) {
		const struct snapshot_cell *c = &w->s->cells[i];
		struct rollup_count count = {c->samples, c->weight, c->weight_sq};
		bool same = row < w->r->tasks.len && w->r->tasks.data[row].id == c->task;

		if (c->event != event || !export_counts(w->s, c))
			continue;
		make_selves(w, c->node < nodes ? c->node + 1 : nodes, &made);
		add(&w->r->all, &count);
		add(c->node == SNAPSHOT_ROOT ? &w->r->stackless : &w->r->node_self[c->node],
		    &count);
		if (!same && !map64_get(&rows, c->task, &row)) {
			row = (uint32_t)w->r->tasks.len;
			rc = vec_push(&w->r->tasks, ((struct rollup_row){.id = c->task}));
			if (!rc)
				rc = map64_put(&rows, c->task, row);
			if (rc)
				break;
		}
		add(&w->r->tasks.data[row].self, &count);
		add(&w->r->tasks.data[row].total, &count);
	}
	make_selves(w, nodes, &made);
	map64_fini(&rows);
	return rc;
}

/* What shortened paths went through: in no sum, in the total of functions and modules. */
static void add_through(struct walk *w, uint16_t event)
{
	struct map64 rows;

	map64_init(&rows);
	for (uint32_t i = 0; i < w->r->modules.len; i++)
		(void)map64_put(&rows, w->r->modules.data[i].id, i);
	for (uint32_t i = 0; i < w->s->nthrough; i++) {
		const struct snapshot_through *x = &w->s->through[i];
		const struct snapshot_cell like = {.flags = x->flags, .event = x->event};
		struct rollup_count count = {x->samples, x->weight, x->weight_sq};
		const struct namelist_frame *f = &w->n->frames.data[w->n->through_frame[i]];
		uint32_t row;

		if (x->event != event || !export_counts(w->s, &like))
			continue;
		for (uint32_t k = 0; x->frame && k < f->n; k++)
			add(&w->r->funcs[w->n->lines.data[f->first + k].func].total, &count);
		if (!x->frame && map64_get(&rows, x->module, &row))
			add(&w->r->modules.data[row].total, &count);
	}
	map64_fini(&rows);
}

static int walk_all(struct walk *w, uint16_t event)
{
	struct rollup *r = w->r;
	int rc = index_modules(w);

	if (rc)
		return rc;
	w->module_depth = calloc(r->modules.len + 1, sizeof *w->module_depth);
	if (!w->module_depth)
		return -ENOMEM;
	rc = add_cells(w, event);
	if (rc)
		return rc;
	memcpy(r->node_total, r->node_self, w->s->nnodes * sizeof *r->node_total);
	for (uint32_t i = w->s->nnodes; i-- > 0;)
		if (w->s->nodes[i].parent != SNAPSHOT_ROOT)
			add(&r->node_total[w->s->nodes[i].parent], &r->node_total[i]);
	walk_nodes(w);
	enter(w, 0, &r->stackless);
	add_self(w, 0, &r->stackless);
	add_through(w, event);
	return 0;
}

int rollup_init(struct rollup *r, const struct snapshot *s, const struct namelist *n,
		uint16_t event)
{
	size_t nodes = s->nnodes + 1, funcs = n->funcs.len + 1;
	struct walk w = {.s = s, .n = n, .r = r};

	memset(r, 0, sizeof *r);
	r->exact = event < s->nevents && s->events[event].desc.exact;
	r->node_self = malloc(nodes * sizeof *r->node_self);
	r->node_total = malloc(nodes * sizeof *r->node_total);
	r->funcs = calloc(funcs, sizeof *r->funcs);
	w.func_depth = calloc(funcs, sizeof *w.func_depth);
	w.func_module = calloc(funcs, sizeof *w.func_module);
	w.path = malloc(nodes * sizeof *w.path);
	int rc = -ENOMEM;
	if (r->node_self && r->node_total && r->funcs && w.func_depth && w.func_module && w.path)
		rc = walk_all(&w, event);
	for (uint32_t i = 0; !rc && i < n->funcs.len; i++)
		r->funcs[i].id = i;
	free(w.func_depth);
	free(w.module_depth);
	free(w.func_module);
	free(w.path);
	if (rc)
		rollup_fini(r);
	return rc;
}

void rollup_fini(struct rollup *r)
{
	free(r->node_self);
	free(r->node_total);
	free(r->funcs);
	vec_fini(&r->modules);
	vec_fini(&r->tasks);
	memset(r, 0, sizeof *r);
}
