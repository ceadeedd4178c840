/*
 * inner: what the files of this room share: the unwinder's state, and one walk over one stack.
 */
#ifndef ALTPTTOP_UNWIND_INNER_H
#define ALTPTTOP_UNWIND_INNER_H

#include <string.h>

#include "proc/space.h"
#include "unwind/beyond.h"
#include "unwind/rowcache.h"
#include "unwind/object.h"
#include "unwind/stitch.h"
#include "unwind/unwind.h"

#define FRAMES_MAX  1024
#define EXPR_BUDGET 4096 /* DWARF operations spent on one sample */

/* How a pc was come by; part of the cache key, since it decides look-up address and frame flags. */
enum how {
	HOW_EXACT = 0,
	HOW_RETURN = 1 << 0, /* a return address: the call is one byte before */
	HOW_GUESS = 1 << 1,  /* by a frame-pointer guess */
};

/* One frame that was walked over: what a later frame's wish for an older register needs. */
struct visit {
	uint64_t pc, sp, fp, cfa;
	uint32_t rules;
};

#define ROOT_MEMOS 256
struct root_memo {
	uint32_t key; /* frame and kind of question, 0 none */
	bool yes;
};

#define STITCHED_MEMOS 1024
struct stitched_memo {
	frame_id from, to;
};

#define LEARN_STACKS 20000 /* complete stacks remembered after a cut one */

struct unwinder {
	struct tables *tables;
	struct unwind_config config;
	struct objects *objects;
	struct cache by_pc;   /* (run-time pc, generation of the maps) */
	struct cache by_addr; /* (address in the file, module) */
	struct rules_store *rules;
	uint32_t rules_epoch; /* grows when the store was cleared: older places mean nothing */
	struct row_work *work;
	struct draft draft;
	struct visit *visits;    /* FRAMES_MAX */
	struct foreign *foreign; /* made at the first row that needs it */
	module_id kernel;
	struct root_memo root_memo[ROOT_MEMOS];
	struct stitch *stitch; /* NULL: not wanted */
	struct beyond beyond;
	uint32_t *points; /* FRAMES_MAX, for handing over */
	struct stitched_memo stitched[STITCHED_MEMOS];
	uint32_t learn_left;
	uint32_t superseded;      /* tables_superseded when the caches were filled */
	uint32_t stitched_frames; /* of the current stack */
};

/* One stack being walked. */
struct walk {
	struct unwinder *u;
	struct space *space;
	const struct regs_arch *arch;
	const struct sample_regs *regs; /* of frame number `from` */
	struct sample_regs own; /* filled where a signal or libunwind gave all registers anew */
	const uint8_t *stack;
	uint64_t stack_start, stack_bytes;
	bool stack_whole; /* the dump reached the stack's end */
	uint64_t pc, sp, fp;
	unsigned how;
	uint32_t n;    /* frames so far; visits[n] is the current one */
	uint32_t from; /* older visits say nothing any more */
	uint32_t budget;
	uint32_t epoch; /* of the rules that visits refer to */
};

/* The executable mapping that holds @addr, NULL none: spaces know the stack too. */
static inline const struct mapping *find_code(struct space *space, uint64_t addr)
{
	const struct mapping *m = space_find(space, addr);
	return m && m->flags & MAPPING_EXEC ? m : NULL;
}

/* What is at @pc: from the caches, else made now. NULL: in no mapping (or no memory). */
const struct cache_entry *fill_entry(struct unwinder *u, struct space *space, uint64_t pc,
				     unsigned how);

static inline const struct cache_entry *entry_at(struct unwinder *u, struct space *space,
						 uint64_t generation, uint64_t pc, unsigned how)
{
	const struct cache_entry *e = cache_get(&u->by_pc, pc << 2 | how, generation);
	return e ? e : fill_entry(u, space, pc, how);
}

/*
 * Walk from w->pc, sp, fp: fill frames[0…max), set *ret_n. CUT_NONE when a root was reached. w->n
 * frames' visits are left for the caller.
 */
enum cut_reason walk_run(struct walk *w, frame_id *frames, uint32_t max, uint32_t *ret_n);

/* Memory of the sampled stack: 0, or why the address cannot be read. */
static inline bool walk_read(const struct walk *w, uint64_t addr, uint64_t *ret_value)
{
	uint64_t at = addr - w->stack_start;
	if (at > w->stack_bytes || w->stack_bytes - at < w->arch->word)
		return false;
	if (w->arch->word == 8) {
		memcpy(ret_value, w->stack + at, 8);
	} else {
		uint32_t v;
		memcpy(&v, w->stack + at, 4);
		*ret_value = v;
	}
	return true;
}
enum cut_reason walk_why_unread(const struct walk *w, uint64_t addr);

/* The register's value in frame number @n of the walk. */
bool walk_register(struct walk *w, unsigned reg, uint32_t n, uint64_t *ret_value);

/* One step by the frame pointer, where nothing better is known (guess.c). */
enum cut_reason guess_step(struct walk *w);
/* The same where the caller is on another stack: CUT_DUMP_END when that was not taken. */
enum cut_reason switch_step(struct walk *w);
/* One step out of a signal handler's return whose frame only its instructions tell (guess.c). */
enum cut_reason sigreturn_step(struct walk *w);

#endif
