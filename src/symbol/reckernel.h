/*
 * reckernel: the kernel that a recording was made on, as a source of names.
 *
 * The recording tells its build id and where its text lay; this machine's own symbols serve when it
 * runs that very kernel (moved by as much as the two boots differ; without a build id, where the
 * machine's name, the release and the place of its text are the same), else perf's copy of them or
 * a vmlinux file with that build id. What does not match is never used. One thread at a time (the
 * resolver's lock).
 */
#ifndef ALTPTTOP_RECKERNEL_H
#define ALTPTTOP_RECKERNEL_H

#include "kernel.h"
#include "program.h"
#include "sink.h"

struct reckernel_made {
	uint64_t start, end;
	str_id name;
};

struct reckernel {
	const struct program_env *here; /* as programs are looked for */
	struct program_env env;         /* for its vmlinux alone */
	struct tables *tables;
	bool same_boot, same_machine;
	uint8_t build_id[32];
	uint8_t build_id_size;
	uint64_t text; /* run-time address of `symbol` in the recording, 0 unknown */
	char symbol[16];
	char release[96];
	struct {
		VEC(struct reckernel_made)
	} made; /* code made at run time, as the records told */
	/* What was found; by the first question. */
	bool chosen;
	struct kernel *kallsyms;              /* NULL: none that fits */
	struct program *vmlinux;              /* NULL: none that fits */
	uint64_t move;                        /* recorded address + move = theirs */
	char why[256];                        /* why there are no names, "" */
	const char *own_notes, *own_kallsyms; /* tests: instead of the running kernel's; NULL */
};

void reckernel_init(struct reckernel *k, struct tables *tables, const struct program_env *here);
void reckernel_fini(struct reckernel *k);

/* What the recording says. True: that is news, and names given before may be wrong. */
bool reckernel_origin(struct reckernel *k, const struct raw_origin *o);

/* Code made at run time lay at [addr, addr + size). */
void reckernel_add(struct reckernel *k, uint64_t addr, uint32_t size, const char *name);

/* By the records, or by kallsyms. False: not named so. */
bool reckernel_find(struct reckernel *k, uint64_t addr, struct kernel_symbol *ret_symbol);
/* The vmlinux file to look in, and the address there; NULL: none. */
struct program *reckernel_file(struct reckernel *k, uint64_t addr, uint64_t *ret_addr);
const char *reckernel_why(const struct reckernel *k); /* why there are no names; "" there are */

#endif
