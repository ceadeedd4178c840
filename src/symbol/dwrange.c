/*
 * dwrange: the code ranges of an entry: low and high pc, .debug_ranges, .debug_rnglists.
 *
 * Linkers leave 0, -1 or -2 where they threw a function away: such ranges are passed over. Inside
 * guards.
 */
#include <dwarf.h>

#include "dw.h"

#define LIST_MAX 1000000 /* entries of one list */

typedef bool each_fn(void *ctx, uint64_t low, uint64_t high);

static bool pass(const struct dw_unit *u, uint64_t low, uint64_t high, each_fn *each, void *ctx)
{
	uint64_t tombstone = u->addr_size < 8 ? 0xfffffffe : UINT64_MAX - 1;

	if (low >= high || low >= tombstone || (!low && u->file->image->type != ET_REL))
		return true;
	return each(ctx, low, high);
}

static bool old_list(const struct dw_unit *u, uint64_t offset, each_fn *each, void *ctx)
{
	const struct dw_unit *at = u->skeleton ? u->skeleton : u;
	struct dw_cur c = dw_sect_cur(at->file, DW_RANGES, offset);
	uint64_t base = at->low_pc, top = u->addr_size < 8 ? UINT32_MAX : UINT64_MAX;

	for (unsigned i = 0; i < LIST_MAX; i++) {
		uint64_t low = dw_uint(&c, u->addr_size), high = dw_uint(&c, u->addr_size);

		if (c.bad || (!low && !high))
			return !c.bad;
		if (low == top)
			base = high;
		else if (low != top - 1 && !pass(u, base + low, base + high, each, ctx))
			return false;
	}
	return false;
}

static bool new_list(const struct dw_unit *u, uint64_t offset, each_fn *each, void *ctx)
{
	struct dw_cur c = dw_sect_cur(u->file, DW_RNGLISTS, offset);
	uint64_t base = u->skeleton ? u->skeleton->low_pc : u->low_pc, low = 0, high = 0;

	for (unsigned i = 0; i < LIST_MAX && !c.bad; i++) {
		bool ok = true;

		switch (dw_u8(&c)) {
		case DW_RLE_end_of_list: return !c.bad;
		case DW_RLE_base_addressx: ok = dw_addr_index(u, dw_uleb(&c), &base); continue;
		case DW_RLE_base_address: base = dw_uint(&c, u->addr_size); continue;
		case DW_RLE_startx_endx:
			ok = dw_addr_index(u, dw_uleb(&c), &low);
			ok &= dw_addr_index(u, dw_uleb(&c), &high);
			break;
		case DW_RLE_startx_length:
			ok = dw_addr_index(u, dw_uleb(&c), &low);
			high = low + dw_uleb(&c);
			break;
		case DW_RLE_offset_pair:
			low = base + dw_uleb(&c);
			high = base + dw_uleb(&c);
			break;
		case DW_RLE_start_end:
			low = dw_uint(&c, u->addr_size);
			high = dw_uint(&c, u->addr_size);
			break;
		case DW_RLE_start_length:
			low = dw_uint(&c, u->addr_size);
			high = low + dw_uleb(&c);
			break;
		default: return false;
		}
		if (!c.bad && ok && !pass(u, low, high, each, ctx))
			return false;
	}
	return false;
}

/* Offset in .debug_rnglists that an index means. */
static bool list_offset(const struct dw_unit *u, uint64_t index, uint64_t *ret_offset)
{
	unsigned width = u->wide ? 8 : 4;
	struct dw_cur c;

	if (u->rnglists_base == DW_NONE || index > u->file->sect[DW_RNGLISTS].size / width)
		return false;
	c = dw_sect_cur(u->file, DW_RNGLISTS, u->rnglists_base + index * width);
	*ret_offset = u->rnglists_base + dw_uint(&c, width);
	return !c.bad;
}

static bool list(const struct dw_unit *u, const struct dw_val *v, each_fn *each, void *ctx)
{
	uint64_t offset = v->u;

	if (u->version < 5) {
		if (u->skeleton) /* GNU split units: relative to what the skeleton says */
			offset += u->skeleton->ranges_base;
		return old_list(u, offset, each, ctx);
	}
	if (v->form == DW_FORM_rnglistx && !list_offset(u, v->u, &offset))
		return false;
	return new_list(u, offset, each, ctx);
}

bool dw_ranges(const struct dw_unit *u, const struct dw_die *d, each_fn *each, void *ctx)
{
	const struct dw_val *high_pc = &d->v[DW_S_HIGH];
	uint64_t low, high;

	if (d->v[DW_S_RANGES].form)
		return list(u, &d->v[DW_S_RANGES], each, ctx);
	if (!d->v[DW_S_LOW].form || !high_pc->form)
		return true;
	if (!dw_val_addr(u, &d->v[DW_S_LOW], &low))
		return false;
	if (!dw_val_addr(u, high_pc, &high))
		high = low + high_pc->u;
	return pass(u, low, high, each, ctx);
}
