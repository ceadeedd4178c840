/*
 * burn: CPU time by quota, so that the shares of a program's functions are known and not hoped for.
 *
 * Everything is a macro: an inline function would be a frame of its own in the profile. BURN spends
 * thread CPU time in the function it stands in until *used_ns reaches quota_ns. The clock is read
 * as rarely as may be: it is a system call, and a stop that is on its way lands there more often
 * than its time is worth. Overshoot is carried over in *used_ns and so made good by the next round.
 */
#ifndef ALTPTTOP_BURN_H
#define ALTPTTOP_BURN_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

/* Nor cloned for constant arguments: the name in the profile must be the name here. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

#define CLOCK_NS(id) \
	__extension__({ \
		struct timespec clock_ts_; \
		clock_gettime((id), &clock_ts_); \
		(uint64_t) clock_ts_.tv_sec * 1000000000u + (uint64_t)clock_ts_.tv_nsec; \
	})
#define CPU_NS()  CLOCK_NS(CLOCK_THREAD_CPUTIME_ID)
#define WALL_NS() CLOCK_NS(CLOCK_MONOTONIC)

/* Turns of the loop that spend most of what is left, by what @n turns took. */
#ifndef BURN_NEXT
#define BURN_NEXT(n, took_ns, left_ns) ((n)*95 / 100 * (left_ns) / (took_ns) + 1000)
#endif

#define BURN(used_ns, quota_ns) \
	do { \
		volatile uint64_t burn_x_ = 1; \
		uint64_t burn_start_ = CPU_NS(), burn_now_ = burn_start_, burn_n_ = 50000; \
		while (*(used_ns) + (burn_now_ - burn_start_) < (quota_ns)) { \
			for (uint64_t burn_i_ = 0; burn_i_ < burn_n_; burn_i_++) \
				burn_x_ = burn_x_ * 6364136223846793005ull + 1; \
			uint64_t burn_then_ = burn_now_, burn_done_; \
			burn_now_ = CPU_NS(); \
			burn_done_ = *(used_ns) + (burn_now_ - burn_start_); \
			if (burn_done_ < (quota_ns) && burn_now_ > burn_then_) \
				burn_n_ = BURN_NEXT(burn_n_, burn_now_ - burn_then_, \
						    (quota_ns)-burn_done_); \
		} \
		*(used_ns) += burn_now_ - burn_start_; \
	} while (0)

#define MS 1000000ull

/* The first argument: for how many seconds. The second where a program takes one. */
#define SECONDS(argc, argv)             ((argc) > 1 ? atof((argv)[1]) : 5.0)
#define ARGUMENT(argc, argv, otherwise) ((argc) > 2 ? atol((argv)[2]) : (otherwise))
#define DEADLINE(argc, argv)            (WALL_NS() + (uint64_t)(SECONDS(argc, argv) * 1e9))

/* The truth, one `key value` a line, on standard output. Seconds of CPU time. */
#define TELL_CPU(name, ns) printf("cpu.%s %.6f\n", (name), (double)(ns) / 1e9)
#define TELL_COUNT(key, n) printf("%s %" PRIu64 "\n", (key), (uint64_t)(n))

#endif
