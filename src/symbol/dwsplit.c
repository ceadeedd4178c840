/*
 * dwsplit: from a skeleton unit to the unit that has its entries: in a .dwp package, or in a .dwo.
 *
 * A package's index (DWARF 5 section 7.3.5, and GNU's version 2) is a hash of unit ids; a row says
 * which part of each section is the unit's. Whichever file is found, the id must be the skeleton's.
 * Inside guards; the files are opened by the program's finder.
 */
#include <dwarf.h>

#include "dw.h"

/* Sections as the columns of a package index number them. */
enum dw_sect_id { SECT_INFO = 1, SECT_ABBREV = 3, SECT_LINE = 4, SECT_STR_OFFSETS = 6 };
#define SECT_RNGLISTS_5 8

struct contribution {
	uint64_t info, info_size, abbrev, line, str_offsets, rnglists;
};

static struct dw_cur u32_cur(struct dw_file *p, uint64_t from)
{
	return dw_sect_cur(p, DW_CU_INDEX, from);
}

static bool read_row(struct dw_file *p, uint64_t offsets, uint32_t columns, uint32_t units,
		     uint32_t row, struct contribution *ret)
{
	struct dw_cur ids = u32_cur(p, offsets);
	struct dw_cur at = u32_cur(p, offsets + ((uint64_t)row * columns) * 4);
	struct dw_cur size = u32_cur(p, offsets + ((uint64_t)(units + row) * columns) * 4);

	memset(ret, 0, sizeof *ret);
	for (uint32_t i = 0; i < columns; i++) {
		uint64_t id = dw_uint(&ids, 4), offset = dw_uint(&at, 4), n = dw_uint(&size, 4);

		if (id == SECT_INFO) {
			ret->info = offset;
			ret->info_size = n;
		} else if (id == SECT_ABBREV) {
			ret->abbrev = offset;
		} else if (id == SECT_LINE) {
			ret->line = offset;
		} else if (id == SECT_STR_OFFSETS) {
			ret->str_offsets = offset;
		} else if (id == SECT_RNGLISTS_5) {
			ret->rnglists = offset;
		}
	}
	return !ids.bad && !at.bad && !size.bad && ret->info_size;
}

static bool find_row(struct dw_file *p, uint64_t id, struct contribution *ret)
{
	struct dw_cur c = u32_cur(p, 0);
	uint32_t version = (uint32_t)dw_uint(&c, 4), columns, units, slots;
	uint64_t hashes = 16, rows;

	if ((version & 0xffff) != 5 && version != 2)
		return false;
	columns = (uint32_t)dw_uint(&c, 4);
	units = (uint32_t)dw_uint(&c, 4);
	slots = (uint32_t)dw_uint(&c, 4);
	if (c.bad || !slots || slots & (slots - 1) || columns > 16 ||
	    slots > p->sect[DW_CU_INDEX].size / 12)
		return false;
	rows = hashes + (uint64_t)slots * 8;
	for (uint32_t n = 0, at = (uint32_t)id & (slots - 1); n < slots; n++) {
		struct dw_cur h = u32_cur(p, hashes + (uint64_t)at * 8);
		struct dw_cur r = u32_cur(p, rows + (uint64_t)at * 4);
		uint64_t hash = dw_uint(&h, 8);
		uint32_t row = (uint32_t)dw_uint(&r, 4);

		if (!row)
			return false;
		if (hash == id)
			return row <= units &&
			       read_row(p, rows + (uint64_t)slots * 4, columns, units, row, ret);
		at = (at + ((uint32_t)(id >> 32) | 1)) & (slots - 1);
	}
	return false;
}

static struct dw_unit *in_package(struct dw_file *p, const struct dw_unit *skeleton)
{
	struct contribution at;
	struct dw_unit *u;

	if (!find_row(p, skeleton->dwo_id, &at))
		return NULL;
	u = dw_unit_at(p, at.info);
	if (!u || u->offset != at.info || u->root_read)
		return NULL;
	u->abbrev += at.abbrev;
	u->str_base = at.str_offsets;
	u->line_base = at.line;
	u->rnglists_base = at.rnglists;
	return u;
}

static struct dw_unit *in_file(struct dw_file *f, const struct dw_unit *skeleton)
{
	for (size_t i = 0; i < f->units.len; i++) {
		struct dw_unit *u = &f->units.data[i];

		/* Before version 5 the id is in the root entry. */
		if (u->version < 5)
			(void)dw_root(u);
		if (u->dwo_id == skeleton->dwo_id)
			return u;
	}
	return NULL;
}

struct dw_unit *dw_split_unit(struct dw_unit *skeleton)
{
	struct dw_file *f = skeleton->file;
	struct dw_file *dwo = NULL;
	struct dw_unit *u = NULL;

	if (skeleton->split_tried)
		return skeleton->split;
	skeleton->split_tried = true;
	if (!skeleton->dwo_name)
		return NULL;
	if (f->package)
		u = in_package(f->package, skeleton);
	if (!u && f->finder.split && (dwo = f->finder.split(f->finder.ctx, skeleton))) {
		if (vec_push(&f->splits, dwo)) {
			dw_close(dwo);
			return NULL;
		}
		u = dw_scan(dwo) ? NULL : in_file(dwo, skeleton);
	}
	if (!u)
		return NULL;
	u->skeleton = skeleton;
	/* The root may have been read before the skeleton was known: addresses need it. */
	skeleton->split = u;
	return u;
}
