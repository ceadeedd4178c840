/*
 * symtab: sorted symbol arrays, built without libdwfl's linear searches.
 *
 * Symbols come from .symtab or .dynsym by the section list, or by PT_DYNAMIC where a file has no
 * sections. Only code counts: functions, and untyped labels in sections that hold code. Of several
 * at one address the best stays. Runs on the resolver thread, inside guards.
 */
#include "symtab.h"

#include <string.h>

#include "base/hash.h"
#include "symsource.h"

#define PLT_SOURCE  SYMTAB_SOURCES
#define BY_NAME_MAX 2000000u /* larger tables are not looked up by name */

void symtab_init(struct symtab *t)
{
	memset(t, 0, sizeof *t);
	strbuf_init(&t->plt);
}

void symtab_fini(struct symtab *t)
{
	for (uint32_t i = 0; i < SYMTAB_SOURCES; i++)
		image_data_fini(&t->strings[i]);
	vec_fini(&t->entries);
	vec_fini(&t->code);
	free(t->spare);
	free(t->by_name);
	strbuf_fini(&t->plt);
	memset(t, 0, sizeof *t);
}

size_t symtab_bytes(const struct symtab *t)
{
	return t->entries.cap * sizeof *t->entries.data + t->code.cap * sizeof *t->code.data +
	       t->plt.cap + (t->by_name ? t->entries.len * sizeof *t->by_name : 0);
}

/* ---- which symbols ---- */

static int note_code(struct symtab *t, const struct image *image, uint64_t slide)
{
	struct symtab_span span;

	if (t->code.len)
		return 0; /* the first image speaks for all */
	for (uint32_t i = 0; i < image->nsections; i++) {
		const struct image_section *s = &image->sections[i];

		if (!(s->flags & SHF_EXECINSTR) || !(s->flags & SHF_ALLOC) ||
		    s->size > UINT64_MAX - s->addr)
			continue;
		span = (struct symtab_span){s->addr + slide, s->addr + s->size + slide};
		if (vec_push(&t->code, span))
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < image->nsegments && !image->nsections; i++) {
		const struct image_segment *s = &image->segments[i];

		if (!(s->flags & PF_X) || s->memsz > UINT64_MAX - s->vaddr)
			continue;
		span = (struct symtab_span){s->vaddr + slide, s->vaddr + s->memsz + slide};
		if (vec_push(&t->code, span))
			return -ENOMEM;
	}
	return 0;
}

static const struct symtab_span *code_at(const struct symtab *t, uint64_t addr)
{
	for (size_t i = 0; i < t->code.len; i++)
		if (addr >= t->code.data[i].start && addr < t->code.data[i].end)
			return &t->code.data[i];
	return NULL;
}

static const char *name_of(const struct symtab *t, const struct symtab_entry *e)
{
	const struct image_data *s = &t->strings[e->source];

	if (e->source == PLT_SOURCE)
		return e->name < t->plt.len ? t->plt.buf + e->name : "";
	if (e->name >= s->size || !memchr(s->bytes + e->name, '\0', s->size - e->name))
		return "";
	return (const char *)s->bytes + e->name;
}

/* `$x`, `$d.42`, `.L17`: marks for tools, not functions. */
static bool is_mark(const char *name)
{
	if (name[0] == '$' && name[1] && strchr("xdat", name[1]))
		return name[2] == '\0' || name[2] == '.';
	return name[0] == '\0' || (name[0] == '.' && name[1] == 'L');
}

/* Global over weak over local, then function over label, then a known size, then plain names. */
static uint8_t rank_of(const struct symsource_sym *s, const char *name)
{
	unsigned bind = s->bind == STB_GLOBAL || s->bind == STB_GNU_UNIQUE ? 2
									   : s->bind == STB_WEAK;
	unsigned underscores = (unsigned)strspn(name, "_");

	return (uint8_t)(bind << 6 | (s->function ? 1 : 0) << 5 | (s->size ? 1 : 0) << 4 |
			 (15 - (underscores > 15 ? 15 : underscores)));
}

int symtab_add(struct symtab *t, const struct image *image, uint64_t slide)
{
	uint8_t source = (uint8_t)t->nsources;
	struct symsource from;
	int rc;

	if (source == SYMTAB_SOURCES)
		return -ENOSPC;
	if ((rc = note_code(t, image, slide)))
		return rc;
	if ((rc = symsource_open(image, &from, &t->strings[source])))
		return rc;
	t->nsources++;
	t->full |= from.full;
	if (vec_reserve(&t->entries, t->entries.len + from.count / 2 + 16))
		return -ENOMEM;
	for (size_t i = 1; i < from.count; i++) {
		struct symsource_sym s;
		struct symtab_entry e = {.source = source};
		const char *name;

		if (!symsource_get(&from, i, &s))
			continue;
		e.start = s.value + slide;
		e.name = s.name;
		e.size = s.size > UINT32_MAX ? UINT32_MAX : (uint32_t)s.size;
		e.function = s.function;
		if (!s.function && !code_at(t, e.start))
			continue;
		name = name_of(t, &e);
		if (is_mark(name))
			continue;
		e.rank = rank_of(&s, name);
		if (vec_push(&t->entries, e))
			return -ENOMEM;
	}
	return 0;
}

static int add_stub(void *ctx, uint64_t addr, uint32_t size, const char *name)
{
	struct symtab *t = ctx;
	struct symtab_entry e = {
		.start = addr, .size = size, .source = PLT_SOURCE, .function = true};

	e.name = (uint32_t)t->plt.len;
	strbuf_printf(&t->plt, "%.*s@plt", (int)strcspn(name, "@"), name);
	strbuf_putc(&t->plt, '\0');
	if (t->plt.failed)
		return -ENOMEM;
	return vec_push(&t->entries, e);
}

int symtab_add_plt(struct symtab *t, const struct image *image)
{
	return symsource_plt(image, &t->spare, add_stub, t);
}

/* ---- sorting ---- */

/* Least significant byte first, eight times at most: a byte that is the same everywhere is free. */
static int radix_sort(struct symtab *t)
{
	size_t n = t->entries.len;
	struct symtab_entry *from = t->entries.data, *to;
	size_t(*count)[256];

	to = t->spare = malloc(n * sizeof *from + 8 * sizeof *count);
	if (!to)
		return -ENOMEM;
	count = (void *)(to + n);
	memset(count, 0, 8 * sizeof *count);
	for (size_t i = 0; i < n; i++)
		for (int b = 0; b < 8; b++)
			count[b][from[i].start >> 8 * b & 0xff]++;
	for (int b = 0; b < 8; b++) {
		size_t at = 0;

		if (count[b][from[0].start >> 8 * b & 0xff] == n)
			continue;
		for (int v = 0; v < 256; v++) {
			size_t c = count[b][v];

			count[b][v] = at;
			at += c;
		}
		for (size_t i = 0; i < n; i++)
			to[count[b][from[i].start >> 8 * b & 0xff]++] = from[i];
		struct symtab_entry *swap = from;
		from = to;
		to = swap;
	}
	if (from != t->entries.data)
		memcpy(t->entries.data, from, n * sizeof *from);
	free(t->spare);
	t->spare = NULL;
	return 0;
}

static bool sorted(const struct symtab *t)
{
	for (size_t i = 1; i < t->entries.len; i++)
		if (t->entries.data[i - 1].start > t->entries.data[i].start)
			return false;
	return true;
}

/* One entry an address, and no sizeless label inside a function: the function covers it. */
static void keep_best(struct symtab *t)
{
	struct symtab_entry *d = t->entries.data;
	size_t kept = 0;
	uint64_t reach = 0; /* highest end so far */

	for (size_t i = 0; i < t->entries.len;) {
		struct symtab_entry best = d[i];
		uint64_t end;

		for (i++; i < t->entries.len && d[i].start == best.start; i++) {
			uint32_t size = d[i].size > best.size ? d[i].size : best.size;

			if (d[i].rank > best.rank)
				best = d[i];
			best.size = size;
		}
		best.inside = best.start < reach;
		if (best.inside && !best.size)
			continue;
		end = best.start + best.size;
		if (end > reach && end >= best.start)
			reach = end;
		d[kept++] = best;
	}
	t->entries.len = kept;
}

int symtab_sort(struct symtab *t)
{
	int rc;

	if (!t->entries.len)
		return 0;
	if (!sorted(t) && (rc = radix_sort(t)))
		return rc;
	keep_best(t);
	return 0;
}

/* ---- looking up ---- */

/* Number of entries that start at or below @addr. */
static size_t upper(const struct symtab *t, uint64_t addr)
{
	size_t lo = 0, hi = t->entries.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->entries.data[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint64_t symtab_next(const struct symtab *t, uint64_t addr)
{
	size_t i = upper(t, addr);

	return i < t->entries.len ? t->entries.data[i].start : UINT64_MAX;
}

static uint64_t end_of(const struct symtab *t, size_t i)
{
	const struct symtab_entry *e = &t->entries.data[i];
	const struct symtab_span *code;
	uint64_t next;

	if (e->size)
		return e->start + e->size < e->start ? UINT64_MAX : e->start + e->size;
	next = i + 1 < t->entries.len ? t->entries.data[i + 1].start : UINT64_MAX;
	code = code_at(t, e->start);
	return code && code->end < next ? code->end : code ? next : e->start;
}

bool symtab_find(const struct symtab *t, uint64_t addr, struct symbol *ret_symbol)
{
	size_t i = upper(t, addr);

	/* Outwards through the symbols that hold this one; so deep only by malice. */
	for (unsigned steps = 0; i-- && steps < 4096; steps++) {
		const struct symtab_entry *e = &t->entries.data[i];
		uint64_t end = end_of(t, i);

		if (addr < end) {
			*ret_symbol = (struct symbol){e->start, end, name_of(t, e)};
			return true;
		}
		if (!e->inside)
			break;
	}
	return false;
}

/* ---- by name ---- */

static uint32_t name_hash(const char *name)
{
	return (uint32_t)hash_bytes(name, strlen(name));
}

static int by_hash(const void *a, const void *b)
{
	const struct symtab_name *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->entry > y->entry) - (x->entry < y->entry);
}

static void index_names(struct symtab *t)
{
	t->by_name_tried = true;
	if (!t->entries.len || t->entries.len > BY_NAME_MAX)
		return;
	t->by_name = malloc(t->entries.len * sizeof *t->by_name);
	for (uint32_t i = 0; t->by_name && i < t->entries.len; i++)
		t->by_name[i] = (struct symtab_name){name_hash(name_of(t, &t->entries.data[i])), i};
	if (t->by_name)
		qsort(t->by_name, t->entries.len, sizeof *t->by_name, by_hash);
}

uint64_t symtab_start_of(struct symtab *t, const char *name)
{
	const struct symtab_entry *best = NULL;
	uint32_t hash = name_hash(name);
	size_t lo = 0, hi = t->entries.len;
	bool several = false;

	if (!t->by_name_tried)
		index_names(t);
	if (!t->by_name)
		return 0;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->by_name[mid].hash < hash)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < t->entries.len && t->by_name[lo].hash == hash; lo++) {
		const struct symtab_entry *e = &t->entries.data[t->by_name[lo].entry];

		if (strcmp(name_of(t, e), name) != 0)
			continue;
		several |= best != NULL;
		if (!best || e->rank > best->rank)
			best = e;
	}
	/* The rank's top bits are the binding: 0 is local. */
	return best && !(several && best->rank >> 6 == 0) ? best->start : 0;
}
