/* unwind, around the walk: kernel parts, chains of addresses, stitching, roots, modules without
 * CFI. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwind_bed.h"

static void entry_point_is_a_root(void **state)
{
	struct made_elf e = x86;
	struct bed b;
	(void)state;
	e.type = ET_EXEC;
	e.entry = LEAF + 8;
	bed_open(&b, &e, NULL);
	b.regs.r[P_IP] = AT(LEAF + 0x10);
	unwind(&b);
	expect_end(&b, 1, CUT_NONE);
	bed_close(&b);
	e.type = ET_DYN; /* a library's "entry" is just where its text begins */
	bed_open(&b, &e, NULL);
	b.regs.r[P_IP] = AT(LEAF + 0x10);
	b.stack[0] = AT(ROOT + 1);
	unwind(&b);
	expect_end(&b, 2, CUT_NONE);
	bed_close(&b);
	e.entry = NOTHING; /* without CFI, code at the entry is a start */
	bed_open(&b, &e, NULL);
	b.regs.r[P_IP] = AT(LEAF + 0x10);
	b.stack[0] = AT(NOTHING + 0x20);
	unwind(&b);
	expect_end(&b, 2, CUT_NONE);
	bed_close(&b);
}

static void kernel_part_comes_first(void **state)
{
	static const uint64_t kernel[] = {0xffffffff81000010, 0xffffffff81000200};
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.s.kernel = kernel;
	b.s.nkernel = 2;
	b.s.flags = SAMPLE_KERNEL;
	b.regs.r[P_IP] = AT(LEAF + 0x10);
	b.stack[0] = AT(ROOT + 3);
	for (int twice = 0; twice < 2; twice++) {
		unwind(&b);
		const struct frame *f = tables_frame_get(b.tables, b.frames[0]);
		assert_int_equal(f->addr, kernel[0]);
		assert_int_equal(f->flags, FRAME_KERNEL);
		assert_int_equal(tables_module_get(b.tables, f->module)->kind, MODULE_KERNEL);
		f = tables_frame_get(b.tables, b.frames[1]);
		assert_int_equal(f->addr, kernel[1]);
		assert_int_equal(f->flags, FRAME_KERNEL | FRAME_RETURN);
		expect_frame(&b, 2, LEAF + 0x10, 0); /* where the thread will go on: exact */
		expect_frame(&b, 3, ROOT + 3, FRAME_RETURN);
		expect_end(&b, 4, CUT_NONE);
	}
	b.s.regs = NULL;
	b.s.stack_bytes = 0;
	unwinder_stack(b.u, NULL, 0, &b.s, b.frames, 600, &b.r); /* a kernel thread */
	assert_int_equal(b.r.nframes, 2);
	assert_int_equal(b.r.cut, CUT_NONE);
	bed_close(&b);
}

static void user_chain(void **state)
{
	uint64_t chain[] = {AT(LEAF + 4), AT(MIDDLE + 8), AT(ROOT + 1), 0x7};
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.s.regs = NULL;
	b.s.stack_bytes = 0;
	b.s.user = chain;
	b.s.nuser = 4;
	unwind(&b);
	expect_frame(&b, 0, LEAF + 4, 0);
	expect_frame(&b, 1, MIDDLE + 8, FRAME_RETURN);
	expect_frame(&b, 2, ROOT + 1, FRAME_RETURN);
	expect_end(&b, 3, CUT_NONE); /* nothing lies beyond a root */
	b.s.nuser = 2;
	unwind(&b);
	expect_end(&b, 2, CUT_FP_CHAIN);
	chain[2] = 0x7000;
	b.s.nuser = 3;
	unwind(&b);
	expect_end(&b, 2, CUT_NO_MODULE);
	chain[2] = 0x7; /* rbp pointed at something else */
	unwind(&b);
	expect_end(&b, 2, CUT_FP_CHAIN);
	bed_close(&b);
}

/* glibc's thread start keeps no frame pointer: the chain ends in it, one short of clone. */
static void chain_ends_in_a_thread_start(void **state)
{
	uint64_t chain[] = {AT(LEAF + 4), AT(MIDDLE + 8)};
	struct made_elf e = x86;
	struct bed b;
	(void)state;
	e.code = "\x31\xff\xb8\x3c\0\0\0\x0f\x05"; /* xor edi,edi; mov $60,eax; syscall */
	e.code_bytes = 9;
	e.code_at = MIDDLE + 0x40;
	bed_open(&b, &e, NULL);
	b.s.regs = NULL;
	b.s.stack_bytes = 0;
	b.s.user = chain;
	b.s.nuser = 2;
	unwind(&b);
	expect_end(&b, 2, CUT_NONE);
	b.s.nuser = 1; /* LEAF does not */
	unwind(&b);
	expect_end(&b, 1, CUT_FP_CHAIN);
	bed_close(&b);
}

/* Dump too short, but the kernel walked on along frame pointers. */
static void chain_leads_beyond_the_dump(void **state)
{
	uint64_t chain[] = {AT(LEAF + 4), AT(LEAF + 8), AT(LEAF + 0xc), AT(FRAMED + 0x10),
			    AT(ROOT + 1)};
	struct bed b;
	(void)state;
	bed_open(&b, &x86, NULL);
	b.regs.r[P_IP] = AT(LEAF + 4);
	b.stack[0] = AT(LEAF + 8);
	b.stack[1] = AT(LEAF + 0xc);
	b.s.stack_bytes = b.s.stack_asked = 16;
	b.s.user = chain;
	b.s.nuser = 5;
	unwind(&b);
	expect_frame(&b, 2, LEAF + 0xc, FRAME_RETURN);
	expect_frame(&b, 3, FRAMED + 0x10, FRAME_RETURN | FRAME_GUESS);
	expect_frame(&b, 4, ROOT + 1, FRAME_RETURN | FRAME_GUESS);
	expect_end(&b, 5, CUT_NONE);
	chain[1]++; /* it does not agree: not believed */
	unwind(&b);
	expect_end(&b, 3, CUT_DUMP_END);
	bed_close(&b);
}

static void cut_stack_is_stitched(void **state)
{
	struct unwind_config config = {.stitch = true};
	struct bed b;
	(void)state;
	bed_open(&b, &x86, &config);
	b.regs.r[P_IP] = AT(LEAF + 4);
	b.stack[0] = AT(MIDDLE + 8);
	b.stack[4] = AT(LEAF + 0xc);
	b.stack[5] = AT(ROOT + 1);
	b.s.stack_bytes = b.s.stack_asked = 32;
	unwind(&b);
	expect_end(&b, 2, CUT_DUMP_END); /* nothing is known yet */
	b.s.stack_bytes = 64;
	unwind(&b);
	expect_end(&b, 4, CUT_NONE);
	assert_int_equal(b.r.stitched, 0);
	b.s.stack_bytes = b.s.stack_asked = 32;
	b.regs.r[P_IP] = AT(LEAF + 7); /* another leaf address, the same caller */
	unwind(&b);
	expect_frame(&b, 0, LEAF + 7, 0);
	expect_frame(&b, 1, MIDDLE + 8, FRAME_RETURN);
	expect_frame(&b, 2, LEAF + 0xc, FRAME_RETURN | FRAME_STITCHED);
	expect_frame(&b, 3, ROOT + 1, FRAME_RETURN | FRAME_STITCHED);
	expect_end(&b, 4, CUT_NONE);
	assert_int_equal(b.r.stitched, 2);
	unwinder_stack(b.u, b.space, 2, &b.s, b.frames, 600,
		       &b.r); /* another thread: not its past */
	expect_end(&b, 2, CUT_DUMP_END);
	b.regs.r[P_SP] -= 64; /* another depth: not the same frame */
	unwind(&b);
	expect_end(&b, 2, CUT_DUMP_END);
	b.regs.r[P_SP] += 64;
	unwinder_task_gone(b.u, 1);
	unwind(&b);
	expect_end(&b, 2, CUT_DUMP_END);
	bed_close(&b);
}

static void unreadable_module_keeps_offsets(void **state)
{
	struct bed b;
	struct raw_mmap m = {.pid = 1,
			     .start = 0x600000000000,
			     .size = 0x1000,
			     .pgoff = 0x5000,
			     .prot = PROT_EXEC,
			     .path = "/nowhere/lib.so"};
	(void)state;
	bed_open(&b, &x86, NULL);
	assert_int_equal(space_add(b.space, &m), 0);
	b.regs.r[P_IP] = 0x600000000123;
	b.regs.r[P_BP] = STACK + 16;
	b.stack[3] = AT(ROOT + 1);
	unwind(&b);
	const struct frame *f = tables_frame_get(b.tables, b.frames[0]);
	assert_int_equal(f->addr, 0x5123);
	assert_int_equal(f->flags, FRAME_OFFSET);
	expect_frame(&b, 1, ROOT + 1, FRAME_RETURN | FRAME_GUESS);
	expect_end(&b, 2, CUT_NONE);
	bed_close(&b);
}

/* An ELF file mapped from inside an archive is a module of its own. */
static void module_in_an_archive(void **state)
{
	char path[] = "/tmp/altpttop-apk-XXXXXX", name[64];
	struct raw_mmap m = {.pid = 1,
			     .start = 0x600000000000,
			     .size = MADE_TEXT_SIZE,
			     .pgoff = 4096 + MADE_TEXT_OFFSET,
			     .prot = PROT_EXEC,
			     .path = path};
	struct bed b;
	size_t size;
	uint8_t *bytes = elf_bytes(&x86, &size);
	(void)state;
	close(mkstemp(path));
	write_zip(path, "lib/libmade.so", bytes, size, 0);
	free(bytes);
	bed_open(&b, &x86, NULL);
	assert_int_equal(space_add(b.space, &m), 0);
	b.regs.r[P_IP] = 0x600000000000 + MIDDLE - MADE_TEXT + 0x20;
	b.stack[3] = AT(ROOT + 1);
	unwind(&b);
	const struct frame *f = tables_frame_get(b.tables, b.frames[0]);
	snprintf(name, sizeof name, "%s!/lib/libmade.so", path);
	assert_int_equal(f->addr, MIDDLE + 0x20);
	assert_int_equal(f->flags, 0);
	assert_string_equal(tables_text(b.tables, tables_module_get(b.tables, f->module)->path),
			    name);
	expect_end(&b, 2, CUT_NONE);
	bed_close(&b);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entry_point_is_a_root),
		cmocka_unit_test(kernel_part_comes_first),
		cmocka_unit_test(user_chain),
		cmocka_unit_test(chain_ends_in_a_thread_start),
		cmocka_unit_test(chain_leads_beyond_the_dump),
		cmocka_unit_test(cut_stack_is_stitched),
		cmocka_unit_test(unreadable_module_keeps_offsets),
		cmocka_unit_test(module_in_an_archive),
	};
	return cmocka_run_group_tests_name("stacks", tests, NULL, NULL);
}
