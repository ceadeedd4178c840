/*
 * root: the less formal ways to know that a stack is whole.
 *
 * Asked only of the outermost frame of a stack that ended otherwise, and remembered, so that what
 * it costs (a scan of a symbol table at most, once a module) is paid by modules in which stacks
 * end. Owned by the source thread.
 */
#include "unwind/root.h"

#include <string.h>

#include "base/rootname.h"
#include "unwind/code.h"

#define SCAN_MAX 8192 /* bytes of a function looked at */

static bool read_symbol(const struct image *i, const uint8_t *at, uint32_t *ret_name,
			uint64_t *ret_value, uint64_t *ret_size)
{
	if (i->elf32) {
		Elf32_Sym s;
		memcpy(&s, at, sizeof s);
		*ret_name = s.st_name;
		*ret_value = s.st_value;
		*ret_size = s.st_size;
		return ELF32_ST_TYPE(s.st_info) <= STT_FUNC && s.st_shndx != SHN_UNDEF;
	}
	Elf64_Sym s;
	memcpy(&s, at, sizeof s);
	*ret_name = s.st_name;
	*ret_value = s.st_value;
	*ret_size = s.st_size;
	return ELF64_ST_TYPE(s.st_info) <= STT_FUNC && s.st_shndx != SHN_UNDEF;
}

static void scan_symbols(struct object *o, const struct image_section *s)
{
	const struct image *i = o->image;
	size_t size, strings_size = 0, step = i->elf32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	const uint8_t *at = image_section_bytes(i, s, &size), *strings = NULL;
	if (at && s->link < i->nsections)
		strings = image_section_bytes(i, &i->sections[s->link], &strings_size);
	if (!strings)
		return;
	for (; size >= step && o->nroots < ROOTS_MAX; at += step, size -= step) {
		uint32_t name;
		uint64_t value, bytes;
		if (!read_symbol(i, at, &name, &value, &bytes) || name >= strings_size)
			continue;
		char first = (char)strings[name];
		if ((first == '_' || first == 'c' || first == 's' || first == 't' ||
		     first == 'r') &&
		    rootname_is((const char *)strings + name,
				strnlen((const char *)strings + name, strings_size - name)))
			o->roots[o->nroots++] = (struct root_range){value,
								    value + (bytes ? bytes : 64)};
	}
}

struct question {
	struct unwinder *u;
	struct object *object;
	uint64_t vaddr;
	bool chain;
	bool yes;
};

static void ask_body(void *ctx)
{
	struct question *q = ctx;
	struct object *o = q->object;
	struct cfi_fde fde;
	size_t avail;
	if (q->chain && cfi_find(o->cfi, q->vaddr, &fde) == 0) {
		const uint8_t *code = image_at(o->image, fde.start, 1, &avail);
		size_t size = fde.end - fde.start < avail ? (size_t)(fde.end - fde.start) : avail;
		if (code && size <= SCAN_MAX && code_exits_thread(o->image->arch, code, size)) {
			q->yes = true;
			return;
		}
	}
	if (!o->roots_ready) {
		o->roots_ready = true;
		scan_symbols(o, image_section(o->image, ".symtab"));
		if (!o->nroots)
			scan_symbols(o, image_section(o->image, ".dynsym"));
	}
	for (unsigned k = 0; k < o->nroots && !q->yes; k++)
		q->yes = q->vaddr >= o->roots[k].start && q->vaddr < o->roots[k].end;
}

bool root_is(struct unwinder *u, frame_id frame, bool chain)
{
	struct root_memo *memo = &u->root_memo[frame % ROOT_MEMOS];
	uint32_t key = frame << 1 | chain;
	if (memo->key == key)
		return memo->yes;
	const struct frame *f = tables_frame_get(u->tables, frame);
	struct question q = {.u = u, .chain = chain};
	q.vaddr = f->addr - (f->flags & FRAME_RETURN ? 1 : 0);
	if (frame >= FRAME_SPECIAL_COUNT && !(f->flags & (FRAME_OFFSET | FRAME_KERNEL)))
		q.object = objects_get(u->objects, f->module);
	if (q.object && q.object->cfi)
		image_guarded(q.object->image, ask_body, &q);
	*memo = (struct root_memo){key, q.yes};
	return q.yes;
}
