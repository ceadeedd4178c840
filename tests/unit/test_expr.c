/* expr: every operation, and every way to run out of stack, bytes, budget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unwind/expr.h"

static bool reg(void *ctx, unsigned n, uint64_t *ret_value)
{
	(void)ctx;
	*ret_value = 1000 + n;
	return n != 9;
}

static bool read_memory(void *ctx, uint64_t addr, unsigned bytes, uint64_t *ret_value)
{
	(void)ctx;
	*ret_value = addr * 2 + bytes;
	return addr != 666;
}

static bool run(const char *bytes, size_t n, uint8_t word, const uint64_t *initial, uint64_t *ret)
{
	uint32_t budget = 200;
	struct expr_env env = {reg, read_memory, NULL, word, &budget};
	return expr_eval((const uint8_t *)bytes, n, &env, initial, ret);
}

#define GIVES(value, text) \
	do { \
		uint64_t v_ = 0; \
		assert_true(run(text, sizeof(text) - 1, 8, NULL, &v_)); \
		assert_int_equal(v_, value); \
	} while (0)
#define FAILS(text) \
	do { \
		uint64_t v_ = 7; \
		assert_false(run(text, sizeof(text) - 1, 8, NULL, &v_)); \
		assert_int_equal(v_, 7); \
	} while (0)

static void constants(void **state)
{
	(void)state;
	GIVES(0, "\x30");
	GIVES(31, "\x4f");
	GIVES(0xff, "\x08\xff");
	GIVES(UINT64_MAX, "\x09\xff");
	GIVES(0x1234, "\x0a\x34\x12");
	GIVES((uint64_t)-2, "\x0b\xfe\xff");
	GIVES(0x12345678, "\x0c\x78\x56\x34\x12");
	GIVES((uint64_t)-2, "\x0d\xfe\xff\xff\xff");
	GIVES(0x1122334455667788, "\x0e\x88\x77\x66\x55\x44\x33\x22\x11");
	GIVES((uint64_t)-1, "\x0f\xff\xff\xff\xff\xff\xff\xff\xff");
	GIVES(300, "\x10\xac\x02");
	GIVES((uint64_t)-128, "\x11\x80\x7f");
}

static void registers_and_memory(void **state)
{
	(void)state;
	GIVES(1007 + 8, "\x77\x08");
	GIVES(1007 - 8, "\x77\x78");
	GIVES(1040 + 1, "\x92\x28\x01");
	GIVES(1007 * 2 + 8, "\x77\x00\x06");
	GIVES(1007 * 2 + 4, "\x77\x00\x94\x04");
	FAILS("\x79\x00");                 /* register 9 is not known */
	FAILS("\x0a\x9a\x02\x06");         /* memory at 666 is not known */
	FAILS("\x77\x00\x94\x09");         /* nine bytes */
	FAILS("\x92\xff\xff\xff\x7f\x00"); /* no such register number */
}

static void stack_moves(void **state)
{
	(void)state;
	GIVES(4, "\x32\x12\x22");             /* dup, plus */
	GIVES(2, "\x32\x33\x13");             /* drop */
	GIVES(2, "\x32\x33\x14");             /* over */
	GIVES(1, "\x31\x32\x33\x15\x02");     /* pick 2 */
	GIVES(2, "\x32\x33\x16");             /* swap */
	GIVES(2, "\x31\x32\x33\x17");         /* rot: 3 1 2 */
	GIVES(1, "\x31\x32\x33\x17\x13");     /* … then 1 */
	GIVES(3, "\x31\x32\x33\x17\x13\x13"); /* … then 3 */
}

static void arithmetic(void **state)
{
	(void)state;
	GIVES(5, "\x09\xfb\x19");
	GIVES(2, "\x36\x33\x1a");
	GIVES((uint64_t)-2, "\x09\xfb\x32\x1b"); /* -5 / 2 */
	GIVES(3, "\x35\x32\x1c");
	GIVES(1, "\x35\x32\x1d");
	GIVES(10, "\x35\x32\x1e");
	GIVES((uint64_t)-5, "\x35\x1f");
	GIVES(UINT64_MAX, "\x30\x20");
	GIVES(7, "\x35\x32\x21");
	GIVES(7, "\x35\x32\x22");
	GIVES(305, "\x35\x23\xac\x02");
	GIVES(20, "\x35\x32\x24");
	GIVES(1, "\x35\x32\x25");
	GIVES(0x3fffffffffffffff, "\x09\xff\x32\x25");
	GIVES((uint64_t)-1, "\x09\xff\x32\x26");
	GIVES(0, "\x35\x08\x40\x24"); /* shift by 64 */
	GIVES(UINT64_MAX, "\x09\xff\x08\x80\x26");
	GIVES(6, "\x35\x33\x27");
	FAILS("\x35\x30\x1b"); /* by zero */
	FAILS("\x35\x30\x1d");
	GIVES((uint64_t)1 << 63, "\x0e\0\0\0\0\0\0\0\x80\x09\xff\x1b"); /* the one that traps */
}

static void comparisons_are_signed(void **state)
{
	(void)state;
	GIVES(1, "\x32\x32\x29");
	GIVES(0, "\x09\xff\x32\x2a");
	GIVES(0, "\x09\xff\x32\x2b");
	GIVES(1, "\x09\xff\x32\x2c");
	GIVES(1, "\x09\xff\x32\x2d");
	GIVES(1, "\x09\xff\x32\x2e");
}

static void jumps(void **state)
{
	(void)state;
	GIVES(2, "\x32\x31\x28\x01\0\x33"); /* taken */
	GIVES(3, "\x32\x30\x28\x01\0\x33"); /* not taken */
	GIVES(2, "\x32\x2f\x01\0\x33");     /* skip to the end */
	FAILS("\x32\x2f\x02\0\x33");        /* beyond it */
	FAILS("\x32\x2f\xf0\xff\x33");      /* before the start */
	FAILS("\x2f\xfd\xff");              /* for ever */
	FAILS("\x31\x12\x2f\xfc\xff");      /* for ever, growing */
}

static void damage(void **state)
{
	(void)state;
	FAILS("");
	FAILS("\x22");
	FAILS("\x31\x22");
	FAILS("\x0e\x01");
	FAILS("\x10\x80");
	FAILS("\x15\x05");
	FAILS("\x50");     /* reg0: not a value */
	FAILS("\x91\x00"); /* fbreg */
	FAILS("\xff");
	FAILS("\x03\1\2\3\4\5\6\7\x08"); /* addr */
}

static void initial_value_and_words(void **state)
{
	uint64_t cfa = 0x100000000, v;
	(void)state;
	assert_true(run("\x38\x1c", 2, 8, &cfa, &v));
	assert_int_equal(v, cfa - 8);
	assert_true(run("\x38\x1c", 2, 4, &cfa, &v)); /* 32 bits: the CFA is 0 there */
	assert_int_equal(v, 0xfffffff8);
	assert_true(run("\x09\xff\x30\x2d", 4, 4, NULL, &v));
	assert_int_equal(v, 1); /* -1 < 0 in 32 bits too */
	assert_false(run("\x77\x00\x94\x08", 4, 4, NULL, &v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants),
		cmocka_unit_test(registers_and_memory),
		cmocka_unit_test(stack_moves),
		cmocka_unit_test(arithmetic),
		cmocka_unit_test(comparisons_are_signed),
		cmocka_unit_test(jumps),
		cmocka_unit_test(damage),
		cmocka_unit_test(initial_value_and_words),
	};
	return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
