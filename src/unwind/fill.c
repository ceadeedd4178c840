/*
 * fill: makes a cache entry: which module, which address in its file, which frame, which row.
 *
 * The slow way, taken once per address: by run-time address first, then by address in the file,
 * which survives changed maps and is shared by all processes that map the file. Owned by the source
 * thread.
 */
#include "base/living.h"
#include "unwind/inner.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "unwind/code.h"

#define ENTRY_REACH 64  /* bytes of an entry point's code without CFI */
#define JIT_BEHIND  512 /* bytes of a JIT's code that are read around an instruction */
#define JIT_AHEAD   2048
#define EXIT_REACH  32 /* bytes after a call in which a thread's last system call is looked for */

#ifdef __aarch64__
#define NATIVE_ARCH ARCH_AARCH64
#else
#define NATIVE_ARCH ARCH_X86_64
#endif

/* What is wanted of the image, and what came of it: filled in by a guarded body. */
struct look {
	struct unwinder *u;
	struct object *object;
	uint64_t vaddr; /* to look up */
	bool exact;
	struct draft *draft;
};

static void guess_row(const struct image *i, const struct regs_arch *arch, uint64_t pc, bool exact,
		      struct row *row)
{
	const struct image_segment *s = image_segment_at(i, pc);
	size_t size = 0;
	const uint8_t *code = s ? image_at(i, s->vaddr, 1, &size) : NULL;
	if (code)
		(exact ? code_guess_row : code_guess_caller)(arch->arch, code, size,
							     (size_t)(pc - s->vaddr), row);
}

static void no_cfi(struct look *l, const struct regs_arch *arch)
{
	const struct image *i = l->object->image;
	struct row *row = &l->draft->row;
	uint64_t pc = l->exact ? l->vaddr : l->vaddr + 1;
	size_t size = 0;
	const uint8_t *at = image_at(i, pc, 1, &size);
	row->cfa = ROW_NO_CFI;
	if (l->vaddr >= i->entry && l->vaddr - i->entry < ENTRY_REACH && i->entry)
		row->cfa = ROW_END;
	if (!at)
		return;
	if (code_is_sigreturn(arch->arch, at, size))
		row->cfa = ROW_SIGRETURN;
	else if (!l->exact &&
		 code_exits_thread(arch->arch, at, size < EXIT_REACH ? size : EXIT_REACH))
		row->cfa = ROW_END;
	else
		guess_row(i, arch, pc, l->exact, row);
}

static void look_cfi(struct look *l)
{
	struct cfi_fde fde;
	const struct image *i = l->object->image;
	const struct regs_arch *arch = regs_arch_get(i->arch);
	if (!arch)
		return;
	int rc = cfi_find(l->object->cfi, l->vaddr, &fde);
	/* A signal trampoline is not called: its first instruction may begin the FDE. */
	if (rc && !l->exact && cfi_find(l->object->cfi, l->vaddr + 1, &fde) == 0 && fde.signal)
		rc = 0;
	if (rc == -ENOENT) {
		no_cfi(l, arch);
		return;
	}
	if (rc == 0)
		rc = row_draft(l->u->work, arch, &fde, l->vaddr, l->draft);
	if (rc) { /* damaged: nothing there is to be believed */
		l->draft->row = (struct row){.cfa = ROW_NO_CFI};
		l->draft->n = 0;
		return;
	}
	if (i->executable && i->entry >= fde.start && i->entry < fde.end)
		l->draft->row.cfa = ROW_END;
	/* aarch64: the trampoline's CFI leads to the interrupted function's link register only. */
	size_t size;
	const uint8_t *at = image_at(i, l->exact ? l->vaddr : l->vaddr + 1, 1, &size);
	if (at && arch->arch == ARCH_AARCH64 && code_is_sigreturn(arch->arch, at, size))
		l->draft->row.cfa = ROW_SIGRETURN;
}

/* Is the sampled instruction of a function that changes stacks before it did, or back again? */
static bool still_at_home(const struct look *l)
{
	const struct image *i = l->object->image;
	struct cfi_fde fde;
	size_t size;
	if (!l->exact || cfi_find(l->object->cfi, l->vaddr, &fde))
		return false;
	const uint8_t *at = image_at(i, fde.start, 1, &size);
	return at && size >= l->vaddr - fde.start &&
	       !code_left_stack(i->arch, at, (size_t)(l->vaddr - fde.start));
}

static void look_body(void *ctx)
{
	static const uint8_t rows[] = {
		[GOLANG_ROOT] = ROW_END,
		[GOLANG_SWITCH] = ROW_SWITCH,
	};
	struct look *l = ctx;
	enum golang_role role = golang_role(&l->object->go, l->object->image, l->vaddr);
	struct row *row = &l->draft->row;
	if (role == GOLANG_PLAIN || (role == GOLANG_SWITCH && still_at_home(l))) {
		look_cfi(l);
		return;
	}
	const struct regs_arch *arch = regs_arch_get(l->object->image->arch);
	/* A stripped one, on its way out: without loading sp again. */
	if (role == GOLANG_SWITCH && l->exact && arch)
		guess_row(l->object->image, arch, l->vaddr, true, row);
	if (row->cfa == ROW_NO_CFI)
		row->cfa = rows[role];
}

static struct row make_row(struct unwinder *u, struct object *object, uint64_t vaddr, bool exact)
{
	struct row row = {.cfa = ROW_NO_CFI};
	struct look l = {u, object, vaddr, exact, &u->draft};
	if (!object->cfi)
		return row;
	u->draft.row = row;
	u->draft.n = u->draft.expr_bytes = 0;
	if (image_guarded(object->image, look_body, &l))
		return row; /* the file shrank */
	if (row_finish(u->rules, &u->draft, &row) == 0)
		return row;
	/* The store is full: begin anew. */
	rules_clear(u->rules);
	u->rules_epoch++;
	cache_clear(&u->by_pc);
	cache_clear(&u->by_addr);
	row_finish(u->rules, &u->draft, &row);
	return row;
}

/*
 * Code without a file: whether it made a frame yet is in its bytes, in the process itself. Looked
 * at for sampled instructions only; callers have made theirs.
 */
static struct row jit_row(const struct unwinder *u, const struct space *space,
			  const struct mapping *m, uint64_t pc)
{
	uint8_t code[JIT_BEHIND + JIT_AHEAD];
	struct row row = {.cfa = ROW_NO_CFI};
	uint64_t start = pc - m->start < JIT_BEHIND ? m->start : pc - JIT_BEHIND;
	uint64_t end = m->end - pc < JIT_AHEAD ? m->end : pc + JIT_AHEAD;
	struct iovec to = {code, sizeof code},
		     from = {(void *)(uintptr_t)start, (size_t)(end - start)};
	ssize_t got = -1;
	if (u->config.live)
		got = process_vm_readv(living_thread(space_pid(space)), &to, 1, &from, 1, 0);
	if (got > 0)
		code_guess_row(NATIVE_ARCH, code, (size_t)got, (size_t)(pc - start), &row);
	return row;
}

const struct cache_entry *fill_entry(struct unwinder *u, struct space *space, uint64_t pc,
				     unsigned how)
{
	uint64_t back = how & HOW_RETURN ? 1 : 0, addr = pc - back, offset;
	const struct mapping *m = find_code(space, addr);
	struct object *o = m ? objects_at(u->objects, m, addr, &offset) : NULL;
	if (!o)
		return NULL;
	uint32_t flags = (back ? FRAME_RETURN : 0) | (how & HOW_GUESS ? FRAME_GUESS : 0);
	bool file = o->kind == MODULE_FILE || o->kind == MODULE_VDSO;
	/* In the address space of the file, when that is known; else what is known. */
	uint64_t vaddr = file ? offset : addr;
	bool placed = file && o->image && image_vaddr(o->image, offset, &vaddr);
	if (file && !placed)
		flags |= FRAME_OFFSET;
	uint64_t key = (vaddr + back) << 2 | how;
	const struct cache_entry *known = cache_get(&u->by_addr, key, o->module);
	if (!known) {
		struct row row = {.cfa = ROW_NO_CFI};
		if (placed)
			row = make_row(u, o, vaddr, !back);
		else if (o->kind == MODULE_JIT && !back)
			row = jit_row(u, space, m, pc);
		/* A handler returns to the first instruction of what nobody called. */
		if (row.flags & ROW_SIGNAL || row.cfa == ROW_SIGRETURN ||
		    (o->kind == MODULE_VDSO && !placed))
			flags &= ~(uint32_t)FRAME_RETURN;
		struct frame f = {.module = o->module, .addr = vaddr + back, .flags = flags};
		frame_id frame = tables_frame(u->tables, &f);
		if (o->kind == MODULE_JIT)
			frame = tables_frame_newest(u->tables, frame);
		known = cache_put(&u->by_addr, key, o->module, frame, &row);
	}
	return cache_put(&u->by_pc, pc << 2 | how, space_generation(space), known->frame,
			 &known->row);
}
