/*
 * foreign: libunwind behind custom accessors.
 *
 * It asks for memory by run-time address: the stack's is the sample's, everything else is looked
 * for in the files of the modules that this walk touched, through the difference between their
 * run-time and file addresses. Owned by the source thread.
 */
#include "unwind/foreign.h"

#include <libunwind.h>
#include <stdlib.h>

#define ACCESSES_MAX 20000 /* reads for one step, or one stack of foreign_chain */
#define PLACES       8     /* modules remembered with where they lie */

/* Not declared in libunwind's headers, yet exported for this use. */
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
extern int search_unwind_table(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
			       unw_proc_info_t *pi, int need_unwind_info, void *arg);

struct place {
	const struct object *object;
	uint64_t bias; /* run-time address minus address in the file */
};

struct foreign {
	struct unwinder *u;
	struct walk *walk;
	unw_addr_space_t as;
	uint64_t generation;
	uint32_t accesses;
	uint64_t lookup_back;
	struct place places[PLACES];
	unsigned nplaces;
};

static void remember_place(struct foreign *f, const struct object *o, uint64_t bias)
{
	for (unsigned k = 0; k < f->nplaces; k++)
		if (f->places[k].object == o && f->places[k].bias == bias)
			return;
	unsigned at = f->nplaces < PLACES ? f->nplaces++ : PLACES - 1;
	for (; at > 0; at--)
		f->places[at] = f->places[at - 1];
	f->places[0] = (struct place){o, bias};
}

static const struct object *object_at(struct foreign *f, uint64_t pc, uint64_t *ret_bias,
				      const struct mapping **ret_mapping)
{
	const struct mapping *m = space_find(f->walk->space, pc);
	uint64_t offset, vaddr;
	const struct object *o = m ? objects_at(f->u->objects, m, pc, &offset) : NULL;
	if (!o || !o->image)
		return NULL;
	if (!image_vaddr(o->image, offset, &vaddr))
		return NULL;
	*ret_bias = pc - vaddr;
	*ret_mapping = m;
	return o;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need,
			  void *arg)
{
	struct foreign *f = arg;
	uint64_t bias, offset;
	const struct mapping *m;
	uint8_t head[12];
	const struct object *o = object_at(f, ip, &bias, &m);
	if (!o || !o->image->eh_frame_hdr ||
	    !image_offset(o->image, o->image->eh_frame_hdr, &offset) ||
	    image_read(o->image, offset, head, sizeof head))
		return -UNW_ENOINFO;
	if (head[1] != 0x1b || head[2] != 0x03 || head[3] != 0x3b)
		return -UNW_ENOINFO; /* not the table that linkers write */
	uint32_t count;
	memcpy(&count, head + 8, sizeof count);
	remember_place(f, o, bias);
	unw_dyn_info_t di = {
		.format = UNW_INFO_FORMAT_REMOTE_TABLE, .start_ip = m->start, .end_ip = m->end};
	di.u.rti.segbase = o->image->eh_frame_hdr + bias;
	di.u.rti.table_data = di.u.rti.segbase + sizeof head;
	di.u.rti.table_len = (uint64_t)count * 8 / sizeof(unw_word_t);
	return search_unwind_table(as, ip, &di, pi, need, arg);
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as;
	(void)pi;
	(void)arg;
}

static int no_dynamic_info(unw_addr_space_t as, unw_word_t *list, void *arg)
{
	(void)as;
	(void)list;
	(void)arg;
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *value, int write, void *arg)
{
	struct foreign *f = arg;
	uint64_t v, offset;
	(void)as;
	if (write || ++f->accesses > ACCESSES_MAX)
		return -UNW_EINVAL;
	if (walk_read(f->walk, addr, &v)) {
		*value = (unw_word_t)v;
		return 0;
	}
	for (unsigned k = 0; k < f->nplaces; k++) {
		const struct image *i = f->places[k].object->image;
		if (image_offset(i, addr - f->places[k].bias, &offset) &&
		    image_read(i, offset, value, sizeof *value) == 0)
			return 0;
	}
	return -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write,
		      void *arg)
{
	struct foreign *f = arg;
	uint64_t v;
	(void)as;
	if (write || reg < 0 || !walk_register(f->walk, (unsigned)reg, f->walk->n, &v))
		return -UNW_EBADREG;
	*value = (unw_word_t)v;
	if ((unsigned)reg == f->walk->arch->pc)
		*value -= f->lookup_back;
	return 0;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write,
			void *arg)
{
	(void)as;
	(void)reg;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

struct foreign *foreign_new(struct unwinder *u, bool cache)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = no_dynamic_info,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
	};
	struct foreign *f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	f->u = u;
	f->as = unw_create_addr_space(&accessors, 0);
	if (!f->as) {
		free(f);
		return NULL;
	}
	unw_set_caching_policy(f->as, cache ? UNW_CACHE_GLOBAL : UNW_CACHE_NONE);
	return f;
}

void foreign_free(struct foreign *f)
{
	if (!f)
		return;
	unw_destroy_addr_space(f->as);
	free(f);
}

/* Where code lies may have changed since: what libunwind cached by address is void then. */
static void begin(struct foreign *f, struct walk *w)
{
	uint64_t generation = space_generation(w->space);
	if (f->generation != generation) {
		unw_flush_cache(f->as, 0, 0);
		f->nplaces = 0;
		f->generation = generation;
	}
	f->walk = w;
	f->accesses = 0;
}

enum cut_reason foreign_step(struct foreign *f, struct walk *w, bool *ret_end)
{
	unw_cursor_t cursor;
	unw_word_t v;
	*ret_end = false;
	begin(f, w);
	f->lookup_back = w->how & HOW_RETURN ? 1 : 0;
	if (unw_init_remote(&cursor, f->as, f) < 0)
		return CUT_NO_CFI;
	bool signal = unw_is_signal_frame(&cursor) > 0;
	int rc = unw_step(&cursor);
	*ret_end = rc == 0;
	if (rc <= 0)
		return rc == 0 ? CUT_NONE : CUT_NO_CFI;
	struct sample_regs regs = {.arch = w->arch->arch};
	for (unsigned reg = 0; reg < w->arch->count; reg++) {
		if (unw_get_reg(&cursor, (unw_regnum_t)reg, &v) < 0)
			continue;
		regs.r[w->arch->perf[reg]] = v;
		regs.mask |= (uint64_t)1 << w->arch->perf[reg];
	}
	uint64_t pc, sp;
	if (!regs_get(w->arch, &regs, w->arch->pc, &pc) ||
	    !regs_get(w->arch, &regs, w->arch->sp, &sp) || (sp <= w->sp && !signal))
		return CUT_BAD_CFA;
	w->own = regs;
	w->regs = &w->own;
	w->from = w->n + 1;
	w->pc = pc & w->arch->pc_bits;
	w->sp = sp;
	regs_get(w->arch, &regs, w->arch->fp, &w->fp);
	w->how = signal ? HOW_EXACT : HOW_RETURN;
	return CUT_NONE;
}

uint32_t foreign_chain(struct foreign *f, struct walk *w, uint64_t *ret_pcs, uint32_t max,
		       bool *ret_end)
{
	unw_cursor_t cursor;
	unw_word_t ip;
	uint32_t n = 0;
	int rc = 0;
	*ret_end = false;
	w->n = 0;
	w->u->visits[0] = (struct visit){w->pc, w->sp, w->fp, w->sp, 0};
	begin(f, w);
	f->lookup_back = 0;
	if (unw_init_remote(&cursor, f->as, f) < 0)
		return 0;
	do {
		if (n == max || unw_get_reg(&cursor, UNW_REG_IP, &ip) < 0)
			return n;
		if (ip == 0)
			break;
		ret_pcs[n++] = ip;
		rc = unw_step(&cursor);
	} while (rc > 0);
	*ret_end = n > 0 && rc >= 0;
	return n;
}
