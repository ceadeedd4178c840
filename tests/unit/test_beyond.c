/*
 * beyond: stacks whose dumps are too short go on in the process itself, here our own, unless they
 * changed since.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwind/beyond.h"
#include "unwind_bed.h"

#define PAGE   4096u
#define DUMP   2048u
#define WORDS  (2 * PAGE / 8)
#define FRAMES 100u

/* Two pages of stack, and nothing behind them. */
static uint64_t *stack_new(void)
{
	void *at = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(mprotect((char *)at + 2 * PAGE, PAGE, PROT_NONE), 0);
	return at;
}

static void stack_free(uint64_t *stack)
{
	assert_int_equal(munmap(stack, 3 * PAGE), 0);
}

static void reads_on_to_the_end(void **state)
{
	uint64_t *stack = stack_new(), dump[DUMP / 8], at = (uintptr_t)stack;
	struct beyond b = {0};
	size_t size = 0;
	bool whole = false;

	(void)state;
	for (size_t k = 0; k < WORDS; k++)
		stack[k] = k;
	memcpy(dump, stack, DUMP);
	stack[0] = 9999; /* what runs has changed, but not the end of the dump */
	assert_true(beyond_read(&b, getpid(), (uint8_t *)dump, at, DUMP, &size, &whole));
	assert_int_equal(size, 2 * PAGE);
	assert_true(whole);
	stack[0] = 0;
	assert_memory_equal(b.bytes, stack, 2 * PAGE);
	assert_true(b.due_ns > 0); /* it has a budget */
	b.due_ns = UINT64_MAX;
	assert_false(beyond_read(&b, getpid(), (uint8_t *)dump, at, DUMP, &size, &whole));
	beyond_fini(&b);
	stack_free(stack);
}

static void another_stack_is_not_believed(void **state)
{
	uint64_t *stack = stack_new(), dump[DUMP / 8], at = (uintptr_t)stack;
	struct beyond b = {0};
	size_t size = 0;
	bool whole;

	(void)state;
	memcpy(dump, stack, DUMP);
	stack[DUMP / 8 - 100] = 1;
	assert_false(beyond_read(&b, getpid(), (uint8_t *)dump, at, DUMP, &size, &whole));
	stack[DUMP / 8 - 100] = 0;
	b.due_ns = 0;
	assert_true(beyond_read(&b, getpid(), (uint8_t *)dump, at, DUMP, &size, &whole));
	b.due_ns = 0; /* nothing goes on behind the end of the memory */
	assert_false(beyond_read(&b, getpid(), (uint8_t *)stack, at + 2 * PAGE - DUMP, DUMP, &size,
				 &whole));
	b.due_ns = 0; /* nor where nothing is, nor as near to the end of all addresses */
	assert_false(beyond_read(&b, getpid(), (uint8_t *)dump, 4096, DUMP, &size, &whole));
	assert_false(
		beyond_read(&b, getpid(), (uint8_t *)dump, UINT64_MAX - 64, DUMP, &size, &whole));
	beyond_fini(&b);
	stack_free(stack);
}

/* The bed's process is ourselves, its stack these pages: FRAMES functions of 32 bytes and a root.
 */
static void deep_stack(struct bed *b, uint64_t *stack, const struct unwind_config *config)
{
	struct raw_mmap m = {.pid = getpid(),
			     .start = BASE,
			     .size = MADE_TEXT_SIZE,
			     .pgoff = MADE_TEXT_OFFSET,
			     .prot = PROT_READ | PROT_EXEC};

	bed_open(b, &x86, config);
	space_free(b->space);
	b->space = space_new(b->tables, getpid());
	m.path = b->path;
	assert_int_equal(space_add(b->space, &m), 0);
	for (size_t k = 0; k < FRAMES; k++)
		stack[4 * k + 3] = AT(k + 1 < FRAMES ? MIDDLE + 0x20 : ROOT + 4);
	memcpy(b->stack, stack, DUMP);
	b->regs.r[P_SP] = (uintptr_t)stack;
	b->regs.r[P_IP] = AT(MIDDLE + 0x20);
	b->s.stack_bytes = b->s.stack_asked = DUMP;
}

static void deep_stacks_are_completed(void **state)
{
	const struct unwind_config live = {.live = true, .stitch = true}, plain = {.stitch = true};
	uint64_t *stack = stack_new();
	uint32_t in_dump = DUMP / 32;
	struct bed b;

	(void)state;
	deep_stack(&b, stack, &live);
	unwind(&b);
	expect_frame(&b, in_dump, MIDDLE + 0x20, FRAME_RETURN);
	expect_frame(&b, in_dump + 1, MIDDLE + 0x20, FRAME_RETURN | FRAME_STITCHED);
	expect_frame(&b, FRAMES, ROOT + 4, FRAME_RETURN | FRAME_STITCHED);
	expect_end(&b, FRAMES + 1, CUT_NONE);
	assert_int_equal(b.r.stitched, FRAMES - in_dump);
	memset(stack, 0, 2 * PAGE); /* the thread went on: its past is still known */
	unwind(&b);
	expect_end(&b, FRAMES + 1, CUT_NONE);
	unwinder_task_gone(b.u, 1);
	unwind(&b);
	expect_end(&b, in_dump + 1, CUT_DUMP_END);
	bed_close(&b);

	deep_stack(&b, stack, &plain); /* a recording: no process of that number is its own */
	unwind(&b);
	expect_end(&b, in_dump + 1, CUT_DUMP_END);
	bed_close(&b);

	deep_stack(&b, stack, &live);
	stack[4 * 60 + 3] = AT(FRAMED + 4); /* changed since the sample */
	unwind(&b);
	expect_end(&b, in_dump + 1, CUT_DUMP_END);
	bed_close(&b);
	stack_free(stack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_on_to_the_end),
		cmocka_unit_test(another_stack_is_not_believed),
		cmocka_unit_test(deep_stacks_are_completed),
	};

	return cmocka_run_group_tests_name("beyond", tests, NULL, NULL);
}
