/* clock: the time, fakeable for tests. Thread-safe. */
#ifndef ALTPTTOP_CLOCK_H
#define ALTPTTOP_CLOCK_H

#include <stdint.h>
#include <time.h>

uint64_t clock_mono_ns(void);       /* CLOCK_MONOTONIC as outside of time namespaces; or the fake */
uint64_t clock_real_ns(void);       /* CLOCK_REALTIME, or the fake time */
uint64_t clock_asleep_ns(void);     /* CLOCK_BOOTTIME - clock_mono_ns(): time in suspension */
uint64_t clock_thread_cpu_ns(void); /* CPU time of the calling thread */
uint64_t clock_process_cpu_ns(void);
/* @timeout_ms from now, as @id really goes: for pthread_cond_timedwait and its like. */
struct timespec clock_deadline(clockid_t id, int timeout_ms);

void clock_fake(uint64_t mono_ns, uint64_t real_ns); /* tests: freeze both at these; (0, 0) thaws */

#endif
