/*
 * through: which functions a path lacks, and their counts.
 *
 * Engine thread. What a frame is of is a number: of its module and name where a recording names it,
 * of its function where that is known, else of the frame itself. Numbers met on one path are in a
 * table that a new round empties.
 */
#include "profile/through.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define MARKS (4 * THROUGH_DEPTH) /* a power of two; at most half of it is used */

struct through_mark {
	uint32_t round, what;
};

int through_init(struct through *x, const struct tables *tables, size_t cap_bytes)
{
	*x = (struct through){.tables = tables, .cap_bytes = cap_bytes};
	x->marks = calloc(MARKS, sizeof *x->marks);
	return x->marks ? 0 : -ENOMEM;
}

void through_fini(struct through *x)
{
	cells_fini(&x->cells);
	free(x->marks);
	free(x->identity);
	*x = (struct through){0};
}

static uint32_t number(uint64_t a, uint64_t b)
{
	return (uint32_t)hash_pair(a, b) | 1;
}

static uint32_t identify(const struct tables *t, frame_id frame, bool *ret_final)
{
	const struct frame *f = tables_frame_get(t, frame);
	const struct loc *loc = f->flags & FRAME_NAMED ? NULL : tables_loc(t, frame);
	*ret_final = loc || f->flags & FRAME_NAMED;
	if (f->flags & FRAME_NAMED)
		return number(f->module, f->name);
	return loc ? number(1ull << 32, loc->lines[loc->n - 1].func) : number(1ull << 33, frame);
}

static uint32_t identity(struct through *x, frame_id frame)
{
	bool final;
	if (frame < x->nidentity && x->identity[frame])
		return x->identity[frame];
	if (frame >= x->nidentity) {
		uint32_t n = tables_frame_count(x->tables) + 1;
		uint32_t *more = frame < n ? realloc(x->identity, n * sizeof *more) : NULL;
		if (more) {
			memset(more + x->nidentity, 0, (n - x->nidentity) * sizeof *more);
			x->identity = more;
			x->nidentity = n;
		}
	}
	uint32_t what = identify(x->tables, frame, &final);
	if (final && frame < x->nidentity)
		x->identity[frame] = what;
	return what;
}

/* Has the path shown this before? From now on it has. */
static bool shown(struct through *x, uint32_t what)
{
	uint32_t i = what * 0x9e3779b1u >> 8 & (MARKS - 1);
	for (;; i = (i + 1) & (MARKS - 1)) {
		struct through_mark *m = &x->marks[i];
		if (m->round != x->round) {
			*m = (struct through_mark){x->round, what};
			return false;
		}
		if (m->what == what)
			return true;
	}
}

static uint32_t module_number(const struct through *x, frame_id frame)
{
	return number(1ull << 34, tables_frame_get(x->tables, frame)->module);
}

static void show_kept(struct through *x, frame_id frame)
{
	shown(x, identity(x, frame));
	shown(x, module_number(x, frame));
}

void through_find(struct through *x, const frame_id *frames, uint32_t n, uint32_t kept, bool leaf,
		  struct through_list *ret_list)
{
	ret_list->n = 0;
	if (!x->tables)
		return;
	if (!++x->round) { /* after four billion paths */
		memset(x->marks, 0, MARKS * sizeof *x->marks);
		x->round = 1;
	}
	uint32_t inner = leaf ? 1 : 0, end = n - (kept < n ? kept : n);
	if (n > THROUGH_DEPTH) /* the call trie has no more either */
		n = THROUGH_DEPTH;
	if (end > n)
		end = n;
	for (uint32_t i = end; i < n; i++)
		show_kept(x, frames[i]);
	if (leaf && n)
		show_kept(x, frames[0]);
	for (uint32_t i = inner; i < end; i++) {
		if (frames[i] == FRAME_OVERFLOW)
			continue;
		if (!shown(x, identity(x, frames[i])))
			ret_list->keys[ret_list->n++] = frames[i];
		if (!shown(x, module_number(x, frames[i])))
			ret_list->keys[ret_list->n++] =
				THROUGH_MODULE | tables_frame_get(x->tables, frames[i])->module;
	}
}

void through_add(struct through *x, const uint32_t *keys, uint32_t n, const struct cell *c)
{
	struct cell more = *c;
	for (uint32_t i = 0; i < n; i++) {
		more.node = keys[i];
		more.task = c->task;
		bool full = x->cells.len == x->cells.cap &&
			    cells_bytes_next(&x->cells) > x->cap_bytes;
		if (full && !cells_find(&x->cells, &more))
			more.task = 0; /* of all threads together there may be one */
		if (full && !cells_find(&x->cells, &more))
			x->lost++;
		else if (cells_add(&x->cells, &more))
			x->lost++;
	}
}
