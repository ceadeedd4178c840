/*
 * tables: the append-only tables that any thread may read without a lock.
 *
 * An entry is written once, before its id is published (release), and never moves or changes, save
 * the fields marked _Atomic. Readers get pointers that stay good until tables_free. Appends take
 * one internal mutex and so may come from any thread (source, resolver, import); none is held while
 * reading. Every table has a cap; an append beyond it returns id 0 and is counted
 * (tables_overflow). Implemented in src/base/tables.c on src/base/chunk.h and src/base/strtab.h.
 */
#ifndef ALTPTTOP_TABLES_H
#define ALTPTTOP_TABLES_H

#include <stddef.h>
#include <sys/types.h>

#include "frame.h"

struct tables;

struct tables *tables_new(void);
void tables_free(struct tables *t);
uint64_t tables_overflow(const struct tables *t); /* appends refused by a cap */
size_t tables_bytes(const struct tables *t);      /* memory held */

/* Strings: interned bytes, NUL-terminated copy kept. Equal bytes have equal ids. */
str_id tables_str(struct tables *t, const char *s);
str_id tables_strn(struct tables *t, const char *s, size_t len);
const char *tables_text(const struct tables *t, str_id id); /* never NULL: "" for 0 */

struct module {
	enum module_kind kind;
	str_id path; /* as the target's maps name it, without " (deleted)"; "[vdso]", "[kernel]" …
		      */
	str_id name; /* what screens show: the last path component, or as path */
	uint8_t build_id[32];
	uint8_t build_id_size; /* 0: not known when the module was first seen */
	bool deleted;          /* the maps said " (deleted)" */
	bool elf32;            /* recordings: a 32-bit program */
	pid_t pid; /* a process that maps it (for /proc/PID/root, map_files, perf-PID.map); 0: none
		    */
	uint64_t map_start, map_end; /* one executable mapping of it in pid, for map_files */
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	uint64_t base;             /* KERNEL/KMODULE/BPF/JIT/VDSO: run-time start, else 0 */
	uint64_t size;             /* likewise */
	_Atomic uint32_t namesake; /* set by tables_module: the next module of this name, round
				      about; 0: it is the only one */
};

/*
 * Intern by identity: (kind, path, build id when both known, dev, inode; JIT also by pid). Equal
 * identity gives the equal id; @m's str_ids must come from @t.
 */
module_id tables_module(struct tables *t, const struct module *m);
const struct module *tables_module_get(const struct tables *t,
				       module_id id); /* never NULL: a static unknown for 0 */
/* One of the modules of this name, the others follow as its namesakes; 0 none. */
module_id tables_module_named(struct tables *t, str_id name);
uint32_t tables_module_count(const struct tables *t); /* ids are 1 … count */
/*
 * What screens and reports call it: its name, where that is the only one. Programs of one name are
 * told apart by the directory in which their paths differ ("a/prog", "a/…/prog"), different files
 * of one path by a process that maps them ("prog (4242)"). @buf is used if need be. "": no name.
 */
const char *tables_module_label(const struct tables *t, module_id id, char *buf, size_t size);

struct frame {
	module_id module;
	uint32_t flags; /* enum frame_flag */
	uint64_t addr;  /* ELF virtual address in the file (st_value space); run-time address for
			   KERNEL, JIT, … */
	str_id name;    /* FRAME_NAMED only */
	str_id file;    /* FRAME_NAMED only, may be 0 */
	uint32_t line;  /* FRAME_NAMED only, 0 unknown */
};

frame_id tables_frame(struct tables *t, const struct frame *f); /* interned by every field */
const struct frame *tables_frame_get(const struct tables *t, frame_id id);
uint32_t tables_frame_count(const struct tables *t);
/*
 * Generated code was replaced by other code at the same address: from now on samples there are of
 * frame @newer. tables_superseded counts how often that happened; whoever keeps frames by address
 * looks again when it grew, and asks tables_frame_newest.
 */
void tables_frame_supersede(struct tables *t, frame_id frame, frame_id newer);
frame_id tables_frame_newest(const struct tables *t, frame_id frame);
uint32_t tables_superseded(const struct tables *t);

struct func {
	module_id module;
	uint64_t start; /* same space as frame.addr; 0 with a name for FRAME_NAMED and inlined-only
			   functions */
	/* A function without a symbol may get its name later: these change together, once. */
	_Atomic uint32_t flags; /* FUNC_* */
	_Atomic uint64_t size;  /* bytes, 0 unknown */
	_Atomic str_id raw;   /* as the symbol table has it (mangled); "module+0x…" when no symbol
				 covers it */
	_Atomic str_id name;  /* demangled, whole */
	_Atomic str_id shown; /* demangled and folded for the screen */
	/* Where it is declared: 0 until tables_func_declare tells. */
	_Atomic str_id file;
	_Atomic uint32_t line;
};
enum func_flag {
	FUNC_KERNEL = 1 << 0,
	FUNC_NO_SYMBOL = 1 << 1, /* identity is an FDE start or the address itself */
	FUNC_INLINE =
		1 << 2, /* known only as an inlined callee so far (identity: module + raw name) */
	FUNC_SPECIAL = 1 << 3, /* [truncated] and its like */
};

func_id
tables_func(struct tables *t,
	    const struct func *f); /* identity: (module, start) or, start 0, (module, raw) */
const struct func *tables_func_get(const struct tables *t, func_id id);
/* Symbols came late: give the function at @f->start the flags, size and names of @f. Any thread. */
void tables_func_rename(struct tables *t, func_id id, const struct func *f);
/* Tell where it is declared, once that is known (symbol tables do not say). Any thread. */
void tables_func_declare(struct tables *t, func_id id, str_id file, uint32_t line);
uint32_t tables_func_count(const struct tables *t);

/*
 * What the resolver knows of a frame: the chain of functions at its address, innermost inlined
 * first, the function that holds the code last. n is 1 where nothing was inlined.
 */
struct loc_line {
	func_id func;
	str_id file;   /* path as DWARF gives it, 0 unknown */
	uint32_t line; /* 0 unknown; for an outer entry: the call site's line */
	uint32_t column;
};
struct loc {
	uint32_t n;
	struct loc_line lines[];
};

/*
 * Publish what @frame resolves to. A later call replaces an earlier one (late symbols, dlopen'ed
 * debug files); readers see the old or the new. A loc with n = 0 is never published.
 */
void tables_resolve(struct tables *t, frame_id frame, const struct loc_line *lines, uint32_t n);
const struct loc *tables_loc(const struct tables *t, frame_id frame); /* NULL: not resolved yet */
uint64_t
tables_generation(const struct tables *t); /* grows with every tables_resolve: caches compare it */

/*
 * Functions that left no frame between @caller and @callee because they ended in tail calls, as
 * DWARF call sites tell (frames with FRAME_TAILCALL), outermost first. Told once; n = 0: none.
 */
#define TAIL_MAX 8
struct tail_calls {
	frame_id caller, callee;
	uint32_t n;
	frame_id frames[TAIL_MAX];
};
void tables_tail(struct tables *t, const struct tail_calls *tail);
const struct tail_calls *tables_tail_get(const struct tables *t, frame_id caller,
					 frame_id callee); /* NULL: nobody looked yet */
/* May something be missing between these two? If not, nobody need look. */
bool tables_tail_possible(const struct tables *t, frame_id caller, frame_id callee);

/* One life of one thread. */
struct task {
	pid_t pid, tid;      /* tid 0: the process as a whole, or threads too many to tell apart */
	uint64_t born_ns;    /* CLOCK_MONOTONIC when first seen (or the recording's clock) */
	_Atomic str_id comm; /* current name */
	_Atomic uint64_t gone_ns; /* 0 while it lives */
};

task_id tables_task(struct tables *t, pid_t pid, pid_t tid, uint64_t born_ns,
		    str_id comm);                                 /* always a new one */
struct task *tables_task_get(const struct tables *t, task_id id); /* a static unknown for 0 */
uint32_t tables_task_count(const struct tables *t);
/*
 * For each task by id, from 0 to the count: the task that stands for its whole process, or its own
 * id where none does. malloc'ed, NULL: no memory; *ret_n: how many ids it covers.
 */
task_id *tables_processes(const struct tables *t, uint32_t *ret_n);

#endif
