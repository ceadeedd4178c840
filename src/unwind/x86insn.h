/*
 * x86insn: the length of an x86-64 instruction and what it does to the stack.
 *
 * Just enough to follow code that has no CFI to where it returns. Pure functions; encodings: Intel
 * SDM volume 2.
 */
#ifndef ALTPTTOP_X86INSN_H
#define ALTPTTOP_X86INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_kind {
	X86_NEXT, /* nothing of interest */
	X86_JUMP, /* to value, from the instruction's end */
	X86_BRANCH,
	X86_CALL, /* comes back, it is supposed */
	X86_RET,
	X86_AWAY, /* to where a register or a word in memory says */
	X86_STOP, /* goes nowhere, or by a table */
	X86_PUSH_FP,
	X86_POP_FP,
	X86_POP,       /* into register value, -1: none */
	X86_FP_IS_SP,  /* mov %rsp,%rbp */
	X86_SP_IS_FP,  /* leave, mov %rbp,%rsp, lea n(%rbp),%rsp */
	X86_PUSH,      /* register value, -1: none */
	X86_PUSH_SLOT, /* what lies at value(%rsp) */
	X86_SP_ADD,    /* sp += value */
	X86_SP_LOST,   /* sp is something else */
	X86_FP_LOADED, /* mov value(%rsp),%rbp */
	X86_FP_STORED, /* mov %rbp,value(%rsp) */
	X86_FP_INTO,   /* lea value(%rsp),%rbp */
	X86_GO_BEGINS, /* room on the stack is looked for: the start of a function of Go's */
	X86_BY_FP,     /* reads or writes n(%rbp) */
};

struct x86_insn {
	uint8_t len;
	uint8_t kind;
	int32_t value;
};

/* False: no instruction that is known here, or not all of it is there. */
bool x86_insn_read(const uint8_t *at, size_t size, struct x86_insn *ret);

#endif
