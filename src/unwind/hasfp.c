/*
 * hasfp: whether a module's functions keep frame pointers, by looking at some of their prologues.
 *
 * Functions are taken evenly from the CFI's list; small ones (leaves, stubs) say nothing. Asked
 * when a target is opened, remembered by module. Owned by the source thread.
 */
#include "unwind/inner.h"

#include "unwind/code.h"

#define LOOKED_AT 128 /* functions */
#define SMALL     48  /* bytes of a function that is not counted */
#define MOST      70  /* per cent that make a frame: yes */
#define FEW       40  /* below: no */
#define ENOUGH    4   /* functions without which nothing is said */

struct survey {
	struct object *object;
	unsigned seen, framed;
};

static bool is_stub(const uint8_t *code, size_t size)
{
	return size < 2 || (code[0] == 0xff && (code[1] == 0x35 || code[1] == 0x25));
}

static void survey_body(void *ctx)
{
	struct survey *s = ctx;
	const struct image *i = s->object->image;
	size_t count = cfi_count(s->object->cfi), step = count / LOOKED_AT + 1;
	for (size_t n = 0; n < count; n += step) {
		struct cfi_fde fde;
		size_t avail;
		if (cfi_nth(s->object->cfi, n, &fde) || fde.end - fde.start < SMALL)
			continue;
		const uint8_t *code = image_at(i, fde.start, 1, &avail);
		if (!code || (i->entry >= fde.start && i->entry < fde.end) || is_stub(code, avail))
			continue;
		if (avail > fde.end - fde.start)
			avail = (size_t)(fde.end - fde.start);
		s->seen++;
		s->framed += code_makes_frame(i->arch, code, avail);
	}
}

static int8_t survey(struct object *o)
{
	struct survey s = {o, 0, 0};
	if (!o->cfi || image_guarded(o->image, survey_body, &s) || s.seen < ENOUGH)
		return -1;
	unsigned share = s.framed * 100 / s.seen;
	return share >= MOST ? 1 : share < FEW ? 0 : -1;
}

int unwinder_has_fp(struct unwinder *u, struct space *space, uint64_t addr)
{
	const struct mapping *m = space_find(space, addr);
	struct object *o = m ? objects_get(u->objects, m->module) : NULL;
	if (!o)
		return -1;
	if (o->has_fp == -2)
		o->has_fp = survey(o);
	return o->has_fp;
}
