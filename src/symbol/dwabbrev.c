/*
 * dwabbrev: abbreviation tables, each read once per file and shape of unit.
 *
 * Units of one link often share a table. The size of an entry whose forms all have one is computed
 * here, so that most entries of a walk are skipped by one addition. A table may overlap others in a
 * crafted file, so the memory of all is bounded by the section's size. Inside guards.
 */
#include <dwarf.h>

#include "dw.h"

/* Memory per byte of .debug_abbrev: a real table takes less than ten. */
#define BYTES_PER_BYTE 64
#define SLACK_BYTES    (1u << 20)
#define ATTRS_MAX      1024

void dw_abbrevs_free(struct dw_abbrevs *a)
{
	if (!a)
		return;
	free(a->list);
	free(a->attrs);
	free(a);
}

static int compare_codes(const void *a, const void *b)
{
	const struct dw_abbrev *x = a, *y = b;

	return (x->code > y->code) - (x->code < y->code);
}

const struct dw_abbrev *dw_abbrev(const struct dw_abbrevs *a, uint64_t code)
{
	struct dw_abbrev key = {.code = code};

	if (a->dense)
		return code - 1 < a->len ? &a->list[code - 1] : NULL;
	return bsearch(&key, a->list, a->len, sizeof key, compare_codes);
}

/* First pass: how much is there? */
static void measure(struct dw_cur c, struct dw_abbrevs *a)
{
	while (!c.bad && dw_uleb(&c)) {
		uint64_t name, form;

		dw_skip_leb(&c);
		dw_u8(&c);
		do {
			name = dw_uleb(&c);
			form = dw_uleb(&c);
			if (form == DW_FORM_implicit_const)
				dw_skip_leb(&c);
			if (!c.bad && (name || form))
				a->nattrs++;
		} while (!c.bad && (name || form));
		if (!c.bad)
			a->len++;
	}
}

static bool read_one(struct dw_cur *c, const struct dw_unit *u, struct dw_abbrevs *a,
		     struct dw_abbrev *to, size_t *used)
{
	to->code = dw_uleb(c);
	if (c->bad || !to->code)
		return false;
	to->tag = (uint16_t)dw_uleb(c);
	to->children = dw_u8(c) != 0;
	to->first = (uint32_t)*used;
	to->fixed = 0;
	for (;;) {
		uint64_t name = dw_uleb(c), form = dw_uleb(c);
		int64_t implicit = form == DW_FORM_implicit_const ? dw_sleb(c) : 0;
		int size;

		if (c->bad || *used >= a->nattrs + (!name && !form))
			return false;
		if (!name && !form)
			return true;
		if (to->nattrs == ATTRS_MAX)
			return false;
		size = dw_form_size((uint16_t)form, u);
		a->attrs[(*used)++] = (struct dw_attr){
			.name = (uint16_t)(name > 0xffff ? 0 : name),
			.form = (uint16_t)(form > 0xffff ? 0 : form),
			.size = (int8_t)size,
			.slot = name > 0xffff ? 0 : dw_attr_slot((uint16_t)name),
			.implicit = implicit};
		to->nattrs++;
		to->has_pc |= name == DW_AT_low_pc || name == DW_AT_ranges;
		to->fixed = size < 0 || to->fixed < 0 ? -1 : to->fixed + size;
	}
}

static struct dw_abbrevs *read_table(struct dw_file *f, const struct dw_unit *u)
{
	struct dw_cur c = dw_sect_cur(f, DW_ABBREV, u->abbrev);
	struct dw_abbrevs *a = calloc(1, sizeof *a);
	size_t used = 0, len, bytes;

	if (!a)
		return NULL;
	if (vec_push(&f->tables, a)) { /* owned from here on */
		free(a);
		return NULL;
	}
	measure(c, a);
	bytes = a->len * sizeof *a->list + a->nattrs * sizeof *a->attrs;
	if (f->table_bytes + bytes > f->sect[DW_ABBREV].size * BYTES_PER_BYTE + SLACK_BYTES) {
		a->len = a->nattrs = 0;
		return a;
	}
	f->table_bytes += bytes;
	len = a->len;
	a->len = 0;
	a->list = calloc(len + 1, sizeof *a->list);
	a->attrs = calloc(a->nattrs + 1, sizeof *a->attrs);
	a->dense = true;
	while (a->list && a->attrs && a->len < len && read_one(&c, u, a, &a->list[a->len], &used)) {
		a->dense &= a->list[a->len].code == a->len + 1;
		a->len++;
	}
	if (!a->dense)
		qsort(a->list, a->len, sizeof *a->list, compare_codes);
	return a;
}

const struct dw_abbrevs *dw_abbrevs_get(struct dw_file *f, const struct dw_unit *u)
{
	/* What the sizes of forms depend on goes into the key. */
	uint64_t shape = (uint64_t)(u->version > 2) << 16 | (uint64_t)u->wide << 8 | u->addr_size;
	uint64_t key = hash_pair(u->abbrev, shape);
	struct dw_abbrevs *a;
	uint32_t at;

	if (map64_get(&f->tables_by_key, key, &at))
		return f->tables.data[at];
	a = read_table(f, u);
	if (a)
		(void)map64_put(&f->tables_by_key, key, (uint32_t)f->tables.len - 1);
	return a;
}
