/* What a captured observation becomes: chains stay in the bytes of the stack, weights are of the
 * thread that ran. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sample/timer_impl.h"

#ifdef __aarch64__
#define NATIVE ARCH_AARCH64
enum { FP = 29, SP = 31, PC = 32 };
#else
#define NATIVE ARCH_X86_64
enum { FP = 6, SP = 7, PC = 8 };
#endif

#define BEFORE 64 /* bytes before the stack's, that nobody may read */

/* The chain's length of a thread at these registers, of whose stack @bytes were read. */
static uint32_t chain_of(uint64_t sp, uint64_t fp, size_t bytes)
{
	static uint8_t memory[BEFORE + 4096];
	struct source_config config = {.call_graph = CALL_GRAPH_FP};
	struct timer_source ts = {.config = &config, .interval_ns = MS};
	struct timer_thread t = {.tid = 1};
	struct timer_ran ran = {.ns = MS};
	struct timer_capture *c = &ts.captures[0];

	memset(memory, 0x11, sizeof memory);
	c->stack = memory + BEFORE;
	c->regs = (struct sample_regs){.arch = NATIVE, .mask = UINT64_MAX};
	c->regs.r[SP] = sp;
	c->regs.r[FP] = fp;
	c->regs.r[PC] = 0x401000;
	c->s.stack_bytes = bytes;
	timer_finish(&ts, &t, c, &ran);
	return c->s.nuser;
}

static void chains_stay_in_the_stack(void **state)
{
	(void)state;
	assert_int_equal(chain_of(0x7000, 0x7010, 4096), 2);
	assert_int_equal(chain_of(0x7000, 0x7000 + 4096 - 16, 4096), 2);
	assert_int_equal(chain_of(0x7000, 0x7000 + 4096 - 8, 4096), 1);
	assert_int_equal(chain_of(0x7000, 0x6ff0, 4096), 1);
	/* so far apart that a sum wraps round */
	assert_int_equal(chain_of(8, UINT64_MAX - 7, 0), 1);
	assert_int_equal(chain_of(0, UINT64_MAX - 15, 0), 1);
}

/* A number that another thread took has waited less than it had: that is no crowd. */
static void less_waiting_is_no_crowd(void **state)
{
	struct source_config config = {.call_graph = CALL_GRAPH_NONE};
	struct timer_source ts = {.config = &config, .interval_ns = MS};
	struct timer_thread t = {.tid = 1, .known = true, .sampled = {.ready_ns = 50 * MS}};
	struct timer_ran ran = {.ns = MS, .ready_ns = 10 * MS};

	(void)state;
	timer_finish(&ts, &t, &ts.captures[0], &ran);
	assert_int_equal(ts.lately_ready_ns, 0);
	ran.ns += MS;
	ran.ready_ns += 2 * MS;
	timer_finish(&ts, &t, &ts.captures[1], &ran);
	assert_int_equal(ts.lately_ready_ns, 2 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_stay_in_the_stack),
		cmocka_unit_test(less_waiting_is_no_crowd),
	};
	return cmocka_run_group_tests_name("timer_capture", tests, NULL, NULL);
}
