/*
 * dwfind: one address to its chain of functions with files and lines.
 *
 * The row of the line table gives the innermost position; each inlined call gives the position in
 * the function around it. Texts are copied out at once. Inside guards.
 */
#include <dwarf.h>

#include "dw.h"

/* The path of a file number that an entry of the unit refers to. */
static uint32_t path_of(struct dw_index *i, uint64_t file, struct found *found)
{
	struct dw_unit *u = i->unit, *dirs = u->skeleton && !u->comp_dir ? u->skeleton : u;
	struct dw_lines *l = &i->lines;

	if (u->skeleton && u->stmt_list != DW_NONE) { /* a file table beside the skeleton's lines */
		l = &i->decl_lines;
		(void)dw_lines_read(u, l, false);
	}
	return dw_lines_path(dirs, l, file, found);
}

/* Where the out-of-line copy of an inlined function begins, 0 when there is none. */
static uint64_t own_copy(const struct dw_index *i, const struct dw_names *names, uint64_t *ret_size)
{
	uint64_t origin = names->abstract - i->unit->offset;
	size_t lo = 0, hi = i->by_origin.len;

	if (names->abstract <= i->unit->offset || names->abstract >= i->unit->end)
		return 0;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (i->funcs.data[i->by_origin.data[mid]].origin < origin)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == i->by_origin.len || i->funcs.data[i->by_origin.data[lo]].origin != origin)
		return 0;
	*ret_size = i->funcs.data[i->by_origin.data[lo]].high -
		    i->funcs.data[i->by_origin.data[lo]].low;
	return i->funcs.data[i->by_origin.data[lo]].low;
}

/* Without a linker name: with its scopes in front, written where texts are kept. */
static uint32_t scoped_name(const struct dw_names *names, struct found *found)
{
	size_t at = found->text.len;

	if (!dw_qualified(names->last_unit, names->last, names->name, &found->text)) {
		found->text.len = at;
		return found_text(found, names->name, DW_NAME_MAX);
	}
	strbuf_putc(&found->text, '\0');
	return found->text.failed ? 0 : (uint32_t)at;
}

static void name_line(struct dw_index *i, const struct dw_names *names, struct found *found,
		      struct found_line *l)
{
	l->raw = names->linkage ? found_text(found, names->linkage, DW_NAME_MAX)
		 : names->name  ? scoped_name(names, found)
				: 0;
	l->decl_line = names->decl_line;
	if (names->decl_unit == i->unit) /* others' tables are not worth reading for this */
		l->decl_file = path_of(i, names->decl_file, found);
}

static struct found_line *next_line(struct found *found)
{
	struct found_line *l = &found->lines[found->n++];

	memset(l, 0, sizeof *l);
	return l;
}

static void inlined_lines(struct dw_index *i, const struct dw_query *q, const struct dw_tree *t,
			  struct found *found, struct found_line **at)
{
	for (uint32_t n = dw_tree_find(t, q->addr); n != UINT32_MAX && found->n < FOUND_MAX;
	     n = t->nodes.data[n].parent) {
		const struct dw_node *node = &t->nodes.data[n];
		struct dw_names names;
		const char *symbol;

		dw_names(i->unit, node->die, &names);
		name_line(i, &names, found, *at);
		(*at)->start = own_copy(i, &names, &(*at)->size);
		symbol = names.linkage ? names.linkage : names.external ? names.name : NULL;
		if (!(*at)->start && q->start_of && symbol)
			(*at)->start = q->start_of(q->ctx, symbol);
		*at = next_line(found);
		(*at)->file = path_of(i, node->call_file, found);
		(*at)->line = node->call_line;
		(*at)->column = node->call_column;
	}
}

static bool find_in(struct dw_unit *u, const struct dw_query *q, struct found *found)
{
	struct dw_index *i = dw_index_get(u);
	const struct dw_func *f = i ? dw_index_func(i, q->addr) : NULL;
	const struct dw_row *row = i ? dw_lines_find(&i->lines, q->addr, NULL) : NULL;
	const struct dw_unit *line_unit = u->skeleton ? u->skeleton : u;
	struct found_line *l;
	struct dw_tree *t;
	struct dw_names names;

	if (!f && !row)
		return false;
	l = next_line(found);
	if (row) {
		l->line = row->line;
		l->column = row->column;
		l->file = row->file == UINT16_MAX
				  ? 0
				  : dw_lines_path(line_unit, &i->lines, row->file, found);
	}
	if (!f)
		return true;
	t = q->no_inline ? NULL : dw_index_tree(i, f);
	if (t)
		inlined_lines(i, q, t, found, &l);
	dw_names(u, f->die, &names);
	name_line(i, &names, found, l);
	l->start = f->low;
	l->size = f->high - f->low;
	return true;
}

bool dw_find(struct dw_file *f, const struct dw_query *q, struct found *found)
{
	struct found_line only_line = {0};
	struct dw_unit *u;
	size_t at = 0;

	while ((u = dw_unit_for(f, q->addr, &at))) {
		struct dw_unit *split = dw_split_unit(u);

		found->n = 0;
		if (!find_in(split ? split : u, q, found))
			continue;
		if (found->lines[found->n - 1].start)
			return true;
		only_line = found->lines[0]; /* perhaps another unit knows the function */
	}
	found->n = 0;
	if (only_line.line || only_line.file)
		found->lines[found->n++] = only_line;
	return found->n > 0;
}
