/*
 * addrchain: turns chains of addresses into frames, and judges whether they are whole.
 *
 * The first address is where the thread is, the others are return addresses. In the hardware's own
 * call stack the others are the calls themselves. Owned by the source thread.
 */
#include "unwind/addrchain.h"

#include "unwind/root.h"

#define LIKELY_FUNCTION 4096 /* bytes, where nothing tells how long functions are */
#define NEVER_MAPPED    4096 /* no code lies below */
#define AGREE           3 /* frames in which a chain must agree with a walk to be believed beyond it */

struct look {
	struct cfi *cfi;
	uint64_t at, entry;
	bool known, same;
};

static void look_body(void *ctx)
{
	struct look *l = ctx;
	struct cfi_fde fde;
	l->known = cfi_find(l->cfi, l->at, &fde) == 0;
	l->same = l->known && l->entry >= fde.start && l->entry < fde.end;
}

/* Is @pc in the function that was entered at @entry? */
static bool is_still_in(struct unwinder *u, struct space *space, uint64_t pc, uint64_t entry)
{
	struct look l = {0};
	uint64_t pc_offset, entry_offset;
	const struct mapping *m = find_code(space, pc), *n = find_code(space, entry);
	struct object *o = m && n ? objects_at(u->objects, m, pc, &pc_offset) : NULL;
	if (!o || o != objects_at(u->objects, n, entry, &entry_offset))
		return false;
	l.cfi = o->cfi;
	if (o->cfi && image_vaddr(o->image, pc_offset, &l.at) &&
	    image_vaddr(o->image, entry_offset, &l.entry) &&
	    !image_guarded(o->image, look_body, &l) && l.known)
		return l.same;
	return pc >= entry && pc - entry < LIKELY_FUNCTION;
}

enum cut_reason chain_frames(struct unwinder *u, struct space *space, const struct raw_sample *s,
			     frame_id *frames, uint32_t max, uint32_t *ret_n)
{
	uint64_t generation = space_generation(space);
	enum cut_reason why = s->user_is_lbr ? CUT_LBR : CUT_FP_CHAIN;
	uint32_t n = 0;
	for (uint32_t k = 0; k < s->nuser; k++) {
		if (n == max) {
			why = CUT_LIMIT;
			break;
		}
		bool exact = !k || s->user_is_lbr;
		if (s->user_is_lbr && s->lbr_has_pc && k == 1 &&
		    is_still_in(u, space, s->user[0], s->user[1]))
			continue; /* the same frame once more */
		const struct cache_entry *e = entry_at(u, space, generation, s->user[k],
						       exact ? HOW_EXACT : HOW_RETURN);
		if (!e && k > 0) {
			/* Where frame pointers are other values, what they lead to is no address.
			 */
			if (s->user_is_lbr || s->user[k] >= NEVER_MAPPED)
				why = CUT_NO_MODULE;
			break;
		}
		frames[n++] = e ? e->frame : FRAME_UNKNOWN;
		if (e && e->row.cfa == ROW_END) {
			why = CUT_NONE;
			break;
		}
	}
	*ret_n = n;
	if (why != CUT_NONE && why != CUT_LIMIT && n && root_is(u, frames[n - 1], true))
		why = CUT_NONE;
	return why;
}

/* Where in the chain the walk's last frame is, the frames before it agreeing; nuser: nowhere. */
static uint32_t find_last(const struct walk *w, const struct raw_sample *s)
{
	const struct visit *v = w->u->visits;
	uint32_t need = w->n < AGREE ? w->n : AGREE;
	for (uint32_t at = need - 1; at < s->nuser; at++) {
		uint32_t k = 0;
		while (k < need && s->user[at - k] == v[w->n - 1 - k].pc)
			k++;
		if (k == need)
			return at;
	}
	return s->nuser;
}

enum cut_reason chain_continue(struct walk *w, const struct raw_sample *s, frame_id *frames,
			       uint32_t max, uint32_t *ret_n, enum cut_reason why)
{
	struct unwinder *u = w->u;
	uint64_t generation = space_generation(w->space);
	uint32_t n = *ret_n;
	if (w->n < 2 || !s->nuser)
		return why;
	bool end = false;
	for (uint32_t at = find_last(w, s) + 1; at < s->nuser && n < max && !end; at++) {
		const struct cache_entry *e = entry_at(u, w->space, generation, s->user[at],
						       HOW_RETURN | HOW_GUESS);
		if (!e)
			break;
		frames[n++] = e->frame;
		end = e->row.cfa == ROW_END;
	}
	if (n == *ret_n || (!end && !root_is(u, frames[n - 1], true)))
		return why;
	*ret_n = n;
	return CUT_NONE;
}
