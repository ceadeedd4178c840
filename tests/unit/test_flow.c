/* flow, x86insn: where code without CFI has its return address, told by how it goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "unwind/flow.h"
#include "unwind/x86insn.h"

#define B(text) (const uint8_t *)(text), sizeof(text) - 1

#define PUSH_FP  "\x55"
#define FP_IS_SP "\x48\x89\xe5"
#define SP_IS_FP "\x48\x8b\xe5"
#define POP_FP   "\x5d"
#define RET      "\xc3"
#define INT3     "\xcc"

/* The bytes from sp to the CFA at each instruction; 0: the frame pointer has to tell. */
static int32_t cfa(const uint8_t *code, size_t size, size_t at, int32_t *ret_fp)
{
	struct row row = {.cfa = ROW_NO_CFI};

	if (!flow_row(code, size, at, false, &row))
		return 0;
	assert_int_equal(row.cfa, ROW_SP);
	assert_int_equal(row.ra_off, -8);
	assert_true(row.flags & ROW_GUESSED);
	if (ret_fp)
		*ret_fp = row.flags & ROW_FP_SAVED ? row.fp_off : 0;
	return row.cfa_off;
}

/* Where a call returns to: only what goes straight to its own return has no frame for certain. */
static void straight_behind_a_call(void **state)
{
	static const struct {
		const uint8_t *code;
		size_t size;
		int32_t cfa; /* 0: the frame pointer has to tell */
	} expect[] = {
		{B("\x48\x92" RET), 8},                     /* xchg %rax,%rdx */
		{B("\x48\x83\xc4\x08" RET), 16},            /* add $8,%rsp */
		{B("\x48\x83\xc4\x08\x90" POP_FP RET), 24}, /* saved, but not made */
		{B(SP_IS_FP POP_FP RET), 0},                /* made */
		{B("\x85\xc0\x74\x01" RET RET), 0},         /* je: on two ways */
		{B("\xeb\x00" RET), 0},                     /* jmp */
		{B("\xff\xe0"), 0},                         /* jmp *%rax: a tail call, or a table */
		{B("\x48\x8b\x45\xf8"), 0},                 /* it uses the frame, and is cut off */
	};

	(void)state;
	for (size_t k = 0; k < sizeof expect / sizeof *expect; k++) {
		struct row row = {.cfa = ROW_NO_CFI};
		bool told = flow_row(expect[k].code, expect[k].size, 0, true, &row);
		assert_int_equal(told ? row.cfa_off : 0, expect[k].cfa);
	}
}

/* A leaf that makes a frame only where it has to call: V8's built-ins are made so. */
static void frame_in_one_branch(void **state)
{
	static const char code[] = "\x85\xc0"         /* 0: test %eax,%eax */
				   "\x74\x06"         /* 2: je 10 */
				   "\x48\x8b\x40\x0f" /* 4 */
				   "\x90"             /* 8 */
		RET                                   /* 9 */
			PUSH_FP                       /* 10 */
				FP_IS_SP              /* 11 */
				   "\x50"             /* 14: push %rax */
				   "\xe8\0\0\0\0"     /* 15: call */
				   "\x90"             /* 20 */
		SP_IS_FP                              /* 21 */
			POP_FP                        /* 24 */
				   "\xeb\xe5";        /* 25: jmp 0 */
	static const struct {
		size_t at;
		int32_t cfa;
	} expect[] = {{0, 8},  {2, 8},  {4, 8},  {8, 8},  {9, 8},   {10, 8},
		      {14, 0}, {15, 0}, {20, 0}, {21, 0}, {24, 16}, {25, 8}};

	(void)state;
	for (size_t k = 0; k < sizeof expect / sizeof *expect; k++)
		assert_int_equal(cfa(B(code), expect[k].at, NULL), expect[k].cfa);
}

/* No frame ever, registers saved, rbp among them and used for anything. */
static void no_frame_at_all(void **state)
{
	static const char code[] = "\x41\x54"         /* 0: push %r12 */
		PUSH_FP                               /* 2 */
				   "\x48\x83\xec\x20" /* 3: sub $32,%rsp */
				   "\x48\x31\xed"     /* 7: xor %rbp,%rbp */
				   "\x48\x83\xc4\x20" /* 10: add $32,%rsp */
		POP_FP                                /* 14 */
				   "\x41\x5c"         /* 15: pop %r12 */
		RET;                                  /* 17 */
	int32_t fp;

	(void)state;
	assert_int_equal(cfa(B(code), 0, NULL), 8);
	assert_int_equal(cfa(B(code), 2, NULL), 16);
	assert_int_equal(cfa(B(code), 7, &fp), 8 + 16 + 32);
	assert_int_equal(fp, -24); /* below the return address and r12 */
	assert_int_equal(cfa(B(code), 14, &fp), 24);
	assert_int_equal(fp, -24);
	assert_int_equal(cfa(B(code), 15, &fp), 16);
	assert_int_equal(fp, 0); /* it is what it was again */
	assert_int_equal(cfa(B(code), 17, NULL), 8);
}

/* A JIT's way to drop arguments: the return address is popped, and pushed again higher up. */
static void arguments_dropped(void **state)
{
	static const char code[] = SP_IS_FP            /* 0 */
		POP_FP                                 /* 3 */
		"\x48\x83\xf9\x02\x7f\x03\xc2\x10\0"   /* 4: cmp; jg 13; ret $16 */
		"\x41\x5a"                             /* 13: pop %r10 */
		"\x48\x8d\x24\xcc"                     /* 15: lea (%rsp,%rcx,8),%rsp */
		"\x41\x52" RET;                        /* 19: push %r10; ret */
	static const char other[] = "\xc9"             /* leave */
				    "\x59"             /* 1: pop %rcx */
				    "\x49\x8d\x67\x08" /* 2: lea 8(%r15),%rsp */
				    "\x51" RET;
	/* Or added: it is put on top again, from a register or from where it was. */
	static const char more[] = "\x59"               /* pop %rcx */
				   "\x50\x52"           /* push %rax, %rdx */
				   "\x51"               /* push %rcx */
				   "\xff\x25\0\0\0\0";  /* jmp *slot(%rip) */
	static const char copied[] = "\x50\x52"         /* push %rax, %rdx */
				     "\xff\x74\x24\x10" /* 2: push 16(%rsp) */
				     "\xff\xe1";        /* 6 */
	/* A helper that makes its caller's frame. */
	static const char helper[] = "\x41\x5f" PUSH_FP FP_IS_SP "\x56\x8b\x45\xf0" /* pop %r15 … */
				     "\x41\x57" RET;                                /* push %r15 */
	(void)state;
	assert_int_equal(cfa(B(helper), 0, NULL), 8);
	assert_int_equal(cfa(B(more), 0, NULL), 8);
	assert_int_equal(cfa(B(more), 1, NULL), 0);
	assert_int_equal(cfa(B(copied), 0, NULL), 8);
	assert_int_equal(cfa(B(copied), 2, NULL), 24);
	assert_int_equal(cfa(B(code), 0, NULL), 0);
	assert_int_equal(cfa(B(code), 4, NULL), 8);
	assert_int_equal(cfa(B(code), 13, NULL), 8);
	assert_int_equal(cfa(B(code), 15, NULL), 0); /* in a register now */
	assert_int_equal(cfa(B(code), 19, NULL), 0);
	assert_int_equal(cfa(B(other), 0, NULL), 0);
	assert_int_equal(cfa(B(other), 1, NULL), 8);
}

#define GO_BEGINS "\x49\x3b\x66\x10" /* cmp 16(%r14),%rsp */

/* Go keeps its frame pointer in the middle of what it makes with one subtraction. */
static void frames_of_go(void **state)
{
	static const char code[] = GO_BEGINS /* 0 */
		"\x76\x18"                   /* 4: jbe 30 */
		"\x48\x83\xec\x18"           /* 6: sub $24,%rsp */
		"\x48\x89\x6c\x24\x10"       /* 10: mov %rbp,16(%rsp) */
		"\x48\x8d\x6c\x24\x10"       /* 15: lea 16(%rsp),%rbp */
		"\x48\x8b\x6c\x24\x10"       /* 20: mov 16(%rsp),%rbp */
		"\x48\x83\xc4\x18" RET       /* 25: add $24,%rsp; ret */
		"\xe8\0\0\0\0\xeb\xdb";      /* 30: call morestack; jmp 0 */
	/* The same without its return: a panic, which does not come back. */
	static const char panics[] = GO_BEGINS "\x76\x14\x48\x83\xec\x18"
					       "\x48\x89\x6c\x24\x10\x48\x8d\x6c\x24\x10"
					       "\xe8\0\0\0\0\x90" /* 20: call; nop */
					       "\xe8\0\0\0\0\xeb\xdf";
	int32_t fp;

	(void)state;
	assert_int_equal(cfa(B(code), 0, &fp), 8);
	assert_int_equal(fp, 0);
	assert_int_equal(cfa(B(code), 10, &fp), 32);
	assert_int_equal(fp, 0);
	assert_int_equal(cfa(B(code), 20, &fp), 32);
	assert_int_equal(fp, -16);
	assert_int_equal(cfa(B(code), 25, &fp), 32);
	assert_int_equal(fp, 0);
	assert_int_equal(cfa(B(code), 29, NULL), 8);
	assert_int_equal(cfa(B(panics), 0, NULL), 8);
	assert_int_equal(cfa(B(panics), 6, NULL), 8);
	assert_int_equal(cfa(B(panics), 20, NULL), 0);
	assert_int_equal(cfa(B(panics), 25, NULL), 0);
}

/* Interpreters' handlers jump to the next one; other built-ins tail-call far away. */
static void tail_calls(void **state)
{
	static const char next[] = "\x90\xff\xe1";                  /* jmp *%rcx */
	static const char far[] = "\x48\x83\xc4\x10\xe9\0\0\0\x40"; /* add $16,%rsp; jmp */
	static const char framed[] = "\x74\x02\xff\xe1\xc9" RET;    /* leave on another way */
	static const char used[] = "\x74\x02\xff\xe1\x48\x8b\x45\xf8";

	(void)state;
	assert_int_equal(cfa(B(next), 0, NULL), 8);
	assert_int_equal(cfa(B(far), 0, NULL), 24);
	assert_int_equal(cfa(B(far), 4, NULL), 8);
	assert_int_equal(cfa(B(framed), 0, NULL), 0);
	assert_int_equal(cfa(B(used), 0, NULL), 0);
}

/* What is not told must not be made up. */
static void not_told(void **state)
{
	static const char loop[] = "\x90\xeb\xfd";
	static const char trap[] = "\x90" INT3 PUSH_FP FP_IS_SP; /* the next one's */
	static const char table[] = "\xff\x24\xc2" RET;          /* jmp *(%rdx,%rax,8) */
	static const char local[] = "\x48\x8b\x45\xf8" RET;      /* mov -8(%rbp),%rax */
	static const char either[] = "\x74\x01" RET "\xc9" RET;  /* a frame is left on one way */
	static const char deep[] = "\x50" RET;                   /* push %rax; ret: a jump */
	uint8_t any[64];

	(void)state;
	assert_int_equal(cfa(B(loop), 0, NULL), 0);
	assert_int_equal(cfa(B(trap), 0, NULL), 0);
	assert_int_equal(cfa(B(table), 0, NULL), 0);
	assert_int_equal(cfa(B(local), 0, NULL), 0);
	assert_int_equal(cfa(B(either), 0, NULL), 0);
	assert_int_equal(cfa(B(deep), 0, NULL), 0);
	assert_int_equal(cfa(B(""), 0, NULL), 0);
	for (unsigned seed = 1; seed < 20000; seed++) { /* anything at all ends */
		uint32_t x = seed;
		for (size_t k = 0; k < sizeof any; k++) {
			x = x * 1664525 + 1013904223;
			any[k] = (uint8_t)(x >> 24);
		}
		cfa(any, sizeof any, seed % sizeof any, NULL);
	}
}

static void instructions(void **state)
{
	static const struct {
		const char *bytes;
		uint8_t len, kind;
		int32_t value;
	} known[] = {
		{"\x55", 1, X86_PUSH_FP, 5},
		{"\x41\x55", 2, X86_PUSH, 13},
		{"\x6a\x2c", 2, X86_PUSH, -1},
		{"\xff\x75\xf8", 3, X86_PUSH, -1},
		{"\xff\x74\x24\x10", 4, X86_PUSH_SLOT, 16},
		{"\x5d", 1, X86_POP_FP, 5},
		{"\x41\x5d", 2, X86_POP, 13},
		{"\x48\x89\xe5", 3, X86_FP_IS_SP, 0},
		{"\x48\x8b\xec", 3, X86_FP_IS_SP, 0},
		{"\x49\x89\xe5", 3, X86_NEXT, 0}, /* r13 */
		{"\x48\x89\xec", 3, X86_SP_IS_FP, 0},
		{"\x48\x8b\xe5", 3, X86_SP_IS_FP, 0},
		{"\x49\x8b\xe5", 3, X86_SP_LOST, 0}, /* r13 */
		{"\x48\x8d\x65\xe8", 4, X86_SP_IS_FP, -24},
		{"\x48\x8d\x64\x24\xf8", 5, X86_SP_ADD, -8},
		{"\x48\x8d\x24\xcc", 4, X86_SP_LOST, 0},
		{"\x48\x83\xec\x20", 4, X86_SP_ADD, -32},
		{"\x48\x81\xc4\0\1\0\0", 7, X86_SP_ADD, 256},
		{"\x48\x81\xec\0\0\0\x80", 7, X86_SP_ADD, INT32_MIN},
		{"\x48\x83\xfc\x20", 4, X86_NEXT, 32}, /* cmp */
		{"\x48\x83\xe4\xf0", 4, X86_SP_LOST, -16},
		{"\x48\x8b\x6c\x24\x10", 5, X86_FP_LOADED, 16},
		{"\x48\x89\x6c\x24\x10", 5, X86_FP_STORED, 16},
		{"\x49\x3b\x66\x10", 4, X86_GO_BEGINS, 0},
		{"\x4d\x3b\x66\x10", 4, X86_GO_BEGINS, 0},
		{"\x4c\x8b\x6c\x24\x10", 5, X86_NEXT, 16}, /* r13 */
		{"\x48\x8d\xac\x24\0\1\0\0", 8, X86_FP_INTO, 256},
		{"\x48\x8b\x45\xf8", 4, X86_BY_FP, -8},
		{"\xc5\xfb\x10\x45\xf8", 5, X86_BY_FP, 0},
		{"\xc4\xc1\x7b\x10\x45\xf8", 6, X86_NEXT, 0},      /* by %r13 */
		{"\x62\xf1\xff\x08\x10\x45\x01", 7, X86_BY_FP, 0}, /* EVEX, */
		{"\x62\xd1\xff\x08\x10\x45\x01", 7, X86_NEXT, 0},  /* by %r13 */
		{"\x49\x8b\x45\xf8", 4, X86_NEXT, -8},             /* r13 */
		{"\x0f\x84\x64\0\0\0", 6, X86_BRANCH, 100},
		{"\x75\xfe", 2, X86_BRANCH, -2},
		{"\xe9\xfb\xff\xff\xff", 5, X86_JUMP, -5},
		{"\xff\x10", 2, X86_CALL, 0},
		{"\xff\x25\1\0\0\0", 6, X86_AWAY, 0},
		{"\xff\xe1", 2, X86_AWAY, 0},
		{"\xff\x24\xc2", 3, X86_STOP, 0},
		{"\xc2\x10\0", 3, X86_RET, 16},
		{"\x0f\x0b", 2, X86_STOP, 0},
		{"\x49\xba\1\2\3\4\5\6\7\x8", 10, X86_NEXT, 0}, /* movabs */
		{"\x66\xc7\x45\xf8\1\2", 6, X86_BY_FP, 513},
		{"\xf6\x41\x0d\x02", 4, X86_NEXT, 2},
		{"\xf6\x51\x0d", 3, X86_NEXT, 0}, /* not, without an immediate */
		{"\xc5\xf8\x77", 3, X86_NEXT, 0},
		{"\x8f\xe8\x78\xc2\xec\x0e", 6, X86_NEXT, 14}, /* vprotd */
		{"\x8f\x04\x24", 3, X86_POP, -1},
		{"\xc4\xe3\x7d\x39\xc1\x01", 6, X86_NEXT, 1},
	};

	(void)state;
	for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
		struct x86_insn i;
		const uint8_t *at = (const uint8_t *)known[k].bytes;
		if (!x86_insn_read(at, known[k].len, &i) || i.len != known[k].len ||
		    i.kind != known[k].kind || i.value != known[k].value)
			fail_msg("instruction %zu: length %u, kind %u, value %d", k, i.len, i.kind,
				 i.value);
		assert_false(x86_insn_read(at, known[k].len - 1u, &i)); /* cut */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(straight_behind_a_call),
		cmocka_unit_test(frame_in_one_branch),
		cmocka_unit_test(no_frame_at_all),
		cmocka_unit_test(arguments_dropped),
		cmocka_unit_test(tail_calls),
		cmocka_unit_test(frames_of_go),
		cmocka_unit_test(not_told),
		cmocka_unit_test(instructions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
