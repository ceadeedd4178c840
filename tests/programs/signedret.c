/*
 * signedret: on arm64, a call path whose return addresses are signed (pointer authentication), six
 * deep and below a signal handler; elsewhere just that call path. Half of the time in leaf_04, half
 * in handler_work. `signed N` tells how many of its return addresses really were.
 */
/* flags: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
#ifdef __aarch64__
#pragma GCC target("branch-protection=standard")
#endif
#include "burn.h"

#include <signal.h>

static uint64_t used_leaf, quota_leaf, used_handler, quota_handler, seen_signed;

/* x30 holds the signed address from the prologue to the first call. */
#ifdef __aarch64__
#define NOTE_SIGNED() \
	do { \
		uint64_t x30_; \
		__asm__ volatile("mov %0, x30" : "=r"(x30_)); \
		seen_signed += x30_ >> 48 != 0; \
	} while (0)
#else
#define NOTE_SIGNED() (void)0
#endif

#define LEVEL(name, below) \
	static NOINLINE uint64_t name(uint64_t a, uint64_t b) \
	{ \
		NOTE_SIGNED(); \
		uint64_t c = a * 3 + b, d = b * 5 + a, r = below(c, d); \
		return r + a + b * 2 + c * 3 + d * 4; \
	}

static NOINLINE uint64_t leaf_04(uint64_t a, uint64_t b)
{
	BURN(&used_leaf, quota_leaf);
	raise(SIGUSR1);
	return a + b;
}
LEVEL(signed_03, leaf_04)
LEVEL(signed_02, signed_03)
LEVEL(signed_01, signed_02)

static NOINLINE uint64_t handler_work(uint64_t a, uint64_t b)
{
	BURN(&used_handler, quota_handler);
	return a + b;
}
LEVEL(handler_02, handler_work)
LEVEL(handler_01, handler_02)

static void on_signal(int signo)
{
	static volatile uint64_t sink;
	sink = sink + handler_01((uint64_t)signo, 2);
}

int main(int argc, char **argv)
{
	uint64_t end = DEADLINE(argc, argv);
	volatile uint64_t sink = 0;
	signal(SIGUSR1, on_signal);
	while (WALL_NS() < end) {
		quota_leaf += 5 * MS;
		quota_handler += 5 * MS;
		sink = sink + signed_01(sink, 1);
	}
	TELL_CPU("leaf_04", used_leaf);
	TELL_CPU("handler_work", used_handler);
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	TELL_COUNT("signed", seen_signed);
	return 0;
}
