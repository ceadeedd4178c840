/*
 * edgemarks: edges that begin and end in one function, as arcs in a gutter of a few tracks.
 *
 * Edges between the same two rows by the same kind are one. The heaviest get a track: short arcs
 * next to the text, long ones outside, so that nested arcs do not cross. The others are counted.
 * Where instructions are shown an end is at its instruction, else at its line. Engine thread.
 */
#include "engine/edgemarks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACKS    6  /* arcs side by side */
#define ARCS_MAX  64 /* looked at for a track, heaviest first */
#define HINT_ARCS 3  /* told of one line */
#define GLYPH     4  /* bytes of a character of the gutter, and its end */

struct arc {
	uint32_t from, to; /* rows */
	str_id kind;
	double count, time;
	int track; /* -1: none was free */
};

struct marks {
	struct build *b;
	const struct func *func;
	str_id file;
	struct map64 row_of_line, row_of_addr;
	struct {
		VEC(struct arc)
	} arcs;
	uint32_t edges, elsewhere; /* ends without a row */
	uint32_t drawn;
	int tracks;
	bool waiting; /* ends without a line so far */
};

/* --- which function --- */

static func_id outermost(const struct loc *loc)
{
	return loc && loc->n ? loc->lines[loc->n - 1].func : 0;
}

func_id edge_home(struct build *b, func_id func)
{
	const struct func *f = tables_func_get(b->t, func);
	struct analysis *a = f->start ? NULL : shared_analysis(&b->e->shared, VIEW_EDGE);
	func_id home = 0;
	for (uint32_t i = 0; a && i < a->nrows && !home; i++) {
		const struct analysis_row *r = &a->rows[i];
		if (!r->first_frame || (r->name != f->raw && r->name != f->name))
			continue;
		const struct loc *loc = tables_loc(b->t, r->first_frame);
		if (loc)
			home = outermost(loc);
		else
			build_want(b, r->first_frame);
	}
	analysis_unref(a);
	return home ? home : func;
}

/* --- where an end is --- */

static void index_rows(struct marks *m)
{
	for (uint32_t i = 0; i < m->b->nrows; i++) {
		const struct row *row = &m->b->rows[i];
		if (row->key.kind == ROW_LINE && !row->key.b)
			map64_put(&m->row_of_line, row->line, i);
		else if (row->key.kind == ROW_INSN)
			map64_put(&m->row_of_addr, row->addr, i);
	}
}

/* The line of the function itself that an address belongs to, through what is inlined there. */
static uint32_t own_line(const struct marks *m, const struct loc *loc)
{
	for (uint32_t i = loc->n; i-- > 0;)
		if (loc->lines[i].file == m->file && loc->lines[i].line)
			return loc->lines[i].line;
	return 0;
}

static bool row_of(struct marks *m, frame_id frame, uint32_t *ret_row)
{
	const struct frame *f = tables_frame_get(m->b->t, frame);
	if (map64_get(&m->row_of_addr, f->addr, ret_row))
		return true;
	const struct loc *loc = tables_loc(m->b->t, frame);
	if (!loc || !loc->lines[0].line) {
		build_want(m->b, frame);
		m->waiting = true;
	}
	uint32_t line = loc ? own_line(m, loc) : 0;
	return line && map64_get(&m->row_of_line, line, ret_row);
}

static bool lies_inside(const struct marks *m, frame_id frame)
{
	const struct frame *f = tables_frame_get(m->b->t, frame);
	uint64_t size = m->func->size ? m->func->size : 1;
	return f->module == m->func->module && f->addr >= m->func->start &&
	       f->addr - m->func->start < size;
}

/* --- arcs --- */

static void add_edge(struct marks *m, const struct analysis_row *r, const double *cells)
{
	struct arc arc = {.kind = r->third, .count = cells[0], .time = cells[1], .track = -1};
	m->edges++;
	if (!row_of(m, r->first_frame, &arc.from) || !row_of(m, r->last_frame, &arc.to)) {
		m->elsewhere++;
		return;
	}
	for (size_t i = 0; i < m->arcs.len; i++) {
		struct arc *same = &m->arcs.data[i];
		if (same->from != arc.from || same->to != arc.to || same->kind != arc.kind)
			continue;
		same->count += arc.count;
		same->time += arc.time;
		return;
	}
	if (vec_push(&m->arcs, arc))
		m->b->failed = true;
}

static int heavier(const void *pa, const void *pb)
{
	const struct arc *a = pa, *b = pb;
	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->from != b->from ? (a->from < b->from ? -1 : 1)
				  : (a->to > b->to) - (a->to < b->to);
}

static uint32_t top_of(const struct arc *a)
{
	return a->from < a->to ? a->from : a->to;
}

static uint32_t bottom_of(const struct arc *a)
{
	return a->from < a->to ? a->to : a->from;
}

static int shorter(const void *pa, const void *pb)
{
	const struct arc *a = *(const struct arc *const *)pa, *b = *(const struct arc *const *)pb;
	uint32_t x = bottom_of(a) - top_of(a), y = bottom_of(b) - top_of(b);
	return x != y ? (x < y ? -1 : 1) : (a->from > b->from) - (a->from < b->from);
}

/* A row of its own needs no track: it is a dot. */
static void give_tracks(struct marks *m)
{
	struct arc *order[ARCS_MAX];
	uint32_t ends[TRACKS][ARCS_MAX];
	size_t n = m->arcs.len < ARCS_MAX ? m->arcs.len : ARCS_MAX, used[TRACKS] = {0};
	for (size_t i = 0; i < n; i++)
		order[i] = &m->arcs.data[i];
	if (n)
		qsort(order, n, sizeof *order, shorter);
	for (size_t i = 0; i < n; i++) {
		struct arc *a = order[i];
		for (int t = 0; t < TRACKS && a->track < 0; t++) {
			bool free_here = true;
			for (size_t k = 0; k < used[t] && a->from != a->to; k++) {
				const struct arc *o = order[ends[t][k]];
				free_here &= bottom_of(o) < top_of(a) || top_of(o) > bottom_of(a);
			}
			if (!free_here)
				continue;
			a->track = t;
			if (a->from != a->to)
				ends[t][used[t]++] = (uint32_t)i;
		}
		m->drawn += a->track >= 0;
		if (a->track + 1 > m->tracks)
			m->tracks = a->track + 1;
	}
}

/* --- the gutter: tracks from the outermost to the innermost, then the end --- */

typedef char glyph[GLYPH];

static void put_glyph(glyph *gutter, int at, const char *text)
{
	snprintf(gutter[at], GLYPH, "%s", text);
}

static void draw_arc(const struct marks *m, const struct arc *a, uint32_t row, glyph *gutter)
{
	int at = m->tracks - 1 - a->track;
	if (a->from == a->to) {
		if (!strcmp(gutter[m->tracks], " "))
			put_glyph(gutter, m->tracks, "\xe2\x97\x8f"); /* ● */
		return;
	}
	if (row != a->from && row != a->to) {
		bool crossed = !strcmp(gutter[at], "\xe2\x94\x80");
		put_glyph(gutter, at, crossed ? "\xe2\x94\xbc" : "\xe2\x94\x82"); /* ┼ │ */
		return;
	}
	put_glyph(gutter, at, row == top_of(a) ? "\xe2\x95\xad" : "\xe2\x95\xb0"); /* ╭ ╰ */
	for (int i = at + 1; i < m->tracks; i++) {
		bool crossed = !strcmp(gutter[i], "\xe2\x94\x82");
		if (crossed || !strcmp(gutter[i], " "))
			put_glyph(gutter, i, crossed ? "\xe2\x94\xbc" : "\xe2\x94\x80");
	}
	if (row == a->to)
		put_glyph(gutter, m->tracks, "\xe2\x96\xb8"); /* ▸ */
	else if (strcmp(gutter[m->tracks], "\xe2\x96\xb8") != 0)
		put_glyph(gutter, m->tracks, "\xe2\x94\x80");
}

static void draw_row(struct marks *m, uint32_t index)
{
	glyph gutter[TRACKS + 1];
	char text[(TRACKS + 1) * GLYPH + 1] = "";
	bool any = false;
	for (int i = 0; i <= m->tracks; i++)
		put_glyph(gutter, i, " ");
	for (size_t i = 0; i < m->arcs.len; i++) {
		const struct arc *a = &m->arcs.data[i];
		if (a->track < 0 || index < top_of(a) || index > bottom_of(a))
			continue;
		draw_arc(m, a, index, gutter);
		any = true;
	}
	for (int i = 0; i <= m->tracks; i++)
		strcat(text, gutter[i]);
	if (any)
		m->b->rows[index].edges = build_text(m->b, "%s", text);
}

/* --- numbers and words --- */

static const char *place_of(struct marks *m, uint32_t row)
{
	const struct row *r = &m->b->rows[row];
	return r->key.kind == ROW_INSN ? build_text(m->b, "%llx", (unsigned long long)r->addr)
				       : build_text(m->b, "line %u", r->line);
}

static bool ends_alike(const struct arc *a, const struct arc *b)
{
	return a->to == b->to && a->kind == b->kind;
}

static bool first_of_kind(const struct marks *m, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (ends_alike(&m->arcs.data[i], &m->arcs.data[index]))
			return false;
	return true;
}

static double ends_of_kind(const struct marks *m, const struct arc *a)
{
	double count = 0;
	for (size_t i = 0; i < m->arcs.len; i++)
		if (ends_alike(&m->arcs.data[i], a))
			count += m->arcs.data[i].count;
	return count;
}

static void count_row(struct marks *m, uint32_t index)
{
	struct row *row = &m->b->rows[index];
	const char *hint = "", *note = "";
	unsigned told = 0, more = 0;
	for (size_t i = 0; i < m->arcs.len; i++) {
		const struct arc *a = &m->arcs.data[i];
		if (a->to == index && first_of_kind(m, i))
			note = build_text(m->b, "%s%s%s \xc3\x97%.0f", note, *note ? ", " : "",
					  tables_text(m->b->t, a->kind), ends_of_kind(m, a));
		if (a->from != index)
			continue;
		row->taken += (uint64_t)a->count;
		if (told++ >= HINT_ARCS) {
			more++;
			continue;
		}
		hint = build_text(m->b, "%s%s%.0f times to %s, %.1f ns each, then %s", hint,
				  *hint ? "; " : "runs from here: ", a->count, place_of(m, a->to),
				  a->count > 0 ? a->time / a->count : 0,
				  tables_text(m->b->t, a->kind));
	}
	if (more)
		hint = build_text(m->b, "%s; %u more", hint, more);
	if (*hint)
		row->hint = hint;
	if (*note)
		row->note = note;
}

static void write_title(struct marks *m)
{
	char text[sizeof m->b->a->title];
	snprintf(text, sizeof text, "%.180s \xc2\xb7 %u edges", m->b->a->title, m->edges);
	size_t n = strlen(text);
	if (m->drawn < m->arcs.len)
		snprintf(text + n, sizeof text - n, ", the heaviest %u arcs drawn", m->drawn);
	else if (m->elsewhere && !m->waiting)
		snprintf(text + n, sizeof text - n, ", %u with an end in no line shown",
			 m->elsewhere);
	build_copy(m->b->a->title, sizeof m->b->a->title, text);
}

void edge_marks(struct build *b, func_id func, str_id file)
{
	struct marks m = {.b = b, .func = tables_func_get(b->t, func), .file = file};
	struct analysis *a = shared_analysis(&b->e->shared, VIEW_EDGE);
	if (!a || !m.func->start) {
		analysis_unref(a);
		return;
	}
	map64_init(&m.row_of_line);
	map64_init(&m.row_of_addr);
	index_rows(&m);
	for (uint32_t i = 0; i < a->nrows; i++)
		if (a->rows[i].first_frame && a->rows[i].last_frame &&
		    lies_inside(&m, a->rows[i].first_frame))
			add_edge(&m, &a->rows[i], a->cells + (size_t)i * a->ncolumns);
	if (m.arcs.len)
		qsort(m.arcs.data, m.arcs.len, sizeof *m.arcs.data, heavier);
	give_tracks(&m);
	for (uint32_t i = 0; m.arcs.len && i < b->nrows; i++) {
		draw_row(&m, i);
		count_row(&m, i);
	}
	if (m.arcs.len)
		b->a->edge_cells = (uint8_t)(m.tracks + 1);
	if (m.edges)
		write_title(&m);
	map64_fini(&m.row_of_line);
	map64_fini(&m.row_of_addr);
	vec_fini(&m.arcs);
	analysis_unref(a);
}
