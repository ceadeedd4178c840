/*
 * dwline: line number programs, versions 2 to 5, into rows sorted by sequence.
 *
 * Each operation adds at most one row, so memory is bounded by the program's size. Rows keep what a
 * profiler asks: file, line, column. Names stay in the mapping. Inside guards.
 */
#include <dwarf.h>

#include "dw.h"

#define FILES_MAX   1000000u
#define FORMATS_MAX 64

void dw_lines_fini(struct dw_lines *l)
{
	vec_fini(&l->rows);
	vec_fini(&l->sequences);
	vec_fini(&l->dirs);
	vec_fini(&l->files);
	memset(l, 0, sizeof *l);
}

size_t dw_lines_bytes(const struct dw_lines *l)
{
	return l->rows.cap * sizeof *l->rows.data + l->sequences.cap * sizeof *l->sequences.data +
	       l->dirs.cap * sizeof *l->dirs.data + l->files.cap * sizeof *l->files.data;
}

struct program_header {
	bool wide;
	uint8_t addr_size, min_length, max_ops, opcode_base, line_range;
	int8_t line_base;
	const uint8_t *opcode_lengths;
};

/* ---- tables ---- */

static int old_tables(struct dw_cur *c, struct dw_lines *l)
{
	struct dw_line_file file = {0};
	const char *s;

	if (vec_push(&l->dirs, NULL)) /* directory 0: the unit's */
		return -ENOMEM;
	while (!c->bad && *(s = dw_text(c)))
		if (l->dirs.len >= FILES_MAX || vec_push(&l->dirs, s))
			return -ENOMEM;
	if (vec_push(&l->files, file)) /* files count from 1 */
		return -ENOMEM;
	while (!c->bad && *(s = dw_text(c))) {
		file.name = s;
		file.dir = (uint32_t)dw_uleb(c);
		dw_skip_leb(c);
		dw_skip_leb(c);
		if (l->files.len >= FILES_MAX || vec_push(&l->files, file))
			return -ENOMEM;
	}
	return c->bad ? -EBADMSG : 0;
}

/* One table of version 5: directories or files. */
static int new_table(struct dw_cur *c, const struct dw_unit *u, struct dw_lines *l, bool files)
{
	uint16_t content[FORMATS_MAX], form[FORMATS_MAX];
	unsigned formats = dw_u8(c);
	uint64_t count;

	if (formats > FORMATS_MAX)
		return -EBADMSG;
	for (unsigned i = 0; i < formats; i++) {
		content[i] = (uint16_t)dw_uleb(c);
		form[i] = (uint16_t)dw_uleb(c);
	}
	count = dw_uleb(c);
	if (count > FILES_MAX || (count && !formats))
		return -EBADMSG;
	for (uint64_t n = 0; n < count && !c->bad; n++) {
		struct dw_line_file file = {0};

		for (unsigned i = 0; i < formats; i++) {
			struct dw_val v = {0};

			dw_form_read(c, u, form[i], 0, &v);
			if (content[i] == DW_LNCT_path)
				file.name = dw_val_text(u, &v);
			else if (content[i] == DW_LNCT_directory_index)
				file.dir = (uint32_t)v.u;
		}
		if (files ? vec_push(&l->files, file) : vec_push(&l->dirs, file.name))
			return -ENOMEM;
	}
	return c->bad ? -EBADMSG : 0;
}

static int read_header(struct dw_cur *c, const struct dw_unit *u, struct dw_lines *l,
		       struct program_header *h, struct dw_cur *ret_program)
{
	const struct image_data *s = &u->file->sect[DW_LINE];
	struct dw_unit shape = *u; /* the program may be of another width than the unit */
	uint64_t length, header;
	uint8_t lengths;
	int rc;

	length = dw_length(c, &h->wide);
	if (c->bad || length > (uint64_t)(c->end - c->p))
		return -EBADMSG;
	c->end = c->p + length;
	l->version = (uint16_t)dw_uint(c, 2);
	if (l->version < 2 || l->version > 5)
		return -EBADMSG;
	h->addr_size = u->addr_size;
	if (l->version >= 5) {
		h->addr_size = dw_u8(c);
		dw_u8(c);
	}
	header = dw_uint(c, h->wide ? 8 : 4);
	if (c->bad || header > (uint64_t)(c->end - c->p))
		return -EBADMSG;
	*ret_program = (struct dw_cur){c->p + header, c->end, false};
	h->min_length = dw_u8(c);
	h->max_ops = l->version >= 4 ? dw_u8(c) : 1;
	dw_u8(c); /* default_is_stmt */
	h->line_base = (int8_t)dw_u8(c);
	h->line_range = dw_u8(c);
	h->opcode_base = dw_u8(c);
	lengths = h->opcode_base ? h->opcode_base - 1 : 0;
	h->opcode_lengths = c->p;
	dw_skip(c, lengths);
	if (c->bad || (h->addr_size != 4 && h->addr_size != 8) || c->p > s->bytes + s->size)
		return -EBADMSG;
	c->end = ret_program->p; /* tables end where the program begins */
	shape.wide = h->wide;
	shape.addr_size = h->addr_size;
	if (l->version < 5)
		return old_tables(c, l);
	rc = new_table(c, &shape, l, false);
	return rc ? rc : new_table(c, &shape, l, true);
}

/* ---- rows ---- */

struct machine {
	const struct program_header *h;
	struct dw_lines *l;
	uint64_t addr, file, line, column;
	uint64_t base, last;
	unsigned op_index;
	size_t first; /* row of the open sequence */
	bool open, skip, unsorted;
};

static void machine_reset(struct machine *m)
{
	m->addr = m->column = m->op_index = 0;
	m->file = m->line = 1;
	m->open = m->skip = m->unsorted = false;
}

static int emit(struct machine *m)
{
	struct dw_row row;

	if (!m->open) {
		m->open = true;
		m->skip = false;
		m->base = m->last = m->addr;
		m->first = m->l->rows.len;
	}
	if (m->addr < m->base || m->addr - m->base > UINT32_MAX) {
		m->skip = true; /* goes backwards before its start: nobody's code */
		return 0;
	}
	m->unsorted |= m->addr < m->last;
	m->last = m->addr;
	row.delta = (uint32_t)(m->addr - m->base);
	row.line = m->line > UINT32_MAX ? 0 : (uint32_t)m->line;
	row.file = m->file >= UINT16_MAX ? UINT16_MAX : (uint16_t)m->file;
	row.column = m->column > UINT16_MAX ? UINT16_MAX : (uint16_t)m->column;
	return vec_push(&m->l->rows, row);
}

static int by_delta(const void *a, const void *b)
{
	const struct dw_row *x = a, *y = b;

	return (x->delta > y->delta) - (x->delta < y->delta);
}

/* @keep_zero: code at address 0 is real (object files). */
static int end_sequence(struct machine *m, bool keep_zero)
{
	struct dw_lines *l = m->l;
	struct dw_sequence s = {.low = m->base, .high = m->addr, .first = (uint32_t)m->first};
	int rc = 0;

	if (m->open) {
		s.count = (uint32_t)(l->rows.len - m->first);
		if (m->skip || s.high <= s.low || (!s.low && !keep_zero) || m->first > UINT32_MAX) {
			l->rows.len = m->first;
		} else {
			if (m->unsorted)
				qsort(l->rows.data + m->first, s.count, sizeof *l->rows.data,
				      by_delta);
			rc = vec_push(&l->sequences, s);
		}
	}
	machine_reset(m);
	return rc;
}

static void advance(struct machine *m, uint64_t operations)
{
	const struct program_header *h = m->h;

	if (h->max_ops <= 1) {
		m->addr += operations * h->min_length;
		return;
	}
	m->addr += (m->op_index + operations) / h->max_ops * h->min_length;
	m->op_index = (unsigned)((m->op_index + operations) % h->max_ops);
}

static int extended(struct machine *m, struct dw_cur *c, bool keep_zero)
{
	uint64_t length = dw_uleb(c);
	struct dw_cur in;

	if (c->bad || !length || length > (uint64_t)(c->end - c->p))
		return c->bad || length ? -EBADMSG : 0;
	in = (struct dw_cur){c->p, c->p + length, false};
	c->p += length;
	switch (dw_u8(&in)) {
	case DW_LNE_end_sequence: return end_sequence(m, keep_zero);
	case DW_LNE_set_address:
		m->addr = dw_uint(&in, length - 1 == 4 ? 4 : 8);
		m->op_index = 0;
		return in.bad ? -EBADMSG : 0;
	case DW_LNE_define_file: {
		struct dw_line_file file = {.name = dw_text(&in)};

		file.dir = (uint32_t)dw_uleb(&in);
		return in.bad || m->l->files.len >= FILES_MAX ? -EBADMSG
							      : vec_push(&m->l->files, file);
	}
	default: return 0;
	}
}

static int standard(struct machine *m, struct dw_cur *c, uint8_t op)
{
	const struct program_header *h = m->h;

	switch (op) {
	case DW_LNS_copy: return emit(m);
	case DW_LNS_advance_pc: advance(m, dw_uleb(c)); break;
	case DW_LNS_advance_line: m->line += (uint64_t)dw_sleb(c); break;
	case DW_LNS_set_file: m->file = dw_uleb(c); break;
	case DW_LNS_set_column: m->column = dw_uleb(c); break;
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin: break;
	case DW_LNS_const_add_pc:
		advance(m, (uint64_t)(255 - h->opcode_base) / h->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		m->addr += dw_uint(c, 2);
		m->op_index = 0;
		break;
	default: /* unknown, or DW_LNS_set_isa: so many numbers */
		for (uint8_t n = h->opcode_lengths[op - 1]; n; n--)
			dw_skip_leb(c);
		break;
	}
	return 0;
}

static int run(const struct program_header *h, struct dw_cur c, struct dw_lines *l, bool keep_zero)
{
	struct machine m = {.h = h, .l = l};
	int rc = 0;

	machine_reset(&m);
	if (!h->line_range)
		return -EBADMSG;
	while (c.p < c.end && !rc && !c.bad) {
		uint8_t op = dw_u8(&c);

		if (op >= h->opcode_base) {
			op = (uint8_t)(op - h->opcode_base);
			advance(&m, op / h->line_range);
			m.line += (uint64_t)(int64_t)(h->line_base + op % h->line_range);
			rc = emit(&m);
		} else if (op) {
			rc = standard(&m, &c, op);
		} else {
			rc = extended(&m, &c, keep_zero);
		}
	}
	if (m.open)
		l->rows.len = m.first; /* never ended: its last row reaches nowhere */
	return rc ? rc : c.bad ? -EBADMSG : 0;
}

static int by_low(const void *a, const void *b)
{
	const struct dw_sequence *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

int dw_lines_read(const struct dw_unit *u, struct dw_lines *l, bool rows)
{
	struct program_header h = {0};
	struct dw_cur c, program;
	int rc;

	if (l->read && (l->rows_read || !rows))
		return 0;
	dw_lines_fini(l);
	l->read = true;
	l->rows_read = rows;
	if (u->stmt_list == DW_NONE || u->stmt_list >= u->file->sect[DW_LINE].size)
		return -ENODATA;
	c = dw_sect_cur(u->file, DW_LINE, u->stmt_list);
	rc = read_header(&c, u, l, &h, &program);
	if (rc || !rows)
		return rc;
	(void)vec_reserve(&l->rows, (size_t)(program.end - program.p) / 4 + 16);
	rc = run(&h, program, l, u->file->image->type == ET_REL);
	if (l->sequences.len)
		qsort(l->sequences.data, l->sequences.len, sizeof *l->sequences.data, by_low);
	return rc; /* what came before the damage is good */
}

/* ---- looking up ---- */

static const struct dw_row *row_in(const struct dw_lines *l, const struct dw_sequence *s,
				   uint64_t addr, uint64_t *ret_row_end)
{
	const struct dw_row *rows = l->rows.data + s->first;
	uint32_t lo = 0, hi = s->count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->low + rows[mid].delta <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	if (ret_row_end)
		*ret_row_end = lo < s->count ? s->low + rows[lo].delta : s->high;
	return &rows[lo - 1];
}

const struct dw_row *dw_lines_find(const struct dw_lines *l, uint64_t addr, uint64_t *ret_row_end)
{
	size_t lo = 0, hi = l->sequences.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->sequences.data[mid].low <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Sequences do not overlap, save by accident: a few steps back suffice. */
	for (unsigned steps = 0; lo && steps < 8; lo--, steps++)
		if (addr < l->sequences.data[lo - 1].high)
			return row_in(l, &l->sequences.data[lo - 1], addr, ret_row_end);
	return NULL;
}

static void join(struct strbuf *b, const char *dir)
{
	if (dir && dir[0]) {
		strbuf_puts(b, dir);
		if (b->buf[b->len - 1] != '/')
			strbuf_putc(b, '/');
	}
}

uint32_t dw_lines_path(const struct dw_unit *u, const struct dw_lines *l, uint64_t file,
		       struct found *found)
{
	const struct dw_line_file *f = file < l->files.len ? &l->files.data[file] : NULL;
	size_t at = found->text.len;
	const char *dir;

	if (!f || !f->name || !f->name[0] || found->text.failed)
		return 0;
	if (f->name[0] != '/') {
		dir = f->dir < l->dirs.len ? l->dirs.data[f->dir] : NULL;
		if (!dir || dir[0] != '/')
			join(&found->text, u->comp_dir);
		/* Version 5 repeats the unit's directory as number 0. */
		if (dir && !(f->dir == 0 && l->version >= 5 && u->comp_dir && dir[0] != '/'))
			join(&found->text, dir);
	}
	strbuf_puts(&found->text, f->name);
	strbuf_putc(&found->text, '\0');
	return found->text.failed ? 0 : (uint32_t)at;
}
