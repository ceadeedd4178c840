/*
 * show_source: one function's source lines with what was sampled in each, inlined callees and
 * instructions under them.
 *
 * Engine thread. The text comes from the resolver's listing; until it is there, and for files that
 * cannot be found, lines are shown by number. Lines of other files (code that was included) follow.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/build.h"
#include "engine/edgemarks.h"
#include "profile/foldline.h"
#include "symbol/resolver.h"

struct source_show {
	struct build *b;
	fid_t focus;
	const struct func *func;
	struct code_fold code;
	const struct listing *listing; /* NULL: not there yet */
	str_id file;
	struct sums *insns; /* by listing's instruction: self, then total */
	double *values;     /* likewise, flat.nvalues each */
	bool assembly;
	uint64_t hottest;
	struct sums left; /* of rows that did not fit */
	uint32_t nleft;
};

/* NULL: it did not fit, and @self is counted to the rest. */
static struct row *source_row(struct source_show *s, const struct sums *self)
{
	if (s->b->nrows < s->b->max_rows)
		return build_row(s->b);
	s->nleft++;
	if (self)
		sums_add(&s->left, self);
	return NULL;
}

static void emit_left(struct source_show *s)
{
	struct build *b = s->b;
	struct sums none = {0};
	struct row *row = s->nleft ? build_rest(b, build_text(b, "… %u more", s->nleft)) : NULL;
	if (!row)
		return;
	build_shares(b, row, &s->left, &none);
	row->total = -1;
	row->flags = 0;
}

/* Spread what addresses gathered over the listing's instructions. */
static void place_addresses(struct source_show *s)
{
	const struct listing *l = s->listing;
	if (!l || !l->ninsns)
		return;
	uint32_t nv = s->b->e->flat.nvalues;
	s->insns = calloc((size_t)l->ninsns * 2, sizeof *s->insns);
	s->values = calloc((size_t)l->ninsns * 2 * nv + 1, sizeof *s->values);
	if (!s->insns || !s->values) {
		s->b->failed = true;
		return;
	}
	for (size_t i = 0; i < s->code.addrs.len; i++) {
		const struct line_fold *a = &s->code.addrs.data[i];
		uint32_t lo = 0, hi = l->ninsns;
		while (lo < hi) { /* the last instruction that begins at or before it */
			uint32_t mid = lo + (hi - lo) / 2;
			if (l->insns[mid].addr <= a->addr)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (!lo || a->addr >= l->insns[lo - 1].addr + l->insns[lo - 1].size)
			continue;
		sums_add(&s->insns[(lo - 1) * 2], &a->self);
		sums_add(&s->insns[(lo - 1) * 2 + 1], &a->total);
		double *values = s->values + (size_t)(lo - 1) * 2 * nv;
		for (uint32_t v = 0; v < nv; v++) {
			values[v] += a->self_values[v];
			values[nv + v] += a->total_values[v];
		}
	}
}

static uint32_t home_line(const struct listing_insn *i)
{
	return i->inlined ? i->call_line : i->line;
}

static bool has_insns(const struct source_show *s, uint32_t line)
{
	for (uint32_t i = 0; s->listing && i < s->listing->ninsns; i++)
		if (home_line(&s->listing->insns[i]) == line)
			return true;
	return false;
}

static void fill_shares(struct source_show *s, struct row *row, const struct line_fold *f)
{
	static const struct sums none;
	build_shares(s->b, row, f ? &f->self : &none, f ? &f->total : &none);
	metrics_fill(s->b, row, f ? f->self_values : NULL, f ? f->total_values : NULL);
	if (!row->total_samples)
		row->flags &= ~(uint32_t)(ROW_UNRANKED | ROW_LOW | ROW_DIM);
}

/* A function of this module that begins at @addr; 0: none is known. */
static func_id func_at(const struct source_show *s, uint64_t addr)
{
	uint32_t n = tables_func_count(s->b->t);
	for (func_id i = 1; i <= n; i++) {
		const struct func *f = tables_func_get(s->b->t, i);
		if (f->start == addr && f->module == s->func->module)
			return i;
	}
	return 0;
}

static void fill_target(const struct source_show *s, struct row *row, const struct listing_insn *i)
{
	const struct func *f = s->func;
	if (!i->target)
		return;
	if (i->target >= f->start && i->target < f->start + f->size) {
		row->go = (struct row_key){.kind = ROW_INSN, .b = i->target};
		return;
	}
	func_id to = func_at(s, i->target);
	if (to)
		row->go = (struct row_key){.kind = ROW_FUNCTION, .a = to};
}

static void emit_insn(struct source_show *s, uint32_t index, uint16_t depth)
{
	const struct listing_insn *i = &s->listing->insns[index];
	struct row *row = source_row(s, &s->insns[index * 2]);
	if (!row)
		return;
	row->key = (struct row_key){.kind = ROW_INSN, .b = i->addr};
	row->name = row->full = build_text(s->b, "%s", i->text);
	row->addr = i->addr;
	row->depth = depth;
	row->line = i->line;
	row->file = tables_text(s->b->t, i->file);
	if (i->data)
		row->note = "cannot be decoded";
	build_shares(s->b, row, &s->insns[index * 2], &s->insns[index * 2 + 1]);
	uint32_t nv = s->b->e->flat.nvalues;
	const double *values = s->values + (size_t)index * 2 * nv;
	metrics_fill(s->b, row, values, values + nv);
	fill_target(s, row, i);
}

/* Instructions that hang under @line; @inlined: 0 those of no inlined function. */
static void emit_insns(struct source_show *s, uint32_t line, str_id inlined, uint16_t depth)
{
	for (uint32_t i = 0; s->insns && i < s->listing->ninsns; i++) {
		const struct listing_insn *x = &s->listing->insns[i];
		if (home_line(x) == line && x->inlined == inlined)
			emit_insn(s, i, depth);
	}
}

static bool open_row(struct source_show *s, struct row *row)
{
	bool open = build_expanded(s->b, &row->key) != NULL;
	open = open != !!(s->b->q->flags & QUERY_EXPAND_ALL);
	row->flags |= ROW_EXPANDABLE | (open ? ROW_EXPANDED : 0);
	return open;
}

static bool insns_of_inline(const struct source_show *s, uint32_t line, str_id inlined)
{
	for (uint32_t i = 0; s->insns && i < s->listing->ninsns; i++)
		if (home_line(&s->listing->insns[i]) == line &&
		    s->listing->insns[i].inlined == inlined)
			return true;
	return false;
}

static void emit_inline(struct source_show *s, const struct line_fold *f)
{
	struct row *row = source_row(s, NULL); /* its time is its line's */
	struct fid_text x;
	if (!row)
		return;
	fid_text(s->b, f->callee, &x);
	row->key = (struct row_key){.kind = ROW_INLINE, .a = f->callee, .b = f->addr};
	row->name = x.name;
	row->full = x.full;
	row->flags = ROW_INLINED;
	row->depth = 1;
	row->file = tables_text(s->b->t, f->callee_file);
	row->line = f->callee_line;
	if (f->callee_line) {
		const char *base = strrchr(row->file, '/');
		row->note = build_text(s->b, "%s:%u", base ? base + 1 : row->file, f->callee_line);
	}
	fill_shares(s, row, f);
	str_id name = tables_func_get(s->b->t, f->callee)->shown;
	if (!insns_of_inline(s, f->line, name))
		name = tables_func_get(s->b->t, f->callee)->name;
	if (insns_of_inline(s, f->line, name) && (open_row(s, row) || s->assembly))
		emit_insns(s, f->line, name, 2);
}

static void emit_inlines(struct source_show *s, str_id file, uint32_t line)
{
	for (size_t i = 0; i < s->code.inlines.len; i++) {
		const struct line_fold *f = &s->code.inlines.data[i];
		if (f->file == file && f->line == line)
			emit_inline(s, f);
	}
}

static bool has_inlines(const struct source_show *s, str_id file, uint32_t line)
{
	for (size_t i = 0; i < s->code.inlines.len; i++)
		if (s->code.inlines.data[i].file == file && s->code.inlines.data[i].line == line)
			return true;
	return false;
}

/* @text NULL: it is not there. */
static void emit_line(struct source_show *s, str_id file, uint32_t line, const char *text)
{
	const struct line_fold *f = line_folds_find(&s->code.lines, line_key(file, line, 0));
	struct row *row = source_row(s, f ? &f->self : NULL);
	if (!row)
		return;
	bool own = file == s->file;
	row->key = (struct row_key){.kind = ROW_LINE, .a = line, .b = own ? 0 : hash_mix(file)};
	row->name = row->full = build_text(s->b, "%s", text ? text : "");
	/* The cursor comes to the hottest line: what stands above the first may be far away. */
	if (!text && s->listing && !s->listing->nlines && s->listing->note[0])
		row->hint = build_text(s->b, "%s", s->listing->note);
	row->file = tables_text(s->b->t, file);
	row->line = line;
	fill_shares(s, row, f);
	if (f && f->self.weight > s->hottest) {
		s->hottest = f->self.weight;
		s->b->a->focus_row = s->b->nrows - 1;
	}
	bool insns = own && has_insns(s, line);
	if (!insns && !has_inlines(s, file, line))
		return;
	bool open = open_row(s, row);
	/* What is inlined here is worth a row without being asked. */
	if (open || s->assembly || has_inlines(s, file, line))
		emit_inlines(s, file, line);
	if (insns && (open || s->assembly))
		emit_insns(s, line, 0, 1);
}

static int compare_lines(const void *a, const void *b)
{
	const struct line_fold *x = *(const struct line_fold *const *)a;
	const struct line_fold *y = *(const struct line_fold *const *)b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void emit_heading(struct source_show *s, const char *text)
{
	struct row *row = source_row(s, NULL);
	if (!row)
		return;
	row->key.kind = ROW_HEADING;
	row->name = row->full = text;
}

static bool in_listing(const struct source_show *s, const struct line_fold *f)
{
	const struct listing *l = s->listing;
	return l && l->nlines && f->file == s->file && f->line >= l->lines[0].line &&
	       f->line <= l->lines[l->nlines - 1].line;
}

/* Lines that were sampled and that the listing does not hold: by file and number. */
static void emit_others(struct source_show *s)
{
	const struct line_fold **rest = malloc((s->code.lines.len + 1) * sizeof *rest);
	size_t n = 0;
	if (!rest) {
		s->b->failed = true;
		return;
	}
	for (size_t i = 0; i < s->code.lines.len; i++)
		if (s->code.lines.data[i].line && !in_listing(s, &s->code.lines.data[i]))
			rest[n++] = &s->code.lines.data[i];
	if (n)
		qsort(rest, n, sizeof *rest, compare_lines);
	str_id file = s->listing && s->listing->nlines ? s->file : 0;
	for (size_t i = 0; i < n; i++) {
		if (rest[i]->file != file)
			emit_heading(s, tables_text(s->b->t, rest[i]->file));
		file = rest[i]->file;
		emit_line(s, file, rest[i]->line, NULL);
	}
	free(rest);
}

/* No line is known: instructions are all there is. */
static void emit_bare(struct source_show *s)
{
	for (uint32_t i = 0; s->insns && i < s->listing->ninsns; i++) {
		emit_insn(s, i, 0);
		if (!s->nleft && s->insns[i * 2].weight > s->hottest) {
			s->hottest = s->insns[i * 2].weight;
			s->b->a->focus_row = s->b->nrows - 1;
		}
	}
}

static const char *grouped(char *text, size_t size, uint64_t n)
{
	char digits[32];
	int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
	size_t out = 0;
	for (int i = 0; i < len && out + 2 < size; i++) {
		if (i && (len - i) % 3 == 0)
			text[out++] = ',';
		text[out++] = digits[i];
	}
	text[out] = '\0';
	return text;
}

static void write_title(struct source_show *s)
{
	struct build *b = s->b;
	struct fid_text x;
	char count[40];
	double whole = b->whole ? (double)b->whole : 1;
	fid_text(b, s->focus, &x);
	const char *file = s->file ? tables_text(b->t, s->file) : x.module;
	const char *base = strrchr(file, '/');
	double self = 100 * (double)s->code.self.weight / whole;
	double code = 100 * (double)s->code.code.weight / whole;
	grouped(count, sizeof count, s->code.code.samples);
	const char *also = code - self < 0.05
				   ? ""
				   : build_text(b, ", with what is inlined %.1f%%", code);
	build_copy(b->a->title, sizeof b->a->title,
		   build_text(b, "%s  %s  self %.1f%%%s of all · %s samples",
			      base ? base + 1 : file, x.name, self, also, count));
}

static void emit_all(struct source_show *s)
{
	struct build *b = s->b;
	const struct listing *l = s->listing;
	uint32_t rows = (uint32_t)(s->code.lines.len * 2 + s->code.inlines.len + 3);
	if (l)
		rows += l->nlines + l->ninsns;
	if (!build_reserve(b, rows))
		return;
	/* What is missing is said above the rows that show it. */
	if (l && l->note[0] && (l->nlines || l->ninsns || s->code.lines.len))
		emit_heading(s, build_text(b, "%s", l->note));
	uint32_t said = b->nrows;
	for (uint32_t i = 0; l && i < l->nlines; i++)
		emit_line(s, s->file, l->lines[i].line, l->lines[i].text);
	emit_others(s);
	if (b->nrows == said)
		emit_bare(s);
	emit_left(s);
	if (b->nrows == said) /* nothing below it: the note alone says it */
		b->nrows = 0;
	if (s->hottest && b->a->focus_row < b->nrows)
		b->rows[b->a->focus_row].flags |= ROW_CURRENT;
}

void show_source(struct build *b)
{
	struct source_show s = {.b = b, .assembly = b->q->flags & QUERY_ASSEMBLY};
	struct resolver *r = b->e->setup.resolver;

	if (!b->q->focus.kind || !b->q->focus.a) {
		snprintf(b->a->note, sizeof b->a->note, "no function is selected");
		return;
	}
	s.focus = fid_settle(b, b->q->focus.a);
	if (s.focus & FID_FRAME) {
		snprintf(b->a->note, sizeof b->a->note, "its name is not known yet");
		return;
	}
	func_id home = edge_home(b, s.focus);
	s.func = tables_func_get(b->t, home);
	if (fold_code(&s.code, &b->e->flat, b->t, b->q->flags, s.focus)) {
		b->failed = true;
		goto out;
	}
	s.listing = r ? resolver_listing(r, home) : NULL;
	s.file = s.listing && s.listing->file ? s.listing->file : s.func->file;
	place_addresses(&s);
	if (!b->failed)
		emit_all(&s);
	write_title(&s);
	if (!b->failed)
		edge_marks(b, home, s.file);
	if (s.listing)
		snprintf(b->a->note, sizeof b->a->note, "%s", s.listing->note);
	else if (r)
		snprintf(b->a->note, sizeof b->a->note, "reading source and instructions …");
	b->e->pace.unread = r && !s.listing;
out:
	listing_unref(s.listing);
	free(s.insns);
	free(s.values);
	code_fold_fini(&s.code);
}
