/* insnbytes: the class of an instruction, from its bytes and from its mnemonic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "import/insnbytes.h"

/* As objdump has them. */
static const struct {
	const char *text;
	enum insn_class kind;
	unsigned len;
} x86[] =
	{
		{"55", INSN_NONE, 1},
		{"48 89 e5", INSN_NONE, 3},
		{"48 8b 05 c3 e8 0f 05", INSN_NONE, 7}, /* bytes of others lie within */
		{"41 5f", INSN_NONE, 2},
		{"f3 0f 1e fa", INSN_NONE, 4}, /* endbr64 */
		{"ff 75 08", INSN_NONE, 3},    /* push */
		{"ff 05 10 00 00 00", INSN_NONE, 6},
		{"e8 f7 00 00 00", INSN_CALL, 5},
		{"67 e8 f7 00 00 00", INSN_CALL, 6},
		{"ff d0", INSN_CALL, 2},
		{"41 ff 54 24 08", INSN_CALL, 5},
		{"ff 15 10 2f 00 00", INSN_CALL, 6},
		{"c3", INSN_RETURN, 1},
		{"f3 c3", INSN_RETURN, 2},
		{"c2 08 00", INSN_RETURN, 3},
		{"48 cf", INSN_RETURN, 2},
		{"48 0f 07", INSN_RETURN, 3},
		{"eb fe", INSN_JMP, 2},
		{"e9 00 01 00 00", INSN_JMP, 5},
		{"f2 ff 25 10 2f 00 00", INSN_JMP, 7},
		{"3e ff e2", INSN_JMP, 3},
		{"74 10", INSN_JCC, 2},
		{"0f 85 10 00 00 00", INSN_JCC, 6},
		{"e3 05", INSN_JCC, 2},
		{"0f 05", INSN_SYSCALL, 2},
		{"cd 80", INSN_SYSCALL, 2},
		{"cc", INSN_SYSCALL, 1},
		{"0f", INSN_NONE, 1}, /* cut off */
		{"ff", INSN_NONE, 1},
		{"callq 0x401100", INSN_CALL, 0},
		{"bnd jmpq *0x10(%rip)", INSN_JMP, 0},
		{"jnz 0x401100", INSN_JCC, 0},
		{"retq", INSN_RETURN, 0},
		{"syscall", INSN_SYSCALL, 0},
		{"movq %rsp, %rbp", INSN_NONE, 0},
		{"", INSN_NONE, 0},
},
  arm64[] = {
	  {"fd 7b bf a9", INSN_NONE, 4},    /* stp x29, x30, [sp, #-16]! */
	  {"e8 03 00 aa", INSN_NONE, 4},    /* mov x8, x0: x86's call */
	  {"10 00 00 94", INSN_CALL, 4},    /* bl */
	  {"00 00 3f d6", INSN_CALL, 4},    /* blr x0 */
	  {"c0 03 5f d6", INSN_RETURN, 4},  /* ret */
	  {"ff 0b 5f d6", INSN_RETURN, 4},  /* retaa */
	  {"e0 03 9f d6", INSN_RETURN, 4},  /* eret */
	  {"04 00 00 14", INSN_JMP, 4},     /* b */
	  {"20 02 1f d6", INSN_JMP, 4},     /* br x17 */
	  {"41 00 00 54", INSN_JCC, 4},     /* b.ne */
	  {"40 00 00 b4", INSN_JCC, 4},     /* cbz x0 */
	  {"40 00 00 37", INSN_JCC, 4},     /* tbnz w0, #0 */
	  {"01 00 00 d4", INSN_SYSCALL, 4}, /* svc #0 */
};

#define CHECK(table, is_arm64) \
	for (size_t i = 0; i < sizeof(table) / sizeof *(table); i++) { \
		unsigned len; \
		enum insn_class kind = insnbytes_class((table)[i].text, strlen((table)[i].text), \
						       is_arm64, &len); \
		if (kind != (table)[i].kind || len != (table)[i].len) \
			fail_msg("%s: class %d for %d, %u bytes for %u", (table)[i].text, kind, \
				 (table)[i].kind, len, (table)[i].len); \
	}

static void test_x86(void **state)
{
	(void)state;
	CHECK(x86, false);
}

static void test_arm64(void **state)
{
	(void)state;
	CHECK(arm64, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86),
		cmocka_unit_test(test_arm64),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
