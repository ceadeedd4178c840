/*
 * dwtypes: type units, by signature.
 *
 * Compilers may put a class into a unit of its own (-fdebug-types-section), so that linkers keep
 * one of many; what refers to it is a stub with its signature. Only names of scopes need them:
 * their headers are read when the first stub is met, a unit when its type is. Inside guards.
 */
#include <dwarf.h>

#include "dw.h"

#define TYPES_MAX 4000000u

static int by_signature(const void *a, const void *b)
{
	const struct dw_type *x = a, *y = b;

	return (x->signature > y->signature) - (x->signature < y->signature);
}

static void read_section(struct dw_file *f, enum dw_sect sect)
{
	struct dw_cur c = dw_sect_cur(f, sect, 0);

	while (c.p < c.end && f->types.len < TYPES_MAX) {
		struct dw_unit u;
		uint64_t next;

		if (!dw_header(f, sect, &c, &u, &next)) {
			*f->damage += sect == DW_TYPES; /* the other is counted already */
			return;
		}
		const struct dw_type t = {u.signature, u.offset, (uint8_t)sect, NULL};
		bool type = u.type == DW_UT_type || u.type == DW_UT_split_type;

		if (type && u.version >= 4 && u.version <= 5 && vec_push(&f->types, t))
			return;
		c = dw_sect_cur(f, sect, next);
		dw_touched(f, next - u.offset);
	}
}

static void read_types(struct dw_file *f)
{
	f->types_read = true;
	if (f->sect[DW_CU_INDEX].size)
		return; /* a package: its index tells what offsets count from */
	read_section(f, DW_INFO);
	read_section(f, DW_TYPES);
	if (f->types.len)
		qsort(f->types.data, f->types.len, sizeof *f->types.data, by_signature);
}

static struct dw_unit *open_unit(struct dw_file *f, const struct dw_type *t)
{
	struct dw_cur c = dw_sect_cur(f, t->sect, t->offset);
	struct dw_unit *u = calloc(1, sizeof *u);
	uint64_t next;

	if (u && !dw_header(f, t->sect, &c, u, &next)) {
		free(u);
		u = NULL;
	}
	return u;
}

struct dw_unit *dw_type_unit(struct dw_file *f, uint64_t signature, uint64_t *ret_die)
{
	const struct dw_type key = {.signature = signature};
	struct dw_type *t;

	if (!f->types_read)
		read_types(f);
	if (!f->types.len)
		return NULL;
	t = bsearch(&key, f->types.data, f->types.len, sizeof key, by_signature);
	if (t && !t->unit)
		t->unit = open_unit(f, t);
	if (!t || !t->unit || dw_root(t->unit) || t->unit->type_die < t->unit->die)
		return NULL;
	*ret_die = t->unit->type_die;
	return t->unit;
}

void dw_types_free(struct dw_file *f)
{
	for (size_t i = 0; i < f->types.len; i++) {
		struct dw_unit *u = f->types.data[i].unit;

		if (u && u->scopes)
			dw_scopes_drop(u->scopes);
		free(u);
	}
	vec_fini(&f->types);
}
