/*
 * golang: reads .gopclntab of Go 1.2 and later.
 *
 * Shapes: Go's src/debug/gosym/pclntab.go describes the four versions, told apart by a magic
 * number. The index is sorted by address. Every offset is checked before it is used. Source thread.
 */
#include "unwind/golang.h"

#include <string.h>

struct version {
	uint32_t magic;
	bool relative;  /* the index holds 4-byte offsets from the text's start */
	uint8_t header; /* words of the header before the names' offset; 0: names count from 0 */
};

static const struct version versions[] = {
	{0xfffffffb, false, 0}, /* 1.2 */
	{0xfffffffa, false, 2}, /* 1.16: nfunc, nfiles, names, cu, files, pctab, index */
	{0xfffffff0, true, 3},  /* 1.18: nfunc, nfiles, text, names, … */
	{0xfffffff1, true, 3},  /* 1.20 */
};

static bool read_uint(const struct golang *g, uint64_t at, unsigned bytes, uint64_t *ret_value)
{
	if (at > g->size || g->size - at < bytes)
		return false;
	*ret_value = 0;
	memcpy(ret_value, g->table + at, bytes);
	return true;
}

static bool read_header(struct golang *g, const struct image *image, const struct version *v)
{
	uint64_t names = 0, index = 8 + g->word, text = 0;
	if (!read_uint(g, 8, g->word, &g->nfuncs))
		return false;
	if (v->header && (!read_uint(g, 8 + (uint64_t)v->header * g->word, g->word, &names) ||
			  !read_uint(g, 8 + (v->header + 4ull) * g->word, g->word, &index)))
		return false;
	if (v->relative && !read_uint(g, 8 + 2ull * g->word, g->word, &text))
		return false;
	if (v->relative && !text) { /* newer linkers leave it to the loader */
		const struct image_section *s = image_section(image, ".text");
		text = s ? s->addr : 0;
	}
	g->text = text;
	g->entry_size = v->relative ? 4 : g->word;
	g->names = names;
	g->index = index;
	return names < g->size && index < g->size &&
	       g->nfuncs < (g->size - index) / (2u * g->entry_size);
}

static void look(struct golang *g, const struct image *image)
{
	static const char *const sections[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	uint32_t magic;
	g->looked = true;
	for (size_t k = 0; k < 2 && !g->table; k++)
		g->table = image_section_bytes(image, image_section(image, sections[k]), &g->size);
	if (!g->table || g->size < 16)
		return;
	memcpy(&magic, g->table, sizeof magic);
	g->word = g->table[7];
	if (g->word != 4 && g->word != 8)
		return;
	for (size_t k = 0; k < sizeof versions / sizeof *versions; k++)
		if (versions[k].magic == magic)
			g->found = read_header(g, image, &versions[k]);
}

static uint64_t entry_of(const struct golang *g, uint64_t n)
{
	uint64_t v = 0;
	read_uint(g, g->index + n * 2 * g->entry_size, g->entry_size, &v);
	return v + g->text;
}

static const char *name_at(struct golang *g, const struct image *image, uint64_t vaddr,
			   size_t *ret_room)
{
	uint64_t lo = 0, hi, func, name;
	if (!g->looked)
		look(g, image);
	if (!g->found || !g->nfuncs)
		return NULL;
	for (hi = g->nfuncs; lo < hi;) { /* the last that starts at or before vaddr */
		uint64_t mid = lo + (hi - lo) / 2;
		if (entry_of(g, mid) <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || vaddr >= entry_of(g, g->nfuncs)) /* the entry behind the last: the end */
		return NULL;
	if (!read_uint(g, g->index + (lo - 1) * 2 * g->entry_size + g->entry_size, g->entry_size,
		       &func))
		return NULL;
	/* A function's record: its entry, then the offset of its name. 1.2 counts from the table.
	 */
	func += g->names ? g->index : 0;
	if (func < g->index || !read_uint(g, func + g->entry_size, 4, &name))
		return NULL;
	name += g->names;
	if (name >= g->size)
		return NULL;
	*ret_room = g->size - (size_t)name;
	return (const char *)g->table + name;
}

bool golang_name(struct golang *g, const struct image *image, uint64_t vaddr, char *ret_name,
		 size_t size)
{
	size_t room, n = 0;
	const char *name = name_at(g, image, vaddr, &room);
	if (!name)
		return false;
	for (; n + 1 < size && n < room && name[n]; n++)
		ret_name[n] = name[n];
	ret_name[n] = 0;
	return n > 0;
}

enum golang_role golang_role(struct golang *g, const struct image *image, uint64_t vaddr)
{
	static const struct {
		const char *name;
		enum golang_role role;
	} known[] = {
		{"runtime.goexit", GOLANG_ROOT},
		{"runtime.rt0_go", GOLANG_ROOT},
		{"runtime.mstart", GOLANG_ROOT},
		{"runtime.mcall", GOLANG_ROOT},
		{"runtime.systemstack", GOLANG_SWITCH},
		{"runtime.morestack", GOLANG_SWITCH},
		{"runtime.asmcgocall", GOLANG_SWITCH},
		{"runtime.cgocallback", GOLANG_SWITCH},
		{"runtime.nanotime1", GOLANG_SWITCH},
		{"runtime.walltime", GOLANG_SWITCH},
		{"time.now", GOLANG_SWITCH},
	};
	char name[32];
	if ((g->looked && !g->found) || !golang_name(g, image, vaddr, name, sizeof name))
		return GOLANG_PLAIN;
	char *abi = strstr(name, ".abi0");
	if (abi)
		*abi = 0;
	for (size_t k = 0; k < sizeof known / sizeof *known; k++)
		if (strcmp(known[k].name, name) == 0)
			return known[k].role;
	return GOLANG_PLAIN;
}
