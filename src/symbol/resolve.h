/*
 * resolve: one frame to its names and lines, by the kind of its module.
 *
 * The state behind the resolver: programs, kernel symbols, JIT maps, function ids. One thread at a
 * time (the resolver's lock).
 */
#ifndef ALTPTTOP_RESOLVE_H
#define ALTPTTOP_RESOLVE_H

#include <pthread.h>

#include "base/vec.h"
#include "errand.h"
#include "jitmap.h"
#include "kernel.h"
#include "naming.h"
#include "program.h"
#include "reckernel.h"
#include "resolver.h"

struct module_status {
	uint8_t known; /* enum module_symbols */
	bool package_asked, fetch_asked;
	char why[256];
	char package[128]; /* its debug package, "" unknown */
	char *fetched;     /* where a downloaded debug file is, NULL none */
};

/* Generated code of one process (a MODULE_JIT), and its frames that had no name so far. */
struct jit_module {
	module_id id;
	struct jitmap *map;
	struct {
		VEC(frame_id)
	} unnamed;
	struct {
		VEC(frame_id)
	} named; /* newest at each address: code may be replaced there */
	bool advised;
	bool ended; /* its process: nothing is added any more */
	uint64_t looked_ns;
};

struct resolve {
	struct tables *tables;
	struct resolver_config config;
	struct program_env env;
	struct naming naming;
	struct found found;
	struct kernel *kernel;
	struct reckernel recorded; /* not live: instead of it */
	struct {
		VEC(struct program *) /* by module id */
	} programs;
	struct {
		VEC(struct jit_module)
	} jits;
	struct errands *errands;
	/* Called for each frame of a module whose symbols came late. */
	void (*again)(void *ctx, frame_id frame);
	void *again_ctx;
	size_t cache_bytes;
	uint64_t uses;
	/* What other threads may ask about modules; under its own lock. */
	pthread_mutex_t status_lock;
	struct {
		VEC(struct module_status) /* by module id */
	} status;
};

int resolve_init(struct resolve *r, struct tables *tables, const struct resolver_config *config);
void resolve_fini(struct resolve *r);

/* Is naming this frame dear at first (the kernel's symbols are to be read)? Others go before. */
bool resolve_is_dear(struct resolve *r, frame_id frame);
/* By symbol tables alone. True: lines may follow. */
bool resolve_name(struct resolve *r, frame_id frame);
/* Lines and inlined functions. */
void resolve_lines(struct resolve *r, frame_id frame);

/* What is missing between two frames of a stack because of tail calls, to the tables. */
void resolve_tail(struct resolve *r, frame_id caller, frame_id callee);
/* Where the recording was made. */
void resolve_origin(struct resolve *r, const struct raw_origin *o);

/* Look whether generated code was told of since, or an errand is done; call now and then. */
void resolve_tick(struct resolve *r);
void resolve_look(struct resolve *r); /* the first of both, however short ago it was done */

/* The map of a MODULE_JIT; NULL: no memory. */
struct jit_module *resolve_jit(struct resolve *r, module_id module);
struct program *resolve_program(struct resolve *r, module_id module); /* NULL: no memory */
/* ---- standing.c ---- */

/* A debug file that was downloaded for the module, NULL none; lives as long as the resolver. */
const char *resolve_fetched(struct resolve *r, module_id module);
/* A program without lines, and servers that may have them: asks once for each. */
void resolve_fetch(struct resolve *r, const struct program *p);
void resolve_errands(struct resolve *r); /* take what errands brought */
/* runtimes.c: what lets the runtime of process @pid tell names for the code it generates. */
void runtime_advice(const struct tables *t, pid_t pid, char *ret_text, size_t size);
/* One sentence of advice; asks dpkg beside when it has to. Any thread. */
void resolve_advice(struct resolve *r, module_id module, char *ret_text, size_t size);
void resolve_status(struct resolve *r, module_id module, enum module_symbols known,
		    const char *why);

#endif
