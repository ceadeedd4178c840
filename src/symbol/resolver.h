/*
 * resolver: a thread that turns frames into names, files and lines, and functions into source and
 * assembly.
 *
 * Requests come from the engine; results go to the tables (tables_resolve) or into a reply slot. It
 * owns every Elf and Dwarf handle used for names. Nothing waits for it. Symbol-table names come
 * first (fast), lines and inlines after, so that a second resolution of the same frame may follow.
 */
#ifndef ALTPTTOP_RESOLVER_H
#define ALTPTTOP_RESOLVER_H

#include <stdatomic.h>

#include "err.h"
#include "sink.h"
#include "tables.h"

struct resolver;

struct resolver_config {
	const char *symfs;               /* NULL: / or the target's root */
	bool no_inline;                  /* symbol and line only */
	bool debuginfod;                 /* DEBUGINFOD_URLS is set and downloads are allowed */
	bool live;                       /* /proc/PID files may be opened */
	const char *path_from, *path_to; /* source path substitution, NULL none */
	size_t cache_bytes;              /* cap for indexes kept, 0: 512 MiB */
	const char *debug_dirs;          /* colon-separated, NULL: /usr/lib/debug */
};

struct resolver *resolver_new(struct tables *tables, const struct resolver_config *config,
			      struct err *err);
int resolver_start(struct resolver *r);                 /* start its thread */
void resolver_stop(struct resolver *r);                 /* ask it to end; returns at once */
bool resolver_join(struct resolver *r, int timeout_ms); /* false: still busy */
void resolver_free(struct resolver *r); /* after a successful join, or when never started */

/* Recordings: where it was made. Decides whose kernel names and whose generated code are its. Any
 * thread. */
void resolver_origin(struct resolver *r, const struct raw_origin *o);
/* Recordings: code that the kernel made at run time (a BPF program) lay here. Any thread. */
void resolver_ksymbol(struct resolver *r, uint64_t addr, uint32_t size, const char *name);

/* Ask for names. Copies; drops what does not fit (the engine asks again at the next fold). Any
 * thread. */
void resolver_want(struct resolver *r, const frame_id *frames, uint32_t n);

/* Resolve one frame here and now, on the caller's thread, without a started thread (batch, tests,
 * bench). */
void resolver_now(struct resolver *r, frame_id frame);
/* Ask what tail calls left out between frames of stacks: goes to tables_tail, once for each pair.
 * Pairs come after names and lines. Any thread. */
void resolver_want_tails(struct resolver *r, const struct frame_pair *pairs, uint32_t n);
void resolver_tail_now(struct resolver *r, frame_id caller, frame_id callee);
/* Wait until everything asked so far is answered, at most timeout_ms. False: timed out. */
bool resolver_settle(struct resolver *r, int timeout_ms);
/* What was told of generated code until now is read now: its process may have ended, and told the
 * rest at its end. Any thread, after resolver_settle. */
void resolver_look(struct resolver *r);

/* A function's source and instructions, made by the resolver thread on request. */
struct listing_line {
	uint32_t line;
	const char *text; /* "" when the file has fewer lines */
};
struct listing_insn {
	uint64_t addr; /* frame.addr space */
	uint8_t size;
	bool data;   /* could not be decoded */
	str_id file; /* of its line */
	uint32_t line;
	const char *text;   /* "mov    0x18(%rbx),%rax", "call   0x1234 <foo>" */
	uint64_t target;    /* branch or call target inside the module, 0 none */
	func_id callee;     /* function at a target outside this one, 0 none: to go into */
	str_id inlined;     /* innermost inlined function here, 0: the function itself */
	uint32_t call_line; /* line in the function's own file that the inlining hangs under */
};
struct listing {
	_Atomic unsigned refs;
	func_id func;
	str_id file;    /* main source file, 0: unknown */
	char note[256]; /* "source not found: …", "source is newer than the binary", "" */
	struct listing_line *lines;
	uint32_t nlines; /* from the function's first to its last line, with some around */
	struct listing_insn *insns;
	uint32_t ninsns;
};
/* The newest listing of @func with a reference, or NULL: it is asked for and will come. */
const struct listing *resolver_listing(struct resolver *r, func_id func);
/* The same made here and now, on the caller's thread (batch, tests). NULL: no memory. */
const struct listing *resolver_listing_now(struct resolver *r, func_id func);
void listing_unref(const struct listing *l);

/* Sample-weighted advice is made by the engine; this tells what is known of one module. */
enum module_symbols { SYMBOLS_UNKNOWN, SYMBOLS_NONE, SYMBOLS_DYNAMIC, SYMBOLS_FULL, SYMBOLS_LINES };
enum module_symbols resolver_module(const struct resolver *r, module_id module);
/*
 * Why a module has no names and what would help, as one sentence: "install libfoo6-dbgsym for
 * libfoo.so.6" (dpkg is asked beside, so the answer may come with a later call), or "".
 */
void resolver_advice(struct resolver *r, module_id module, char *ret_text, size_t size);

/* Debug files on their way from DEBUGINFOD_URLS. Any thread. */
struct resolver_download {
	module_id module;   /* 0: none under way */
	uint64_t done, all; /* bytes, all 0: unknown */
	uint32_t waiting;   /* modules after it */
};
void resolver_download(const struct resolver *r, struct resolver_download *ret_download);
void resolver_cancel(struct resolver *r); /* it, and those waiting; they are not tried again */

/* What made no sense in files so far (damaged sections, references that lead nowhere …). */
uint64_t resolver_damage(const struct resolver *r);

#endif
