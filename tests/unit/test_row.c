/* row and rules: CFI programs by the byte, and the rows they must become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "unwind/row.h"

static const char x86_cie[] = "\x0c\x07\x08\x90\x01";
static struct row_work *work;
static struct draft draft;

static int make(const char *initial, size_t ni, const char *insns, size_t n, uint64_t vaddr)
{
	struct cfi_fde f = {.start = 0x1000,
			    .end = 0x2000,
			    .initial = (const uint8_t *)initial,
			    .initial_end = (const uint8_t *)initial + ni,
			    .insns = (const uint8_t *)insns,
			    .insns_end = (const uint8_t *)insns + n,
			    .code_align = 1,
			    .data_align = -8,
			    .ra = 16,
			    .addr_size = 8,
			    .insns_vaddr = 0x9000};
	return row_draft(work, regs_arch_get(ARCH_X86_64), &f, vaddr, &draft);
}
#define MAKE(insns, vaddr) make(x86_cie, 5, insns, sizeof(insns) - 1, vaddr)

static void expect_cfa(uint8_t kind, int32_t off)
{
	assert_int_equal(draft.row.cfa, kind);
	assert_int_equal(draft.row.cfa_off, off);
}

static void advances(void **state)
{
	(void)state;
	/* one step of 1, 2 and 4 byte operands each, and set_loc absolute */
	static const char p[] =
		"\x42\x0e\x10\x02\x10\x0e\x18\x03\x00\x01\x0e\x20\x04\x00\x02\0\0\x0e\x28"
		"\x01\x00\x18\0\0\0\0\0\0\x0e\x30";
	static const struct {
		uint64_t at;
		int32_t off;
	} expect[] = {{0x1000, 8},  {0x1001, 8},  {0x1002, 16}, {0x1011, 16},
		      {0x1012, 24}, {0x1111, 24}, {0x1112, 32}, {0x1311, 32},
		      {0x1312, 40}, {0x17ff, 40}, {0x1800, 48}, {0x1fff, 48}};
	for (size_t k = 0; k < sizeof expect / sizeof *expect; k++) {
		assert_int_equal(MAKE(p, expect[k].at), 0);
		expect_cfa(ROW_SP, expect[k].off);
	}
}

static void saved_registers(void **state)
{
	(void)state;
	assert_int_equal(MAKE("\x86\x02\x83\x03\x05\x0c\x04\x11\x0d\x7b\x2f\x0e\x06", 0x1000), 0);
	assert_int_equal(draft.row.flags, ROW_FP_SAVED);
	assert_int_equal(draft.row.fp_off, -16);
	assert_int_equal(draft.row.ra_off, -8);
	assert_int_equal(draft.n, 4);
	static const struct rule expect[] = {{3, RULE_AT_CFA, 0, 0, -24},
					     {12, RULE_AT_CFA, 0, 0, -32},
					     {13, RULE_AT_CFA, 0, 0, 40},
					     {14, RULE_AT_CFA, 0, 0, 48}};
	assert_memory_equal(draft.rules, expect, sizeof expect);
}

static void remember_and_restore(void **state)
{
	static const char p[] =
		"\x83\x03\x41\x0a\x0e\x40\x83\x05\x41\x0b\x41\xc3\x41\x06\x03\x2e\x10";
	(void)state;
	assert_int_equal(MAKE(p, 0x1001), 0);
	expect_cfa(ROW_SP, 64);
	assert_int_equal(draft.rules[0].off, -40);
	assert_int_equal(MAKE(p, 0x1002), 0); /* the CFA comes back with the registers */
	expect_cfa(ROW_SP, 8);
	assert_int_equal(draft.rules[0].off, -24);
	assert_int_equal(MAKE(p, 0x1003), 0); /* restored to the CIE's: nothing */
	assert_int_equal(draft.n, 0);
	assert_int_equal(MAKE(p, 0x1004), 0); /* restore_extended, GNU_args_size */
	assert_int_equal(draft.n, 0);
}

static void cfa_kinds(void **state)
{
	(void)state;
	assert_int_equal(MAKE("\x0d\x06", 0x1000), 0);
	expect_cfa(ROW_FP, 8);
	assert_int_equal(MAKE("\x12\x07\x7e", 0x1000), 0); /* def_cfa_sf rsp, -2 */
	expect_cfa(ROW_SP, 16);
	assert_int_equal(MAKE("\x13\x7d", 0x1000), 0); /* def_cfa_offset_sf -3 */
	expect_cfa(ROW_SP, 24);
	assert_int_equal(MAKE("\x0f\x03\x77\x20\x06", 0x1000), 0);
	expect_cfa(ROW_SP_AT, 32);
	assert_int_equal(MAKE("\x0f\x03\x76\x78\x06", 0x1000), 0);
	expect_cfa(ROW_FP_AT, -8);
	assert_int_equal(MAKE("\x0f\x02\x76\x10", 0x1000), 0); /* rbp + 16, said as an expression */
	expect_cfa(ROW_FP, 16);
	assert_int_equal(MAKE("\x0c\x0a\x00", 0x1000), 0); /* r10 */
	assert_int_equal(draft.row.cfa, ROW_RULES);
	assert_int_equal(draft.rules[0].reg, RULE_OF_CFA);
	assert_int_equal(draft.rules[0].base, 10);
	assert_int_equal(MAKE("\x07\x10", 0x1000), 0);
	assert_int_equal(draft.row.cfa, ROW_END);
}

static void plt_shape(void **state)
{
	static const char p[] = "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3a\x2a\x33\x24\x22";
	(void)state;
	for (uint64_t at = 0x1000; at < 0x1020; at++) {
		assert_int_equal(MAKE(p, at), 0);
		expect_cfa(ROW_SP, at % 16 >= 10 ? 16 : 8);
	}
}

static void other_rules(void **state)
{
	(void)state;
	/* rbx val_offset 2, r12 in rdx, r13 at expression, r14 val_expression, rsp at *(rsp + 24)
	 */
	assert_int_equal(MAKE("\x14\x03\x02\x09\x0c\x01\x10\x0d\x02\x33\x22\x16\x0e\x03\x38\x1c\x96"
			      "\x10\x07\x02\x77\x18",
			      0x1000),
			 0);
	assert_int_equal(draft.row.flags, ROW_SP_RULES);
	static const struct rule expect[] = {{3, RULE_CFA_OFF, 0, 0, -16},
					     {7, RULE_AT_REG, 7, 0, 24},
					     {12, RULE_REG, 1, 0, 0},
					     {13, RULE_AT_EXPR, 0, 2, 0},
					     {14, RULE_EXPR, 0, 3, 2}};
	assert_int_equal(draft.n, 5);
	assert_memory_equal(draft.rules, expect, sizeof expect);
	assert_memory_equal(draft.expr, "\x33\x22\x38\x1c\x96", 5);
	/* the frame pointer and the return address by rules */
	assert_int_equal(MAKE("\x10\x06\x02\x76\x00\x09\x10\x02", 0x1000), 0);
	assert_int_equal(draft.row.flags, ROW_FP_RULES | ROW_RA_RULES);
}

static void what_has_no_shape_goes_abroad(void **state)
{
	char p[400] = "\x0f\xac\x02"; /* a CFA expression of 300 bytes */
	(void)state;
	memset(p + 3, 0x96, 300);
	assert_int_equal(make(x86_cie, 5, p, 303, 0x1000), 0);
	assert_int_equal(draft.row.cfa, ROW_FOREIGN);
	assert_int_equal(MAKE("\x0e\xff\xff\xff\xff\x7f", 0x1000),
			 0); /* an offset beyond 32 bits */
	assert_int_equal(draft.row.cfa, ROW_FOREIGN);
	assert_int_equal(MAKE("\x08\x10", 0x1000), 0); /* rip is itself */
	assert_int_equal(draft.row.cfa, ROW_FOREIGN);
}

static void nonsense(void **state)
{
	char nested[100];
	(void)state;
	assert_int_equal(MAKE("\x0b", 0x1000), -EBADMSG);
	assert_int_equal(MAKE("\x3e", 0x1000), -EBADMSG);
	assert_int_equal(MAKE("\x0c\x07", 0x1000), -EBADMSG);
	assert_int_equal(MAKE("\x0f\x7f\x77", 0x1000), -EBADMSG);
	assert_int_equal(MAKE("\x0c\x80\x02\x08", 0x1000), -EBADMSG);
	memset(nested, 0x0a, sizeof nested);
	assert_int_equal(make(x86_cie, 5, nested, sizeof nested, 0x1000), -EBADMSG);
	assert_int_equal(MAKE("\x41\x0e\x10\x3e", 0x1000), 0);      /* … beyond where we look */
	assert_int_equal(make("\x41", 1, "", 0, 0x1000), -EBADMSG); /* a CIE that moves on */
}

static void rules_are_shared(void **state)
{
	struct rules_store *s = rules_new(1 << 16);
	struct row a, b, c;
	(void)state;
	assert_int_equal(MAKE("\x0e\x20\x83\x03", 0x1000), 0);
	assert_int_equal(row_finish(s, &draft, &a), 0);
	assert_int_equal(MAKE("\x0e\x40\x83\x03", 0x1000), 0);
	assert_int_equal(row_finish(s, &draft, &b), 0);
	assert_int_equal(MAKE("\x0e\x40\x83\x04\x16\x0e\x03\x38\x1c\x96", 0x1000), 0);
	assert_int_equal(row_finish(s, &draft, &c), 0);
	assert_int_not_equal(a.rules, 0);
	assert_int_equal(a.rules, b.rules);
	assert_int_not_equal(a.rules, c.rules);
	const struct rules *r = rules_get(s, c.rules);
	assert_int_equal(r->n, 2);
	assert_memory_equal((const char *)r + r->r[1].off, "\x38\x1c\x96", 3);
	assert_int_equal(MAKE("\x0e\x40", 0x1000), 0);
	assert_int_equal(row_finish(s, &draft, &c), 0);
	assert_int_equal(c.rules, 0);
	rules_free(s);
}

static void the_store_keeps_to_its_cap(void **state)
{
	struct rules_store *s = rules_new(4096);
	struct row row;
	int rc = 0;
	char p[16];
	(void)state;
	for (int k = 0; k < 1000 && !rc; k++) {
		int n = snprintf(p, sizeof p, "\x83%c%c", 0x80 | (k & 0x7f), k >> 7);
		assert_int_equal(make(x86_cie, 5, p, n < 3 ? 3 : (size_t)n, 0x1000), 0);
		rc = row_finish(s, &draft, &row);
	}
	assert_int_equal(rc, -ENOSPC);
	assert_true(rules_bytes(s) < 64 << 10);
	rules_clear(s);
	assert_int_equal(row_finish(s, &draft, &row), 0);
	rules_free(s);
}

static int open_work(void **state)
{
	(void)state;
	work = row_work_new();
	return work == NULL;
}

static int close_work(void **state)
{
	(void)state;
	row_work_free(work);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(advances),
		cmocka_unit_test(saved_registers),
		cmocka_unit_test(remember_and_restore),
		cmocka_unit_test(cfa_kinds),
		cmocka_unit_test(plt_shape),
		cmocka_unit_test(other_rules),
		cmocka_unit_test(what_has_no_shape_goes_abroad),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(rules_are_shared),
		cmocka_unit_test(the_store_keeps_to_its_cap),
	};
	return cmocka_run_group_tests_name("row", tests, open_work, close_work);
}
