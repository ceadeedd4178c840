/*
 * dwform: the forms of attribute values, and entries as a whole.
 *
 * Forms are those of DWARF 5 section 7.5.6 and GNU's extensions for split units and dwz. Offsets
 * are checked when they are followed, not when they are read. Inside guards.
 */
#include <dwarf.h>

#include "dw.h"

int dw_form_size(uint16_t form, const struct dw_unit *u)
{
	int offset = u->wide ? 8 : 4;

	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const: return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1: return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2: return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3: return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4: return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8: return 8;
	case DW_FORM_data16: return 16;
	case DW_FORM_addr: return u->addr_size;
	case DW_FORM_ref_addr: return u->version > 2 ? offset : u->addr_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt: return offset;
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index: return DW_SIZE_LEB;
	case DW_FORM_block:
	case DW_FORM_exprloc: return DW_SIZE_BLOCK;
	default: return DW_SIZE_VARIES;
	}
}

void dw_form_read(struct dw_cur *c, const struct dw_unit *u, uint16_t form, int64_t implicit,
		  struct dw_val *ret_val)
{
	int size = dw_form_size(form, u);

	ret_val->form = form;
	if (size >= 0 && size <= 8) {
		ret_val->u = form == DW_FORM_implicit_const ? (uint64_t)implicit
			     : size                         ? dw_uint(c, (unsigned)size)
							    : 1;
		return;
	}
	if (size == DW_SIZE_LEB) {
		ret_val->u = form == DW_FORM_sdata ? (uint64_t)dw_sleb(c) : dw_uleb(c);
		return;
	}
	if (size == DW_SIZE_BLOCK) {
		dw_skip(c, dw_uleb(c));
		return;
	}
	switch (form) {
	case DW_FORM_data16: dw_skip(c, 16); return;
	case DW_FORM_string: ret_val->s = dw_text(c); return;
	case DW_FORM_block1: dw_skip(c, dw_u8(c)); return;
	case DW_FORM_block2: dw_skip(c, dw_uint(c, 2)); return;
	case DW_FORM_block4: dw_skip(c, dw_uint(c, 4)); return;
	case DW_FORM_indirect: {
		uint64_t real = dw_uleb(c);

		/* One step only: an indirect indirect is nobody's. */
		if (real == DW_FORM_indirect || real == DW_FORM_implicit_const || real > 0xffff)
			dw_fail(c);
		else
			dw_form_read(c, u, (uint16_t)real, 0, ret_val);
		return;
	}
	default: dw_fail(c); return;
	}
}

/* ---- entries ---- */

/* DW_AT_* to slot + 1, 0: of no interest. */
static const uint8_t slots[0x90] = {
	[DW_AT_name] = DW_S_NAME + 1,           [DW_AT_linkage_name] = DW_S_LINKAGE + 1,
	[DW_AT_low_pc] = DW_S_LOW + 1,          [DW_AT_high_pc] = DW_S_HIGH + 1,
	[DW_AT_ranges] = DW_S_RANGES + 1,       [DW_AT_abstract_origin] = DW_S_ORIGIN + 1,
	[DW_AT_specification] = DW_S_SPEC + 1,  [DW_AT_call_file] = DW_S_CALL_FILE + 1,
	[DW_AT_call_line] = DW_S_CALL_LINE + 1, [DW_AT_call_column] = DW_S_CALL_COLUMN + 1,
	[DW_AT_decl_file] = DW_S_DECL_FILE + 1, [DW_AT_decl_line] = DW_S_DECL_LINE + 1,
	[DW_AT_external] = DW_S_EXTERNAL + 1,   [DW_AT_stmt_list] = DW_S_STMT_LIST + 1,
	[DW_AT_language] = DW_S_LANGUAGE + 1,   [DW_AT_comp_dir] = DW_S_COMP_DIR + 1,
	[DW_AT_dwo_name] = DW_S_DWO_NAME + 1,   [DW_AT_str_offsets_base] = DW_S_STR_BASE + 1,
	[DW_AT_addr_base] = DW_S_ADDR_BASE + 1, [DW_AT_rnglists_base] = DW_S_RNGLISTS_BASE + 1,
	[DW_AT_signature] = DW_S_SIGNATURE + 1,
};

uint8_t dw_attr_slot(uint16_t attr)
{
	if (attr < sizeof slots)
		return slots[attr];
	switch (attr) {
	case DW_AT_MIPS_linkage_name: return DW_S_LINKAGE + 1;
	case DW_AT_GNU_dwo_name: return DW_S_DWO_NAME + 1;
	case DW_AT_GNU_dwo_id: return DW_S_DWO_ID + 1;
	case DW_AT_GNU_addr_base: return DW_S_ADDR_BASE + 1;
	case DW_AT_GNU_ranges_base: return DW_S_RANGES_BASE + 1;
	default: return 0;
	}
}

struct dw_cur dw_unit_cur(const struct dw_unit *u, uint64_t info_offset)
{
	const struct image_data *info = &u->file->sect[u->sect];

	return dw_cur(info->bytes, info->size, info_offset < u->die ? u->end : info_offset, u->end);
}

bool dw_die_start(const struct dw_unit *u, struct dw_cur *c, struct dw_die *ret_die)
{
	uint64_t code;

	ret_die->offset = (uint64_t)(c->p - u->file->sect[u->sect].bytes);
	code = dw_uleb(c);
	ret_die->abbrev = code && u->abbrevs ? dw_abbrev(u->abbrevs, code) : NULL;
	if (code && !ret_die->abbrev)
		dw_fail(c);
	return !c->bad;
}

static inline void skip_value(const struct dw_unit *u, struct dw_cur *c, const struct dw_attr *a)
{
	struct dw_val v;

	if (a->size >= 0)
		dw_skip(c, (uint64_t)a->size);
	else if (a->size == DW_SIZE_LEB)
		dw_skip_leb(c);
	else if (a->size == DW_SIZE_BLOCK)
		dw_skip(c, dw_uleb(c));
	else
		dw_form_read(c, u, a->form, a->implicit, &v);
}

bool dw_die_attrs(const struct dw_unit *u, struct dw_cur *c, struct dw_die *d)
{
	const struct dw_attr *a = u->abbrevs->attrs + d->abbrev->first;

	memset(d->v, 0, sizeof d->v);
	for (uint16_t i = 0; i < d->abbrev->nattrs; i++, a++)
		if (a->slot)
			dw_form_read(c, u, a->form, a->implicit, &d->v[a->slot - 1]);
		else
			skip_value(u, c, a);
	return !c->bad;
}

bool dw_die_skip(const struct dw_unit *u, struct dw_cur *c, const struct dw_die *d)
{
	const struct dw_attr *a = u->abbrevs->attrs + d->abbrev->first;

	if (d->abbrev->fixed >= 0) {
		dw_skip(c, (uint64_t)d->abbrev->fixed);
		return !c->bad;
	}
	for (uint16_t i = 0; i < d->abbrev->nattrs; i++, a++)
		skip_value(u, c, a);
	return !c->bad;
}

bool dw_die_read(const struct dw_unit *u, struct dw_cur *c, struct dw_die *ret_die)
{
	if (!dw_die_start(u, c, ret_die))
		return false;
	return ret_die->abbrev && dw_die_attrs(u, c, ret_die);
}

/* ---- values ---- */

static const char *text_at(const struct dw_file *f, enum dw_sect s, uint64_t offset)
{
	struct dw_cur c;
	const char *text;

	if (!f || offset >= f->sect[s].size)
		return NULL;
	c = dw_sect_cur(f, s, offset);
	text = dw_text(&c);
	return c.bad ? NULL : text;
}

const char *dw_val_text(const struct dw_unit *u, const struct dw_val *v)
{
	unsigned width = u->wide ? 8 : 4;
	struct dw_cur c;

	switch (v->form) {
	case DW_FORM_string: return v->s;
	case DW_FORM_strp: return text_at(u->file, DW_STR, v->u);
	case DW_FORM_line_strp: return text_at(u->file, DW_LINE_STR, v->u);
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup: return text_at(u->file->alt, DW_STR, v->u);
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		if (v->u > u->file->sect[DW_STR_OFFSETS].size / width)
			return NULL;
		c = dw_sect_cur(u->file, DW_STR_OFFSETS, u->str_base + v->u * width);
		return text_at(u->file, DW_STR, c.bad ? DW_NONE : dw_uint(&c, width));
	default: return NULL;
	}
}

bool dw_addr_index(const struct dw_unit *u, uint64_t index, uint64_t *ret_addr)
{
	const struct dw_unit *at = u->skeleton ? u->skeleton : u;
	struct dw_cur c;

	if (index > at->file->sect[DW_ADDR].size)
		return false;
	c = dw_sect_cur(at->file, DW_ADDR, at->addr_base + index * u->addr_size);
	*ret_addr = dw_uint(&c, u->addr_size);
	return !c.bad;
}

bool dw_val_addr(const struct dw_unit *u, const struct dw_val *v, uint64_t *ret_addr)
{
	switch (v->form) {
	case DW_FORM_addr: *ret_addr = v->u; return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index: return dw_addr_index(u, v->u, ret_addr);
	default: return false;
	}
}

struct dw_unit *dw_val_ref(const struct dw_unit *u, const struct dw_val *v, uint64_t *ret_offset)
{
	struct dw_file *f = u->file;
	uint64_t offset = v->u;
	struct dw_unit *to;

	switch (v->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		*ret_offset = u->offset + offset;
		return offset < u->end - u->offset ? (struct dw_unit *)u : NULL;
	case DW_FORM_ref_addr: break;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8: f = f->alt; break;
	default: return NULL;
	}
	to = f ? dw_unit_at(f, offset) : NULL;
	if (!to || dw_root(to))
		return NULL;
	*ret_offset = offset;
	return to;
}
