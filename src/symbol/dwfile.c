/*
 * dwfile: the DWARF of one image: its sections, its units, and which unit has which addresses.
 *
 * Addresses come from the root entries (clang writes no .debug_aranges), so opening costs one page
 * a unit. A unit whose root names no range is searched for functions only when an address is found
 * nowhere else. Runs on the resolver thread, inside guards.
 */
#include <dwarf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dw.h"

#define UNITS_MAX    4000000u
#define NAMES_OFFSET 6 /* behind ".debug" */
#define GIVE_BACK    (64u << 20)
#define LARGE_PAGE   (1u << 20) /* what one touch may map */
#define UNPACK_RATIO 100        /* debug sections shrink to a third, seldom to a twentieth */
#define JOIN_RATIO   8          /* of the file: all sections of one name together */

static const char *const names[DW_SECTS] = {
	[DW_INFO] = ".debug_info",
	[DW_ABBREV] = ".debug_abbrev",
	[DW_STR] = ".debug_str",
	[DW_LINE] = ".debug_line",
	[DW_LINE_STR] = ".debug_line_str",
	[DW_RANGES] = ".debug_ranges",
	[DW_RNGLISTS] = ".debug_rnglists",
	[DW_ADDR] = ".debug_addr",
	[DW_STR_OFFSETS] = ".debug_str_offsets",
	[DW_CU_INDEX] = ".debug_cu_index",
	[DW_TYPES] = ".debug_types",
};

static const struct image_section *section(const struct image *image, enum dw_sect s, bool dwo)
{
	const char *plain = names[s] + NAMES_OFFSET;
	const struct image_section *found;
	char name[IMAGE_NAME];

	if (s == DW_CU_INDEX)
		return dwo ? image_section(image, names[s]) : NULL;
	snprintf(name, sizeof name, ".debug%s%s", plain, dwo ? ".dwo" : "");
	found = image_section(image, name);
	if (!found) {
		snprintf(name, sizeof name, ".zdebug%s%s", plain, dwo ? ".dwo" : "");
		found = image_section(image, name);
	}
	return found;
}

struct dw_file *dw_open(const struct image *image, bool dwo, struct dw_cache *cache,
			uint64_t *damage)
{
	struct dw_file *f;

	if (!section(image, DW_INFO, dwo) || !section(image, DW_ABBREV, dwo))
		return NULL;
	f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	f->image = image;
	f->dwo = dwo;
	f->cache = cache;
	f->damage = damage;
	map64_init(&f->tables_by_key);
	return f;
}

void dw_close(struct dw_file *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->splits.len; i++)
		dw_close(f->splits.data[i]);
	vec_fini(&f->splits);
	dw_close(f->package);
	dw_close(f->alt);
	for (size_t i = 0; i < f->units.len; i++) {
		if (f->units.data[i].index)
			dw_index_drop(f->units.data[i].index);
		if (f->units.data[i].scopes)
			dw_scopes_drop(f->units.data[i].scopes);
	}
	dw_types_free(f);
	for (size_t i = 0; i < f->tables.len; i++)
		dw_abbrevs_free(f->tables.data[i]);
	vec_fini(&f->tables);
	vec_fini(&f->units);
	vec_fini(&f->spans);
	free(f->reach);
	map64_fini(&f->tables_by_key);
	for (int i = 0; i < DW_SECTS; i++)
		image_data_fini(&f->sect[i]);
	free(f);
}

size_t dw_bytes(const struct dw_file *f)
{
	size_t bytes = sizeof *f + f->table_bytes + f->units.cap * sizeof *f->units.data +
		       f->spans.cap * (sizeof *f->spans.data + sizeof *f->reach);

	for (int i = 0; i < DW_SECTS; i++)
		bytes += f->sect[i].owned ? f->sect[i].size : 0;
	bytes += f->types.cap * sizeof *f->types.data;
	for (size_t i = 0; i < f->splits.len; i++)
		bytes += dw_bytes(f->splits.data[i]);
	if (f->alt)
		bytes += dw_bytes(f->alt);
	if (f->package)
		bytes += dw_bytes(f->package);
	return bytes;
}

/* A compressed section that claims more than any real one: the file is small, the claim is not. */
static bool is_bomb(const struct image *image, const struct image_section *s)
{
	Elf64_Chdr wide;
	Elf32_Chdr narrow;
	uint64_t size;

	if (!(s->flags & SHF_COMPRESSED))
		return false;
	if (image->elf32) {
		if (image_read(image, s->offset, &narrow, sizeof narrow))
			return true;
		size = narrow.ch_size;
	} else {
		if (image_read(image, s->offset, &wide, sizeof wide))
			return true;
		size = wide.ch_size;
	}
	return size > (1u << 20) && size / UNPACK_RATIO > s->size;
}

/*
 * In a .dwo each type unit may come in a section of its own with the same name as the others: one
 * behind the other they are what a linker would have made of them.
 */
static void load_more(struct dw_file *f, enum dw_sect s, const struct image_section *first)
{
	const struct image_section *end = f->image->sections + f->image->nsections;
	const uint64_t most = (uint64_t)f->image->size * JOIN_RATIO;
	struct image_data *all = &f->sect[s];
	size_t room = all->size;
	uint8_t *grown;

	for (const struct image_section *m = first + 1; m < end; m++) {
		struct image_data more = {0};

		if (strcmp(m->name, first->name) != 0)
			continue;
		if (is_bomb(f->image, m) || image_section_data(f->image, m, &more) ||
		    more.size > most - all->size) {
			image_data_fini(&more);
			++*f->damage;
			return;
		}
		if (!all->owned || more.size > room - all->size) {
			room = all->size * 2 + more.size;
			grown = realloc(all->owned, room);
			if (!grown) {
				image_data_fini(&more);
				return;
			}
			if (!all->owned) { /* borrowed so far: touching it may end this */
				all->owned = grown;
				memcpy(grown, all->bytes, all->size);
			}
			all->owned = grown;
			all->bytes = grown;
		}
		memcpy((uint8_t *)all->owned + all->size, more.bytes, more.size);
		all->size += more.size;
		image_data_fini(&more);
	}
}

static void load_sections(struct dw_file *f)
{
	for (enum dw_sect s = 0; s < DW_SECTS; s++) {
		const struct image_section *from = section(f->image, s, f->dwo);

		if (!from)
			continue;
		if (is_bomb(f->image, from) || image_section_data(f->image, from, &f->sect[s]))
			++*f->damage;
		else if (f->dwo && (s == DW_INFO || s == DW_TYPES))
			load_more(f, s, from);
	}
}

/*
 * Pages of a mapping that were touched count as ours, though the file's cache holds them anyway;
 * with large pages a few touches map all of a gigabyte. What is needed again comes back by itself.
 */
void dw_touched(struct dw_file *f, uint64_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	f->touched += bytes > LARGE_PAGE ? bytes : LARGE_PAGE;
	if (f->touched < GIVE_BACK)
		return;
	f->touched = 0;
	for (enum dw_sect s = 0; s < DW_SECTS; s++) {
		uintptr_t from = ((uintptr_t)f->sect[s].bytes + page - 1) & ~(page - 1);
		uintptr_t to = ((uintptr_t)f->sect[s].bytes + f->sect[s].size) & ~(page - 1);

		/* Only what is mapped from the file: to give back other memory is to lose it. */
		if (!f->sect[s].owned && f->image->map && to > from)
			(void)madvise((void *)from, to - from, MADV_DONTNEED);
	}
}

/* ---- units ---- */

/* A type unit's own fields. */
static void read_type_header(struct dw_cur *c, struct dw_unit *u)
{
	uint64_t type;

	u->signature = dw_uint(c, 8);
	type = dw_uint(c, u->wide ? 8 : 4);
	u->type_die = type < u->end - u->offset ? u->offset + type : u->end;
}

bool dw_header(struct dw_file *f, enum dw_sect sect, struct dw_cur *c, struct dw_unit *u,
	       uint64_t *ret_next)
{
	const uint8_t *info = f->sect[sect].bytes;
	uint64_t length;

	memset(u, 0, sizeof *u);
	u->file = f;
	u->sect = (uint8_t)sect;
	u->offset = (uint64_t)(c->p - info);
	length = dw_length(c, &u->wide);
	if (c->bad || length > (uint64_t)(c->end - c->p))
		return false;
	*ret_next = u->end = (uint64_t)(c->p - info) + length;
	u->version = (uint8_t)dw_uint(c, 2);
	if (u->version >= 5) {
		u->type = dw_u8(c);
		u->addr_size = dw_u8(c);
		u->abbrev = dw_uint(c, u->wide ? 8 : 4);
		if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
			u->dwo_id = dw_uint(c, 8);
		if (u->type == DW_UT_type || u->type == DW_UT_split_type)
			read_type_header(c, u);
	} else {
		u->type = sect == DW_TYPES ? DW_UT_type : DW_UT_compile;
		u->abbrev = dw_uint(c, u->wide ? 8 : 4);
		u->addr_size = dw_u8(c);
		if (sect == DW_TYPES)
			read_type_header(c, u);
	}
	u->die = (uint64_t)(c->p - info);
	u->stmt_list = DW_NONE;
	u->rnglists_base = DW_NONE;
	return !c->bad && u->die <= u->end;
}

static bool wanted(const struct dw_unit *u)
{
	return u->version >= 2 && u->version <= 5 && (u->addr_size == 4 || u->addr_size == 8) &&
	       u->type != DW_UT_type && u->type != DW_UT_split_type;
}

static int read_headers(struct dw_file *f)
{
	struct dw_cur c = dw_sect_cur(f, DW_INFO, 0);

	while (c.p < c.end && f->units.len < UNITS_MAX) {
		struct dw_unit u;
		uint64_t next;

		if (!dw_header(f, DW_INFO, &c, &u, &next)) {
			++*f->damage;
			break;
		}
		if (wanted(&u) && vec_push(&f->units, u))
			return -ENOMEM;
		c = dw_sect_cur(f, DW_INFO, next);
		dw_touched(f, next - u.offset);
	}
	return 0;
}

struct dw_unit *dw_unit_at(struct dw_file *f, uint64_t info_offset)
{
	size_t lo = 0, hi = f->units.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->units.data[mid].offset <= info_offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || info_offset >= f->units.data[lo - 1].end)
		return NULL;
	return &f->units.data[lo - 1];
}

static void take_bases(struct dw_unit *u, const struct dw_die *d)
{
	const unsigned table_header = u->wide ? 16 : 8, list_header = u->wide ? 20 : 12;

	if (u->file->dwo && u->version >= 5) { /* said nowhere: behind the headers */
		u->str_base += table_header;
		u->rnglists_base = (u->rnglists_base == DW_NONE ? 0 : u->rnglists_base) +
				   list_header;
	} else if (!u->file->dwo && u->version >= 5) {
		u->str_base = table_header;
		u->addr_base = table_header;
	}
	if (d->v[DW_S_STR_BASE].form)
		u->str_base = d->v[DW_S_STR_BASE].u;
	if (d->v[DW_S_ADDR_BASE].form)
		u->addr_base = d->v[DW_S_ADDR_BASE].u;
	if (d->v[DW_S_RNGLISTS_BASE].form)
		u->rnglists_base = d->v[DW_S_RNGLISTS_BASE].u;
	if (d->v[DW_S_RANGES_BASE].form)
		u->ranges_base = d->v[DW_S_RANGES_BASE].u;
}

static int read_root(struct dw_unit *u, struct dw_die *d)
{
	struct dw_cur c = dw_unit_cur(u, u->die);

	u->root_read = true;
	u->abbrevs = dw_abbrevs_get(u->file, u);
	if (!u->abbrevs || !dw_die_read(u, &c, d))
		return -EBADMSG;
	take_bases(u, d);
	if (d->v[DW_S_DWO_ID].form)
		u->dwo_id = d->v[DW_S_DWO_ID].u;
	if (!dw_val_addr(u, &d->v[DW_S_LOW], &u->low_pc))
		u->low_pc = 0;
	if (d->v[DW_S_STMT_LIST].form)
		u->stmt_list = d->v[DW_S_STMT_LIST].u + u->line_base;
	u->language = (uint32_t)d->v[DW_S_LANGUAGE].u;
	u->comp_dir = dw_val_text(u, &d->v[DW_S_COMP_DIR]);
	u->dwo_name = dw_val_text(u, &d->v[DW_S_DWO_NAME]);
	return 0;
}

int dw_root(struct dw_unit *u)
{
	struct dw_die d;

	if (!u->root_read && read_root(u, &d)) {
		++*u->file->damage;
		u->refused = true;
		u->abbrevs = NULL;
	}
	return u->abbrevs ? 0 : -EBADMSG;
}

/* ---- ranges of units ---- */

struct span_to {
	struct dw_file *f;
	uint32_t unit;
	bool any;
};

static bool add_span(void *ctx, uint64_t low, uint64_t high)
{
	struct span_to *to = ctx;
	struct dw_span s = {low, high, to->unit};
	struct dw_span *last = to->f->spans.len ? &to->f->spans.data[to->f->spans.len - 1] : NULL;

	to->any = true;
	if (last && last->unit == s.unit && last->high == low) {
		last->high = high;
		return true;
	}
	return !vec_push(&to->f->spans, s);
}

static int by_low(const void *a, const void *b)
{
	const struct dw_span *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high < y->high ? -1 : 1;
	/* Found backwards: where linkers fold equal functions, they keep the first unit's. */
	return (x->unit < y->unit) - (x->unit > y->unit);
}

static int sort_spans(struct dw_file *f)
{
	uint64_t reach = 0;

	if (!f->spans.len)
		return 0;
	qsort(f->spans.data, f->spans.len, sizeof *f->spans.data, by_low);
	free(f->reach);
	f->reach = malloc(f->spans.len * sizeof *f->reach);
	if (!f->reach)
		return -ENOMEM;
	for (size_t i = 0; i < f->spans.len; i++) {
		if (f->spans.data[i].high > reach)
			reach = f->spans.data[i].high;
		f->reach[i] = reach;
	}
	return 0;
}

int dw_scan(struct dw_file *f)
{
	int rc;

	load_sections(f);
	rc = read_headers(f);
	for (size_t i = 0; i < f->units.len && !rc; i++) {
		struct dw_unit *u = &f->units.data[i];
		struct span_to to = {f, (uint32_t)i, false};
		struct dw_die d;

		if (f->dwo || u->type == DW_UT_partial)
			continue; /* read when they are come to */
		if (read_root(u, &d)) {
			++*f->damage;
			u->refused = true;
			u->abbrevs = NULL;
		} else {
			(void)dw_ranges(u, &d, add_span, &to);
		}
		dw_touched(f, u->end - u->offset);
	}
	return rc ? rc : sort_spans(f);
}

/* What old assemblers wrote of several sections: neither ranges nor functions, only lines. */
static void add_sequences(struct dw_unit *u, struct span_to *to)
{
	struct dw_index *i = u->stmt_list == DW_NONE ? NULL : dw_index_get(u);

	for (size_t n = 0; i && n < i->lines.sequences.len; n++)
		if (!add_span(to, i->lines.sequences.data[n].low, i->lines.sequences.data[n].high))
			return;
}

/* Units without a range of their own: take the functions', or the lines'. */
static void rescue(struct dw_file *f)
{
	size_t before = f->spans.len;
	uint8_t *has = calloc(f->units.len + 1, 1);

	f->rescued = true;
	for (size_t i = 0; i < f->spans.len && has; i++)
		has[f->spans.data[i].unit] = 1;
	for (size_t i = 0; i < f->units.len && has; i++) {
		struct dw_unit *u = &f->units.data[i];
		struct span_to to = {f, (uint32_t)i, false};
		struct dw_cur c;
		struct dw_die d;

		if (has[i] || u->refused || !u->abbrevs || u->type == DW_UT_partial)
			continue;
		c = dw_unit_cur(u, u->die);
		while (c.p < c.end && dw_die_start(u, &c, &d)) {
			if (!d.abbrev)
				continue;
			if (d.abbrev->tag != DW_TAG_subprogram || !d.abbrev->has_pc) {
				if (!dw_die_skip(u, &c, &d))
					break;
			} else if (!dw_die_attrs(u, &c, &d) || !dw_ranges(u, &d, add_span, &to)) {
				break;
			}
		}
		if (!to.any)
			add_sequences(u, &to);
	}
	free(has);
	if (f->spans.len > before)
		(void)sort_spans(f);
}

static struct dw_unit *next_span(struct dw_file *f, uint64_t addr, size_t *at)
{
	size_t lo = 0, hi = *at ? *at - 1 : f->spans.len;

	if (!*at) {
		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			if (f->spans.data[mid].low <= addr)
				lo = mid + 1;
			else
				hi = mid;
		}
		hi = lo;
	}
	/* Backwards while some earlier span reaches this far. */
	for (unsigned steps = 0; hi && f->reach[hi - 1] > addr && steps < 100000; hi--, steps++)
		if (f->spans.data[hi - 1].high > addr) {
			*at = hi;
			return &f->units.data[f->spans.data[hi - 1].unit];
		}
	*at = 1;
	return NULL;
}

struct dw_unit *dw_unit_for(struct dw_file *f, uint64_t addr, size_t *at)
{
	struct dw_unit *u = *at == 1 ? NULL : next_span(f, addr, at);

	if (!u && *at == 1 && !f->rescued && f->spans.len < UINT32_MAX) {
		rescue(f);
		*at = 0;
		u = next_span(f, addr, at);
	}
	return u;
}
