/*
 * jittable: what perf maps and jitdump say, sorted when it is asked.
 *
 * Memory of code is used again for other code, so entries may overlap: the last one written wins.
 * Runs on the resolver thread.
 */
#include "jittable.h"

#include <string.h>

#define ENTRIES_MAX 4000000u
#define TEXT_MAX    (512u << 20)
#define LINES_MAX   8000000u
#define NAME_BYTES  4096 /* longer names are cut */
#define LINE_BYTES  65536
#define BACK_MAX    4096 /* overlapping entries looked at */

void jittable_init(struct jittable *t)
{
	memset(t, 0, sizeof *t);
}

void jittable_fini(struct jittable *t)
{
	vec_fini(&t->entries);
	vec_fini(&t->lines);
	vec_fini(&t->text);
	free(t->reach);
	memset(t, 0, sizeof *t);
}

size_t jittable_bytes(const struct jittable *t)
{
	return t->entries.cap * (sizeof *t->entries.data + sizeof *t->reach) +
	       t->lines.cap * sizeof *t->lines.data + t->text.cap;
}

static int keep_text(struct jittable *t, const char *s, size_t len, uint32_t *ret_offset)
{
	if (len > NAME_BYTES)
		len = NAME_BYTES;
	if (!t->text.len && vec_push(&t->text, '\0'))
		return -ENOMEM;
	t->full |= t->text.len + len + 1 > TEXT_MAX;
	if (t->text.len + len + 1 > TEXT_MAX || vec_reserve(&t->text, t->text.len + len + 1))
		return -ENOMEM;
	*ret_offset = (uint32_t)t->text.len;
	memcpy(t->text.data + t->text.len, s, len);
	t->text.data[t->text.len + len] = '\0';
	t->text.len += len + 1;
	return 0;
}

int jittable_add(struct jittable *t, const struct jit_entry *e, const char *name, size_t len)
{
	struct jit_entry add = *e;

	if (e->end <= e->start) {
		t->refused++;
		return -EINVAL;
	}
	if (t->entries.len >= ENTRIES_MAX) {
		t->full = true;
		return -ENOSPC;
	}
	add.order = (uint32_t)t->entries.len;
	if (keep_text(t, name, len, &add.name))
		return -ENOMEM;
	return vec_push(&t->entries, add);
}

static int by_start(const void *a, const void *b)
{
	const struct jit_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void sort(struct jittable *t)
{
	uint64_t reach = 0, *new_reach;

	if (t->sorted == t->entries.len)
		return;
	new_reach = realloc(t->reach, t->entries.len * sizeof *t->reach);
	if (!new_reach)
		return;
	t->reach = new_reach;
	qsort(t->entries.data, t->entries.len, sizeof *t->entries.data, by_start);
	for (size_t i = 0; i < t->entries.len; i++) {
		if (t->entries.data[i].end > reach)
			reach = t->entries.data[i].end;
		t->reach[i] = reach;
	}
	t->sorted = t->entries.len;
}

bool jittable_line(const struct jittable *t, const struct jit_symbol *s, uint64_t addr,
		   const char **ret_file, uint32_t *ret_line)
{
	const struct jit_line *at = NULL;

	for (uint32_t i = 0; i < s->nlines; i++) {
		const struct jit_line *l = &t->lines.data[s->lines + i];

		if (l->addr > addr)
			break;
		at = l;
	}
	if (!at)
		return false;
	*ret_file = t->text.data + at->file;
	*ret_line = at->line;
	return true;
}

static void fill(const struct jittable *t, const struct jit_entry *e, struct jit_symbol *to)
{
	*to = (struct jit_symbol){.start = e->start,
				  .end = e->end,
				  .code = e->code,
				  .name = t->text.data + e->name,
				  .file = "",
				  .lines = e->lines,
				  .nlines = e->nlines};
}

/* The first entry that begins behind @addr. */
static size_t behind(const struct jittable *t, uint64_t addr)
{
	size_t lo = 0, hi = t->sorted;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->entries.data[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool jittable_find(struct jittable *t, uint64_t addr, struct jit_symbol *ret_symbol)
{
	const struct jit_entry *best = NULL;
	size_t lo;

	sort(t);
	lo = behind(t, addr);
	for (unsigned n = 0; lo && t->reach[lo - 1] > addr && n < BACK_MAX; lo--, n++) {
		const struct jit_entry *e = &t->entries.data[lo - 1];

		if (addr < e->end && (!best || e->order > best->order))
			best = e;
	}
	if (!best)
		return false;
	fill(t, best, ret_symbol);
	(void)jittable_line(t, ret_symbol, addr, &ret_symbol->file, &ret_symbol->line);
	return true;
}

bool jittable_find_named(struct jittable *t, uint64_t start, const char *name,
			 struct jit_symbol *ret_symbol)
{
	const struct jit_entry *best = NULL;
	size_t from = 0, to;

	sort(t);
	to = t->sorted;
	if (start) {
		from = behind(t, start - 1);
		to = behind(t, start);
	}
	for (size_t i = from; i < to; i++) {
		const struct jit_entry *e = &t->entries.data[i];

		if (strcmp(t->text.data + e->name, name) != 0)
			continue;
		bool keeps = best && !start && !e->code != !best->code;

		if (!best || (keeps ? e->code != 0 : e->order > best->order))
			best = e;
	}
	if (best)
		fill(t, best, ret_symbol);
	return best != NULL;
}

/* ---- perf maps ---- */

static bool hex(const char **p, const char *end, uint64_t *ret_value)
{
	const char *s = *p;
	uint64_t v = 0;
	int digits = 0;

	if (end - s > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	for (; s < end && digits <= 16; s++, digits++) {
		int d = *s >= '0' && *s <= '9'   ? *s - '0'
			: *s >= 'a' && *s <= 'f' ? *s - 'a' + 10
			: *s >= 'A' && *s <= 'F' ? *s - 'A' + 10
						 : -1;
		if (d < 0)
			break;
		v = v << 4 | (unsigned)d;
	}
	*p = s;
	*ret_value = v;
	return digits > 0 && digits <= 16;
}

static void map_line(struct jittable *t, const char *p, const char *end)
{
	struct jit_entry e = {0};
	uint64_t size;

	if (end > p && end[-1] == '\r')
		end--;
	if (p == end)
		return;
	if (!hex(&p, end, &e.start) || p == end || *p++ != ' ' || !hex(&p, end, &size) ||
	    p == end || *p++ != ' ' || p == end || memchr(p, '\0', (size_t)(end - p)) ||
	    size > UINT64_MAX - e.start) {
		t->refused++;
		return;
	}
	e.end = e.start + (size ? size : 1);
	(void)jittable_add(t, &e, p, (size_t)(end - p));
}

size_t perfmap_read(struct jittable *t, const char *bytes, size_t size)
{
	size_t used = 0;

	while (used < size) {
		const char *nl = memchr(bytes + used, '\n', size - used);

		if (!nl && size - used < LINE_BYTES)
			break;
		if (!nl) { /* no line is that long */
			t->refused++;
			return size;
		}
		map_line(t, bytes + used, nl);
		used = (size_t)(nl - bytes) + 1;
	}
	return used;
}

/* ---- jitdump ---- */

enum { JIT_CODE_LOAD, JIT_CODE_MOVE, JIT_CODE_DEBUG_INFO, JIT_CODE_CLOSE };
#define JIT_MAGIC      0x4a695444u
#define JIT_HEADER     40
#define JIT_RECORD     16
#define JIT_RECORD_MAX (64u << 20)

static uint32_t u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

static uint64_t u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static bool code_load(struct jittable *t, const uint8_t *p, size_t size, uint64_t at)
{
	struct jit_entry e = {0};
	const uint8_t *name = p + 40, *nul;
	uint64_t code_size;

	if (size < 41 || !(nul = memchr(name, '\0', size - 40)))
		return false;
	e.start = u64(p + 16);
	code_size = u64(p + 24);
	if (code_size > UINT64_MAX - e.start)
		return false;
	e.end = e.start + code_size;
	if (code_size <= size - (size_t)(nul + 1 - p))
		e.code = at + (size_t)(nul + 1 - p);
	if (t->npending && t->pending_addr == e.start) {
		e.lines = t->pending;
		e.nlines = t->npending;
	}
	t->npending = 0;
	return jittable_add(t, &e, (const char *)name, (size_t)(nul - name)) == 0;
}

static bool code_move(struct jittable *t, const uint8_t *p, size_t size)
{
	struct jit_symbol s;
	struct jit_entry e = {0};
	char name[NAME_BYTES + 1];

	if (size < 48 || !jittable_find(t, u64(p + 16), &s) ||
	    u64(p + 32) > UINT64_MAX - u64(p + 24))
		return false;
	e.start = u64(p + 24);
	e.end = e.start + u64(p + 32);
	e.code = s.code;
	strncpy(name, s.name, NAME_BYTES); /* adding may move the text */
	name[NAME_BYTES] = '\0';
	return jittable_add(t, &e, name, strlen(name)) == 0;
}

static bool debug_info(struct jittable *t, const uint8_t *p, size_t size)
{
	uint64_t count;
	uint32_t file = 0;
	size_t at = 16;

	if (size < 16)
		return false;
	t->pending_addr = u64(p);
	count = u64(p + 8);
	t->pending = (uint32_t)t->lines.len;
	t->npending = 0;
	for (uint64_t i = 0; i < count; i++) {
		struct jit_line l;
		const uint8_t *name, *nul;

		t->full |= t->lines.len >= LINES_MAX;
		if (size - at < 17 || t->lines.len >= LINES_MAX)
			return false;
		name = p + at + 16;
		nul = memchr(name, '\0', size - at - 16);
		if (!nul)
			return false;
		/* "\xff": the same file as the line before. */
		if (!(nul == name + 1 && *name == 0xff) &&
		    keep_text(t, (const char *)name, (size_t)(nul - name), &file))
			return false;
		l = (struct jit_line){u64(p + at), u32(p + at + 8), file};
		if (vec_push(&t->lines, l))
			return false;
		t->npending++;
		at = (size_t)(nul + 1 - p);
	}
	return true;
}

static void record(struct jittable *t, const uint8_t *p, size_t size, uint64_t at)
{
	const uint8_t *body = p + JIT_RECORD;
	size_t body_size = size - JIT_RECORD;
	bool ok = true;

	switch (u32(p)) {
	case JIT_CODE_LOAD: ok = code_load(t, body, body_size, at + JIT_RECORD); break;
	case JIT_CODE_MOVE: ok = code_move(t, body, body_size); break;
	case JIT_CODE_DEBUG_INFO: ok = debug_info(t, body, body_size); break;
	default: break; /* closing, unwinding: of no use here */
	}
	t->refused += !ok;
}

size_t jitdump_read(struct jittable *t, const uint8_t *bytes, size_t size)
{
	size_t used = 0;

	if (!t->header_read) {
		uint32_t total;

		if (size < JIT_HEADER)
			return 0;
		total = u32(bytes + 8);
		if (u32(bytes) != JIT_MAGIC || total < JIT_HEADER || total > 4096)
			return SIZE_MAX;
		if (size < total)
			return 0;
		t->header_read = true;
		used = total;
	}
	while (size - used >= JIT_RECORD) {
		uint32_t total = u32(bytes + used + 4);

		if (!total) /* room for a record that is still being written */
			break;
		if (total < JIT_RECORD || total > JIT_RECORD_MAX) {
			t->refused++; /* nothing behind it can be found */
			t->wide_bad = true;
			used = size;
			break;
		}
		if (total > size - used)
			break;
		record(t, bytes + used, total, t->offset + used);
		used += total;
	}
	t->offset += used;
	return used;
}
