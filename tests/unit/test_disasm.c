/* disasm: literal bytes of both architectures, targets, and bytes that are no instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbol/disasm.h"

static void test_x86(void **state)
{
	static const uint8_t call[] = {0xe8, 0x0b, 0x00, 0x00, 0x00},
			     mov[] = {0x48, 0x8b, 0x43, 0x18};
	static const uint8_t rip[] = {0x48, 0x8d, 0x05, 0x00, 0x01, 0x00, 0x00},
			     bad[] = {0x06, 0x06};
	static const uint8_t je[] = {0x74, 0xfe};
	struct disasm *d = disasm_new(ARCH_X86_64);
	struct disasm_insn in;

	(void)state;
	assert_non_null(d);
	assert_true(disasm_one(d, mov, sizeof mov, 0x1000, &in));
	assert_string_equal(in.text, "movq   0x18(%rbx), %rax");
	assert_int_equal(in.size, 4);
	assert_false(in.call || in.jump);
	assert_true(disasm_one(d, call, sizeof call, 0x1000, &in));
	assert_true(in.call);
	assert_int_equal(in.target, 0x1010);
	assert_true(disasm_one(d, je, sizeof je, 0x1000, &in));
	assert_true(in.jump);
	assert_int_equal(in.target, 0x1000);
	assert_true(disasm_one(d, rip, sizeof rip, 0x1000, &in));
	assert_int_equal(in.data, 0x1107);
	assert_false(disasm_one(d, bad, sizeof bad, 0x1000, &in));
	assert_false(disasm_one(d, call, 2, 0x1000, &in));
	disasm_free(d);
}

static void test_arm64(void **state)
{
	static const uint8_t bl[] = {0x04, 0x00, 0x00, 0x94}, bad[] = {0x00, 0x00, 0x00, 0x00};
	static const uint8_t cbz[] = {0x40, 0x00, 0x00, 0xb4};
	struct disasm *d = disasm_new(ARCH_AARCH64);
	struct disasm_insn in;

	(void)state;
	assert_non_null(d);
	assert_int_equal(disasm_step(d), 4);
	assert_true(disasm_one(d, bl, sizeof bl, 0x1000, &in));
	assert_true(in.call);
	assert_int_equal(in.target, 0x1010);
	assert_true(disasm_one(d, cbz, sizeof cbz, 0x1000, &in));
	assert_true(in.jump);
	assert_int_equal(in.target, 0x1008);
	assert_false(disasm_one(d, bad, sizeof bad, 0x1000, &in));
	disasm_free(d);
}

static void test_unknown(void **state)
{
	(void)state;
	assert_null(disasm_new(ARCH_OTHER));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests_name("disasm", tests, NULL, NULL);
}
