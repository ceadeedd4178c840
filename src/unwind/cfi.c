/*
 * cfi: CIEs and FDEs, and the ways to the one that covers an address.
 *
 * An entry is believed only after it was read whole inside the section that holds it and its range
 * covers the address: a search table that lies costs a miss, not a wrong row. The index for
 * sections without a table holds 16 bytes an FDE, and no FDE is shorter. Owned by the source
 * thread.
 */
#include "unwind/cfi.h"

#include <errno.h>
#include <stdlib.h>

#include "unwind/cursor.h"

#define LETTERS_MAX 16 /* of an augmentation: "zPLRSB" is the longest in use */

enum { /* LSB 10.5.1: format and application of an encoded pointer */
       PE_OMIT = 0xff,
       PE_FORMAT = 0x0f,
       PE_APPLY = 0x70,
       PE_INDIRECT = 0x80,
       PE_PCREL = 0x10,
       PE_DATAREL = 0x30,
       PE_ALIGNED = 0x50,
};

/* A run of bytes that holds call frame information, and how it is written. */
struct section {
	const uint8_t *bytes;
	size_t size;
	uint64_t vaddr; /* of bytes[0]; .debug_frame: 0, and offsets count from it */
	bool debug;     /* .debug_frame */
};

struct index_entry {
	uint64_t start;  /* virtual address */
	uint64_t offset; /* of the FDE in its section */
};
struct index {
	struct index_entry *entries;
	size_t len, cap;
	bool built;
};

/* The search table of .eh_frame_hdr, when it is of the one kind that linkers write: 4-byte pairs
 * relative to the header. */
struct table {
	const uint8_t *pairs;
	size_t count;
	uint64_t base; /* address of the header */
};

struct cfi {
	const struct image *image;
	struct section eh, debug;
	struct table table;
	struct index eh_index, debug_index;
	struct image_data debug_data;
	bool ready, debug_ready;
	uint8_t addr_size;
};

static unsigned format_bytes(uint8_t encoding, uint8_t addr_size)
{
	switch (encoding & PE_FORMAT) {
	case 0x0: return addr_size;
	case 0x2:
	case 0xa: return 2;
	case 0x3:
	case 0xb: return 4;
	case 0x4:
	case 0xc: return 8;
	default: return 0;
	}
}

uint64_t cfi_pointer(struct cursor *cur, uint8_t encoding, uint8_t addr_size, uint64_t vaddr,
		     uint64_t data_base)
{
	uint64_t v;
	uint8_t format = encoding & PE_FORMAT;
	unsigned bytes = format_bytes(encoding, addr_size);
	if (encoding == PE_OMIT)
		return 0;
	if ((encoding & PE_APPLY) == PE_ALIGNED) {
		cursor_skip(cur, -vaddr & (addr_size - 1u));
		return cursor_uint(cur, addr_size);
	}
	if (bytes)
		v = format & 0x8 ? (uint64_t)cursor_int(cur, bytes) : cursor_uint(cur, bytes);
	else if (format == 0x1)
		v = cursor_uleb(cur);
	else if (format == 0x9)
		v = (uint64_t)cursor_sleb(cur);
	else
		cur->bad = true, v = 0;
	if ((encoding & PE_APPLY) == PE_PCREL)
		v += vaddr;
	else if ((encoding & PE_APPLY) == PE_DATAREL)
		v += data_base;
	else if (encoding & PE_APPLY || encoding & PE_INDIRECT)
		cur->bad = true; /* text- and function-relative, indirect: not for code ranges */
	return addr_size == 4 ? (uint32_t)v : v;
}

/* One entry's frame: where its body lies and what it points at. */
struct entry {
	size_t body, end; /* offsets in the section: after the id, and after the entry */
	size_t next;
	bool cie;
	bool terminator;
	size_t cie_offset; /* FDE: of its CIE */
};

static int read_entry(const struct section *s, size_t offset, struct entry *ret)
{
	if (offset > s->size)
		return -EBADMSG;
	struct cursor c = cursor_make(s->bytes + offset, s->size - offset);
	unsigned width = 4;
	uint64_t length = cursor_uint(&c, 4);
	if (length == 0xffffffff) {
		width = 8;
		length = cursor_uint(&c, 8);
	}
	*ret = (struct entry){0};
	if (!c.bad && length == 0) {
		ret->terminator = true;
		ret->next = offset + width;
		return 0;
	}
	if (c.bad || length > cursor_left(&c) || length < width)
		return -EBADMSG;
	size_t id_at = (size_t)(c.at - s->bytes);
	uint64_t id = cursor_uint(&c, width);
	ret->body = id_at + width;
	ret->next = ret->end = id_at + (size_t)length;
	if (s->debug) {
		ret->cie = id == (width == 4 ? 0xffffffff : UINT64_MAX);
		ret->cie_offset = (size_t)id;
		return ret->cie || id < s->size ? 0 : -EBADMSG;
	}
	ret->cie = id == 0;
	if (id > id_at)
		return -EBADMSG;
	ret->cie_offset = id_at - (size_t)id;
	return 0;
}

/* Augmentation data (LSB 10.6.1.1.1): "z" first, then a letter each. */
static bool read_augmentation(const struct section *s, struct cursor *c, const char *letters,
			      struct cfi_fde *fde, bool *ret_sized)
{
	*ret_sized = letters[0] == 'z';
	if (!letters[0])
		return true;
	if (!*ret_sized)
		return false; /* "eh" and other forms of the last century */
	uint64_t bytes = cursor_uleb(c);
	if (bytes > cursor_left(c))
		return false;
	const uint8_t *after = c->at + bytes;
	for (const char *l = letters + 1; *l; l++) {
		if (*l == 'R') {
			fde->encoding = cursor_byte(c);
		} else if (*l == 'P') {
			uint8_t encoding = cursor_byte(c);
			uint64_t vaddr = s->vaddr + (uint64_t)(c->at - s->bytes);
			cfi_pointer(c, encoding & (uint8_t) ~(PE_INDIRECT | PE_APPLY),
				    fde->addr_size, vaddr, 0);
		} else if (*l == 'L') {
			cursor_byte(c);
		} else if (*l == 'S') {
			fde->signal = true;
		} else if (*l != 'B' && *l != 'G') {
			break; /* what follows is skipped by the size */
		}
	}
	c->at = after;
	return !c->bad;
}

static int read_cie(const struct section *s, size_t offset, struct cfi_fde *fde, bool *ret_sized)
{
	struct entry e;
	if (read_entry(s, offset, &e) || !e.cie || e.terminator)
		return -EBADMSG;
	struct cursor c = cursor_make(s->bytes + e.body, e.end - e.body);
	uint8_t version = cursor_byte(&c);
	const char *letters = (const char *)c.at;
	if ((version != 1 && version != 3 && version != 4) ||
	    !memchr(c.at, 0, cursor_left(&c) < LETTERS_MAX ? cursor_left(&c) : LETTERS_MAX))
		return -EBADMSG;
	cursor_skip(&c, strlen(letters) + 1);
	if (version == 4) {
		fde->addr_size = cursor_byte(&c);
		uint8_t segment = cursor_byte(&c);
		if (segment || (fde->addr_size != 4 && fde->addr_size != 8))
			return -EBADMSG;
	}
	fde->code_align = cursor_uleb(&c);
	fde->data_align = cursor_sleb(&c);
	uint64_t ra = version == 1 ? cursor_byte(&c) : cursor_uleb(&c);
	fde->ra = ra < UINT32_MAX ? (uint32_t)ra : UINT32_MAX;
	if (!read_augmentation(s, &c, letters, fde, ret_sized) || c.bad)
		return -EBADMSG;
	fde->initial = c.at;
	fde->initial_end = c.end;
	return 0;
}

static int read_fde(const struct cfi *cfi, const struct section *s, size_t offset,
		    struct cfi_fde *ret)
{
	struct entry e;
	bool sized;
	struct cfi_fde fde = {.addr_size = cfi->addr_size};
	if (read_entry(s, offset, &e) || e.cie || e.terminator)
		return -EBADMSG;
	if (read_cie(s, e.cie_offset, &fde, &sized))
		return -EBADMSG;
	struct cursor c = cursor_make(s->bytes + e.body, e.end - e.body);
	uint64_t vaddr = s->vaddr + e.body;
	fde.start = cfi_pointer(&c, fde.encoding, fde.addr_size, vaddr, cfi->table.base);
	uint64_t range = cfi_pointer(&c, fde.encoding & PE_FORMAT, fde.addr_size, 0, 0);
	fde.end = fde.start + range;
	if (sized)
		cursor_skip(&c, cursor_uleb(&c));
	if (c.bad || fde.end < fde.start)
		return -EBADMSG;
	fde.insns = c.at;
	fde.insns_end = c.end;
	fde.insns_vaddr = s->vaddr + (uint64_t)(c.at - s->bytes);
	*ret = fde;
	return 0;
}

static int index_add(struct index *x, uint64_t start, uint64_t offset)
{
	if (x->len == x->cap) {
		size_t cap = x->cap ? x->cap * 2 : 64;
		void *grown = realloc(x->entries, cap * sizeof *x->entries);
		if (!grown)
			return -ENOMEM;
		x->entries = grown;
		x->cap = cap;
	}
	x->entries[x->len++] = (struct index_entry){start, offset};
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct index_entry *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Entries that make no sense are left out; the walk goes on as long as lengths lead on. */
static void index_build(const struct cfi *cfi, const struct section *s, struct index *x)
{
	struct entry e;
	struct cfi_fde fde;
	bool sorted = true;
	x->built = true;
	for (size_t at = 0; at < s->size && read_entry(s, at, &e) == 0; at = e.next) {
		if (e.terminator && !s->debug)
			break;
		if (e.terminator || e.cie || read_fde(cfi, s, at, &fde) || fde.start == fde.end)
			continue;
		/* Functions that the linker dropped lie at 0 in .debug_frame. */
		if (s->debug && fde.start == 0)
			continue;
		sorted = sorted && (!x->len || x->entries[x->len - 1].start <= fde.start);
		if (index_add(x, fde.start, at))
			break;
	}
	if (!sorted)
		qsort(x->entries, x->len, sizeof *x->entries, by_start);
}

static int index_find(const struct cfi *cfi, const struct section *s, const struct index *x,
		      uint64_t vaddr, struct cfi_fde *ret)
{
	size_t lo = 0, hi = x->len;
	while (lo < hi) { /* the last that starts at or before vaddr */
		size_t mid = lo + (hi - lo) / 2;
		if (x->entries[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return -ENOENT;
	int rc = read_fde(cfi, s, x->entries[lo - 1].offset, ret);
	return rc ? rc : vaddr < ret->end && vaddr >= ret->start ? 0 : -ENOENT;
}

/* Set up .eh_frame from its header alone: version, three encodings, two pointers, the table. */
static bool open_header(struct cfi *cfi)
{
	const struct image *i = cfi->image;
	size_t avail;
	const uint8_t *hdr = i->eh_frame_hdr ? image_at(i, i->eh_frame_hdr, 8, &avail) : NULL;
	const struct image_segment *seg = hdr ? image_segment_at(i, i->eh_frame_hdr) : NULL;
	if (!seg || hdr[0] != 1)
		return false;
	if (i->eh_frame_hdr_size && i->eh_frame_hdr_size < avail)
		avail = i->eh_frame_hdr_size;
	struct cursor c = cursor_make(hdr, avail);
	cursor_skip(&c, 4);
	cfi->table.base = i->eh_frame_hdr;
	uint64_t eh = cfi_pointer(&c, hdr[1], cfi->addr_size, i->eh_frame_hdr + 4, i->eh_frame_hdr);
	uint64_t count = 0;
	if (hdr[2] != PE_OMIT)
		count = cfi_pointer(&c, hdr[2], cfi->addr_size,
				    i->eh_frame_hdr + (uint64_t)(c.at - hdr), i->eh_frame_hdr);
	if (c.bad)
		return false;
	size_t eh_avail;
	const uint8_t *bytes = image_at(i, eh, 4, &eh_avail);
	if (!bytes)
		return false;
	cfi->eh = (struct section){bytes, eh_avail, eh, false};
	if (hdr[3] == 0x3b && count <= cursor_left(&c) / 8) {
		cfi->table.pairs = c.at;
		cfi->table.count = (size_t)count;
	}
	return true;
}

static void open_sections(struct cfi *cfi)
{
	cfi->ready = true;
	cfi->addr_size = cfi->image->elf32 ? 4 : 8;
	if (open_header(cfi))
		return;
	const struct image_section *s = image_section(cfi->image, ".eh_frame");
	size_t size;
	const uint8_t *bytes = image_section_bytes(cfi->image, s, &size);
	if (bytes)
		cfi->eh = (struct section){bytes, size, s->addr, false};
}

static int32_t pair_word(const struct table *t, size_t n, unsigned which)
{
	int32_t v;
	memcpy(&v, t->pairs + n * 8 + which * 4, sizeof v);
	return v;
}

static int table_read(const struct cfi *cfi, size_t n, struct cfi_fde *ret)
{
	uint64_t at = cfi->table.base + (uint64_t)(int64_t)pair_word(&cfi->table, n, 1);
	if (at < cfi->eh.vaddr || at - cfi->eh.vaddr >= cfi->eh.size)
		return -EBADMSG;
	return read_fde(cfi, &cfi->eh, (size_t)(at - cfi->eh.vaddr), ret);
}

/* -EAGAIN: an entry of no code, as one block a section leaves. Of several that begin at one place
 * lld's table has the first alone, so that what is not found so may yet be in .eh_frame. */
static int table_find(const struct cfi *cfi, uint64_t vaddr, struct cfi_fde *ret)
{
	int64_t wanted = (int64_t)(vaddr - cfi->table.base);
	size_t lo = 0, hi = cfi->table.count;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (pair_word(&cfi->table, mid, 0) <= wanted)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return -ENOENT;
	int rc = table_read(cfi, lo - 1, ret);
	if (rc == 0 && ret->start == ret->end)
		return -EAGAIN;
	return rc ? rc : vaddr < ret->end && vaddr >= ret->start ? 0 : -ENOENT;
}

static void open_debug(struct cfi *cfi)
{
	cfi->debug_ready = true;
	const struct image_section *s = image_section(cfi->image, ".debug_frame");
	if (!s)
		s = image_section(cfi->image, ".zdebug_frame");
	if (!s || image_section_data(cfi->image, s, &cfi->debug_data))
		return;
	cfi->debug = (struct section){cfi->debug_data.bytes, cfi->debug_data.size, 0, true};
	index_build(cfi, &cfi->debug, &cfi->debug_index);
}

struct cfi *cfi_new(const struct image *image)
{
	struct cfi *c = calloc(1, sizeof *c);
	if (c)
		c->image = image;
	return c;
}

void cfi_free(struct cfi *c)
{
	if (!c)
		return;
	free(c->eh_index.entries);
	free(c->debug_index.entries);
	image_data_fini(&c->debug_data);
	free(c);
}

size_t cfi_bytes(const struct cfi *c)
{
	return sizeof *c + (c->eh_index.cap + c->debug_index.cap) * sizeof(struct index_entry) +
	       (c->debug_data.owned ? c->debug_data.size : 0);
}

static int find_eh(struct cfi *c, uint64_t vaddr, struct cfi_fde *ret)
{
	if (!c->eh.size)
		return -ENOENT;
	int rc = c->table.count ? table_find(c, vaddr, ret) : -EAGAIN;
	if (rc != -EAGAIN)
		return rc;
	if (!c->eh_index.built)
		index_build(c, &c->eh, &c->eh_index);
	return index_find(c, &c->eh, &c->eh_index, vaddr, ret);
}

int cfi_find(struct cfi *c, uint64_t vaddr, struct cfi_fde *ret_fde)
{
	if (!c->ready)
		open_sections(c);
	int rc = find_eh(c, vaddr, ret_fde);
	if (rc == 0)
		return 0;
	if (!c->debug_ready)
		open_debug(c);
	if (!c->debug_index.len)
		return rc;
	return index_find(c, &c->debug, &c->debug_index, vaddr, ret_fde);
}

size_t cfi_count(struct cfi *c)
{
	if (!c->ready)
		open_sections(c);
	if (c->table.count)
		return c->table.count;
	if (c->eh.size && !c->eh_index.built)
		index_build(c, &c->eh, &c->eh_index);
	if (c->eh_index.len)
		return c->eh_index.len;
	if (!c->debug_ready)
		open_debug(c);
	return c->debug_index.len;
}

int cfi_nth(struct cfi *c, size_t n, struct cfi_fde *ret_fde)
{
	if (n >= cfi_count(c))
		return -ENOENT;
	if (c->table.count)
		return table_read(c, n, ret_fde);
	if (c->eh_index.len)
		return read_fde(c, &c->eh, c->eh_index.entries[n].offset, ret_fde);
	return read_fde(c, &c->debug, c->debug_index.entries[n].offset, ret_fde);
}
