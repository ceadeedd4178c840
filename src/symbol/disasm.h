/*
 * disasm: one instruction at a time to text. Owned by one thread at a time.
 */
#ifndef ALTPTTOP_DISASM_H
#define ALTPTTOP_DISASM_H

#include "sample.h"

struct disasm;

struct disasm_insn {
	uint8_t size;
	bool call, jump;
	uint64_t target; /* of a direct call or jump, 0 none */
	uint64_t data;   /* address read or written relative to the instruction, 0 none */
	char text[192];  /* "mov    0x18(%rbx),%rax" */
};

struct disasm *disasm_new(enum arch arch); /* NULL: not an architecture known here */
void disasm_free(struct disasm *d);
unsigned disasm_step(const struct disasm *d); /* smallest instruction, in bytes */

/* Decode what is at @bytes, which runs at @addr. False: no instruction. */
bool disasm_one(struct disasm *d, const uint8_t *bytes, size_t size, uint64_t addr,
		struct disasm_insn *ret_insn);

#endif
